package lines_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/countersign-dev/countersign/internal/cli/lines"
)

// echo answers a line with its number and text; lines that begin with "bad" fail.
func echo(line lines.Line) lines.Answer {
	if line.Err != nil {
		return lines.Answer{Text: []byte(line.Err.Error()), Failed: true}
	}
	text := fmt.Appendf(nil, "%d:%s", line.Number, line.Text)
	return lines.Answer{Text: text, Failed: bytes.HasPrefix(line.Text, []byte("bad"))}
}

// runners are the two ways to answer. Both keep the same promises.
var runners = map[string]func(ctx context.Context, in io.Reader, out io.Writer, answer func(lines.Line) lines.Answer) (lines.Tally, error){
	"parallel": func(ctx context.Context, in io.Reader, out io.Writer, answer func(lines.Line) lines.Answer) (lines.Tally, error) {
		one := func(_ context.Context, line lines.Line) lines.Answer { return answer(line) }
		return lines.Read(ctx, in).Parallel(ctx, out, 4, one, nil)
	},
	"batches": func(ctx context.Context, in io.Reader, out io.Writer, answer func(lines.Line) lines.Answer) (lines.Tally, error) {
		all := func(_ context.Context, batch []lines.Line) (answers []lines.Answer) {
			for _, line := range batch {
				answers = append(answers, answer(line))
			}
			return answers
		}
		return lines.Read(ctx, in).Batches(ctx, out, 100, all, nil)
	},
}

func TestInOrder(t *testing.T) {
	var in, want strings.Builder
	for i := range 5000 {
		text := fmt.Sprintf("line %d", i+1)
		if i == 2499 || i == 3000 {
			text = "bad"
		}
		fmt.Fprintln(&in, text)
		fmt.Fprintf(&want, "%d:%s\n", i+1, text)
	}
	slow := func(line lines.Line) lines.Answer {
		if line.Number%100 == 0 {
			for range rand.IntN(1000) {
				runtime.Gosched()
			}
		}
		return echo(line)
	}
	for name, run := range runners {
		var out bytes.Buffer
		tally, err := run(t.Context(), strings.NewReader(in.String()), &out, slow)
		if err != nil || tally != (lines.Tally{Lines: 5000, Failed: 2, FirstFailed: 2500}) {
			t.Errorf("%s: %+v, %v", name, tally, err)
		}
		if out.String() != want.String() {
			t.Errorf("%s: the answers are not in the order of the lines", name)
		}
	}
}

func TestLineEnds(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"a", "1:a\n"},
		{"a\n", "1:a\n"},
		{"a\n\nb", "1:a\n2:\n3:b\n"},
		{"\n", "1:\n"},
		{"a\r\n", "1:a\r\n"},
	}
	for name, run := range runners {
		for _, test := range tests {
			var out bytes.Buffer
			if _, err := run(t.Context(), strings.NewReader(test.in), &out, echo); err != nil || out.String() != test.want {
				t.Errorf("%s %q: %q, %v", name, test.in, out.String(), err)
			}
		}
	}
}

// TestTooLong checks that a line that is too long, by one byte or much more, is answered with
// an error, and the following ones as usual.
func TestTooLong(t *testing.T) {
	longest := strings.Repeat("x", lines.MaxLength)
	in := longest + "\n" + longest + "y\nnext\n" + longest + longest + longest + "\nlast" + "\n" + longest + "z"
	problem := lines.TooLongError{}.Error()
	want := "1:" + longest + "\n" + problem + "\n3:next\n" + problem + "\n5:last\n" + problem + "\n"
	for name, run := range runners {
		var out bytes.Buffer
		tally, err := run(t.Context(), strings.NewReader(in), &out, echo)
		if err != nil || out.String() != want || tally.Failed != 3 || tally.FirstFailed != 2 {
			t.Errorf("%s: %+v, %v, %d bytes of answers", name, tally, err, out.Len())
		}
	}
}

// TestPrompt checks that a client that sends one line and waits gets its answer.
func TestPrompt(t *testing.T) {
	for name, run := range runners {
		in, send := io.Pipe()
		receive, out := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			_, err := run(t.Context(), in, out, echo)
			ended <- err
		}()
		answers := bufio.NewScanner(receive)
		for i := range 100 {
			fmt.Fprintf(send, "%d\n", i)
			if !answers.Scan() || answers.Text() != fmt.Sprintf("%d:%d", i+1, i) {
				t.Fatalf("%s: line %d was answered %q", name, i+1, answers.Text())
			}
		}
		send.Close()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endless is input that never ends. It counts the bytes read.
type endless struct{ taken atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
		if (e.taken.Load()+int64(i))%1000 == 999 {
			p[i] = '\n'
		}
	}
	e.taken.Add(int64(len(p)))
	return len(p), nil
}

// brokenPipe accepts some bytes and then fails.
type brokenPipe struct{ left int }

var errBroken = errors.New("broken pipe")

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestBrokenOutputStops(t *testing.T) {
	for name, run := range runners {
		_, err := run(t.Context(), &endless{}, &brokenPipe{left: 1 << 20}, echo)
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBoundedMemory checks that blocked output blocks the input.
func TestBoundedMemory(t *testing.T) {
	for name, run := range runners {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			in := &endless{}
			receive, out := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				_, err := run(ctx, in, out, echo)
				ended <- err
			}()
			synctest.Wait() // until everything is blocked by the unread answer
			if taken := in.taken.Load(); taken > 48<<20 {
				t.Errorf("%s: %d MiB were read while no answer is taken", name, taken>>20)
			}
			cancel()
			receive.Close()
			if err := <-ended; err == nil {
				t.Errorf("%s: ended without an error", name)
			}
		})
	}
}

// TestCancel checks that only whole lines are written when the context ends.
func TestCancel(t *testing.T) {
	for name, run := range runners {
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		tally, err := run(ctx, &endless{}, &out, func(line lines.Line) lines.Answer {
			if line.Number == 3000 {
				cancel()
			}
			return echo(line)
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if written := bytes.Count(out.Bytes(), []byte("\n")); written != tally.Lines || !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
			t.Errorf("%s: %d lines were written, %d counted", name, written, tally.Lines)
		}
	}
}

// failing is input that fails after one line and a half.
type failing struct{ text string }

var errDisk = errors.New("disk error")

func (f *failing) Read(p []byte) (int, error) {
	if f.text == "" {
		return 0, errDisk
	}
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}

func TestReadError(t *testing.T) {
	for name, run := range runners {
		var out bytes.Buffer
		tally, err := run(t.Context(), &failing{"whole\nhal"}, &out, echo)
		if !errors.Is(err, errDisk) || tally.Lines != 1 || out.String() != "1:whole\n" {
			t.Errorf("%s: %+v, %v, %q", name, tally, err, out.String())
		}
	}
}

// TestCancelStopsAnswering checks that after the end of the context no further lines are
// answered, except those being taken up at that moment: one by each of the other workers, or
// the rest of a batch.
func TestCancelStopsAnswering(t *testing.T) {
	for name, most := range map[string]int64{"parallel": 3, "batches": 99} {
		run := runners[name]
		for range 50 { // a select takes either case
			ctx, cancel := context.WithCancel(t.Context())
			var after atomic.Int64
			tally, err := run(ctx, &endless{}, io.Discard, func(line lines.Line) lines.Answer {
				if line.Number == 150 {
					cancel()
				} else if ctx.Err() != nil {
					after.Add(1)
				}
				return echo(line)
			})
			if !errors.Is(err, context.Canceled) || after.Load() > most {
				t.Errorf("%s: %+v, %v, %d lines after that, at most %d may be", name, tally, err, after.Load(), most)
			}
		}
	}
}

// TestCancelStopsWriting checks that no answer is written after the end of the context: it may
// report that instead of the line's result.
func TestCancelStopsWriting(t *testing.T) {
	for range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		third := make(chan struct{}) // begun by the one worker: the second is answered
		answer := func(_ context.Context, line lines.Line) lines.Answer {
			if line.Number == 3 {
				close(third)
			}
			return lines.Answer{Text: line.Text}
		}
		var out bytes.Buffer
		written := func(lines.Line) { <-third; cancel() }
		tally, err := lines.Read(ctx, strings.NewReader("a\nb\nc\n")).Parallel(ctx, &out, 1, answer, written)
		if !errors.Is(err, context.Canceled) || tally.Lines != 1 || out.String() != "a\n" {
			t.Fatalf("%+v, %v, %q", tally, err, out.String())
		}
	}
}

// TestBrokenOutputReported checks that a long answer and the last flush report a broken
// output, and that only written lines are acknowledged.
func TestBrokenOutputReported(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 100<<10)
	told := func(line lines.Line) { t.Errorf("line %d is said to be answered", line.Number) }
	one := func(context.Context, lines.Line) lines.Answer { return lines.Answer{Text: long} }
	all := func(context.Context, []lines.Line) []lines.Answer { return []lines.Answer{{Text: long}} }
	if _, err := lines.Read(t.Context(), strings.NewReader("a\n")).Parallel(t.Context(), &brokenPipe{}, 4, one, told); !errors.Is(err, errBroken) {
		t.Errorf("parallel: %v", err)
	}
	if _, err := lines.Read(t.Context(), strings.NewReader("a\n")).Batches(t.Context(), &brokenPipe{}, 4, all, told); !errors.Is(err, errBroken) {
		t.Errorf("batches: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	second := make(chan struct{})
	wait := func(ctx context.Context, line lines.Line) lines.Answer {
		if line.Number == 1 {
			<-second // so that more is to come when the first is written, which is not flushed then
			return lines.Answer{Text: []byte("first")}
		}
		close(second)
		<-ctx.Done()
		return lines.Answer{}
	}
	ends := func(lines.Line) { cancel() }
	if _, err := lines.Read(ctx, strings.NewReader("a\nb\n")).Parallel(ctx, &brokenPipe{}, 4, wait, ends); !errors.Is(err, errBroken) {
		t.Errorf("at the end of the context: %v", err)
	}
}

// TestCancelWhileIdle checks that the end of the context is not taken for the end of the
// input.
func TestCancelWhileIdle(t *testing.T) {
	for name, run := range runners {
		ctx, cancel := context.WithCancel(t.Context())
		in, send := io.Pipe()
		out := &firstWrite{seen: cancel}
		go fmt.Fprintln(send, "a")
		tally, err := run(ctx, in, out, echo)
		send.Close()
		if !errors.Is(err, context.Canceled) || tally.Lines != 1 {
			t.Errorf("%s: %+v, %v", name, tally, err)
		}
	}
}

// firstWrite is output that reports the first write.
type firstWrite struct{ seen func() }

func (f *firstWrite) Write(p []byte) (int, error) {
	f.seen()
	return len(p), nil
}
