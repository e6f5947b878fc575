package opservice

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// program builds the command once.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "countersign")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "countersign")
	command := exec.Command("go", "build", "-o", path, "./cmd/countersign")
	command.Dir = filepath.Join("..", "..")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// TestMain removes what was built.
func TestMain(m *testing.M) {
	status := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(status)
}

// server is a running countersign serve.
type server struct {
	authority *authority
	config    string
	address   string         // of the JSON-RPC signer
	from      common.Address // of its key
	process   *exec.Cmd
	log       *bytes.Buffer // read it only after the process has ended
	stopped   bool
}

// serve starts a server with one key, whose user has the certificate of batcher.example.
func serve(t *testing.T) *server {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "made")
	s := &server{config: filepath.Join(folder, "countersign.yaml"), authority: newAuthority(t), address: freeAddress(t)}
	s.run(t, "init", folder)
	address := strings.TrimSpace(s.run(t, "keys", "generate", "--config", s.config, "--curve", "secp256k1", "--field", "ADDRESS_FORMAT_ETHEREUM"))
	s.from = common.HexToAddress(address)
	certificate, key := s.authority.issue(t, "localhost", serverUse)
	content, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	content = fmt.Appendf(content, "rpc:\n  listen: %s\n  tls: {certFile: %s, keyFile: %s, clientCAFile: %s}\n  users:\n    - {user: admin, certificates: [{dnsName: batcher.example}]}\n",
		s.address, certificate, key, s.authority.file)
	if err := os.WriteFile(s.config, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	return s
}

// start starts the server and waits until it is ready.
func (s *server) start(t *testing.T) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s.process = exec.Command(path, "serve", "--config", s.config, "--listen", "127.0.0.1:0", "--admin", "none")
	s.log = new(bytes.Buffer)
	s.process.Stderr = s.log
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t) })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || !json.Valid(line) {
		t.Fatalf("not ready: %q, %v", line, err)
	}
}

// stop ends the server.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if s.stopped {
		return
	}
	s.stopped = true
	_ = s.process.Process.Signal(syscall.SIGTERM)
	if err := s.process.Wait(); err != nil {
		t.Errorf("serve: %v: %s", err, s.log)
	}
}

// run runs the command and returns its output.
func (s *server) run(t *testing.T, args ...string) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, args...)
	problem := new(bytes.Buffer)
	command.Stderr = problem
	out, err := command.Output()
	if err != nil {
		t.Fatalf("countersign %q: %v: %s", args, err, problem)
	}
	return string(out)
}

// freeAddress returns a loopback address whose port is none that the kernel gives to connections.
func freeAddress(t *testing.T) string {
	t.Helper()
	for {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(22_768))
		if listener, err := net.Listen("tcp", address); err == nil {
			if err := listener.Close(); err != nil {
				t.Fatal(err)
			}
			return address
		}
	}
}
