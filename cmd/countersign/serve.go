package main

import (
	"bytes"
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
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
	"github.com/countersign-dev/countersign/metrics"
	"github.com/countersign-dev/countersign/store"
)

// serveCommand is one call of serve.
type serveCommand struct {
	configFile string
	listen     string
	admin      string
	plaintext  bool
	leaveOut   bool
	retryPIN   bool
	level      slog.Level
	check      bool
	drain      time.Duration
	draining   atomic.Bool
	log        *slog.Logger
}

func newServeCommand() *cobra.Command {
	var c serveCommand
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API",
		Long: paragraphs(`
Serve the HTTP API as the configuration says. When it is ready it prints

  {"listening":"HOST:PORT"}

and it logs, one JSON object a line, to standard error. On SIGTERM or an
interrupt /readyz answers 503 for --drain-delay; then it stops accepting requests,
finishes those in flight and exits. A second signal exits at once. On SIGHUP it
re-reads organizations, users, credentials and the TLS certificate, all or
nothing: on an error it logs that and goes on with the old ones. --check checks
them, and the policies, without serving.

The admin address serves /healthz (200 while the process is there), /readyz (200
while a request could be carried out) and /metrics (Prometheus). If --listen moves the API, and the configuration's admin address is
taken, a free port is used for it, and logged.

If the HSM refuses the PIN, the exit status is 77: restarting it would use up the
tries that the HSM grants, and lock it. The systemd unit does not restart it then.

Without TLS it listens on loopback addresses only, unless
--plaintext-beyond-loopback says otherwise: a stamp keeps a request from being
altered, and nothing keeps it, or the answer, from being read.`),
		Example: "  countersign serve --config countersign.yaml",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	flags := command.Flags()
	flags.StringVar(&c.configFile, "config", "", "`FILE` to serve by: countersign.yaml, as init makes it")
	flags.StringVar(&c.listen, "listen", "", "`HOST:PORT` to serve at, instead of the one of the configuration; port 0 picks a free one")
	flags.StringVar(&c.admin, "admin", "", "`HOST:PORT` of the admin address, instead of the one of the configuration; none for none")
	flags.BoolVar(&c.plaintext, "plaintext-beyond-loopback", false, "serve beyond loopback without TLS, readable by anyone on the way")
	flags.BoolVar(&c.leaveOut, "leave-out-bad-files", false, "go on without key files that cannot be trusted, instead of not starting")
	flags.BoolVar(&c.check, "check", false, "check the configuration and exit")
	flags.DurationVar(&c.drain, "drain-delay", 0, "`TIME` between /readyz turning 503 and the end of listening, for load balancers to notice")
	registerRetryPIN(command, &c.retryPIN)
	flags.TextVar(&c.level, "log-level", slog.LevelInfo, "`LEVEL` from which on is logged: debug, info (each request), warn, error")
	return command
}

func (c *serveCommand) run(cmd *cobra.Command) (err error) {
	if c.configFile == "" {
		return usagef("--config is missing: 'countersign init DIR' makes one")
	}
	configured, err := config.Read(c.configFile)
	if err != nil {
		return err
	}
	current, err := newSnapshot(configured)
	if err != nil {
		return err
	}
	page, err := newConsole(configured)
	if err != nil {
		return err
	}
	if c.check {
		return c.report(cmd, configured)
	}
	reloads := make(chan os.Signal, 1)
	signal.Notify(reloads, syscall.SIGHUP) // from here on SIGHUP does not kill
	defer signal.Stop(reloads)
	var changing live
	changing.current.Store(current)
	c.log = slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: c.level}))
	seen := metrics.New()
	// The addresses first: they cost nothing, and who must not listen there
	// need not type a passphrase.
	at, err := c.bind(configured, changing.tlsConfig())
	if err != nil {
		return err
	}
	defer at.close()
	engine, kept, err := c.open(cmd, configured, &changing, seen)
	if errors.Is(err, terminal.ErrInterrupted) {
		return nil // told to stop before it began: nothing is under way
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	changing.policies.log(c.log)
	changing.engine = engine
	if err := changing.policies.record(cmd.Context(), engine); err != nil {
		return err
	}
	if snapshots := c.giveSnapshots(cmd.Context(), configured.Store, kept); snapshots != nil {
		defer func() { _ = snapshots.Close() }()
	}
	api := httpapi.NewServer(withConsole(page, httpapi.New(engine, c.options(configured, seen))))
	api.TLSConfig = at.tls
	info, _ := debug.ReadBuildInfo()
	build := versionOf(info)
	seen.Describe(build.Version, build.Commit, build.Go, changing.expiry)
	seen.WatchReady(func() bool {
		ctx, cancel := context.WithTimeout(cmd.Context(), httpapi.ReadyTimeout)
		defer cancel()
		return engine.Ready(ctx) == nil
	})
	admin := httpapi.NewServer(c.unlessDraining(httpapi.Admin(engine, seen.Handler())))
	return c.serve(cmd, at, api, admin, reloads, &changing)
}

// report is what --check prints of a configuration with which serve would start.
func (c *serveCommand) report(cmd *cobra.Command, configured *config.Config) error {
	if err := checkPolicies(configured); err != nil {
		return err
	}
	return printJSON(cmd.OutOrStdout(), struct {
		Config        string `json:"config"`
		Organizations int    `json:"organizations"`
	}{configured.Path, len(configured.Organizations)})
}

// open opens the engine, which asks what is current at each request, and returns its
// store too.
func (c *serveCommand) open(cmd *cobra.Command, configured *config.Config, changing *live, seen *metrics.Metrics) (engine *countersign.Engine, kept store.Store, err error) {
	keys := keystoreFlags{organization: defaultOrganization, leaveOutBadFiles: c.leaveOut, retryPIN: c.retryPIN, log: c.log}
	keys.use(configured)
	engine, err = openEngine(cmd, &keys, func(made *countersign.Config) {
		made.Logger, made.Observer, made.Directory, made.Names = c.log, seen, changing, changing
		watchKeys(seen, made.Keystore)
		if configured.Descriptors != nil {
			made.Descriptors = changing
		}
		changing.policies, _ = made.Policy.(*loadedPolicies)
	}, func(opened store.Store) { kept = opened })
	if errors.Is(err, pkcs11.ErrPIN) {
		err = &lockedError{err}
	}
	return engine, kept, err
}

// options are those of the API's handler.
func (c *serveCommand) options(configured *config.Config, seen *metrics.Metrics) httpapi.Options {
	return httpapi.Options{
		MaxBufferedBytes: configured.Limits.RequestBytes,
		MaxAnswerBytes:   configured.Limits.AnswerBytes,
		Origins:          configured.Origins,
		Logger:           c.log,
		Observer:         seen,
	}
}

// watchKeys has the metrics count keys that are not used, or not as safe as they
// should be. The keystore itself logs them.
func watchKeys(seen *metrics.Metrics, keys keystore.Keystore) {
	seen.WatchKeys(
		func() int {
			if skipper, ok := keys.(keystore.Skipper); ok {
				return len(skipper.Skipped())
			}
			return 0
		},
		func() int {
			if token, ok := keys.(extractabler); ok {
				return len(token.Extractable())
			}
			return 0
		})
}

// serve serves until the context ends, and then finishes the requests in flight.
func (c *serveCommand) serve(cmd *cobra.Command, at *addresses, api, admin *http.Server, reloads <-chan os.Signal, changing *live) error {
	failed := make(chan error, 2)
	start := func(server *http.Server, on net.Listener) {
		server.ErrorLog = log.New(serverLog{c.log}, "", 0)
		go func() {
			if server.TLSConfig != nil {
				failed <- server.ServeTLS(on, "", "")
				return
			}
			failed <- server.Serve(on)
		}()
	}
	start(api, httpapi.LimitConnections(at.api, changing.current.Load().configured.Limits.Connections))
	if at.admin != nil {
		start(admin, at.admin)
	}
	c.logAddresses(at)
	if err := printJSON(cmd.OutOrStdout(), struct {
		Listening string `json:"listening"`
	}{at.api.Addr().String()}); err != nil {
		return err
	}
	for {
		select {
		case err := <-failed:
			return errors.Join(err, c.shutDown(api, admin))
		case <-reloads:
			c.reload(cmd.Context(), changing)
		case <-cmd.Context().Done():
			c.draining.Store(true)
			c.log.Info("shutting down, draining", "delay", c.drain.String())
			time.Sleep(c.drain)
			return c.shutDown(api, admin)
		}
	}
}

// reload re-reads the configuration and logs what came of it.
func (c *serveCommand) reload(ctx context.Context, changing *live) {
	needRestart, err := changing.reload(ctx, c.configFile)
	if err != nil {
		c.log.Error("reload refused, the old configuration stays", "cause", shown(err))
		return
	}
	changing.policies.log(c.log)
	if err := changing.policies.record(ctx, changing.engine); err != nil {
		c.log.Error("the policies are in force, and not in the log", "cause", shown(err))
	}
	c.log.Info("reloaded", "organizations", len(changing.current.Load().configured.Organizations))
	if len(needRestart) > 0 {
		c.log.Warn("some changes take effect at the next start only", "members", needRestart)
	}
}

// unlessDraining answers /readyz with 503 while the server drains.
func (c *serveCommand) unlessDraining(admin http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" && c.draining.Load() {
			http.Error(w, `{"status":"draining"}`, http.StatusServiceUnavailable)
			return
		}
		admin.ServeHTTP(w, r)
	})
}

// serverLog logs what a server complains about: that it cannot accept
// connections as a warning, broken handshakes and the like, which strangers
// cause, for debugging only.
type serverLog struct{ *slog.Logger }

// Write implements io.Writer.
func (l serverLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.Contains(line, []byte("Accept error")) {
		level = slog.LevelWarn
	}
	l.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}

// logAddresses logs the addresses that it listens at, and the build: after an upgrade
// the log says from when on.
func (c *serveCommand) logAddresses(at *addresses) {
	if at.admin != nil {
		c.log.Info("listening", "server", "admin", "address", at.admin.Addr().String())
	}
	info, _ := debug.ReadBuildInfo()
	build := versionOf(info)
	c.log.Info("listening", "server", "api", "address", at.api.Addr().String(), "tls", at.tls != nil, "version", build.Version, "commit", build.Commit)
}

// finishTimeout is how long requests that are under way may take at shutdown:
// longer than any of them may take anyway.
const finishTimeout = httpapi.ReadTimeout + httpapi.DefaultTimeout + 5*time.Second

// shutDown ends the API first: health is told until the last request is done.
func (c *serveCommand) shutDown(api, admin *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), finishTimeout)
	defer cancel()
	if err := errors.Join(api.Shutdown(ctx), admin.Close()); err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	return nil
}
