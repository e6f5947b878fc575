// Package lines answers input line by line: one line out for every line in, in order, with
// bounded memory. An answer is flushed at once if no other line is waiting.
//
// A [Source] reads lines ahead. [Source.Parallel] answers them one by one with several
// workers, [Source.Batches] in groups as they arrive.
package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/semaphore"
)

// MaxLength is the maximum length of a line in bytes, without the newline. A longer line is
// skipped and answered with an error; the following lines are read as usual.
const MaxLength = 8 << 20

// maxAhead and maxLinesAhead bound the bytes and the number of lines held between reading and
// answering.
const (
	maxAhead      = 4 * MaxLength
	maxLinesAhead = 1024
)

// TooLongError reports a line longer than MaxLength.
type TooLongError struct{}

// Error implements error.
func (TooLongError) Error() string {
	return fmt.Sprintf("the line is longer than %d bytes (%d MiB)", MaxLength, MaxLength>>20)
}

// Line is one line of input.
type Line struct {
	Number int    // from 1
	Text   []byte // without the newline; the receiver owns it
	Err    error  // TooLongError, with no Text
	weight int64
}

// Source reads lines in the background.
type Source struct {
	lines  chan Line
	budget *semaphore.Weighted
	err    error // set before lines is closed
}

// Read starts reading lines until the end of the input, an error, or the end of the context.
// A blocked read is not interrupted: its goroutine ends with the program.
func Read(ctx context.Context, in io.Reader) *Source {
	s := &Source{lines: make(chan Line, maxLinesAhead), budget: semaphore.NewWeighted(maxAhead)}
	go func() {
		defer close(s.lines)
		reader := &wipingReader{in: in, buffer: make([]byte, bufferSize)}
		defer reader.wipe()
		s.err = s.read(ctx, reader)
	}()
	return s
}

func (s *Source) read(ctx context.Context, in *wipingReader) error {
	for number := 1; ; number++ {
		line, err := next(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read line %d of the input: %w", number, err)
		}
		line.Number, line.weight = number, int64(len(line.Text))
		if err := s.budget.Acquire(ctx, line.weight); err != nil {
			return err
		}
		select {
		case s.lines <- line:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// done returns a line's share of the budget once it is answered.
func (s *Source) done(line Line) { s.budget.Release(line.weight) }

// next reads one line. The last one may lack its newline.
func next(in *wipingReader) (Line, error) {
	var line Line
	for {
		part, err := in.readPart()
		end := err == nil
		if errors.Is(err, io.EOF) && (len(part) > 0 || len(line.Text) > 0 || line.Err != nil) {
			end, err = true, nil
		}
		if err != nil && !errors.Is(err, errPart) {
			return line, err
		}
		part = bytes.TrimSuffix(part, []byte("\n"))
		if len(line.Text)+len(part) > MaxLength {
			clear(line.Text)
			line.Text, line.Err = nil, TooLongError{}
		}
		if line.Err == nil {
			line.Text = append(line.Text, part...)
		}
		if end {
			return line, nil
		}
	}
}
