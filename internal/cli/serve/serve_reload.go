package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/stamp"
)

// Live is the state that SIGHUP changes while serve runs: organizations with their
// users and credentials, policies, descriptors and names, and the TLS certificate. A
// reload replaces all of it or nothing.
type Live struct {
	Current  atomic.Pointer[deployment.Loaded]
	Policies *deployment.LoadedPolicies // nil before the engine is open
	Loader   deployment.Loader          // that the server was started with

	// Assign puts the stores of organizations in force, and refuses policies that are held back in them;
	// nil before the engine is open.
	Assign func(ctx context.Context, old, next *deployment.Loaded) error

	Within time.Duration // bounds a reload; 0 selects ReloadTimeout

	failures atomic.Uint64             // of reloads
	failed   atomic.Pointer[time.Time] // when the first reload failed since one succeeded; may be nil
	newer    atomic.Pointer[time.Time] // when the file was modified that is not in force yet; may be nil

	// InForce is what the engine asks: the directory, the descriptors and the names.
	InForce access.Current

	settling sync.Mutex // held from before a reload is put in force until that is recorded
}

// ReloadTimeout is how long a reload may take. Policies of thousands of organizations take minutes.
const ReloadTimeout = 10 * time.Minute

// OlderSince returns since when what is in force is older than the configuration's file, or than
// what a reload could not put in force; zero if it is not.
func (l *Live) OlderSince() time.Time {
	for _, since := range []*time.Time{l.failed.Load(), l.newer.Load()} {
		if since != nil {
			return *since
		}
	}
	return time.Time{}
}

// lookEvery is how often the configuration's file is looked at.
const lookEvery = 10 * time.Second

// watchFile looks whether the configuration's file is newer than what is in force, until the
// context ends. A volume that does not answer holds up nothing else.
func (l *Live) watchFile(ctx context.Context) {
	for ; ctx.Err() == nil; sleep(ctx, lookEvery) {
		l.newer.Store(l.Current.Load().Configured.NewerFile())
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// settle waits until a reload that has been put in force is recorded.
func (l *Live) settle() {
	l.settling.Lock()
	defer l.settling.Unlock()
}

// Put puts what was loaded in force.
func (l *Live) Put(next *deployment.Loaded) {
	l.Current.Store(next)
	l.InForce.Replace(access.State{Directory: next.Directory, Descriptors: next.Known.Reader(), Names: next.Known.Names()})
}

// callers returns who may call the JSON-RPC signer: no one if none is configured.
func (l *Live) callers() *rpcapi.Users {
	if rpc := l.Current.Load().RPC; rpc != nil {
		return rpc.Users
	}
	return new(rpcapi.Users)
}

// Reload re-reads the configuration. It calls record with the changed members that take effect only
// after a restart, once the new state is in force. A server that ends waits for that, and not for
// what is still being read. A credential that the new configuration lacks stops working before
// policies are read, which can take seconds. On an error the old state stays, without that
// credential. What takes too long to read is given up: nothing of it is put in force later.
func (l *Live) Reload(cmd *cobra.Command, path string, record func(needRestart []string)) error {
	within := cmp.Or(l.Within, ReloadTimeout)
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), within,
		fmt.Errorf("it took longer than %v: is a file on a volume that does not answer?", within))
	defer cancel()
	bounded := new(cobra.Command)
	bounded.SetContext(ctx)
	bounded.SetErr(cmd.ErrOrStderr())
	err := l.within(bounded, path, record)
	switch now := time.Now(); {
	case err == nil:
		l.failed.Store(nil)
		l.newer.Store(nil)
	case cmd.Context().Err() == nil:
		l.failures.Add(1)
		l.failed.CompareAndSwap(nil, &now)
	}
	return err
}

// within reloads until the context of a command ends. What was put in force by then counts.
func (l *Live) within(cmd *cobra.Command, path string, record func(needRestart []string)) error {
	done := make(chan error, 1)
	var put atomic.Bool
	loader := l.Loader // what is given up does not look at it later
	go func() {
		done <- l.replace(cmd, loader, path, func(members []string) { put.Store(true); record(members) })
	}()
	select {
	case err := <-done:
		return err
	case <-cmd.Context().Done():
		if l.settle(); put.Load() {
			return <-done
		}
		return context.Cause(cmd.Context())
	}
}

// replace reads the configuration and puts it in force, unless the context of the command has
// ended.
func (l *Live) replace(
	cmd *cobra.Command, loader deployment.Loader, path string, record func(needRestart []string),
) error {
	old := l.Current.Load()
	loader.Path, loader.Running = path, old
	loader.Checked = func(next *deployment.Loaded) error {
		l.settling.Lock()
		defer l.settling.Unlock()
		if cmd.Context().Err() == nil {
			l.revoke(old, next)
		}
		return context.Cause(cmd.Context())
	}
	next, err := loader.Load(cmd)
	if err != nil {
		return err
	}
	next.Discard() // the engine keeps what it was opened with
	if l.Assign != nil {
		if err := l.Assign(cmd.Context(), old, next); err != nil {
			return err
		}
	}
	l.settling.Lock()
	defer l.settling.Unlock()
	if err := context.Cause(cmd.Context()); err != nil {
		return err
	}
	next.Keys = old.Keys
	if (old.Certificate == nil) != (next.Certificate == nil) {
		next.Certificate = old.Certificate // TLS cannot be turned on or off while listening
	}
	if (old.RPC == nil) != (next.RPC == nil) || old.RPC != nil && (old.RPC.Certificate == nil) != (next.RPC.Certificate == nil) {
		next.RPC = old.RPC.Still(next.RPC)
	}
	l.Put(next) // first: a credential that was removed stops here
	if l.Policies != nil {
		l.Policies.Put(next.Policies) // one that the configuration no longer names stays until a restart
		l.Policies.Configured = next.Configured
	}
	record(fixedChanges(old.Configured, next.Configured))
	return nil
}

// revoke takes away what callers can no longer use in the next configuration, which is not in
// force yet.
func (l *Live) revoke(old, next *deployment.Loaded) {
	in := l.InForce.State()
	in.Directory = kept{old: old.Directory, next: next.Directory}
	l.InForce.Replace(in)
	if old.RPC == nil {
		return
	}
	left := *old
	left.RPC = old.RPC.Still(next.RPC)
	l.Current.Store(&left)
}

// kept is a directory with the members of an old one that the next one has as well.
type kept struct{ old, next access.Directory }

func (k kept) Organization(ctx context.Context, organizationID string) (*access.Organization, error) {
	if _, err := k.next.Organization(ctx, organizationID); err != nil {
		return nil, err
	}
	return k.old.Organization(ctx, organizationID)
}

func (k kept) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	if _, err := k.next.Member(ctx, organizationID, id); err != nil {
		return nil, err
	}
	return k.old.Member(ctx, organizationID, id)
}

func (k kept) User(ctx context.Context, organizationID, userID string) (*access.User, error) {
	var user *access.User
	for _, directory := range []access.Directory{k.next, k.old} {
		users, ok := directory.(access.Users)
		if !ok {
			return nil, access.ErrUserNotFound
		}
		var err error
		if user, err = users.User(ctx, organizationID, userID); err != nil {
			return nil, err
		}
	}
	return user, nil
}

// fixedChanges returns the members that differ and take effect only after a restart.
func fixedChanges(old, next *config.Config) []string {
	var names []string
	for _, member := range []struct {
		name      string
		old, next any
	}{
		{"listen", old.Listen, next.Listen}, {"admin", old.Admin, next.Admin}, {"tls", old.TLS == nil, next.TLS == nil},
		{"origins", old.Origins, next.Origins}, {"console", old.Console, next.Console},
		{"forwardedFrom", old.ForwardedFrom, next.ForwardedFrom},
		{"forwardedHeader", old.ForwardedHeader, next.ForwardedHeader},
		{"store", old.Store, next.Store}, {"stores", old.Stores, next.Stores},
		{"keystore", old.Keystore, next.Keystore},
		{"passphraseFile", old.PassphraseFile, next.PassphraseFile}, {"proofKey", old.ProofKey, next.ProofKey}, {"otp", old.OTP, next.OTP},
		{"log", old.Log, next.Log}, {"events", old.Events, next.Events}, {"limits", old.Limits, next.Limits},
		{"wallets", old.Wallets, next.Wallets},
		{"rpc", fixedRPC(old.RPC), fixedRPC(next.RPC)},
		{"descriptors", old.Descriptors == nil, next.Descriptors == nil},
	} {
		if !reflect.DeepEqual(member.old, member.next) {
			names = append(names, member.name)
		}
	}
	if policyRemoved(old, next) {
		names = append(names, "policy")
	}
	return names
}

// fixedRPC returns what of the JSON-RPC signer takes effect only at the start.
func fixedRPC(r *config.RPC) any {
	if r == nil {
		return nil
	}
	fixed := config.RPC{Listen: r.Listen, Socket: r.Socket, ChainID: r.ChainID}
	if r.TLS != nil {
		fixed.TLS = &config.RPCTLS{MinVersion: r.TLS.MinVersion}
	}
	return fixed
}

// policyRemoved reports whether an organization that had a policy has none now.
func policyRemoved(old, next *config.Config) bool {
	had := map[string]bool{}
	for organization := range deployment.WithPolicy(old) {
		had[organization.ID] = true
	}
	for organization := range deployment.WithPolicy(next) {
		delete(had, organization.ID)
	}
	return len(had) > 0
}

// TLSConfig returns a configuration that always serves the current certificate, or nil without TLS.
func (l *Live) TLSConfig() *tls.Config {
	if l.Current.Load().Certificate == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return l.Current.Load().Certificate, nil },
	}
}

// Expiry returns when the certificate expires; zero without TLS.
func (l *Live) Expiry() time.Time {
	certificate := l.Current.Load().Certificate
	if certificate == nil || certificate.Leaf == nil {
		return time.Time{}
	}
	return certificate.Leaf.NotAfter
}
