package main

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
	fast := openingProgress{to: &screen, started: time.Now().Add(time.Hour)}
	fast.read(256, 1000)
	fast.finish()
	if screen.Len() > 0 {
		t.Errorf("a fast keystore shows %q", &screen)
	}
	slow := openingProgress{to: &screen, started: time.Now().Add(-time.Hour)}
	slow.read(256, 1000)
	if !strings.Contains(screen.String(), "256/1000") {
		t.Errorf("a slow keystore shows %q", &screen)
	}
	slow.finish()
	shown := screen.Len()
	slow.read(512, 1000)
	if screen.Len() != shown {
		t.Errorf("progress is still shown after the keystore is open: %q", &screen)
	}
	var hidden *openingProgress
	hidden.read(256, 1000)
	hidden.finish()
}
