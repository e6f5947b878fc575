package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/postgres"
)

// A server is this test binary, run with serverEnv set to a spec: in its own process, so
// that its memory and processor time are separate from those of the clients.
//
//	server → stdout   its URL, one line
//	stdin → server    nothing; closing it ends the server
//	server → stdout   its report, in JSON
const serverEnv = "COUNTERSIGN_BENCH_SERVER"

// serveBare is the Store of the bare handler, which has none.
const serveBare = "bare"

// spec describes a server.
type spec struct {
	Store     string   // memory, bolt, postgres, or serveBare
	At        string   // the file or the DSN
	PublicKey string   // the API key that may send requests, in hex
	Tenants   []string // instead of it, the API keys of as many organizations
	Keys      int      // of each of those
	Shipped   bool     // with what serve does by default
	Rules     bool     // and with a policy
	Lists     bool     // of requests with lists of transactions
	Second    string   // the DSN of a database with every other organization
}

// serverReport is what a server says about itself as it ends.
type serverReport struct {
	PeakRSS            int           // bytes
	Heap               int           // live bytes
	Allocated, Objects uint64        // since it started
	CPU                time.Duration // processor time since it started
	Completed, Commits uint64
}

func TestMain(m *testing.M) {
	text := os.Getenv(serverEnv)
	if text == "" {
		os.Exit(m.Run())
	}
	if err := serve(text); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func serve(text string) error {
	var s spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	debug.SetGCPercent(400) // as countersign serve does
	handler, backend, err := s.handler()
	if err != nil {
		return err
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpapi.NewServer(handler)
	server.Start()
	fmt.Println(server.URL + s.path())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	server.Close()
	ending := serverReport{PeakRSS: peakRSS(), CPU: testenv.ProcessorTime(os.Getpid())}
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	ending.Heap, ending.Allocated, ending.Objects = int(stats.HeapAlloc), stats.TotalAlloc, stats.Mallocs
	if file, ok := backend.(*bolt.Store); ok {
		written := file.Stats()
		ending.Completed, ending.Commits = written.Completed, written.Commits
	}
	return json.NewEncoder(os.Stdout).Encode(ending)
}

// path returns the path of requests to sign.
func (s *spec) path() string {
	if s.Store == serveRPC || s.Store == serveRPCBare {
		return "/"
	}
	if s.Lists {
		return "/public/v1/submit/countersign_sign_transactions"
	}
	return "/public/v1/submit/sign_transaction"
}

func (s *spec) handler() (http.Handler, store.Store, error) {
	if s.Store == serveBare {
		handler, err := newBare(s.PublicKey)
		return handler, nil, err
	}
	switch s.Store {
	case serveRPC:
		handler, err := newRPC(s.PublicKey)
		return handler, nil, err
	case serveRPCBare:
		handler, err := newRPCBare()
		return handler, nil, err
	}
	backend, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	var shipped error
	engine, err := tenantsEngine(s.tenants(), backend, func(c *countersign.Config) { shipped = s.ship(c) })
	if err = errors.Join(err, shipped); err != nil {
		return nil, nil, err
	}
	return httpapi.New(engine, httpapi.Options{}), backend, nil
}

func (s *spec) open() (store.Store, error) {
	switch s.Store {
	case "memory":
		return memory.New(1 << 30), nil // room for an open loop
	case "bolt":
		return bolt.Open(s.At)
	case "postgres":
		first, err := postgres.Open(context.Background(), s.At)
		if err != nil || s.Second == "" {
			return first, err
		}
		second, err := postgres.Open(context.Background(), s.Second)
		if err != nil {
			return nil, err
		}
		table := map[string]string{}
		for i := range s.Tenants {
			table[tenantID(i)] = []string{"", "second"}[i%2]
		}
		return store.NewSharded(context.Background(), map[string]store.Full{"": first, "second": second}, table)
	}
	return nil, fmt.Errorf("no store %q: memory, bolt, postgres or bare", s.Store)
}

// peakRSS returns the peak memory of this process in bytes, or 0 if /proc does not say.
func peakRSS() int {
	text, _ := os.ReadFile("/proc/self/status")
	_, line, _ := strings.Cut(string(text), "VmHWM:")
	var kilobytes int
	_, _ = fmt.Sscan(line, &kilobytes)
	return kilobytes << 10
}

// server is a running server process.
type server struct {
	b      *testing.B
	pid    int
	url    string
	stdin  io.Closer
	stdout *bufio.Reader
	wait   func() error
}

func startServer(b *testing.B, s spec) *server {
	b.Helper()
	return startServerOf(b, os.Args[0], s)
}

// startServerOf starts a server from a test binary of this package, of this commit or
// another.
func startServerOf(b *testing.B, binary string, s spec) *server {
	b.Helper()
	text := testenv.Encode(b, s)
	command := exec.CommandContext(b.Context(), binary)
	command.Env = append(os.Environ(), serverEnv+"="+string(text))
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	testenv.Must(b, err)
	stdout, err := command.StdoutPipe()
	testenv.Must(b, err)
	testenv.Must(b, command.Start())
	running := &server{b: b, pid: command.Process.Pid, stdin: stdin, stdout: bufio.NewReader(stdout), wait: command.Wait}
	line, err := running.stdout.ReadString('\n')
	if err != nil {
		b.Fatalf("the server over %s does not start: %v", s.Store, err)
	}
	running.url = strings.TrimSpace(line)
	return running
}

// stop ends the server and returns its report.
func (s *server) stop() (ending serverReport) {
	s.b.Helper()
	_ = s.stdin.Close()
	testenv.Must(s.b, json.NewDecoder(s.stdout).Decode(&ending))
	testenv.Must(s.b, s.wait())
	return ending
}
