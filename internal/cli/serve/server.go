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
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/logmemory"
	"github.com/countersign-dev/countersign/internal/events"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
	"github.com/countersign-dev/countersign/metrics"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// Server is a server: its flags, and what is open while it runs.
type Server struct {
	flags
	log      *slog.Logger
	build    console.VersionLine
	observer *metrics.Metrics

	current  Live // what a reload changes
	bound    *addresses
	notifier notifier
	engine   *countersign.Engine
	keys     keystore.Keystore // of the engine
	records  store.Full        // of the engine
	memory   *logmemory.Keeper // nil without a log
	Draining atomic.Bool

	ends []func() error // of what has been started, in this order
}

func (s *Server) loaded() *deployment.Loaded { return s.current.Current.Load() }

// open opens what the configuration names, binds the addresses, and opens the engine.
func (s *Server) open(cmd *cobra.Command) error {
	s.log = slog.New(request.QuietStrangers(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: s.level})))
	info, _ := debug.ReadBuildInfo()
	s.build, s.observer = console.VersionOf(info), metrics.New()
	loader := s.loader()
	s.current.Loader = loader
	s.current.Loader.NewStore = false
	// Bind before asking for the passphrase: it is pointless to type it if an address is in use.
	loader.Checked = func(loaded *deployment.Loaded) error {
		s.current.Put(loaded)
		s.bound = &addresses{tls: s.current.TLSConfig()}
		s.ends = append(s.ends, s.bound.close)
		return s.bound.bind(s.at, loaded.Configured, s.log)
	}
	loader.Keystore = s.openKeystore
	loaded, err := loader.Load(cmd)
	if err != nil {
		return err
	}
	s.warn(loaded, nil)
	if err := s.openEngine(cmd.Context(), loaded); err != nil {
		return err
	}
	if file, ok := deployment.WithoutMemory(s.records).(*bolt.Store); ok && s.checkStore {
		if err := file.Check(cmd.Context()); err != nil {
			return err
		}
	}
	s.current.Policies.Log(s.log, nil)
	return s.current.Policies.Record(cmd.Context(), s.engine)
}

// warn logs likely mistakes in the configuration, except those that were logged before.
func (s *Server) warn(loaded *deployment.Loaded, before []string) {
	for _, warning := range loaded.Warnings {
		if slices.Contains(before, warning) {
			continue
		}
		s.log.Warn("configuration", "warning", console.CleanText(warning))
	}
}

// openKeystore opens the keystore of the server, which asks for its passphrase or PIN if
// no file has it.
func (s *Server) openKeystore(cmd *cobra.Command, configured *config.Config) (keystore.Keystore, error) {
	flags := deployment.KeystoreFlags{
		Organization: deployment.DefaultOrganization, Log: s.log, ObserveService: s.observer.ObserveService,
	}
	flags.Use(configured)
	keys, err := flags.Open(cmd)
	if errors.Is(err, pkcs11.ErrPIN) {
		err = &console.LockedError{Cause: err}
	}
	return keys, err
}

// openEngine opens the store, and the engine, which asks what is in force at each request.
func (s *Server) openEngine(ctx context.Context, loaded *deployment.Loaded) (err error) {
	var observer countersign.Observer = s.observer
	if configured := loaded.Configured.Events; configured != nil {
		others := &events.Others{Types: configured.Wanted(), Logger: s.log, Now: time.Now, Next: s.observer}
		s.notifier, observer = notifier{ring: new(events.Ring), others: others}, others
		loaded.Over = func(opened store.Full) store.Full {
			through := &events.Store{Full: opened, Ring: s.notifier.ring, Keep: configured.Delivered()}
			others.Outbox = through
			return through
		}
	}
	s.engine, s.records, err = loaded.Engine(ctx, s.newStore, func(settings *countersign.Config) {
		settings.Logger, settings.Observer, settings.Names = s.log, observer, &s.current.InForce
		settings.Directory = rpcapi.Directory(&s.current.InForce, s.current.callers)
		s.keys = settings.Keystore
		if loaded.Configured.Descriptors != nil {
			settings.Descriptors = &s.current.InForce
		}
		s.current.Policies, _ = settings.Policy.(*deployment.LoadedPolicies)
	})
	if err != nil {
		return err
	}
	s.ends = append(s.ends, s.engine.Close)
	s.current.Assign = func(ctx context.Context, old, next *deployment.Loaded) error {
		return s.current.Policies.Assign(ctx, s.records, loaded.Configured, old, next)
	}
	s.memory = deployment.MemoryOf(s.records)
	return nil
}

// follow starts what runs beside the requests, and what the metrics watch.
func (s *Server) follow(ctx context.Context) error {
	s.giveSnapshots(ctx)
	limitMemory(s.loaded().Configured)
	if s.memory != nil {
		// While there was a conflict, the policy could not be logged.
		s.memory.Accepted = func(ctx context.Context, organization string) {
			if err := s.current.Policies.RecordOne(ctx, s.engine, organization); err != nil {
				s.log.Error("the policy is in force, but could not be recorded",
					"organization", organization, "cause", err)
			}
		}
		s.background(ctx, s.memory.Run)
	}
	s.followKeys(ctx)
	if err := s.notify(ctx); err != nil {
		return err
	}
	s.observer.Watch(func() metrics.State { return s.state(ctx) })
	return nil
}

// followKeys takes in what other processes change in the keystore, until close: a server without
// requests does not look up a key, and would keep the secret of one that was deleted or disabled.
func (s *Server) followKeys(ctx context.Context) {
	changing, ok := s.keys.(keystore.Refresher)
	if !ok {
		return
	}
	s.background(ctx, func(ctx context.Context) {
		for sleep(ctx, keystore.RefreshInterval); ctx.Err() == nil; sleep(ctx, keystore.RefreshInterval) {
			if err := changing.Refresh(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("changes of the keystore cannot be read", "cause", err)
			}
		}
	})
}

func (s *Server) state(ctx context.Context) metrics.State {
	ctx, cancel := context.WithTimeout(ctx, httpapi.ReadyTimeout)
	defer cancel()
	_, all := s.conflicts()
	state := metrics.State{
		Version: s.build.Version, Commit: s.build.Commit, Go: s.build.Go, CertificateExpiry: s.current.Expiry(),
		Ready: s.engine.Ready(ctx) == nil && !all, OlderSince: s.current.OlderSince(),
		ReloadFailures: s.current.failures.Load(),
		LogConflicts:   len(s.memory.Conflicts()), Halted: len(s.memory.Halted()), LogMemoryFailures: s.memory.Failures(),
		Events: metrics.Events(s.notifier.sender.Stats()),
	}
	if skipper, ok := s.keys.(keystore.Skipper); ok { // which logs them itself
		state.SkippedKeys = len(skipper.Skipped())
	}
	if token, ok := s.keys.(deployment.Extractabler); ok {
		state.ExtractableKeys = len(token.Extractable())
	}
	return state
}

// background runs functions until close, which cancels their context and waits for them.
func (s *Server) background(ctx context.Context, run ...func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, one := range run {
		running.Go(func() { one(ctx) })
	}
	s.ends = append(s.ends, func() error {
		cancel()
		running.Wait()
		return nil
	})
}

// close ends what was started, the last first.
func (s *Server) close() (err error) {
	for _, end := range slices.Backward(s.ends) {
		err = errors.Join(err, end())
	}
	return err
}

// adminConnections is how many connections the admin address has: probes and scrapes.
const adminConnections = 32

// serve serves until the context ends, then finishes the requests in flight.
func (s *Server) serve(cmd *cobra.Command, reloads <-chan os.Signal) error {
	loaded := s.loaded()
	api := httpapi.NewServer(withConsole(loaded.Page, httpapi.New(s.engine, s.Options(loaded.Configured))))
	api.TLSConfig = s.bound.tls
	admin := httpapi.NewServer(s.adminPages())
	failed := make(chan error, 4)
	s.start(api, httpapi.LimitConnections(s.bound.api, loaded.Configured.Limits.Connections), failed)
	if s.bound.admin != nil {
		s.start(admin, httpapi.LimitConnections(s.bound.admin, adminConnections), failed)
	}
	s.bound.rpc.prepare(s, loaded.Configured)
	s.bound.rpc.start(cmd.Context(), s, failed)
	if s.bound.admin != nil {
		s.log.Info("listening", "server", "admin", "address", s.bound.admin.Addr().String())
	}
	s.log.Info("listening", "server", "api", "address", s.bound.api.Addr().String(), "tls", s.bound.tls != nil,
		"version", s.build.Version, "commit", s.build.Commit) // which shows when an upgrade took effect
	if err := console.PrintJSON(cmd.OutOrStdout(), struct {
		Listening string `json:"listening"`
	}{s.bound.api.Addr().String()}); err != nil {
		return err
	}
	go s.current.watchFile(cmd.Context())
	go s.followReloads(cmd, reloads)
	defer s.current.settle()
	select {
	case err := <-failed:
		return errors.Join(err, s.shutDown(api, admin))
	case <-cmd.Context().Done():
		s.Draining.Store(true)
		s.log.Info("shutting down, draining", "delay", s.drain.String())
		time.Sleep(s.drain)
		return s.shutDown(api, admin)
	}
}

// start starts an HTTP server. Its end is sent to failed.
func (s *Server) start(server *http.Server, listener net.Listener, failed chan<- error) {
	server.ErrorLog = log.New(ServerLog{s.log}, "", 0)
	go func() {
		if server.TLSConfig != nil {
			failed <- server.ServeTLS(listener, "", "")
			return
		}
		failed <- server.Serve(listener)
	}()
}

// followReloads reloads at each signal until the context ends. Policies can take long to read
// and to compile: nothing waits for a reload, and one that has not been put in force when the
// server is told to stop is abandoned.
func (s *Server) followReloads(cmd *cobra.Command, reloads <-chan os.Signal) {
	for {
		select {
		case <-reloads:
			before := s.loaded()
			err := s.current.Reload(cmd, s.configFile, func(needRestart []string) {
				s.reloaded(cmd, before, needRestart)
			})
			if err != nil && cmd.Context().Err() == nil {
				s.log.Error("reload failed, keeping the old configuration", "cause", console.CleanText(err.Error()))
			}
		case <-cmd.Context().Done():
			return
		}
	}
}

// recordTimeout bounds how long a server that ends waits until a reload is recorded.
const recordTimeout = 10 * time.Second

// reloaded records and logs that the new configuration is in force, also if the server is told
// to end meanwhile: requests may have been decided by it.
func (s *Server) reloaded(cmd *cobra.Command, before *deployment.Loaded, needRestart []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), recordTimeout)
	defer cancel()
	next := s.loaded()
	s.warn(next, before.Warnings)
	s.current.Policies.Log(s.log, before)
	if err := s.current.Policies.Record(ctx, s.engine); err != nil {
		s.log.Error("the policies are in force, but could not be recorded", "cause", console.CleanText(err.Error()))
	}
	s.notifier.others.Reloaded(ctx)
	limitMemory(next.Configured)
	s.log.Info("reloaded", "organizations", len(next.Configured.Organizations))
	if len(needRestart) > 0 {
		s.log.Warn("some changes take effect only after a restart", "members", needRestart)
	}
}

// finishTimeout bounds the shutdown. It is longer than any request may take.
const finishTimeout = httpapi.ReadTimeout + httpapi.DefaultTimeout + 5*time.Second

// shutDown shuts down the API first: the health endpoints answer until the last
// request has finished.
func (s *Server) shutDown(api, admin *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), finishTimeout)
	defer cancel()
	if err := errors.Join(api.Shutdown(ctx), s.bound.rpc.shutDown(ctx), admin.Close()); err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	return nil
}

// notifier tells about events. All of it is nil without a configuration.
type notifier struct {
	ring   *events.Ring
	others *events.Others
	sender *events.Sender
}

// notify delivers events until close.
func (s *Server) notify(ctx context.Context) (err error) {
	n := &s.notifier
	if n.sender, err = deployment.OpenEvents(ctx, s.loaded().Configured.Events, s.records, s.log); err != nil {
		return err
	}
	var running []func(context.Context)
	if n.others != nil {
		n.others.Conflict = s.memory.Conflicts
		running = append(running, n.others.Run)
	}
	if n.sender != nil {
		running = append(running, n.sender.Run)
	}
	s.background(ctx, running...)
	return nil
}
