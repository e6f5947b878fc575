package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

var update = flag.Bool("update", false, "write what is printed into the files that scripts compare with")

// hurry lets a program that was built with the race detector end at once,
// not after a second.
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
			main()
		},
		"countersign-dying": dies,
	})
}

// inScript is set in the environment of scripts.
const inScript = "COUNTERSIGN_IN_SCRIPT"

// exits is a command of the scripts: exits STATUS PROGRAM ARG… runs a program, and
// fails if it does not exit with that status.
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

// scriptCommands are the commands of the scripts that are no programs.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"exits":    exits,
	"member":   setMember,
	"serving":  setURL,
	"body":     writeBody,
	"walletid": walletID,
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

// walletID is a command of the scripts: walletid FILE puts the id of a wallet,
// out of the line that was printed of it, into the variable WALLET.
func walletID(ts *testscript.TestScript, _ bool, args []string) {
	var line walletLine
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

// One of the Ethereum vectors, and what the first key makes of it.
const (
	vectorUnsigned = "02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0"
	vectorSigned   = "02f86a0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c001a04d4e7d89896385d9c45261ca8abf4d033f1a15b5e0164a5cc20baa16424d77429fd5199e526182f00ee7273a2ad38ea39e7c5235d297fa008931138cf04fde55"
)

func makeFixture(t testing.TB, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "pass"), []byte(fixturePassphrase+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := file.Create(filepath.Join(dir, "keys"), []byte(fixturePassphrase), file.Options{WorkFactor: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, key := range []keystore.NewKey{
		{ID: fixtureID, Name: "vectors", Curve: keystore.CurveSecp256k1, Secret: mustHex(t, fixtureSecret)},
		{ID: fixtureSeedID, Curve: keystore.CurveEd25519, Secret: mustHex(t, fixtureSeed)},
	} {
		key.CreatedAt = created.Add(time.Duration(i) * time.Second)
		if _, err := keys.Add(t.Context(), defaultOrganization, key); err != nil {
			t.Fatal(err)
		}
	}
}

func mustHex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// session is a call of the command in a directory, away from any terminal.
type session struct {
	t      *testing.T
	dir    string
	output bytes.Buffer // all that was printed so far, on either stream
}

func newSession(t *testing.T) *session {
	t.Helper()
	s := &session{t: t, dir: t.TempDir()}
	makeFixture(t, s.dir)
	return s
}

// command returns a call that was not started. It uses the fixture's keystore
// if the command is one that needs one.
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

// run runs the command and returns what it printed, and its exit status.
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

// must is run for a call that succeeds.
func (s *session) must(stdin []byte, args ...string) []byte {
	s.t.Helper()
	stdout, stderr, status := s.run(stdin, args...)
	if status != exitSuccess {
		s.t.Fatalf("countersign %q: exit status %d\n%s", args, status, stderr)
	}
	return stdout
}
