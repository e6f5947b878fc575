package serve

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/logmemory"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
	"github.com/countersign-dev/countersign/metrics"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store"
)

// Command holds the flags and the state of one server.
type Command struct {
	configFile string
	listen     string
	admin      string
	plaintext  bool
	level      slog.Level
	check      bool
	newStore   bool
	checkStore bool
	profile    bool
	drain      time.Duration
	Draining   atomic.Bool
	memory     *logmemory.Keeper // nil without a log
	log        *slog.Logger
	build      console.VersionLine
}

// NewCommand returns the command serve.
func NewCommand() *cobra.Command {
	var c Command
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API",
		Long: console.Paragraphs(`
Serve the HTTP API according to the configuration. When the server is ready, it
prints one line to standard output:

  {"listening":"HOST:PORT"}

The log goes to standard error, one JSON object per line.

On SIGTERM or Ctrl-C, /readyz answers 503 for --drain-delay; then the server stops
accepting requests, finishes those in flight and exits. A second signal exits at
once. On SIGHUP it re-reads organizations, users, credentials, policies, names,
descriptors and the TLS certificate, all or nothing: if anything is wrong, it logs the
error and keeps the old ones.

--check reads the configuration as serve, a reload and 'countersign policy check' do, with
everything it names: a mistake that one of them refuses, all refuse. It does not open the
store, does not listen, does not log in to a token and asks for no passphrase; its output
lists under notDone what of that serve would do.

The store must exist: init creates it. --new-store creates one that a new deployment
names, such as a PostgreSQL database, and serves; with --check it creates the store and
exits. It refuses if there is a store, or if this machine remembers the log of one. Run
it once, by hand: a store that is gone is put back from a backup, not replaced.

The admin address serves /healthz (200 while the process is alive), /readyz (200
while requests can be carried out), /metrics (Prometheus) and, with --pprof, the profiles
of Go under /debug/pprof/, which show what runs and no contents. If --listen moves the
API and the configured admin address is in use, the server picks a free port for it
and logs that.

If the HSM refuses the PIN, the exit status is 77. Restarting would use up the
attempts that the HSM allows and lock it, so the systemd unit does not restart it.

Without TLS the server listens on loopback addresses only, unless you pass
--plaintext-beyond-loopback: a stamp protects a request from being altered, but not
from being read, and neither is the answer protected.`),
		Example: "  countersign serve --config countersign.yaml",
		Args:    console.NamedArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	flags := command.Flags()
	flags.StringVar(&c.configFile, "config", "", "configuration `FILE`: countersign.yaml, as init writes it")
	flags.StringVar(&c.listen, "listen", "", "`HOST:PORT` to listen on instead of the configured one; port 0 picks a free port")
	flags.StringVar(&c.admin, "admin", "", "`HOST:PORT` of the admin address instead of the configured one; none disables it")
	flags.BoolVar(&c.plaintext, "plaintext-beyond-loopback", false, "serve beyond loopback without TLS, readable by anyone on the way")
	flags.BoolVar(&c.check, "check", false, "check the configuration and exit")
	flags.BoolVar(&c.newStore, "new-store", false, "create the store, once, for a deployment that has never answered a request")
	flags.BoolVar(&c.checkStore, "check-store", false, "read the whole bolt file before serving, also one above 1 GiB")
	flags.BoolVar(&c.profile, "pprof", false, "also serve Go's profiles under /debug/pprof/ of the admin address")
	flags.DurationVar(&c.drain, "drain-delay", 0, "`TIME` for which /readyz answers 503 before the server stops accepting requests")
	flags.TextVar(&c.level, "log-level", slog.LevelInfo, "lowest `LEVEL` to log: debug, info (each request), warn, error")
	return command
}

func (c *Command) run(cmd *cobra.Command) (err error) {
	if c.configFile == "" {
		return console.Usagef("--config is missing: 'countersign init DIR' writes a configuration")
	}
	if c.profile && c.admin == "none" {
		return console.Usagef("--pprof needs an admin address")
	}
	loader := deployment.Loader{Path: c.configFile, NewStore: c.newStore, Addresses: c.places().Check}
	if c.check {
		return c.report(cmd, loader)
	}
	tuneCollector()
	reloads := make(chan os.Signal, 1)
	signal.Notify(reloads, syscall.SIGHUP) // from here on SIGHUP does not kill
	defer signal.Stop(reloads)
	state := Live{Loader: loader}
	state.Loader.NewStore = false
	c.log = slog.New(request.QuietStrangers(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: c.level})))
	info, _ := debug.ReadBuildInfo()
	c.build = console.VersionOf(info)
	observer := metrics.New()
	var bound *addresses
	// Bind before asking for the passphrase: it is pointless to type it if an
	// address is in use.
	loader.Checked = func(loaded *deployment.Loaded) (err error) {
		state.Put(loaded)
		bound, err = c.bind(loaded.Configured, state.TLSConfig())
		return err
	}
	loader.Keystore = func(cmd *cobra.Command, configured *config.Config) (keystore.Keystore, error) {
		return c.openKeystore(cmd, configured, observer)
	}
	loaded, err := loader.Load(cmd)
	if bound != nil {
		defer bound.close()
	}
	if errors.Is(err, terminal.ErrInterrupted) {
		return nil // stopped before it began
	}
	if err != nil {
		return err
	}
	c.warn(loaded, nil)
	happened := c.newTold(loaded.Configured, observer)
	engine, records, err := c.open(cmd.Context(), loaded, &state, observer, happened)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if err := c.readStore(cmd.Context(), deployment.WithoutMemory(records)); err != nil {
		return err
	}
	state.Policies.Log(c.log, nil)
	state.engine = engine
	if err := state.Policies.Record(cmd.Context(), engine); err != nil {
		return err
	}
	if snapshots := c.giveSnapshots(cmd.Context(), loaded.Configured.Store, deployment.WithoutMemory(records)); snapshots != nil {
		defer func() { _ = snapshots.Close() }()
	}
	c.memory = deployment.MemoryOf(records)
	limitMemory(loaded.Configured)
	defer c.followLogs(cmd.Context(), &state)()
	defer c.followKeys(cmd.Context(), state.keys)()
	stopTelling, err := c.tell(cmd.Context(), happened, loaded.Configured, records, observer, c.memory.Conflicts)
	if err != nil {
		return err
	}
	defer stopTelling()
	c.describe(cmd.Context(), observer, engine, &state)
	api := httpapi.NewServer(withConsole(loaded.Page, httpapi.New(engine, c.Options(loaded.Configured, observer))))
	api.TLSConfig = bound.tls
	bound.rpc.prepare(c, engine, loaded.Configured, observer, &state)
	admin := httpapi.NewServer(c.UnlessDraining(c.withState(engine, &state, happened.withEvents(c.withProfiles(httpapi.Admin(engine, observer.Handler()))))))
	return c.serve(cmd, bound, api, admin, reloads, &state, happened)
}

// serverGCPercent is the garbage collector's target of a server. Its live memory is a few
// megabytes, of which each request allocates a hundredth: at Go's default of 100 the
// collector runs dozens of times a second.
const serverGCPercent = 400

// warn logs likely mistakes in the configuration, except those that were logged before.
func (c *Command) warn(loaded *deployment.Loaded, before []string) {
	for _, warning := range loaded.Warnings {
		if slices.Contains(before, warning) {
			continue
		}
		c.log.Warn("configuration", "warning", console.CleanText(warning))
	}
}

// openKeystore opens the keystore of the server, which asks for its passphrase or PIN if
// no file has it.
func (c *Command) openKeystore(cmd *cobra.Command, configured *config.Config, observer *metrics.Metrics) (keystore.Keystore, error) {
	flags := deployment.KeystoreFlags{Organization: deployment.DefaultOrganization, Log: c.log, ObserveService: observer.ObserveService}
	flags.Use(configured)
	keys, err := flags.Open(cmd)
	if errors.Is(err, pkcs11.ErrPIN) {
		err = &console.LockedError{Cause: err}
	}
	return keys, err
}

// open opens the engine, which consults state at each request, and also returns
// its store.
func (c *Command) open(ctx context.Context, loaded *deployment.Loaded, state *Live, observer *metrics.Metrics, happened *told) (*countersign.Engine, store.Full, error) {
	loaded.Over = happened.over(loaded.Configured)
	return loaded.Engine(ctx, c.newStore, func(settings *countersign.Config) {
		settings.Logger, settings.Observer, settings.Names = c.log, happened.observer(observer), &state.InForce
		settings.Directory = rpcapi.Directory(&state.InForce, state.callers)
		state.keys = settings.Keystore
		watchKeys(observer, settings.Keystore)
		if loaded.Configured.Descriptors != nil {
			settings.Descriptors = &state.InForce
		}
		state.Policies, _ = settings.Policy.(*deployment.LoadedPolicies)
	})
}

// describe adds the build, the certificate and readiness to the metrics.
func (c *Command) describe(ctx context.Context, observer *metrics.Metrics, engine *countersign.Engine, state *Live) {
	observer.Describe(c.build.Version, c.build.Commit, c.build.Go, state.Expiry)
	observer.WatchReady(func() bool {
		ctx, cancel := context.WithTimeout(ctx, httpapi.ReadyTimeout)
		defer cancel()
		return engine.Ready(ctx) == nil && !c.allConflict(state)
	})
	observer.WatchConfiguration(state.OlderSince, state.failures.Load)
	observer.WatchLogs(func() int { return len(c.memory.Conflicts()) }, c.memory.Failures)
}

// watchKeys has the metrics count keys that are skipped or extractable. The
// keystore itself logs them.
func watchKeys(observer *metrics.Metrics, keys keystore.Keystore) {
	observer.WatchKeys(
		func() int {
			if skipper, ok := keys.(keystore.Skipper); ok {
				return len(skipper.Skipped())
			}
			return 0
		},
		func() int {
			if token, ok := keys.(deployment.Extractabler); ok {
				return len(token.Extractable())
			}
			return 0
		})
}

// adminConnections is how many connections the admin address has: probes and scrapes.
const adminConnections = 32

// serve serves until the context ends, then finishes the requests in flight.
func (c *Command) serve(cmd *cobra.Command, bound *addresses, api, admin *http.Server, reloads <-chan os.Signal, state *Live, happened *told) error {
	failed := make(chan error, 4)
	startServer(c, api, httpapi.LimitConnections(bound.api, state.Current.Load().Configured.Limits.Connections), failed)
	if bound.admin != nil {
		startServer(c, admin, httpapi.LimitConnections(bound.admin, adminConnections), failed)
	}
	bound.rpc.start(cmd.Context(), c, failed)
	c.logAddresses(bound)
	if err := console.PrintJSON(cmd.OutOrStdout(), struct {
		Listening string `json:"listening"`
	}{bound.api.Addr().String()}); err != nil {
		return err
	}
	go state.watchFile(cmd.Context())
	go c.followReloads(cmd, reloads, state, happened)
	defer state.settle()
	select {
	case err := <-failed:
		return errors.Join(err, c.shutDown(api, admin, bound.rpc))
	case <-cmd.Context().Done():
		c.Draining.Store(true)
		c.log.Info("shutting down, draining", "delay", c.drain.String())
		time.Sleep(c.drain)
		return c.shutDown(api, admin, bound.rpc)
	}
}

// followReloads reloads at each signal until the context ends. Policies can take long to read
// and to compile: nothing waits for a reload, and one that has not been put in force when the
// server is told to stop is abandoned.
func (c *Command) followReloads(cmd *cobra.Command, reloads <-chan os.Signal, state *Live, happened *told) {
	for {
		select {
		case <-reloads:
			c.reload(cmd, state, happened)
		case <-cmd.Context().Done():
			return
		}
	}
}

// startServer starts a server. Its end is sent to failed.
func startServer(c *Command, server *http.Server, listener net.Listener, failed chan<- error) {
	server.ErrorLog = log.New(ServerLog{c.log}, "", 0)
	go func() {
		if server.TLSConfig != nil {
			failed <- server.ServeTLS(listener, "", "")
			return
		}
		failed <- server.Serve(listener)
	}()
}

// reload re-reads the configuration and logs the result.
func (c *Command) reload(cmd *cobra.Command, state *Live, happened *told) {
	before := state.Current.Load()
	err := state.reload(cmd, c.configFile, func(needRestart []string) { c.reloaded(cmd, state, before, needRestart, happened) })
	if err != nil && cmd.Context().Err() == nil {
		c.log.Error("reload failed, keeping the old configuration", "cause", console.CleanText(err.Error()))
	}
}

// recordTimeout bounds how long a server that ends waits until a reload is recorded.
const recordTimeout = 10 * time.Second

// reloaded records and logs that the new configuration is in force, also if the server is told
// to end meanwhile: requests may have been decided by it.
func (c *Command) reloaded(cmd *cobra.Command, state *Live, before *deployment.Loaded, needRestart []string, happened *told) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), recordTimeout)
	defer cancel()
	c.warn(state.Current.Load(), before.Warnings)
	state.Policies.Log(c.log, before)
	if err := state.Policies.Record(ctx, state.engine); err != nil {
		c.log.Error("the policies are in force, but could not be recorded", "cause", console.CleanText(err.Error()))
	}
	happened.others.Reloaded(ctx)
	limitMemory(state.Current.Load().Configured)
	c.log.Info("reloaded", "organizations", len(state.Current.Load().Configured.Organizations))
	if len(needRestart) > 0 {
		c.log.Warn("some changes take effect only after a restart", "members", needRestart)
	}
}

// logAddresses logs the listen addresses and the build, so that the log shows when
// an upgrade took effect.
func (c *Command) logAddresses(bound *addresses) {
	if bound.admin != nil {
		c.log.Info("listening", "server", "admin", "address", bound.admin.Addr().String())
	}
	c.log.Info("listening", "server", "api", "address", bound.api.Addr().String(), "tls", bound.tls != nil, "version", c.build.Version, "commit", c.build.Commit)
}

// finishTimeout bounds the shutdown. It is longer than any request may take.
const finishTimeout = httpapi.ReadTimeout + httpapi.DefaultTimeout + 5*time.Second

// shutDown shuts down the API first: the health endpoints answer until the last
// request has finished.
func (c *Command) shutDown(api, admin *http.Server, rpc *rpcServer) error {
	ctx, cancel := context.WithTimeout(context.Background(), finishTimeout)
	defer cancel()
	if err := errors.Join(api.Shutdown(ctx), rpc.shutDown(ctx), admin.Close()); err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	return nil
}
