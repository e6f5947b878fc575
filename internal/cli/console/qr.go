package console

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
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

// CaptionRows is the number of rows of the window below a code.
const CaptionRows = 1

// Encoder splits a message into codes that fit into a window.
func (f *QRFlags) Encoder(message ur.Message, columns, rows int) (*ur.Encoder, error) {
	if err := FitsCodes(message); err != nil {
		return nil, err
	}
	characters, modules := qrcode.Capacity(columns, rows)
	limit := ur.MaxFragment(message.Type, characters)
	if whole := len(message.String()); f.fragment == 0 && whole <= characters {
		limit = len(message.CBOR) // a single code has less overhead than a part
	}
	switch {
	case limit < 10:
		return nil,
			fmt.Errorf("--qr: a window of %d×%d characters is too small for codes: enlarge it, or use --qr-png DIR",
				columns, rows+CaptionRows)
	case f.fragment > limit:
		return nil,
			fmt.Errorf("--fragment %d: this window holds codes of %d modules, with fragments of at most %d bytes",
				f.fragment, modules, limit)
	case f.fragment > 0:
		limit = f.fragment
	}
	return newEncoder(message, limit)
}

// Caption returns the line below one of several codes, short enough for the window: a
// line that wraps would scroll the code away.
func Caption(encoder *ur.Encoder, columns int) string {
	long := fmt.Sprintf("Code %d of %d and more. Press Enter once it has been read.", encoder.Number(), encoder.Parts())
	if len(long) <= columns {
		return long
	}
	return fmt.Sprintf("%d/%d: Enter ends", encoder.Number(), encoder.Parts())
}

func newEncoder(message ur.Message, fragment int) (*ur.Encoder, error) {
	if err := FitsCodes(message); err != nil {
		return nil, err
	}
	encoder, err := ur.NewEncoder(message, fragment)
	if err != nil {
		return nil, fmt.Errorf("%w: enlarge the window, or use --qr-png DIR, with %d bytes per code", err, pngFragment)
	}
	return encoder, nil
}

// FitsCodes refuses a message that is too large for QR codes.
func FitsCodes(message ur.Message) error {
	length := len(message.CBOR)
	if length <= ur.MaxMessage {
		return nil
	}
	return fmt.Errorf("%d bytes are too many for QR codes, which carry at most %d: transfer it as a file, or send a "+
		"blob transaction (EIP-4844) without its blobs, which are not signed, as 03 ‖ rlp([chainId, …])",
		length, ur.MaxMessage)
}

// zbarPrefix begins the lines of zbar without --raw.
const zbarPrefix = "QR-Code:"

// ScanMessage reads codes from standard input, one per line, until they complete a message of one
// of the accepted types. It prints its progress, and why a code was refused, on standard error.
func ScanMessage(cmd *cobra.Command, accepted ...string) (ur.Message, error) {
	s := scanning{collector: ur.NewCollector(accepted...), talk: cmd.ErrOrStderr()}
	if terminal.Is(cmd.InOrStdin()) {
		fmt.Fprintln(s.talk, "Waiting for codes, one per line, such as those of: zbarcam --raw --nodisplay")
	}
	read := make(chan error, 1)
	go func() { read <- s.read(cmd.InOrStdin()) }()
	select {
	case err := <-read:
		message, _ := s.collector.Message()
		return message, err
	case <-cmd.Context().Done():
		return ur.Message{}, terminal.ErrInterrupted
	}
}

// scanning collects the codes of one message.
type scanning struct {
	collector *ur.Collector
	talk      io.Writer
	refused   string // the last refusal shown
	have      int    // the last progress shown
}

// read reads codes until the message is complete.
func (s *scanning) read(in io.Reader) error {
	lines := bufio.NewReaderSize(in, 2*ur.MaxText)
	for {
		line, long, err := lines.ReadLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read codes from standard input: %w", err)
		}
		if err != nil {
			return s.incomplete()
		}
		for long && err == nil { // longer than any code: skip it
			line, long, err = lines.ReadLine()
			line = line[:0]
		}
		if code := strings.TrimPrefix(strings.TrimSpace(string(line)), zbarPrefix); code != "" {
			s.add(code)
		}
		if _, complete := s.collector.Message(); complete {
			return nil
		}
	}
}

// add adds a code, and prints a new refusal or new progress.
func (s *scanning) add(code string) {
	if err := s.collector.Add(code); err != nil {
		if text := CleanText(err.Error()); text != s.refused {
			s.refused = text
			fmt.Fprintln(s.talk, text)
		}
		return
	}
	progress := s.collector.Progress()
	if progress.Have == s.have || progress.Parts < 2 {
		return
	}
	s.have = progress.Have
	fmt.Fprintf(s.talk, "%s: %d of %d, %d to go\n", progress.Type, progress.Have, progress.Parts, progress.Parts-progress.Have)
}

func (s *scanning) incomplete() error {
	progress := s.collector.Progress()
	switch {
	case progress.Frames == 0:
		return errors.New("standard input has no codes: expected one per line, as zbarcam --raw and 'countersign scan' print them")
	case progress.Parts == 0:
		return fmt.Errorf("none of the %d codes was accepted; the last one: %s", progress.Frames, s.refused)
	}
	return fmt.Errorf("the codes ended at %d of %d: show more", progress.Have, progress.Parts)
}
