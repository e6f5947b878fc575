package clitest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// Person reads the terminal of a call, and types.
type Person struct {
	T        *testing.T
	Terminal *os.File // the person's side of the terminal
	Command  *exec.Cmd

	Mu     sync.Mutex
	Screen bytes.Buffer
	Seen   int // how much of the screen sees has matched
}

// Sit starts a command with a new controlling terminal. Its streams stay as set.
func Sit(t *testing.T, command *exec.Cmd) *Person {
	t.Helper()
	return SitAt(t, command, 100, 50)
}

// SitTyping is sit for a person who has typed a text before the command starts.
func SitTyping(t *testing.T, command *exec.Cmd, ahead string) *Person {
	t.Helper()
	people, tty := OpenTerminal(t)
	defer tty.Close()
	if _, err := people.WriteString(ahead); err != nil {
		t.Fatal(err)
	}
	return start(t, command, people, tty)
}

// SitAt is sit with the size of the window.
func SitAt(t *testing.T, command *exec.Cmd, columns, rows uint16) *Person {
	t.Helper()
	people, tty := OpenTerminal(t)
	size := &unix.Winsize{Row: rows, Col: columns}
	if err := unix.IoctlSetWinsize(int(people.Fd()), unix.TIOCSWINSZ, size); err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	return start(t, command, people, tty)
}

// start starts a command at a terminal.
func start(t *testing.T, command *exec.Cmd, people, tty *os.File) *Person {
	t.Helper()
	command.ExtraFiles = []*os.File{tty}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Person{T: t, Terminal: people, Command: command}
	go p.Read()
	return p
}

// Redirect has a command use the terminal that sit gives it for a stream: "2>&3" or "<&3".
func Redirect(t *testing.T, command *exec.Cmd, how string) {
	t.Helper()
	command.Args = append([]string{"sh", "-c", `"$0" "$@" ` + how, command.Path}, command.Args[1:]...)
	command.Path = Shell(t)
}

// OpenTerminal opens both sides of a new terminal.
func OpenTerminal(t *testing.T) (people, tty *os.File) {
	t.Helper()
	people, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { people.Close() })
	fd := int(people.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 100}); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return people, tty
}

// Read copies the terminal to the screen until it is closed.
func (p *Person) Read() {
	chunk := make([]byte, 4096)
	for {
		n, err := p.Terminal.Read(chunk)
		p.Mu.Lock()
		p.Screen.Write(chunk[:n])
		p.Mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Sees waits until a text appears after the text of the previous call.
func (p *Person) Sees(text string) {
	p.T.Helper()
	defer func() {
		if p.T.Failed() {
			p.T.Logf("waiting for %q; the screen:\n%s", text, p.Shown())
		}
	}()
	testenv.Await(p.T, text, func() bool {
		p.Mu.Lock()
		defer p.Mu.Unlock()
		offset := strings.Index(p.Screen.String()[p.Seen:], text)
		if offset >= 0 {
			p.Seen += offset + len(text)
		}
		return offset >= 0
	})
}

// Shown returns everything that was on the screen, including echoed input.
func (p *Person) Shown() string {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return strings.ReplaceAll(p.Screen.String(), "\r\n", "\n")
}

// Types types a text.
func (p *Person) Types(text string) {
	p.T.Helper()
	if _, err := p.Terminal.WriteString(text); err != nil {
		p.T.Fatal(err)
	}
}

// Hidden waits until the terminal does not echo.
func (p *Person) Hidden() {
	p.T.Helper()
	testenv.Await(p.T, "the terminal does not echo", func() bool { return !p.Echoes() })
}

// Answers waits for a prompt, and types a secret once the terminal does not echo.
func (p *Person) Answers(prompt, secret string) {
	p.T.Helper()
	p.Sees(prompt)
	p.Hidden()
	p.Types(secret + "\n")
}

// Echoes reports whether the terminal shows what is typed.
func (p *Person) Echoes() bool {
	p.T.Helper()
	state, err := unix.IoctlGetTermios(int(p.Terminal.Fd()), unix.TCGETS)
	if err != nil {
		p.T.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// Ends waits for the command to exit and returns its exit status.
func (p *Person) Ends() int {
	p.T.Helper()
	err := p.Command.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.T.Fatal(err)
	}
	return p.Command.ProcessState.ExitCode()
}

// What commands ask on the terminal.
const (
	Question    = "Sign this transaction? [y/N] "
	AskPassword = "Passphrase of the keystore: "
)

// Scanned runs sign --scan with codes on standard input, one per line, and answers the
// question; without an answer, none is expected.
func (s *Session) Scanned(codes, answer string, args ...string) (stdout, stderr string, status int) {
	s.T.Helper()
	command := s.Command(append([]string{"sign", "--scan"}, args...)...)
	var out, talk Printed
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(codes+"\n"), &out, &talk
	p := Sit(s.T, command)
	if answer != "" {
		p.Sees("? [y/N] ")
		p.Types(answer)
	}
	status = p.Ends()
	return out.String(), talk.String(), status
}

// Printed is output that can be read while the command is still writing.
type Printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (p *Printed) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

// String returns what was printed so far.
func (p *Printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}
