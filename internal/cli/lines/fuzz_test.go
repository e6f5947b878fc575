package lines

import (
	"bytes"
	"context"
	"slices"
	"testing"
)

// FuzzRead checks that every line is answered once, in order, numbered and complete. It is
// here because package fuzz cannot import this one.
func FuzzRead(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"))
	f.Add([]byte("\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		want := bytes.Split(text, []byte("\n"))
		if len(want[len(want)-1]) == 0 {
			want = want[:len(want)-1] // no line follows the last newline
		}
		source := Read(t.Context(), bytes.NewReader(text))
		var out bytes.Buffer
		number := 0
		_, err := source.Parallel(t.Context(), &out, 2, func(_ context.Context, line Line) Answer {
			return Answer{Text: bytes.Clone(line.Text)}
		}, func(line Line) {
			number++
			if line.Number != number {
				t.Errorf("line %d comes as number %d", number, line.Number)
			}
		})
		if err != nil || number != len(want) {
			t.Fatalf("%d lines, want %d: %v", number, len(want), err)
		}
		if got := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n")); number > 0 && !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("answered %q, want %q", got, want)
		}
	})
}
