package console

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image/png"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/qrcode"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/ur"
)

// QRFlags select how a message is shown as QR codes.
type QRFlags struct {
	draw     bool
	pngDir   string
	rate     float64
	fragment int
}

// Defaults and bounds of drawing.
const (
	DefaultRate = 5.0
	maxRate     = 30.0
	pngFragment = 250 // bytes: phones read such codes at arm's length
	pngScale    = 8   // pixels per module
)

// Register adds the flags to a command, which refuses invalid ones.
func (f *QRFlags) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.draw, "qr", false, "draw the answer on the terminal as QR codes, instead of printing it")
	flags.StringVar(&f.pngDir, "qr-png", "", "write the answer as QR codes, one PNG each, into the new directory `DIR`")
	flags.Float64Var(&f.rate, "fps", DefaultRate, "with --qr: `NUMBER` of codes per second")
	flags.IntVar(&f.fragment, "fragment", 0, "`BYTES` per fragment, for smaller codes (default: as many as the window holds)")
	Check(cmd, f.check)
}

// Wanted reports whether codes are to be shown.
func (f *QRFlags) Wanted() bool { return f.draw || f.pngDir != "" }

func (f *QRFlags) check() error {
	switch {
	case f.rate <= 0 || f.rate > maxRate:
		return Usagef("--fps %g: expected a number up to %g", f.rate, maxRate)
	case f.fragment != 0 && f.fragment < 10:
		return Usagef("--fragment %d: at least 10 bytes are needed", f.fragment)
	case f.fragment != 0 && !f.Wanted():
		return Usagef("--fragment goes with --qr or --qr-png")
	}
	return nil
}

// Show writes and draws a message, as the flags say.
func (f *QRFlags) Show(cmd *cobra.Command, message ur.Message) error {
	if f.pngDir != "" {
		if err := f.write(cmd, message); err != nil {
			return err
		}
	}
	if f.draw {
		return f.drawOn(cmd, message)
	}
	return nil
}

// write writes the codes of a message as pictures. All of them are needed to read it.
func (f *QRFlags) write(cmd *cobra.Command, message ur.Message) error {
	encoder, err := newEncoder(message, cmp.Or(f.fragment, pngFragment))
	if err != nil {
		return err
	}
	if err := MakeEmptyDirectory(f.pngDir); err != nil {
		return fmt.Errorf("--qr-png: %w", err)
	}
	for i := range encoder.Parts() {
		code, err := nextCode(encoder)
		if err != nil {
			return err
		}
		var content bytes.Buffer
		if err := png.Encode(&content, code.Image(pngScale)); err != nil {
			return err
		}
		if err := WriteNew(filepath.Join(f.pngDir, fmt.Sprintf("part-%04d.png", i+1)), content.Bytes()); err != nil {
			return fmt.Errorf("--qr-png: %w", err)
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d codes of type %s are in %s.\n", encoder.Parts(), message.Type, f.pngDir)
	return nil
}

// nextCode returns the next code of a message, in upper case, which takes less room.
func nextCode(encoder *ur.Encoder) (*qrcode.Code, error) {
	return qrcode.New(strings.ToUpper(encoder.Next()))
}

// drawOn draws a message on the terminal: a single code once, several in turn until Enter
// is pressed.
func (f *QRFlags) drawOn(cmd *cobra.Command, message ur.Message) (err error) {
	tty, err := terminal.Open()
	if errors.Is(err, terminal.ErrNone) {
		return Usagef("--qr draws on a terminal, and there is none: use --qr-png DIR")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tty.Close()) }()
	columns, rows, err := tty.Size()
	if err != nil {
		return err
	}
	encoder, err := f.Encoder(message, columns, rows-CaptionRows)
	if err != nil {
		return err
	}
	if encoder.Parts() == 1 {
		code, err := nextCode(encoder)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(tty, "%s\n", strings.Join(code.Lines(), "\n"))
		return err
	}
	return f.animate(cmd.Context(), tty, encoder, columns)
}

// Control sequences of terminals (ECMA-48).
const (
	ClearScreen = "\x1b[2J"
	CursorHome  = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// animate draws codes in turn, each over the one before, until Enter is pressed or the
// context ends.
func (f *QRFlags) animate(ctx context.Context, tty *terminal.Terminal, encoder *ur.Encoder, columns int) error {
	pressed, err := tty.Enter()
	if err != nil {
		return err
	}
	next := time.NewTicker(time.Duration(float64(time.Second) / f.rate))
	defer next.Stop()
	if _, err := fmt.Fprint(tty, ClearScreen); err != nil {
		return err
	}
	for {
		code, err := nextCode(encoder)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(tty, "%s%s\n%s%s%s",
			CursorHome, strings.Join(code.Lines(), "\n"), clearLine, Caption(encoder, columns), clearBelow); err != nil {
			return err
		}
		select {
		case <-pressed:
			_, err := fmt.Fprint(tty, ClearScreen+CursorHome)
			return err
		case <-ctx.Done():
			return terminal.ErrInterrupted
		case <-next.C:
		}
	}
}
