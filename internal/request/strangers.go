package request

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// StrangerLines is how many lines a second a log of QuietStrangers has about strangers.
const StrangerLines = 10

type strangerKey struct{}

// Stranger returns the context for log lines about a client that has not shown who it is.
func Stranger(ctx context.Context) context.Context {
	return context.WithValue(ctx, strangerKey{}, true)
}

// QuietStrangers returns a handler that passes on StrangerLines a second about strangers, who
// would otherwise fill a disk. The last of them is the number of those that were left out.
func QuietStrangers(to slog.Handler) slog.Handler {
	return quiet{to, &window{to: to}}
}

type quiet struct {
	slog.Handler
	lines *window
}

// window counts the lines of a second.
type window struct {
	to slog.Handler

	mu              sync.Mutex
	begins          time.Time
	passed, leftOut int
}

func (q quiet) Handle(ctx context.Context, record slog.Record) error {
	if ctx.Value(strangerKey{}) != nil && !q.lines.take(time.Now()) {
		return nil
	}
	return q.Handler.Handle(ctx, record)
}

func (q quiet) WithAttrs(attributes []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attributes), q.lines}
}

func (q quiet) WithGroup(name string) slog.Handler {
	return quiet{q.Handler.WithGroup(name), q.lines}
}

// take reports whether a line may be written. After the first that may not, the rest of the
// second is only counted.
func (w *window) take(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.leftOut == 0 && now.Sub(w.begins) >= time.Second {
		w.begins, w.passed = now, 0
	}
	if w.passed < StrangerLines-1 {
		w.passed++
		return true
	}
	if w.leftOut++; w.leftOut == 1 {
		time.AfterFunc(time.Until(w.begins.Add(time.Second)), w.close)
	}
	return false
}

// close ends a second in which lines were left out, with their number.
func (w *window) close() {
	w.mu.Lock()
	record := slog.NewRecord(time.Now(), slog.LevelInfo, "lines about strangers were left out", 0)
	record.AddAttrs(slog.Int("count", w.leftOut))
	w.begins, w.passed, w.leftOut = time.Now(), 0, 0
	w.mu.Unlock()
	if w.to.Enabled(context.Background(), slog.LevelInfo) {
		_ = w.to.Handle(context.Background(), record)
	}
}
