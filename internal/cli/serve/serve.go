package serve

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/rpcapi"
)

type flags struct {
	configFile string
	at         deployment.Addresses
	level      slog.Level
	check      bool
	newStore   bool
	checkStore bool
	profile    bool
	drain      time.Duration
}

// NewCommand returns the command serve.
func NewCommand() *cobra.Command {
	s := Server{flags: flags{at: deployment.Addresses{Serve: true}}}
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
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	flags := command.Flags()
	flags.StringVar(&s.configFile, "config", "", "configuration `FILE`: countersign.yaml, as init writes it")
	flags.StringVar(&s.at.Listen, "listen", "", "`HOST:PORT` to listen on instead of the configured one; port 0 picks a free port")
	flags.StringVar(&s.at.Admin, "admin", "", "`HOST:PORT` of the admin address instead of the configured one; none disables it")
	flags.BoolVar(&s.at.Plaintext, "plaintext-beyond-loopback", false, "serve beyond loopback without TLS, readable by anyone on the way")
	flags.BoolVar(&s.check, "check", false, "check the configuration and exit")
	flags.BoolVar(&s.newStore, "new-store", false, "create the store, once, for a deployment that has never answered a request")
	flags.BoolVar(&s.checkStore, "check-store", false, "read the whole bolt file before serving, also one above 1 GiB")
	flags.BoolVar(&s.profile, "pprof", false, "also serve Go's profiles under /debug/pprof/ of the admin address")
	flags.DurationVar(&s.drain, "drain-delay", 0, "`TIME` for which /readyz answers 503 before the server stops accepting requests")
	flags.TextVar(&s.level, "log-level", slog.LevelInfo, "lowest `LEVEL` to log: debug, info (each request), warn, error")
	console.Require(command, "config", "'countersign init DIR' writes a configuration")
	return command
}

func (s *Server) run(cmd *cobra.Command) (err error) {
	if s.profile && s.at.Admin == "none" {
		return console.Usagef("--pprof needs an admin address")
	}
	if s.check {
		return s.report(cmd)
	}
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(serverGCPercent)
	}
	reloads := make(chan os.Signal, 1)
	signal.Notify(reloads, syscall.SIGHUP) // from here on SIGHUP does not kill
	defer signal.Stop(reloads)
	defer func() { err = errors.Join(err, s.close()) }()
	err = s.open(cmd)
	if err == nil {
		err = s.follow(cmd.Context())
	}
	if errors.Is(err, terminal.ErrInterrupted) {
		return nil // stopped before it began
	}
	if err != nil {
		return err
	}
	return s.serve(cmd, reloads)
}

func (s *Server) loader() deployment.Loader {
	return deployment.Loader{Path: s.configFile, NewStore: s.newStore, Addresses: s.at.Check}
}

type checked struct {
	Config        string   `json:"config"`
	Organizations int      `json:"organizations"`
	Warnings      int      `json:"warnings"`
	StoreCreated  bool     `json:"storeCreated,omitempty"`
	NotDone       []string `json:"notDone"`
	NotAsked      []string `json:"notAsked,omitempty"` // URIs of keys in key services
}

// report prints the result of --check for a configuration that serve would start with.
func (s *Server) report(cmd *cobra.Command) error {
	loaded, err := s.loader().Load(cmd)
	if err != nil {
		return err
	}
	loaded.Discard()
	for _, warning := range loaded.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", console.CleanText(warning))
	}
	if s.newStore {
		created, err := deployment.CreateStore(cmd.Context(), loaded.Configured)
		if err != nil {
			return err
		}
		if err := created.Close(); err != nil {
			return err
		}
	}
	if len(loaded.NotAsked) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(),
			"Not asked: the key services of %d keys. 'countersign keys check' has each key sign.\n", len(loaded.NotAsked))
	}
	notDone := append([]string{"open the store", "listen"}, loaded.NotDone...)
	if s.newStore {
		notDone = notDone[1:]
	}
	return console.PrintJSON(cmd.OutOrStdout(), checked{loaded.Configured.Path, len(loaded.Configured.Organizations),
		len(loaded.Warnings), s.newStore, notDone, loaded.NotAsked})
}

// serverGCPercent is the garbage collector's target of a server. Its live memory is a few
// megabytes, of which each request allocates a hundredth: at Go's default of 100 the
// collector runs dozens of times a second. The environment variable GOGC takes precedence.
const serverGCPercent = 400

// memoryMargin is what a server may use beyond what is live after its start and the budgets of
// its clients: the collector needs room, and connections have buffers.
const memoryMargin = 48 << 20

// limitMemory limits the memory of the process to what it needs: what is live, the budgets of
// all doors, which no other door uses up, and a margin. Without a limit the heap would grow to five
// times of what is live. The environment variable GOMEMLIMIT takes precedence.
func limitMemory(configured *config.Config) {
	if _, set := os.LookupEnv("GOMEMLIMIT"); set {
		return
	}
	runtime.GC()
	var live runtime.MemStats
	runtime.ReadMemStats(&live)
	requests := cmp.Or(configured.Limits.RequestBytes, httpapi.DefaultMaxBufferedBytes)
	answers := cmp.Or(configured.Limits.AnswerBytes, httpapi.DefaultMaxAnswerBytes)
	if configured.RPC != nil {
		requests += rpcapi.DefaultMaxBufferedBytes
	}
	debug.SetMemoryLimit(int64(live.HeapAlloc) + int64(requests) + int64(answers) + memoryMargin)
}
