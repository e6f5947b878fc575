package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/keys"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

// hurry makes a program built with the race detector exit at once instead of
// after a second.
const hurry = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", hurry)
	}
	testscript.Main(m, map[string]func(){
		"countersign": func() {
			if os.Getenv(inScript) != "" {
				_, _ = syscall.Setsid() // away from the terminal that the tests may have
			}
			deployment.NewKeystoreWork = 1
			command()
		},
		"countersign-dying":   dies,
		"countersign-shipped": command, // with the work factor that users get
	})
}

// command is main of the command.
func command() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, nil)) }

// inScript is set in the environment of the scripts.
const inScript = "COUNTERSIGN_IN_SCRIPT"

// exits is a command of the scripts: exits STATUS PROGRAM ARG… runs a program and
// fails unless it exits with that status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exited.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// scriptCommands are the commands of the scripts that are not programs.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"exits":    exits,
	"member":   setMember,
	"serving":  setURL,
	"body":     writeBody,
	"walletid": walletID,
}

// callIn runs the command in this process and returns its output and exit status.
func callIn(args ...string) (stdout, stderr string, status int) {
	var out, talk bytes.Buffer
	status = Main(args, strings.NewReader(""), &out, &talk, nil)
	return out.String(), talk.String(), status
}

// TestHelp: every command prints its help on standard output and exits 0.
func TestHelp(t *testing.T) {
	for _, command := range available(newRoot(nil)) {
		args := append(strings.Fields(command.CommandPath())[1:], "--help")
		stdout, stderr, status := callIn(args...)
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
		stdout, stderr, status := callIn(strings.Fields(args)...)
		if status != console.ExitSuccess || stderr != "" || !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("%q: exit status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

// TestUsage: a wrong call exits 2 and says why, and how to get help, on standard error.
func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":              `^countersign: countersign needs a command: .*apikey, .*serve, .*version, witness\n`,
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
		stdout, stderr, status := callIn(strings.Fields(args)...)
		if status != console.ExitUsage || stdout != "" || !regexp.MustCompile(want).MatchString(stderr) || !strings.Contains(stderr, " --help' for usage.\n") {
			t.Errorf("%q: exit status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

// TestVersion: all ways to ask for the version print one line of JSON.
func TestVersion(t *testing.T) {
	line := regexp.MustCompile(`^{"version":"[^"]*","commit":"[^"]*","go":"go1[^"]*","cgo":(true|false),"pkcs11":(true|false),"platform":"[a-z0-9]+/[a-z0-9]+","secp256k1":"(libsecp256k1|secp256k1-voi)","bip340":"[^"]+"}\n$`)
	for _, arg := range []string{"-v", "--version", "version"} {
		if stdout, stderr, status := callIn(arg); status != console.ExitSuccess || !line.MatchString(stdout) || stderr != "" {
			t.Errorf("%s: exit status %d, %s%s", arg, status, stdout, stderr)
		}
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds:                scriptCommands,
		Setup: func(env *testscript.Env) error {
			makeFixture(t, env.WorkDir)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv(inScript, "1")
			return nil
		},
	})
}

// walletID is a command of the scripts: walletid FILE reads a printed wallet from
// FILE and sets the variable WALLET to its id.
func walletID(ts *testscript.TestScript, _ bool, args []string) {
	var line keys.WalletLine
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &line))
	ts.Setenv("WALLET", line.WalletID)
}

// The keystore of the tests, in keys/ with its passphrase in the file pass. Its
// keys belong to the organization "default"; the first is the one of the
// Ethereum vectors.
const (
	fixturePassphrase = "correct horse battery staple"
	fixtureSecret     = "e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca"
	fixtureAddress    = "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"
	fixtureID         = "11111111-1111-4111-8111-111111111111"
	fixtureSeed       = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60" // RFC 8032, test 1
	fixtureSeedPublic = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
	fixtureSeedID     = "22222222-2222-4222-8222-222222222222"
)

// One of the Ethereum vectors, and the first key's signed transaction for it.
const (
	vectorUnsigned = "02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0"
	vectorSigned   = "02f86a0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c001a04d4e7d89896385d9c45261ca8abf4d033f1a15b5e0164a5cc20baa16424d77429fd5199e526182f00ee7273a2ad38ea39e7c5235d297fa008931138cf04fde55"
)

// makeFixture writes the keystore of the tests and its passphrase into a directory.
// The keystore is created once and copied: creating one waits for the disk many times.
func makeFixture(t testing.TB, dir string) {
	t.Helper()
	files, err := fixtureFiles()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fixtureFiles are the files of the fixture, by their paths.
var fixtureFiles = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "countersign-fixture-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := createFixture(filepath.Join(dir, "keys")); err != nil {
		return nil, err
	}
	files := map[string][]byte{"pass": []byte(fixturePassphrase + "\n")}
	root := os.DirFS(dir)
	return files, fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(root, path)
		return err
	})
})

func createFixture(dir string) error {
	keys, err := file.Create(dir, []byte(fixturePassphrase), file.Options{WorkFactor: 1})
	if err != nil {
		return err
	}
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, key := range []struct {
		id, name string
		curve    keystore.Curve
		secret   string
	}{
		{fixtureID, "vectors", keystore.CurveSecp256k1, fixtureSecret},
		{fixtureSeedID, "", keystore.CurveEd25519, fixtureSeed},
	} {
		secret, err := hex.DecodeString(key.secret)
		if err != nil {
			return err
		}
		add := keystore.NewKey{ID: key.id, Name: key.name, Curve: key.curve, Secret: secret, CreatedAt: created.Add(time.Duration(i) * time.Second)}
		if _, err := keys.Add(context.Background(), deployment.DefaultOrganization, add); err != nil {
			return errors.Join(err, keys.Close())
		}
	}
	return keys.Close()
}

func mustHex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// demoAnswer is an answer of the server, with the members that tests read.
type demoAnswer struct {
	Activity struct {
		ID     string `json:"id"`
		Result struct {
			SignTransactionResult activity.SignTransactionResult `json:"signTransactionResult"`
			InitOTPAuthResultV2   activity.InitOTPAuthResult     `json:"initOtpAuthResultV2"`
		} `json:"result"`
	} `json:"activity"`
}

// session runs the command in a directory, away from any terminal.
type session struct {
	t      *testing.T
	dir    string
	output bytes.Buffer // everything printed so far, on either stream
}

func newSession(t *testing.T) *session {
	t.Helper()
	s := &session{t: t, dir: t.TempDir()}
	makeFixture(t, s.dir)
	return s
}

// command returns a call that has not been started. Commands that need a keystore
// use the fixture's, unless they have --config.
func (s *session) command(args ...string) *exec.Cmd {
	s.t.Helper()
	if (args[0] == "keys" || args[0] == "sign") && !slices.Contains(args, "--config") {
		args = append(args, "--keystore", "file:keys", "--passphrase-file", "pass")
	}
	command := exec.CommandContext(s.t.Context(), "countersign", args...)
	command.Dir = s.dir
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return command
}

// run runs the command and returns its output and exit status.
func (s *session) run(stdin []byte, args ...string) (stdout, stderr []byte, status int) {
	s.t.Helper()
	var out, talk bytes.Buffer
	command := s.command(args...)
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(stdin), &out, &talk
	err := command.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		s.t.Fatal(err)
	}
	s.output.Write(out.Bytes())
	s.output.Write(talk.Bytes())
	return out.Bytes(), talk.Bytes(), command.ProcessState.ExitCode()
}

// must is run for a call that must succeed. It returns standard output.
func (s *session) must(stdin []byte, args ...string) []byte {
	s.t.Helper()
	stdout, stderr, status := s.run(stdin, args...)
	if status != console.ExitSuccess {
		s.t.Fatalf("countersign %q: exit status %d\n%s", args, status, stderr)
	}
	return stdout
}
