package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/internal/ur"
)

// zbarPrefix begins a line of zbar without --raw.
const zbarPrefix = "QR-Code:"

// scanMessage reads codes from standard input, one a line, until they make a
// message of one of the types that are taken. How far it is goes to standard
// error, and why a code was not taken, once each.
func scanMessage(cmd *cobra.Command, taken ...string) (ur.Message, error) {
	s := scanning{collector: ur.NewCollector(taken...), talk: cmd.ErrOrStderr()}
	if terminal.Is(cmd.InOrStdin()) {
		fmt.Fprintln(s.talk, "Waiting for codes, one a line, such as those of: zbarcam --raw --nodisplay")
	}
	read := make(chan error, 1)
	go func() { read <- s.read(cmd.InOrStdin()) }()
	if err := waitFor(cmd.Context(), read); err != nil {
		return ur.Message{}, err
	}
	message, _ := s.collector.Message()
	return message, nil
}

// waitFor waits for the end of reading, or of the context.
func waitFor(ctx context.Context, read <-chan error) error {
	select {
	case err := <-read:
		return err
	case <-ctx.Done():
		return terminal.ErrInterrupted
	}
}

// scanning is one reading of codes.
type scanning struct {
	collector *ur.Collector
	talk      io.Writer
	refused   string // the last refusal that was shown
	have      int
}

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
		for long && err == nil { // longer than any code: all of it is left out
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

// add adds a code, and says what came of it if that is news.
func (s *scanning) add(code string) {
	if err := s.collector.Add(code); err != nil {
		if text := shown(err); text != s.refused {
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

// incomplete says how far it came.
func (s *scanning) incomplete() error {
	progress := s.collector.Progress()
	switch {
	case progress.Frames == 0:
		return errors.New("standard input has no codes: one a line is expected, as zbarcam --raw and 'countersign scan' print them")
	case progress.Parts == 0:
		return fmt.Errorf("%d codes, none of them taken; the last one: %s", progress.Frames, s.refused)
	}
	return fmt.Errorf("the codes ended at %d of %d: show the rest, and more", progress.Have, progress.Parts)
}
