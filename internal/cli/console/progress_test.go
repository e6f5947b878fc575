package console

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestOpeningProgress: a keystore that opens quickly shows nothing; a slow one shows how
// many keys have been read, and clears the line.
func TestOpeningProgress(t *testing.T) {
	var screen bytes.Buffer
	fast := &Progress{to: &screen, from: time.Now().Add(time.Hour)}
	fast.Set(256, 1000)
	fast.Finish()
	if screen.Len() > 0 {
		t.Errorf("a fast keystore shows %q", &screen)
	}
	slow := &Progress{to: &screen, from: time.Now().Add(-time.Hour)}
	slow.Set(256, 1000)
	if !strings.Contains(screen.String(), "256/1000") {
		t.Errorf("a slow keystore shows %q", &screen)
	}
	slow.Finish()
	shown := screen.Len()
	slow.Set(512, 1000)
	if screen.Len() != shown {
		t.Errorf("progress is still shown after the keystore is open: %q", &screen)
	}
	var hidden *Progress
	hidden.Set(256, 1000)
	hidden.Finish()
}
