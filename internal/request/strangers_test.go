package request

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestQuietStrangers has strangers send 1,000 requests a second, and users 50: each line about a
// user is written, at most 10 a second are about strangers, and their counts add up.
func TestQuietStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		logger := slog.New(QuietStrangers(slog.NewJSONHandler(&out, nil)))
		inGroup := logger.With("a", 1).WithGroup("g")
		const seconds = 7
		for i := range 1000 * seconds {
			time.Sleep(time.Millisecond)
			[]*slog.Logger{logger, inGroup}[i%2].InfoContext(Stranger(t.Context()), "stranger")
			if i%20 == 0 {
				logger.InfoContext(t.Context(), "user")
			}
		}
		time.Sleep(2 * time.Second)
		strangers, users, leftOut, inSecond := 0, 0, 0, map[int64]int{}
		for line := range strings.Lines(out.String()) {
			var read struct {
				Time  time.Time
				Msg   string
				Count int
			}
			testenv.JSON(t, []byte(line), &read)
			if read.Msg == "user" {
				users++
				continue
			}
			if read.Msg == "stranger" {
				strangers++
			}
			leftOut += read.Count
			inSecond[read.Time.Add(-time.Millisecond).Unix()]++
		}
		for second, lines := range inSecond {
			if lines > StrangerLines {
				t.Errorf("%d lines in second %d", lines, second)
			}
		}
		if users != 50*seconds || strangers+leftOut != 1000*seconds || strangers < 9*(seconds-1) {
			t.Errorf("%d users, %d strangers, %d left out", users, strangers, leftOut)
		}
	})
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}
