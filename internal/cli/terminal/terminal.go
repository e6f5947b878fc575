// Package terminal interacts with the person at the controlling terminal, whatever
// standard input and output are connected to.
package terminal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrNone means that the process has no controlling terminal.
var ErrNone = errors.New("there is no terminal to ask on")

// ErrInterrupted means that the person pressed Ctrl-C, or that the process received a
// signal to stop.
var ErrInterrupted = errors.New("interrupted")

// Terminal is the controlling terminal of the process.
type Terminal struct {
	tty *os.File
}

var _ io.WriteCloser = (*Terminal)(nil)

// Open opens the controlling terminal. It returns ErrNone if there is none.
func Open() (*Terminal, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, ErrNone
	}
	if !term.IsTerminal(int(tty.Fd())) {
		_ = tty.Close()
		return nil, ErrNone
	}
	return &Terminal{tty: tty}, nil
}

// Exists reports whether there is a controlling terminal.
func Exists() bool {
	tty, err := Open()
	return err == nil && tty.Close() == nil
}

// Is reports whether a reader or writer is a terminal.
func Is(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// WantsColor reports whether text written to a stream may be colored: it is a terminal
// that supports color, and NO_COLOR is not set (see no-color.org).
func WantsColor(stream any) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && Is(stream)
}

// Write writes text to the terminal.
func (t *Terminal) Write(p []byte) (int, error) { return t.tty.Write(p) }

// Close closes the terminal.
func (t *Terminal) Close() error { return t.tty.Close() }

// Confirm asks a question and reports whether the answer is yes. Anything but y or yes,
// in any case, is no. Input typed before the question is discarded.
func (t *Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	if err := discardTyped(int(t.tty.Fd())); err != nil {
		return false, err
	}
	answer, err := t.ask(ctx, question+" [y/N] ", func() ([]byte, error) {
		line, err := bufio.NewReader(t.tty).ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			err = nil // Ctrl-D means no
		}
		return line, err
	})
	if err != nil {
		return false, err
	}
	switch strings.ToLower(string(bytes.TrimSpace(answer))) {
	case "y", "yes":
		return true, nil
	}
	return false, discardTyped(int(t.tty.Fd())) // else the shell gets what was meant for the next question
}

// Secret asks for a secret, and does not echo it. The caller owns the secret and wipes it.
func (t *Terminal) Secret(ctx context.Context, prompt string) ([]byte, error) {
	secret, err := t.ask(ctx, prompt+": ", func() ([]byte, error) {
		return term.ReadPassword(int(t.tty.Fd()))
	})
	fmt.Fprintln(t.tty) // the line break was not echoed either
	return secret, err
}

// ask prompts and reads the answer. If the context ends first, it restores the state of
// the terminal, for the shell.
func (t *Terminal) ask(ctx context.Context, prompt string, read func() ([]byte, error)) ([]byte, error) {
	state, err := term.GetState(int(t.tty.Fd()))
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(t.tty, prompt); err != nil {
		return nil, err
	}
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case got := <-answers:
		return got.text, got.err
	case <-ctx.Done():
		_ = term.Restore(int(t.tty.Fd()), state)
		return nil, ErrInterrupted
	}
}

// Columns returns the width of the window that a stream writes to, in characters; 0 if it is
// no terminal.
func Columns(stream any) int {
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// Size returns the columns and rows of characters of the window.
func (t *Terminal) Size() (columns, rows int, err error) {
	columns, rows, err = term.GetSize(int(t.tty.Fd()))
	if err != nil {
		return 0, 0, fmt.Errorf("size of the window: %w", err)
	}
	return columns, rows, nil
}

// Enter returns a channel that is closed when Enter is pressed, or the terminal closes.
// Input typed before the call is discarded.
func (t *Terminal) Enter() (<-chan struct{}, error) {
	if err := discardTyped(int(t.tty.Fd())); err != nil {
		return nil, err
	}
	pressed := make(chan struct{})
	go func() {
		defer close(pressed)
		_, _ = bufio.NewReader(t.tty).ReadBytes('\n')
	}()
	return pressed, nil
}
