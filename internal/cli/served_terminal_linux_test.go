package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/cli/show"
)

// TestRequestConfirmation checks that a person at an offline machine is shown what a request
// does and can decline, and that nothing is then signed or recorded.
func TestRequestConfirmation(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	made, err := show.NewRequestFile(s.by, signBody(s.by.OrganizationID, s.signer, vectorUnsigned, time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	in, out := filepath.Join(s.dir, "request.json"), filepath.Join(s.dir, "activity.json")
	writePrivate(t, in, string(console.JSONLine(made)))
	ask := func(answer string) int {
		command := exec.CommandContext(t.Context(), "countersign", "sign", "--config", s.config(), "--request", in, "--out", out)
		p := sit(t, command)
		p.sees("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7") // on the terminal itself, in the order that it was written
		p.sees(question)
		p.types(answer)
		return p.ends()
	}
	if status := ask("n\n"); status != console.ExitFailure {
		t.Errorf("declined: exit status %d", status)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("declined, and there is an activity")
	}
	if status := ask("y\n"); status != console.ExitSuccess {
		t.Errorf("agreed: exit status %d", status)
	}
	var answer demoAnswer
	if content, err := os.ReadFile(out); err != nil || json.Unmarshal(content, &answer) != nil || answer.Activity.Result.SignTransactionResult.SignedTransaction == "" {
		t.Errorf("agreed: %s, %v", content, err)
	}
}

// TestCodePrompt checks that a typed code is not echoed.
func TestCodePrompt(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	n := s.start(t, "--admin", "none")
	_, id, code := n.issueCode(t, s)
	command := exec.CommandContext(t.Context(), "countersign", "otp", "verify", "--url", n.Base, "--api-key", filepath.Join(s.dir, setup.APIKeyName), "--otp-id", id)
	stdout := new(printed)
	people, tty := openTerminal(t)
	defer tty.Close()
	command.Stdin, command.Stdout = tty, stdout
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, terminal: people, command: command}
	go p.read()
	p.sees("Code: ")
	p.hidden()
	p.types(code + "\n")
	if status := p.ends(); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, p.shown())
	}
	var redeemed activity.VerifyOTPResult
	if err := json.Unmarshal([]byte(stdout.String()), &redeemed); err != nil || redeemed.VerificationToken == "" {
		t.Errorf("%s, %v", stdout, err)
	}
	if strings.Contains(p.shown(), code) {
		t.Error("the code was shown")
	}
	if status := n.end(t, syscall.SIGTERM); status != console.ExitSuccess || strings.Contains(n.log.String(), code) {
		t.Errorf("exit status %d: %s", status, n.log)
	}
}
