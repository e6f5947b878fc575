package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/ur"
)

// zbarPrefix begins the lines of zbar without --raw.
const zbarPrefix = "QR-Code:"

// ScanMessage reads codes from standard input, one per line, until they complete a
// message of one of the accepted types. It prints its progress, and why a code was
// refused, on standard error.
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
