package deployment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/logmemory"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/postgres"
)

// connectTimeout bounds the first connection to a database.
const connectTimeout = 15 * time.Second

// OpenBolt opens the store in a file. Tests replace it to crash at a step.
var OpenBolt = func(path string) (store.Full, error) { return orNone(bolt.OpenExisting(path)) }

// orNone returns an opened store as an interface, nil with an error.
func orNone[S store.Full](opened S, err error) (store.Full, error) {
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// checkStoreURI refuses a URI that OpenStore does not know.
func checkStoreURI(uri string) error {
	scheme, rest, _ := strings.Cut(uri, ":")
	switch {
	case scheme == "postgres", scheme == "postgresql":
		if _, err := pgxpool.ParseConfig(uri); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		return nil
	case uri == config.MemoryStore, scheme == "bolt" && rest != "":
		return nil
	case scheme == "bolt":
		return fmt.Errorf("store: %q names no file: write bolt:PATH", uri)
	}
	return fmt.Errorf("store: unknown store %q: use memory, bolt:PATH or postgres://…", scheme)
}

// missing refuses a bolt file that does not exist before anything is opened, created or
// typed. For a database, OpenStore does.
func missing(configured *config.Config, create bool) error {
	if err := checkStoreURI(configured.Store); err != nil {
		return err
	}
	if err := checkStores(configured); err != nil {
		return err
	}
	path, ok := strings.CutPrefix(configured.Store, "bolt:")
	if !ok || create {
		return nil
	}
	if err := bolt.Missing(path); errors.Is(err, store.ErrNone) {
		return RefuseNone(err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil //nolint:nilerr // opening it says what is wrong
	case info.IsDir():
		return fmt.Errorf("store: %s is a directory: name a file in it", path)
	}
	if err := trust.Secret(info, path); err != nil {
		return fmt.Errorf("store: %s: %w", path, err)
	}
	return nil
}

// checkStores refuses stores beside one that is no database, and organizations in one that is not
// configured.
func checkStores(configured *config.Config) error {
	for name, uri := range configured.Stores {
		if err := checkStoreURI(uri); err != nil || !isDatabase(uri) || !isDatabase(configured.Store) || name == "" {
			return fmt.Errorf("stores: %q: all must be postgres://…, and so must store, "+
				"where organizations are that name none", name)
		}
	}
	for i := range configured.Organizations {
		of := &configured.Organizations[i]
		if _, ok := configured.Stores[of.Store]; !ok && of.Store != "" {
			return fmt.Errorf("organizations[%d].store: stores has no %q", i, of.Store)
		}
	}
	return nil
}

func isDatabase(uri string) bool {
	scheme, _, _ := strings.Cut(uri, ":")
	return scheme == "postgres" || scheme == "postgresql"
}

// tableOf returns the name of the store of each organization.
func tableOf(configured *config.Config) map[string]string {
	table := map[string]string{}
	for i := range configured.Organizations {
		table[configured.Organizations[i].ID] = configured.Organizations[i].Store
	}
	return table
}

// AssignStores puts the table of the next configuration in force. It refuses one with other stores
// than those that were opened for the first: an organization would begin in the wrong one.
func AssignStores(ctx context.Context, opened store.Store, first, next *config.Config) error {
	if len(first.Stores)+len(next.Stores) == 0 {
		return nil
	}
	if first.Store != next.Store || !maps.Equal(first.Stores, next.Stores) {
		return errors.New("store and stores: they are opened at the start, and a reload cannot change them: restart")
	}
	if err := checkStores(next); err != nil {
		return err
	}
	several, ok := WithoutMemory(opened).(*store.Sharded)
	if !ok {
		return errors.New("stores: they were not opened")
	}
	return several.Assign(ctx, tableOf(next))
}

// OpenStore opens the stores of a configuration. It creates none. Its errors name the store.
func OpenStore(ctx context.Context, configured *config.Config) (store.Full, error) {
	return openAll(ctx, configured, openStore)
}

// openAll opens the stores of a configuration by a function of their names and URIs.
func openAll(ctx context.Context, configured *config.Config,
	open func(ctx context.Context, name, uri string) (store.Full, error)) (store.Full, error) {
	if err := checkStores(configured); err != nil || len(configured.Stores) == 0 {
		if err != nil {
			return nil, err
		}
		return open(ctx, "", configured.Store)
	}
	opened, uris := map[string]store.Full{}, map[string]string{"": configured.Store}
	maps.Copy(uris, configured.Stores)
	var err error
	for name, uri := range uris {
		if opened[name], err = open(ctx, name, uri); err != nil {
			delete(opened, name)
			err = fmt.Errorf("%s: %w", cmp.Or(name, "store"), err)
			break
		}
	}
	var several *store.Sharded
	if err == nil {
		several, err = store.NewSharded(ctx, opened, tableOf(configured))
	}
	if err != nil {
		for _, one := range opened {
			err = errors.Join(err, one.Close())
		}
	}
	return orNone(several, err)
}

func openStore(ctx context.Context, _, uri string) (store.Full, error) {
	if err := checkStoreURI(uri); err != nil {
		return nil, err
	}
	if uri == config.MemoryStore {
		return memory.New(countersign.DefaultStoreBytes), nil
	}
	if path, ok := strings.CutPrefix(uri, "bolt:"); ok {
		opened, err := OpenBolt(path)
		return opened, RefuseNone(err)
	}
	opened, err := openPostgres(ctx, uri, postgres.OpenExisting)
	return opened, RefuseNone(err)
}

func openPostgres(ctx context.Context, uri string, open func(context.Context, string) (*postgres.Store, error)) (store.Full, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	opened, err := open(ctx, uri)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("store: PostgreSQL did not answer within %v", connectTimeout)
	}
	if errors.As(err, new(*pgconn.ConnectError)) {
		err = fmt.Errorf("%w: start the database, or correct store in the configuration", err)
	}
	return orNone(opened, err)
}

// RefuseNone adds to the error of a store that does not exist what would be forgotten, and the cures.
func RefuseNone(err error) error {
	if !errors.Is(err, store.ErrNone) {
		return err
	}
	return fmt.Errorf("%w: a new store would know nothing of limits, used codes, live requests, approvals and the log: "+
		"correct store in the configuration, or put back a backup ('countersign restore'); "+
		"if this deployment has never answered a request, create one with 'countersign serve --new-store'", err)
}

// CreateStore creates the store that a URI names, and opens it. There must be none, and
// the node must not remember the log of one.
func CreateStore(ctx context.Context, configured *config.Config) (store.Full, error) {
	if err := checkStoreURI(configured.Store); err != nil {
		return nil, err
	}
	if configured.Store == config.MemoryStore {
		return nil, console.Usagef("--new-store does not go with store: memory, which is new at each start")
	}
	if len(configured.Stores) == 0 {
		if err := refuseRemembered(configured, ""); err != nil {
			return nil, err
		}
	}
	created := 0
	opened, err := openAll(ctx, configured, func(ctx context.Context, name, uri string) (store.Full, error) {
		opened, err := openStore(ctx, name, uri)
		if errors.Is(err, store.ErrInUse) {
			return nil, fmt.Errorf("--new-store: the store exists: %w", err)
		}
		if !errors.Is(err, store.ErrNone) {
			return opened, err
		}
		if err := refuseRemembered(configured, name); err != nil {
			return nil, err
		}
		created++
		if path, ok := strings.CutPrefix(uri, "bolt:"); ok {
			return orNone(bolt.Open(path))
		}
		return openPostgres(ctx, uri, postgres.Open)
	})
	if err == nil && created == 0 {
		return nil, errors.Join(errors.New("--new-store: the store exists: start without --new-store"), opened.Close())
	}
	return opened, err
}

// refuseRemembered refuses a new store of a name in place of one whose logs this node remembers,
// unless their loss was confirmed.
func refuseRemembered(configured *config.Config, name string) error {
	path := configured.LogMemory()
	if path == "" {
		return nil
	}
	remembered, err := logmemory.Read(path)
	if err != nil {
		return err
	}
	table := tableOf(configured)
	for _, organization := range remembered.Known() {
		state := remembered[organization]
		if table[organization] == name && !logmemory.Confirmed(path, organization, logmemory.Lost(state)) {
			return fmt.Errorf("--new-store: %s remembers a log of %d leaves of organization %s: the store that had "+
				"it is gone, and with it limits, used codes, live requests and approvals: "+
				"put back a backup, or confirm the loss with 'countersign log accept --org %[3]s', and repeat this "+
				"command", path, state.Tree.N, organization)
		}
	}
	return nil
}

// RememberedStore is a store with the node's memory of its logs, which is kept as the store
// is used and written as it is closed.
type RememberedStore struct {
	store.Full
	Memory *logmemory.Keeper
}

func (r *RememberedStore) Begin(ctx context.Context, claim store.Claim, change store.Change) (store.BeginResult, error) {
	begun, err := r.Full.Begin(ctx, claim, change)
	if marked(err) { // by another node
		r.Memory.Moved(claim.OrganizationID)
	}
	return begun, err
}

func (r *RememberedStore) Complete(ctx context.Context, lease store.Lease, activity store.Activity, change store.Change) error {
	err := r.Full.Complete(ctx, lease, activity, change)
	if err == nil && activity.Leaf != nil || marked(err) {
		r.Memory.Moved(lease.OrganizationID)
	}
	return err
}

// marked reports whether a log has a conflict, or a stop.
func marked(err error) bool {
	return errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrStopped)
}

func (r *RememberedStore) Close() error {
	r.Memory.Close()
	return r.Full.Close()
}

// MemoryOf returns the memory of a store's logs, or nil if there is none.
func MemoryOf(opened store.Store) *logmemory.Keeper {
	if r, ok := opened.(*RememberedStore); ok {
		return r.Memory
	}
	return nil
}

// WithoutMemory returns the store itself.
func WithoutMemory(opened store.Store) store.Store {
	if r, ok := opened.(*RememberedStore); ok {
		return r.Full
	}
	return opened
}

// OpenRemembered opens the configured store, or creates it, and compares its logs with what
// this node remembers. Those that conflict are marked: the store is opened all the same,
// for reading and to accept the conflict. Without a logger, warnings go to standard error.
func OpenRemembered(ctx context.Context, configured *config.Config, create bool, skew time.Duration,
	logger *slog.Logger) (opened store.Full, err error) {
	if create {
		opened, err = CreateStore(ctx, configured)
	} else {
		opened, err = OpenStore(ctx, configured)
	}
	if err != nil {
		return nil, IfInUse(err, "only one can have the file: stop that process, or send it requests with "+
			"'countersign submit'; several nodes need PostgreSQL")
	}
	path := configured.LogMemory()
	if path == "" {
		return opened, nil
	}
	logger = cmp.Or(logger, slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	options := logmemory.Options{
		Path: path, Log: opened, Skew: cmp.Or(skew, countersign.DefaultMaxRequestSkew), Logger: logger, Now: time.Now,
	}
	if several, ok := opened.(*store.Sharded); ok {
		options.Each = several.Each
	}
	keeper, err := logmemory.New(options)
	if err == nil {
		keeper.Each(func(one store.Log, has func(organization string) bool) {
			if database, ok := one.(*postgres.Store); ok {
				database.OnReconnect(func(ctx context.Context) error { return keeper.CheckIn(ctx, one, has) })
			}
		})
		err = keeper.Check(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	_ = keeper.Write() // which logs and counts its error
	return &RememberedStore{opened, keeper}, nil
}

// IfInUse adds a cure to the error of a store that another process has open.
func IfInUse(err error, cure string) error {
	if errors.Is(err, store.ErrInUse) {
		return fmt.Errorf("%w: %s", err, cure)
	}
	return err
}
