package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/lines"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

// progressAfter is how long a batch runs before its progress is shown.
const progressAfter = time.Second

// progress shows on standard error how far a batch is, if a person can see it
// and if it is not in the way of what they see of the batch itself. A nil
// progress shows nothing.
type progress struct {
	bar     *progressbar.ProgressBar
	started time.Time
	lines   int
	bytes   int64
}

func newProgress(cmd *cobra.Command) *progress {
	if !terminal.Is(cmd.ErrOrStderr()) || terminal.Is(cmd.OutOrStdout()) || terminal.Is(cmd.InOrStdin()) {
		return nil
	}
	total := int64(-1) // unknown: a pipe
	if in, ok := cmd.InOrStdin().(*os.File); ok {
		if info, err := in.Stat(); err == nil && info.Mode().IsRegular() {
			total = info.Size()
		}
	}
	return &progress{started: time.Now(), bar: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(cmd.ErrOrStderr()),
		progressbar.OptionShowBytes(true), // the rate
		progressbar.OptionShowCount(),     // what is done, and of how much if that is known
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine of its own: it races with Set64
	)}
}

// add counts a line that was answered.
func (p *progress) add(line lines.Line) {
	if p == nil {
		return
	}
	p.lines++
	p.bytes += int64(len(line.Text)) + 1
	if p.lines%32 == 0 && time.Since(p.started) > progressAfter {
		_ = p.bar.Set64(p.bytes) // the batch matters more than its picture
	}
}

// finish clears the line.
func (p *progress) finish() {
	if p != nil {
		_ = p.bar.Finish()
	}
}
