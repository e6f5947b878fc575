//go:build unix

package clitest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/ur"
)

// Pipes returns the standard input and output of a command that has not been started.
func Pipes(t *testing.T, command *exec.Cmd) (io.WriteCloser, io.ReadCloser) {
	t.Helper()
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return in, out
}

// StartPiped starts a command, and returns its standard input and output.
func StartPiped(t *testing.T, command *exec.Cmd) (io.WriteCloser, io.ReadCloser) {
	t.Helper()
	in, out := Pipes(t, command)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

// Collected returns the message of a single code.
func Collected(t *testing.T, code, kind string) ur.Message {
	t.Helper()
	collector := ur.NewCollector(kind)
	if err := collector.Add(strings.TrimSpace(code)); err != nil {
		t.Fatal(err)
	}
	message, ok := collector.Message()
	if !ok {
		t.Fatal("the message is not complete")
	}
	return message
}

// PublicOf returns the public key of the fixture's first key.
func PublicOf(t *testing.T, s *Session) string {
	t.Helper()
	_, rest, _ := strings.Cut(string(s.Must(nil, "keys", "show", KeyID)), `"publicKey":"`)
	key, _, _ := strings.Cut(rest, `"`)
	return key
}

// Session runs the command in a directory, away from any terminal.
type Session struct {
	T      *testing.T
	Dir    string
	Output bytes.Buffer // everything printed so far, on either stream
}

// NewSession returns a session in a directory with the keystore of the tests.
func NewSession(t *testing.T) *Session {
	t.Helper()
	s := &Session{T: t, Dir: t.TempDir()}
	makeFixture(t, s.Dir)
	return s
}

// Command returns a call that has not been started, as a process of its own.
func (s *Session) Command(args ...string) *exec.Cmd {
	s.T.Helper()
	command := exec.CommandContext(s.T.Context(), "countersign", s.withKeystore(args)...)
	command.Dir = s.Dir
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return command
}

// withKeystore returns the arguments of a call. Commands that need a keystore use the fixture's, unless
// they have --config.
func (s *Session) withKeystore(args []string) []string {
	if (args[0] == "keys" || args[0] == "sign") && !slices.Contains(args, "--config") {
		args = append(args, "--keystore", "file:keys", "--passphrase-file", "pass")
	}
	return args
}

// Run runs the command and returns its output and exit status.
func (s *Session) Run(stdin []byte, args ...string) (stdout, stderr []byte, status int) {
	s.T.Helper()
	done, err := carryOut(&call{Dir: s.Dir, Args: s.withKeystore(args), Stdin: stdin})
	if err != nil {
		s.T.Fatalf("countersign %q: %v", args, err)
	}
	s.Output.Write(done.Stdout)
	s.Output.Write(done.Stderr)
	return done.Stdout, done.Stderr, done.Status
}

// Must is run for a call that must succeed. It returns standard output.
func (s *Session) Must(stdin []byte, args ...string) []byte {
	s.T.Helper()
	stdout, stderr, status := s.Run(stdin, args...)
	if status != console.ExitSuccess {
		s.T.Fatalf("countersign %q: exit status %d\n%s", args, status, stderr)
	}
	return stdout
}

// Shell returns the path of sh.
func Shell(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Read returns the content of a file.
func (s *Session) Read(name string) []byte {
	s.T.Helper()
	content, err := os.ReadFile(filepath.Join(s.Dir, name))
	if err != nil {
		s.T.Fatal(err)
	}
	return content
}

// Write writes a file that only its owner can read.
func (s *Session) Write(name string, content []byte) {
	s.T.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, name), content, 0o600); err != nil {
		s.T.Fatal(err)
	}
}
