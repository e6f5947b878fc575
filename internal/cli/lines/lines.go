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

// bufferSize is the size of the read buffer, in bytes.
const bufferSize = 64 << 10

// errPart means that the line continues.
var errPart = errors.New("a part of a line")

// wipingReader reads lines in parts, like bufio.Reader, but wipes its buffer, because lines
// may be secrets.
type wipingReader struct {
	in          io.Reader
	buffer      []byte
	begin, end  int // bounds of the bytes that were read but not yet returned
	given       int // start of the part returned last, which ends at begin
	readError   error
	emptyRounds int
}

// readPart returns the rest of a line with its newline, or with errPart as much of it as fits
// into the buffer. It overwrites the part returned before. The last line may lack its
// newline, and is returned with the error of the reader.
func (r *wipingReader) readPart() ([]byte, error) {
	clear(r.buffer[r.given:r.begin])
	r.given = r.begin
	for searched := 0; ; {
		if i := bytes.IndexByte(r.buffer[r.begin+searched:r.end], '\n'); i >= 0 {
			return r.give(searched + i + 1), nil
		}
		searched = r.end - r.begin
		switch {
		case r.readError != nil:
			return r.give(searched), r.readError
		case searched == len(r.buffer):
			return r.give(searched), errPart
		}
		r.fill()
	}
}

func (r *wipingReader) give(size int) []byte {
	part := r.buffer[r.begin : r.begin+size]
	r.begin += size
	return part
}

// fill moves the unread bytes to the front, wipes the rest of the buffer, and reads more.
func (r *wipingReader) fill() {
	const maxEmptyRounds = 100
	r.end = copy(r.buffer, r.buffer[r.begin:r.end])
	r.begin, r.given = 0, 0
	clear(r.buffer[r.end:])
	read, err := r.in.Read(r.buffer[r.end:])
	r.end += read
	if r.emptyRounds++; read > 0 {
		r.emptyRounds = 0
	}
	if r.readError = err; err == nil && r.emptyRounds == maxEmptyRounds {
		r.readError = io.ErrNoProgress
	}
}

func (r *wipingReader) wipe() { clear(r.buffer) }
