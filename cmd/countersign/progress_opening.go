package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

// openingProgress shows on standard error how many keys of a large keystore are read,
// if a person can see it. A nil openingProgress shows nothing.
type openingProgress struct {
	to      io.Writer
	started time.Time
	bar     *progressbar.ProgressBar // once it takes long
	done    bool
}

func newOpeningProgress(to io.Writer) *openingProgress {
	if !terminal.Is(to) {
		return nil
	}
	return &openingProgress{to: to, started: time.Now()}
}

// read is file.Options.OnRead. What is read after the keystore is open is not shown.
func (p *openingProgress) read(read, total int) {
	if p == nil || p.done || p.bar == nil && time.Since(p.started) < progressAfter {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.to),
			progressbar.OptionSetDescription("Opening the keystore"),
			progressbar.OptionShowCount(),
			progressbar.OptionThrottle(200*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	_ = p.bar.Set(read) // the keys matter more than their picture
}

// finish clears the line.
func (p *openingProgress) finish() {
	if p == nil {
		return
	}
	p.done = true
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
