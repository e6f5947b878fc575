package sign_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// signAtTerminal starts signing one transaction at a terminal.
func signAtTerminal(t *testing.T, args ...string) (p *clitest.Person, stdout, stderr *clitest.Printed) {
	t.Helper()
	command, stdout, stderr := signCommand(t, args...)
	return clitest.Sit(t, command), stdout, stderr
}

// signCommand returns a call of sign that asks at the terminal.
func signCommand(t *testing.T, args ...string) (command *exec.Cmd, stdout, stderr *clitest.Printed) {
	t.Helper()
	s := clitest.NewSession(t)
	command = s.Command(append([]string{"sign", "--type", "TRANSACTION_TYPE_ETHEREUM", "--sign-with", clitest.Address}, args...)...)
	stdout, stderr = new(clitest.Printed), new(clitest.Printed)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(clitest.Unsigned), stdout, stderr
	return command, stdout, stderr
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for answer, status := range map[string]int{
		"y\n": console.ExitSuccess, "yes\n": console.ExitSuccess, "Y\n": console.ExitSuccess, " YES \n": console.ExitSuccess,
		"\n": console.ExitFailure, "n\n": console.ExitFailure, "no\n": console.ExitFailure, "yy\n": console.ExitFailure, "yes please\n": console.ExitFailure, "\x04": console.ExitFailure,
	} {
		p, stdout, stderr := signAtTerminal(t)
		p.Sees(clitest.Question)
		if stdout.String() != "" {
			t.Fatal("something was printed before the answer")
		}
		p.Types(answer)
		if got := p.Ends(); got != status {
			t.Errorf("%q: exit status %d, want %d", answer, got, status)
		}
		want := ""
		if status == console.ExitSuccess {
			want = clitest.Signed + "\n"
		}
		if stdout.String() != want {
			t.Errorf("%q: printed %q", answer, stdout)
		}
		if declined := strings.Contains(stderr.String(), "countersign: not signed"); declined != (status == console.ExitFailure) {
			t.Errorf("%q: standard error is %q", answer, stderr)
		}
	}
}

// TestConfirmShows: the terminal shows the transaction before the question even if standard
// error goes elsewhere, and both show the same.
func TestConfirmShows(t *testing.T) {
	t.Parallel()
	p, _, stderr := signAtTerminal(t)
	p.Sees(clitest.Question)
	p.Types("n\n")
	p.Ends()
	wanted := regexp.MustCompile(`(?m)^  from +` + clitest.Address + `$`)
	if !wanted.MatchString(p.Shown()) || !wanted.MatchString(stderr.String()) {
		t.Errorf("the transaction is not shown in both places:\n%s\n%s", p.Shown(), stderr)
	}
	if shown, _, _ := strings.Cut(p.Shown(), clitest.Question); !strings.HasPrefix(stderr.String(), shown) {
		t.Error("the terminal and standard error show different things")
	}
}

// TestConfirmOnStandardError: if standard error is the terminal, the transaction is shown
// only once.
func TestConfirmOnStandardError(t *testing.T) {
	s := clitest.NewSession(t)
	command := s.Command("sign", "--type", "TRANSACTION_TYPE_ETHEREUM", "--sign-with", clitest.Address)
	clitest.Redirect(t, command, "2>&3")
	var stdout bytes.Buffer
	command.Stdin, command.Stdout = strings.NewReader(clitest.Unsigned), &stdout
	p := clitest.Sit(t, command)
	p.Sees(clitest.Question)
	p.Types("y\n")
	if status := p.Ends(); status != console.ExitSuccess || stdout.String() != clitest.Signed+"\n" {
		t.Errorf("exit status %d, printed %q", status, &stdout)
	}
	if times := strings.Count(p.Shown(), "summary digest"); times != 1 {
		t.Errorf("the transaction was shown %d times:\n%s", times, p.Shown())
	}
}

// TestTypedAhead: input typed before the question does not answer it.
func TestTypedAhead(t *testing.T) {
	command, stdout, _ := signCommand(t)
	p := clitest.SitTyping(t, command, "y\n")
	p.Sees(clitest.Question)
	p.Types("n\n")
	if status := p.Ends(); status != console.ExitFailure || stdout.String() != "" {
		t.Errorf("exit status %d, printed %q", status, stdout)
	}
}

func TestYesAsksNothing(t *testing.T) {
	p, stdout, _ := signAtTerminal(t, "--yes")
	if status := p.Ends(); status != console.ExitSuccess || stdout.String() != clitest.Signed+"\n" {
		t.Errorf("exit status %d, printed %q", status, stdout)
	}
	if p.Shown() != "" {
		t.Errorf("something was written to the terminal: %q", p.Shown())
	}
}

func TestInterruptedAtQuestion(t *testing.T) {
	p, stdout, stderr := signAtTerminal(t)
	p.Sees(clitest.Question)
	p.Types("\x03") // Ctrl-C
	if status := p.Ends(); status != console.ExitFailure || stdout.String() != "" || !strings.Contains(stderr.String(), "countersign: interrupted") {
		t.Errorf("exit status %d, printed %q, said %q", status, stdout, stderr)
	}
}

// passphraseCommand returns a call that must ask for the passphrase.
func passphraseCommand(t *testing.T, s *clitest.Session, args ...string) (command *exec.Cmd, stdout *bytes.Buffer) {
	t.Helper()
	command = exec.CommandContext(t.Context(), "countersign", args...)
	stdout = new(bytes.Buffer)
	command.Dir, command.Stdout = s.Dir, stdout
	return command, stdout
}

func TestPassphrasePrompt(t *testing.T) {
	command, stdout := passphraseCommand(t, clitest.NewSession(t), "keys", "list", "--keystore", "file:keys")
	p := clitest.Sit(t, command)
	p.Answers(clitest.AskPassword, clitest.Passphrase)
	if status := p.Ends(); status != console.ExitSuccess || !strings.Contains(stdout.String(), clitest.KeyID) {
		t.Errorf("exit status %d, printed %q", status, stdout)
	}
	if strings.Contains(p.Shown(), clitest.Passphrase) {
		t.Error("the passphrase was shown")
	}
	if !p.Echoes() {
		t.Error("the terminal was left without echo")
	}
}

// TestInterruptedAtPassphrase: an interrupt restores the state of the terminal.
func TestInterruptedAtPassphrase(t *testing.T) {
	command, _ := passphraseCommand(t, clitest.NewSession(t), "keys", "list", "--keystore", "file:keys")
	p := clitest.Sit(t, command)
	p.Sees(clitest.AskPassword)
	p.Hidden()
	p.Types("half of\x03")
	if status := p.Ends(); status != console.ExitFailure {
		t.Errorf("exit status %d", status)
	}
	if !p.Echoes() {
		t.Error("the terminal was left without echo")
	}
}

// TestNewPassphrase: a new keystore's passphrase is asked for twice.
func TestNewPassphrase(t *testing.T) {
	t.Parallel()
	for second, status := range map[string]int{"new secret": console.ExitSuccess, "new secrets": console.ExitFailure, "": console.ExitFailure} {
		s := clitest.NewSession(t)
		command, stdout := passphraseCommand(t, s, "keys", "generate", "--keystore", "file:new", "--curve", "CURVE_ED25519")
		p := clitest.Sit(t, command)
		p.Answers("New passphrase for the keystore: ", "new secret")
		p.Answers("The same passphrase again: ", second)
		if got := p.Ends(); got != status || strings.Contains(p.Shown(), "new secret") {
			t.Errorf("%q: exit status %d, want %d; the screen:\n%s", second, got, status, p.Shown())
		}
		_, err := os.Stat(filepath.Join(s.Dir, "new"))
		if made := err == nil; made != (status == console.ExitSuccess) || (stdout.Len() > 0) != made {
			t.Errorf("%q: made a keystore: %v, printed %q", second, made, stdout)
		}
	}
}

// TestPassphraseChange: the old passphrase of a keystore is asked for once, the new one
// twice.
func TestPassphraseChange(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	for _, args := range [][]string{
		{"keys", "generate", "--keystore", "file:k", "--curve", "CURVE_ED25519"},
		{"keys", "passphrase", "change", "--keystore", "file:k"},
	} {
		command, _ := passphraseCommand(t, s, args...)
		p := clitest.Sit(t, command)
		if args[1] == "passphrase" {
			p.Answers("Passphrase of the keystore: ", "new secret")
		}
		p.Answers("New passphrase for the keystore: ", "new secret")
		p.Answers("The same passphrase again: ", "new secret")
		if got := p.Ends(); got != console.ExitSuccess {
			t.Fatalf("%q: exit status %d; the screen:\n%s", args, got, p.Shown())
		}
	}
}

// TestSecretPrompt: a typed secret is not echoed.
func TestSecretPrompt(t *testing.T) {
	s := clitest.NewSession(t)
	command := s.Command("keys", "import", "--curve", "CURVE_SECP256K1")
	clitest.Redirect(t, command, "<&3")
	var stdout bytes.Buffer
	command.Stdout = &stdout
	p := clitest.Sit(t, command)
	p.Answers("Secret in hex: ", clitest.Secret)
	if status := p.Ends(); status != console.ExitSuccess || !strings.Contains(stdout.String(), clitest.Address) {
		t.Errorf("exit status %d, printed %q", status, &stdout)
	}
	if strings.Contains(p.Shown(), clitest.Secret) {
		t.Error("the secret was shown")
	}
}

// TestProgress: a long batch shows its progress if only standard error is a terminal.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	command := s.Command("sign", "--jsonl")
	clitest.Redirect(t, command, "2>&3")
	in, out := clitest.Pipes(t, command)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	p := clitest.Sit(t, command)
	i := 0
	testenv.Await(t, "progress is shown", func() bool {
		if _, err := io.WriteString(in, clitest.IntentLine(clitest.Address, clitest.NthTransaction(i))); err != nil {
			t.Fatal(err)
		}
		i++
		return strings.Contains(p.Shown(), "kB")
	})
	in.Close()
	if status := p.Ends(); status != console.ExitSuccess {
		t.Errorf("exit status %d; the screen:\n%s", status, p.Shown())
	}
}
