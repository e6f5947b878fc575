package cli

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

// person reads the terminal of a call, and types.
type person struct {
	t        *testing.T
	terminal *os.File // the person's side of the terminal
	command  *exec.Cmd

	mu     sync.Mutex
	screen bytes.Buffer
	seen   int // how much of the screen sees has matched
}

// sit starts a command with a new controlling terminal. Its streams stay as set.
func sit(t *testing.T, command *exec.Cmd) *person {
	t.Helper()
	return sitAt(t, command, 100, 50)
}

// sitTyping is sit for a person who has typed a text before the command starts.
func sitTyping(t *testing.T, command *exec.Cmd, ahead string) *person {
	t.Helper()
	people, tty := openTerminal(t)
	defer tty.Close()
	if _, err := people.WriteString(ahead); err != nil {
		t.Fatal(err)
	}
	return start(t, command, people, tty)
}

// sitAt is sit with the size of the window.
func sitAt(t *testing.T, command *exec.Cmd, columns, rows uint16) *person {
	t.Helper()
	people, tty := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(people.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	return start(t, command, people, tty)
}

// start starts a command at a terminal.
func start(t *testing.T, command *exec.Cmd, people, tty *os.File) *person {
	t.Helper()
	command.ExtraFiles = []*os.File{tty}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, terminal: people, command: command}
	go p.read()
	return p
}

// redirect has a command use the terminal that sit gives it for a stream: "2>&3" or "<&3".
func redirect(t *testing.T, command *exec.Cmd, how string) {
	t.Helper()
	command.Args = append([]string{"sh", "-c", `"$0" "$@" ` + how, command.Path}, command.Args[1:]...)
	command.Path = shell(t)
}

// openTerminal opens both sides of a new terminal.
func openTerminal(t *testing.T) (people, tty *os.File) {
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

func (p *person) read() {
	chunk := make([]byte, 4096)
	for {
		n, err := p.terminal.Read(chunk)
		p.mu.Lock()
		p.screen.Write(chunk[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// sees waits until a text appears after the text of the previous call.
func (p *person) sees(text string) {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			p.t.Logf("waiting for %q; the screen:\n%s", text, p.shown())
		}
	}()
	testenv.Await(p.t, text, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		offset := strings.Index(p.screen.String()[p.seen:], text)
		if offset >= 0 {
			p.seen += offset + len(text)
		}
		return offset >= 0
	})
}

// shown returns everything that was on the screen, including echoed input.
func (p *person) shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.screen.String(), "\r\n", "\n")
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.terminal.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// hidden waits until the terminal does not echo.
func (p *person) hidden() {
	p.t.Helper()
	testenv.Await(p.t, "the terminal does not echo", func() bool { return !p.echoes() })
}

// answers waits for a prompt, and types a secret once the terminal does not echo.
func (p *person) answers(prompt, secret string) {
	p.t.Helper()
	p.sees(prompt)
	p.hidden()
	p.types(secret + "\n")
}

func (p *person) echoes() bool {
	p.t.Helper()
	state, err := unix.IoctlGetTermios(int(p.terminal.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// ends waits for the command to exit and returns its exit status.
func (p *person) ends() int {
	p.t.Helper()
	err := p.command.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.t.Fatal(err)
	}
	return p.command.ProcessState.ExitCode()
}
