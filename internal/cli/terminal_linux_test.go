package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
)

const (
	question    = "Sign this transaction? [y/N] "
	askPassword = "Passphrase of the keystore: "
)

// printed is output that can be read while the command is still writing.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printed) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// signAtTerminal starts signing one transaction at a terminal.
func signAtTerminal(t *testing.T, args ...string) (p *person, stdout, stderr *printed) {
	t.Helper()
	command, stdout, stderr := signCommand(t, args...)
	return sit(t, command), stdout, stderr
}

// signCommand returns a call of sign that asks at the terminal.
func signCommand(t *testing.T, args ...string) (command *exec.Cmd, stdout, stderr *printed) {
	t.Helper()
	s := newSession(t)
	command = s.command(append([]string{"sign", "--type", "TRANSACTION_TYPE_ETHEREUM", "--sign-with", fixtureAddress}, args...)...)
	stdout, stderr = new(printed), new(printed)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(vectorUnsigned), stdout, stderr
	return command, stdout, stderr
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for answer, status := range map[string]int{
		"y\n": console.ExitSuccess, "yes\n": console.ExitSuccess, "Y\n": console.ExitSuccess, " YES \n": console.ExitSuccess,
		"\n": console.ExitFailure, "n\n": console.ExitFailure, "no\n": console.ExitFailure, "yy\n": console.ExitFailure, "yes please\n": console.ExitFailure, "\x04": console.ExitFailure,
	} {
		p, stdout, stderr := signAtTerminal(t)
		p.sees(question)
		if stdout.String() != "" {
			t.Fatal("something was printed before the answer")
		}
		p.types(answer)
		if got := p.ends(); got != status {
			t.Errorf("%q: exit status %d, want %d", answer, got, status)
		}
		want := ""
		if status == console.ExitSuccess {
			want = vectorSigned + "\n"
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
	p, _, stderr := signAtTerminal(t)
	p.sees(question)
	p.types("n\n")
	p.ends()
	wanted := regexp.MustCompile(`(?m)^  from +` + fixtureAddress + `$`)
	if !wanted.MatchString(p.shown()) || !wanted.MatchString(stderr.String()) {
		t.Errorf("the transaction is not shown in both places:\n%s\n%s", p.shown(), stderr)
	}
	if shown, _, _ := strings.Cut(p.shown(), question); !strings.HasPrefix(stderr.String(), shown) {
		t.Error("the terminal and standard error show different things")
	}
}

// TestConfirmOnStandardError: if standard error is the terminal, the transaction is shown
// only once.
func TestConfirmOnStandardError(t *testing.T) {
	s := newSession(t)
	command := s.command("sign", "--type", "TRANSACTION_TYPE_ETHEREUM", "--sign-with", fixtureAddress)
	redirect(t, command, "2>&3")
	var stdout bytes.Buffer
	command.Stdin, command.Stdout = strings.NewReader(vectorUnsigned), &stdout
	p := sit(t, command)
	p.sees(question)
	p.types("y\n")
	if status := p.ends(); status != console.ExitSuccess || stdout.String() != vectorSigned+"\n" {
		t.Errorf("exit status %d, printed %q", status, &stdout)
	}
	if times := strings.Count(p.shown(), "summary digest"); times != 1 {
		t.Errorf("the transaction was shown %d times:\n%s", times, p.shown())
	}
}

func shell(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTypedAhead: input typed before the question does not answer it.
func TestTypedAhead(t *testing.T) {
	command, stdout, _ := signCommand(t)
	p := sitTyping(t, command, "y\n")
	p.sees(question)
	p.types("n\n")
	if status := p.ends(); status != console.ExitFailure || stdout.String() != "" {
		t.Errorf("exit status %d, printed %q", status, stdout)
	}
}

func TestYesAsksNothing(t *testing.T) {
	p, stdout, _ := signAtTerminal(t, "--yes")
	if status := p.ends(); status != console.ExitSuccess || stdout.String() != vectorSigned+"\n" {
		t.Errorf("exit status %d, printed %q", status, stdout)
	}
	if p.shown() != "" {
		t.Errorf("something was written to the terminal: %q", p.shown())
	}
}

func TestInterruptedAtQuestion(t *testing.T) {
	p, stdout, stderr := signAtTerminal(t)
	p.sees(question)
	p.types("\x03") // Ctrl-C
	if status := p.ends(); status != console.ExitFailure || stdout.String() != "" || !strings.Contains(stderr.String(), "countersign: interrupted") {
		t.Errorf("exit status %d, printed %q, said %q", status, stdout, stderr)
	}
}

// passphraseCommand returns a call that must ask for the passphrase.
func passphraseCommand(t *testing.T, s *session, args ...string) (command *exec.Cmd, stdout *bytes.Buffer) {
	t.Helper()
	command = exec.CommandContext(t.Context(), "countersign", args...)
	stdout = new(bytes.Buffer)
	command.Dir, command.Stdout = s.dir, stdout
	return command, stdout
}

func TestPassphrasePrompt(t *testing.T) {
	command, stdout := passphraseCommand(t, newSession(t), "keys", "list", "--keystore", "file:keys")
	p := sit(t, command)
	p.answers(askPassword, fixturePassphrase)
	if status := p.ends(); status != console.ExitSuccess || !strings.Contains(stdout.String(), fixtureID) {
		t.Errorf("exit status %d, printed %q", status, stdout)
	}
	if strings.Contains(p.shown(), fixturePassphrase) {
		t.Error("the passphrase was shown")
	}
	if !p.echoes() {
		t.Error("the terminal was left without echo")
	}
}

// TestInterruptedAtPassphrase: an interrupt restores the state of the terminal.
func TestInterruptedAtPassphrase(t *testing.T) {
	command, _ := passphraseCommand(t, newSession(t), "keys", "list", "--keystore", "file:keys")
	p := sit(t, command)
	p.sees(askPassword)
	p.hidden()
	p.types("half of\x03")
	if status := p.ends(); status != console.ExitFailure {
		t.Errorf("exit status %d", status)
	}
	if !p.echoes() {
		t.Error("the terminal was left without echo")
	}
}

// TestNewPassphrase: a new keystore's passphrase is asked for twice.
func TestNewPassphrase(t *testing.T) {
	for second, status := range map[string]int{"new secret": console.ExitSuccess, "new secrets": console.ExitFailure, "": console.ExitFailure} {
		s := newSession(t)
		command, stdout := passphraseCommand(t, s, "keys", "generate", "--keystore", "file:new", "--curve", "CURVE_ED25519")
		p := sit(t, command)
		p.answers("New passphrase for the keystore: ", "new secret")
		p.answers("The same passphrase again: ", second)
		if got := p.ends(); got != status || strings.Contains(p.shown(), "new secret") {
			t.Errorf("%q: exit status %d, want %d; the screen:\n%s", second, got, status, p.shown())
		}
		_, err := os.Stat(filepath.Join(s.dir, "new"))
		if made := err == nil; made != (status == console.ExitSuccess) || (stdout.Len() > 0) != made {
			t.Errorf("%q: made a keystore: %v, printed %q", second, made, stdout)
		}
	}
}

// TestPassphraseChange: the old passphrase of a keystore is asked for once, the new one
// twice.
func TestPassphraseChange(t *testing.T) {
	s := newSession(t)
	for _, args := range [][]string{
		{"keys", "generate", "--keystore", "file:k", "--curve", "CURVE_ED25519"},
		{"keys", "passphrase", "change", "--keystore", "file:k"},
	} {
		command, _ := passphraseCommand(t, s, args...)
		p := sit(t, command)
		if args[1] == "passphrase" {
			p.answers("Passphrase of the keystore: ", "new secret")
		}
		p.answers("New passphrase for the keystore: ", "new secret")
		p.answers("The same passphrase again: ", "new secret")
		if got := p.ends(); got != console.ExitSuccess {
			t.Fatalf("%q: exit status %d; the screen:\n%s", args, got, p.shown())
		}
	}
}

// TestSecretPrompt: a typed secret is not echoed.
func TestSecretPrompt(t *testing.T) {
	s := newSession(t)
	command := s.command("keys", "import", "--curve", "CURVE_SECP256K1")
	redirect(t, command, "<&3")
	var stdout bytes.Buffer
	command.Stdout = &stdout
	p := sit(t, command)
	p.answers("Secret in hex: ", fixtureSecret)
	if status := p.ends(); status != console.ExitSuccess || !strings.Contains(stdout.String(), fixtureAddress) {
		t.Errorf("exit status %d, printed %q", status, &stdout)
	}
	if strings.Contains(p.shown(), fixtureSecret) {
		t.Error("the secret was shown")
	}
}

// TestProgress: a long batch shows its progress if only standard error is a terminal.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	command := s.command("sign", "--jsonl")
	redirect(t, command, "2>&3")
	in, out := pipes(t, command)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	p := sit(t, command)
	i := 0
	testenv.Await(t, "progress is shown", func() bool {
		if _, err := io.WriteString(in, intentLine(fixtureAddress, testTransaction(i))); err != nil {
			t.Fatal(err)
		}
		i++
		return strings.Contains(p.shown(), "kB")
	})
	in.Close()
	if status := p.ends(); status != console.ExitSuccess {
		t.Errorf("exit status %d; the screen:\n%s", status, p.shown())
	}
}
