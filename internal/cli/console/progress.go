package console

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/lines"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
)

// ProgressAfter is how long an operation runs before its progress is shown.
const ProgressAfter = time.Second

// progressThrottle is the time between two updates of a progress bar.
const progressThrottle = 200 * time.Millisecond

// Progress shows on standard error how far a long operation has come. A nil Progress shows
// nothing. Errors of progress bars are ignored: the operation matters more.
type Progress struct {
	to      io.Writer
	from    time.Time // when it is shown at the earliest
	options []progressbar.Option
	bar     *progressbar.ProgressBar // nil until it is shown
	ended   bool

	lines        int // that Add has counted
	bytes, total int64
}

// NewProgress returns the progress of a batch of lines, if standard error is a terminal, and the
// batch itself does not use the terminal.
func NewProgress(cmd *cobra.Command) *Progress {
	if !terminal.Is(cmd.ErrOrStderr()) || terminal.Is(cmd.OutOrStdout()) || terminal.Is(cmd.InOrStdin()) {
		return nil
	}
	total := int64(-1) // unknown, for a pipe
	if in, ok := cmd.InOrStdin().(*os.File); ok {
		if info, err := in.Stat(); err == nil && info.Mode().IsRegular() {
			total = info.Size()
		}
	}
	from := time.Now().Add(ProgressAfter)
	return &Progress{to: cmd.ErrOrStderr(), from: from, total: total, options: []progressbar.Option{
		progressbar.OptionShowBytes(true),             // shows the rate
		progressbar.OptionSetSpinnerChangeInterval(0), // the spinner's goroutine races with Set64
	}}
}

// NewProgressOf returns the progress of what is done to keys, to be shown from a time on, if it is
// shown on a terminal.
func NewProgressOf(to io.Writer, doing string, from time.Time) *Progress {
	if !terminal.Is(to) {
		return nil
	}
	return &Progress{to: to, from: from, options: []progressbar.Option{progressbar.OptionSetDescription(doing)}}
}

// Add counts a line that has been answered.
func (p *Progress) Add(line lines.Line) {
	if p == nil {
		return
	}
	p.lines++
	p.bytes += int64(len(line.Text)) + 1
	if p.lines%32 == 0 {
		p.set(p.bytes, p.total)
	}
}

// Set shows how much is done. It is file.Options.OnRead: keys read after the keystore is open
// are not shown.
func (p *Progress) Set(done, total int) { p.set(int64(done), int64(total)) }

func (p *Progress) set(done, total int64) {
	if p == nil || p.ended || p.bar == nil && time.Now().Before(p.from) {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, append(p.options, progressbar.OptionSetWriter(p.to),
			progressbar.OptionShowCount(), progressbar.OptionThrottle(progressThrottle), progressbar.OptionClearOnFinish())...)
	}
	_ = p.bar.Set64(done)
}

// Finish clears the bar.
func (p *Progress) Finish() {
	if p == nil {
		return
	}
	p.ended = true
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
