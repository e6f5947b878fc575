package lines

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"sync"
)

// Answer is the answer to a line.
type Answer struct {
	Text   []byte // without a newline
	Failed bool   // the line was refused
}

// Tally counts written answers.
type Tally struct {
	Lines       int
	Failed      int
	FirstFailed int // number of the first failed line, 0 if none failed
}

// writer writes answers, and flushes them when no more are pending: a client that sends one
// line and waits gets its answer, and a long batch is written in blocks.
type writer struct {
	out   *bufio.Writer
	tally Tally
	each  func(Line)
}

func newWriter(out io.Writer, each func(Line)) *writer {
	return &writer{out: bufio.NewWriterSize(out, 64<<10), each: each}
}

func (w *writer) write(line Line, answer Answer, idle bool) error {
	w.tally.Lines++
	if answer.Failed {
		w.tally.Failed++
		w.tally.FirstFailed = cmp.Or(w.tally.FirstFailed, line.Number)
	}
	_, _ = w.out.Write(answer.Text) // the next call returns its error
	if err := w.out.WriteByte('\n'); err != nil {
		return err
	}
	if w.each != nil {
		w.each(line)
	}
	if idle {
		return w.out.Flush()
	}
	return nil
}

// job is a line on its way through a worker.
type job struct {
	line   Line
	answer Answer
	done   chan struct{}
}

// Parallel answers lines with several workers, in the order of the lines. It stops at the first
// read or write error and at the end of the context, and returns once no worker is busy. Whatever
// it has written by then are whole lines. If each is not nil, it is called for every answered line.
func (s *Source) Parallel(ctx context.Context, out io.Writer, workers int, answer func(context.Context, Line) Answer,
	each func(Line)) (Tally, error) {
	working, cancel := context.WithCancel(ctx)
	var busy sync.WaitGroup
	defer busy.Wait()
	defer cancel()

	jobs := make(chan *job)
	ordered := make(chan *job, maxLinesAhead)
	for range workers {
		busy.Go(func() {
			for j := range jobs {
				if working.Err() != nil {
					return // unanswered lines are not written
				}
				j.answer = answer(working, j.line)
				close(j.done)
			}
		})
	}
	busy.Go(func() { s.distribute(working, jobs, ordered) })
	w := newWriter(out, each)
	err := s.collect(ctx, ordered, w) // not working, which ends slightly later than ctx
	return w.tally, err
}

// distribute sends lines to the workers, and in order to the writer.
func (s *Source) distribute(ctx context.Context, jobs, ordered chan<- *job) {
	defer close(ordered)
	defer close(jobs)
	for {
		select {
		case line, more := <-s.lines:
			if !more {
				return
			}
			j := &job{line: line, done: make(chan struct{})}
			for _, queue := range []chan<- *job{ordered, jobs} {
				select {
				case queue <- j:
				case <-ctx.Done():
					return
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

func (s *Source) collect(ctx context.Context, ordered <-chan *job, w *writer) error {
	for j := range ordered {
		select {
		case <-j.done:
		case <-ctx.Done():
			return flush(w, ctx.Err())
		}
		if ctx.Err() != nil { // the answer may report that instead of the line's result
			return flush(w, ctx.Err())
		}
		if err := w.write(j.line, j.answer, len(ordered) == 0); err != nil {
			return err
		}
		s.done(j.line)
	}
	return flush(w, s.end(ctx))
}

// end returns how reading ended. It must be called after the last line.
func (s *Source) end(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.err
}

func flush(w *writer, err error) error {
	if flushErr := w.out.Flush(); flushErr != nil {
		return flushErr
	}
	return err
}

// Batches answers lines in groups: a single line if no more have arrived, and up to limit
// lines if they arrive faster than they are answered. answer must return one answer for each
// line. Errors and each are as for Parallel.
func (s *Source) Batches(ctx context.Context, out io.Writer, limit int, answer func(context.Context, []Line) []Answer,
	each func(Line)) (Tally, error) {
	w := newWriter(out, each)
	for {
		var first Line
		more := false
		select {
		case first, more = <-s.lines:
		case <-ctx.Done():
		}
		if !more || ctx.Err() != nil {
			return w.tally, flush(w, s.end(ctx))
		}
		batch := []Line{first}
		for range min(len(s.lines), limit-1) { // which have arrived, and which nothing else takes
			batch = append(batch, <-s.lines)
		}
		for i, answered := range answer(ctx, batch) {
			if err := w.write(batch[i], answered, i == len(batch)-1); err != nil {
				return w.tally, err
			}
			s.done(batch[i])
		}
	}
}
