package cli_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign-dev/countersign/internal/cli"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestHelp: every command prints its help on standard output and exits 0.
func TestHelp(t *testing.T) {
	for _, command := range available(cli.NewRoot(nil)) {
		args := append(strings.Fields(command.CommandPath())[1:], "--help")
		stdout, stderr, status := clitest.CallIn(args...)
		if status != console.ExitSuccess || stderr != "" || !strings.HasPrefix(stdout, strings.TrimSpace(command.Long)) || !strings.Contains(stdout, "Usage:") {
			t.Errorf("%q: exit status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

// TestHelpText: help and -h print the same as --help, with what callers depend on.
func TestHelpText(t *testing.T) {
	for args, want := range map[string]string{
		"-h":               `and 2 for wrong\s+usage`,
		"help":             `countersign demo`,
		"help keys import": `--jsonl +read many keys`,
		"sign -h":          `"unsignedTransaction"(?s:.*)TRANSACTION_TYPE_ETHEREUM`,
	} {
		stdout, stderr, status := clitest.CallIn(strings.Fields(args)...)
		if status != console.ExitSuccess || stderr != "" || !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("%q: exit status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

// TestUsage: a wrong call exits 2 and says why, and how to get help, on standard error.
func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":              `^countersign: countersign needs a command: .*apikey, .*hwi, .*serve, .*version, wallets, witness\n`,
		"keys":          `^countersign: countersign keys needs a command: act-for, add, backup, check, delete, derive, disable, enable, export, generate, import, list, passphrase, rename, restore, show\n`,
		"sing":          `^countersign: unknown command "sing" for "countersign": did you mean sign`,
		"keys bogus":    `^countersign: unknown command "bogus" for "countersign keys"`,
		"version now":   `^countersign: unexpected argument "now": write 'countersign version \[flags\]'\n`,
		"keys show":     `^countersign: ID is missing: write 'countersign keys show ID \[flags\]'\n`,
		"keys rename a": `^countersign: NAME is missing: write`,
		"inspect a b":   `^countersign: unexpected argument "b": write 'countersign inspect \[FILE\]`,
		"sign tx.hex":   `^countersign: unexpected argument: the transaction comes from standard input, as in '< FILE'\n`,
		"sign --bogus":  `unknown flag: --bogus`,
	} {
		stdout, stderr, status := clitest.CallIn(strings.Fields(args)...)
		if status != console.ExitUsage || stdout != "" || !regexp.MustCompile(want).MatchString(stderr) || !strings.Contains(stderr, " --help' for usage.\n") {
			t.Errorf("%q: exit status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

// TestVersion: all ways to ask for the version print one line of JSON.
func TestVersion(t *testing.T) {
	line := regexp.MustCompile(`^{"version":"[^"]*","commit":"[^"]*","go":"go1[^"]*","cgo":(true|false),"pkcs11":(true|false),"platform":"[a-z0-9]+/[a-z0-9]+","secp256k1":"(libsecp256k1|secp256k1-voi)","bip340":"[^"]+"}\n$`)
	for _, arg := range []string{"-v", "--version", "version"} {
		if stdout, stderr, status := clitest.CallIn(arg); status != console.ExitSuccess || !line.MatchString(stdout) || stderr != "" {
			t.Errorf("%s: exit status %d, %s%s", arg, status, stdout, stderr)
		}
	}
}

func TestScripts(t *testing.T) {
	clitest.Scripts(t, "testdata/script", func(env *testscript.Env) error {
		env.Setenv(clitest.InScript, "1")
		return nil
	})
}
