package serve

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/rpcapi"
)

// socketIn makes a socket that nothing accepts on, with a queue of some connections.
func socketIn(t *testing.T, path string, queue int) (closeIt func()) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	testenv.Must(t, err)
	testenv.Must(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}))
	testenv.Must(t, syscall.Listen(fd, queue))
	return func() { _ = syscall.Close(fd) }
}

// TestSocketPlace puts things where the socket belongs: only a socket that no process listens
// on is replaced.
func TestSocketPlace(t *testing.T) {
	places := map[string]func(path string){
		"exists and is no socket":       func(path string) { _ = os.WriteFile(path, []byte("x"), 0o600) },
		"is no socket: remove it":       func(path string) { _ = os.Mkdir(path, 0o700) },
		"another process listens there": func(path string) { t.Cleanup(socketIn(t, path, 8)) },
		"another process may listen there": func(path string) { // its queue is full
			t.Cleanup(socketIn(t, path, 0))
			for {
				fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
				testenv.Must(t, err)
				t.Cleanup(func() { _ = syscall.Close(fd) })
				if syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) != nil {
					return
				}
			}
		},
		"or choose another path": func(path string) { // a link to a stale socket
			socketIn(t, path+"2", 1)()
			_ = os.Symlink(path+"2", path)
		},
		"":       func(path string) { socketIn(t, path, 1)() }, // stale
		"folder": func(path string) { _ = os.Remove(filepath.Dir(path)) },
	}
	for problem, prepare := range places {
		path := filepath.Join(t.TempDir(), "s")
		prepare(path)
		before, _ := os.Lstat(path)
		listener, _, err := listenSocket(path)
		if problem == "" {
			if err != nil {
				t.Errorf("a stale socket: %v", err)
				continue
			}
			if made, err := os.Lstat(path); err != nil || made.Mode().Perm() != socketMode {
				t.Errorf("%v, %v", made, err)
			}
			_ = listener.Close()
			continue
		}
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", problem, err)
		}
		if after, _ := os.Lstat(path); before != nil && !os.SameFile(before, after) {
			t.Errorf("%s: it was replaced", problem)
		}
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("l", 108))
	if _, _, err := listenSocket(long); err == nil || !strings.Contains(err.Error(), "at most 107: choose a shorter one") {
		t.Errorf("a long path: %v", err)
	}
}

// TestSocketShutdown checks that the socket serves while the server drains, that its requests
// are finished before the server ends, within the time it has, and that it removes its own
// file only.
func TestSocketShutdown(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	f := enginetest.New(t)
	var asked atomic.Int32
	uid := uint32(os.Getuid())
	users, err := rpcapi.NewUsers([]rpcapi.User{{OrganizationID: enginetest.Organization, UserID: "user-1", UID: &uid}}, nil)
	testenv.Must(t, err)
	path := filepath.Join(t.TempDir(), "s")
	b := &rpcServer{path: path, http: httpapi.NewServer(nil), handler: rpcapi.New(f.Engine, rpcapi.Options{
		Directory: f.Config.Directory.(access.Users), Keystore: f.Signing,
		Users: func() *rpcapi.Users {
			if asked.Add(1) == 4 { // for the bound of each body, and for its call
				close(entered)
				<-leave
			}
			return users
		},
	})}
	if b.socket, b.file, err = listenSocket(path); err != nil {
		t.Fatal(err)
	}
	draining, cancel := context.WithCancel(t.Context())
	cancel()
	b.start(draining, &Server{log: slog.New(slog.DiscardHandler)}, make(chan error, 1))
	client, err := net.Dial("unix", path)
	testenv.Must(t, err)
	defer client.Close()
	const health = `{"jsonrpc":"2.0","id":1,"method":"health_status"}`
	_, _ = io.WriteString(client, health)
	answers := bufio.NewReader(client)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, `"ok"`) {
		t.Fatalf("while the server drains: %s, %v", line, err)
	}
	_, _ = io.WriteString(client, health)
	<-entered
	testenv.Must(t, os.Rename(path, path+"-old"))
	other, _, err := listenSocket(path)
	testenv.Must(t, err)
	defer other.Close()
	late, expire := context.WithCancel(t.Context())
	expire()
	if err := b.shutDown(late); err == nil || !strings.Contains(err.Error(), "rpc.socket") {
		t.Errorf("a request that does not end in time: %v", err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the socket of another server was removed: %v", err)
	}
	close(leave)
	ended, stop := context.WithTimeout(t.Context(), testenv.Patience)
	defer stop()
	if err := b.shutDown(ended); err != nil {
		t.Error(err)
	}
	if answer, err := io.ReadAll(answers); err != nil || !strings.Contains(string(answer), `"ok"`) {
		t.Errorf("the request in progress: %s, %v", answer, err)
	}
}
