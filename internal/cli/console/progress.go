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

// progressAfter is how long an operation runs before its progress is shown.
const progressAfter = time.Second

// progressThrottle is the time between two updates of a progress bar.
const progressThrottle = 200 * time.Millisecond

// Errors of progress bars are ignored: the operation matters more.

// progress shows the progress of a batch on standard error, if that is a terminal and
// the batch itself does not use the terminal. A nil progress shows nothing.
type progress struct {
	bar     *progressbar.ProgressBar
	started time.Time
	lines   int
	bytes   int64
}

// NewProgress returns the progress of a long operation, shown on a terminal.
func NewProgress(cmd *cobra.Command) *progress {
	if !terminal.Is(cmd.ErrOrStderr()) || terminal.Is(cmd.OutOrStdout()) || terminal.Is(cmd.InOrStdin()) {
		return nil
	}
	total := int64(-1) // unknown, for a pipe
	if in, ok := cmd.InOrStdin().(*os.File); ok {
		if info, err := in.Stat(); err == nil && info.Mode().IsRegular() {
			total = info.Size()
		}
	}
	return &progress{started: time.Now(), bar: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(cmd.ErrOrStderr()),
		progressbar.OptionShowBytes(true), // shows the rate
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(progressThrottle),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // the spinner's goroutine races with Set64
	)}
}

// Add counts a line that has been answered.
func (p *progress) Add(line lines.Line) {
	if p == nil {
		return
	}
	p.lines++
	p.bytes += int64(len(line.Text)) + 1
	if p.lines%32 == 0 && time.Since(p.started) > progressAfter {
		_ = p.bar.Set64(p.bytes)
	}
}

// Finish clears the bar.
func (p *progress) Finish() {
	if p != nil {
		_ = p.bar.Finish()
	}
}

// openingProgress shows on standard error how many keys of a large keystore have been
// read, if that is a terminal. A nil openingProgress shows nothing.
type openingProgress struct {
	to      io.Writer
	started time.Time
	bar     *progressbar.ProgressBar // nil until the bar is shown
	done    bool
}

// NewOpeningProgress returns the progress of opening a keystore.
func NewOpeningProgress(to io.Writer) *openingProgress {
	if !terminal.Is(to) {
		return nil
	}
	return &openingProgress{to: to, started: time.Now()}
}

// Read is file.Options.OnRead. Keys read after the keystore is open are not shown.
func (p *openingProgress) Read(read, total int) {
	if p == nil || p.done || p.bar == nil && time.Since(p.started) < progressAfter {
		return
	}
	if p.bar == nil {
		p.bar = newCountBar(p.to, "Opening the keystore", total)
	}
	_ = p.bar.Set(read)
}

// Finish clears the bar.
func (p *openingProgress) Finish() {
	if p == nil {
		return
	}
	p.done = true
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// NewFileProgress shows on standard error how many files have been imported, if that is
// a terminal and standard output is not.
func NewFileProgress(cmd *cobra.Command, total int) *progressbar.ProgressBar {
	to := cmd.ErrOrStderr()
	if !terminal.Is(to) || terminal.Is(cmd.OutOrStdout()) {
		to = io.Discard
	}
	return newCountBar(to, "Importing", total)
}

func newCountBar(to io.Writer, description string, total int) *progressbar.ProgressBar {
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(to),
		progressbar.OptionSetDescription(description),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(progressThrottle),
		progressbar.OptionClearOnFinish(),
	)
}
