package requests_test

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
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestRequestConfirmation checks that a person at an offline machine is shown what a request
// does and can decline, and that nothing is then signed or recorded.
func TestRequestConfirmation(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	made, err := show.NewRequestFile(s.By, clitest.SignBody(s.By.OrganizationID, s.Signer, clitest.Unsigned, time.Now()))
	testenv.Must(t, err)
	in, out := filepath.Join(s.Dir, "request.json"), filepath.Join(s.Dir, "activity.json")
	clitest.WritePrivate(t, in, string(console.JSONLine(made)))
	ask := func(answer string) int {
		command := exec.CommandContext(t.Context(), "countersign", "sign", "--config", s.Config(), "--request", in, "--out", out)
		p := clitest.Sit(t, command)
		p.Sees("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7") // on the terminal itself, in the order that it was written
		p.Sees(clitest.Question)
		p.Types(answer)
		return p.Ends()
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
	var answer clitest.Answer
	if content, err := os.ReadFile(out); err != nil || json.Unmarshal(content, &answer) != nil || answer.Activity.Result.SignTransactionResult.SignedTransaction == "" {
		t.Errorf("agreed: %s, %v", content, err)
	}
}

// TestCodePrompt checks that a typed code is not echoed.
func TestCodePrompt(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	n := s.Start(t, "--admin", "none")
	_, id, code := n.IssueCode(t, s)
	command := exec.CommandContext(t.Context(), "countersign", "otp", "verify", "--url", n.Base, "--api-key", filepath.Join(s.Dir, setup.APIKeyName), "--otp-id", id)
	stdout := new(clitest.Printed)
	people, tty := clitest.OpenTerminal(t)
	defer tty.Close()
	command.Stdin, command.Stdout = tty, stdout
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	testenv.Must(t, command.Start())
	p := &clitest.Person{T: t, Terminal: people, Command: command}
	go p.Read()
	p.Sees("Code: ")
	p.Hidden()
	p.Types(code + "\n")
	if status := p.Ends(); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, p.Shown())
	}
	var redeemed activity.VerifyOTPResult
	if err := json.Unmarshal([]byte(stdout.String()), &redeemed); err != nil || redeemed.VerificationToken == "" {
		t.Errorf("%s, %v", stdout, err)
	}
	if strings.Contains(p.Shown(), code) {
		t.Error("the code was shown")
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess || strings.Contains(n.Log.String(), code) {
		t.Errorf("exit status %d: %s", status, n.Log)
	}
}
