//go:build unix

package clitest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign-dev/countersign/internal/cli/keys"
	"github.com/countersign-dev/countersign/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

// exits is a command of the scripts: exits STATUS PROGRAM ARG… [<FILE] runs a program, with a file as
// its standard input, and fails unless it exits with that status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG… [<FILE]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var got int
	if args[1] == "countersign" {
		got = scriptCall(ts, args[2:])
	} else {
		err = ts.Exec(args[1], args[2:]...)
		if exited, ok := errors.AsType[*exec.ExitError](err); ok {
			got = exited.ExitCode()
		} else {
			ts.Check(err)
		}
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// scriptCall carries out a call of the command in a script, and returns its exit status.
func scriptCall(ts *testscript.TestScript, args []string) int {
	c := &call{Dir: ts.MkAbs("."), Args: args}
	if file, ok := strings.CutPrefix(args[len(args)-1], "<"); ok {
		c.Args, c.Stdin = args[:len(args)-1], []byte(ts.ReadFile(file))
	}
	for _, name := range ts.Value(scriptVariables{}).([]string) {
		c.Env = append(c.Env, name+"="+ts.Getenv(name))
	}
	done, err := carryOut(c)
	ts.Check(err)
	_, err = ts.Stdout().Write(done.Stdout)
	ts.Check(err)
	_, err = ts.Stderr().Write(done.Stderr)
	ts.Check(err)
	return done.Status
}

// scriptVariables is the key of the names of a script's environment variables.
type scriptVariables struct{}

// Scripts runs the scripts of a folder, each with the keystore of the tests.
func Scripts(t *testing.T, dir string, setup func(*testscript.Env) error) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds:                scriptCommands,
		Setup: func(env *testscript.Env) error {
			makeFixture(t, env.WorkDir)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			err := setup(env)
			var names []string
			for _, variable := range env.Vars {
				name, _, _ := strings.Cut(variable, "=")
				names = append(names, name)
			}
			env.Values[scriptVariables{}] = names
			return err
		},
	})
}

// scriptCommands are the commands of the scripts that are not programs.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"exits":    exits,
	"member":   setMember,
	"serving":  setURL,
	"body":     writeBody,
	"walletid": walletID,
}

// walletID is a command of the scripts: walletid FILE reads a printed wallet from
// FILE and sets the variable WALLET to its id.
func walletID(ts *testscript.TestScript, _ bool, args []string) {
	var line keys.WalletLine
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &line))
	ts.Setenv("WALLET", line.WalletID)
}

// setMember is the script command member VARIABLE FILE NAME.NAME…: it sets a variable to a
// member of a JSON file.
func setMember(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("member VARIABLE FILE NAME.NAME…")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &value))
	for name := range strings.SplitSeq(args[2], ".") {
		object, ok := value.(map[string]any)
		if !ok || object[name] == nil {
			ts.Fatalf("%s has no %s: %v", args[1], args[2], value)
		}
		value = object[name]
	}
	ts.Setenv(args[0], fmt.Sprint(value))
}

// setURL is the script command serving FILE [LOG]: it waits until a server has printed its
// address into FILE, and sets URL and LISTENING to it. It sets ADMIN to the admin address in
// LOG.
func setURL(ts *testscript.TestScript, _ bool, args []string) {
	var ready struct{ Listening string }
	for end := time.Now().Add(testenv.Patience); ; time.Sleep(10 * time.Millisecond) {
		content, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && json.Unmarshal(content, &ready) == nil {
			break
		}
		if time.Now().After(end) {
			ts.Fatalf("the server is not ready: %s, %v", content, err)
		}
	}
	ts.Setenv("URL", "http://"+ready.Listening)
	ts.Setenv("LISTENING", ready.Listening)
	if len(args) > 1 {
		admin := AdminAddress.FindStringSubmatch(ts.ReadFile(args[1])) // logged before the address in FILE is printed
		if admin == nil {
			ts.Fatalf("%s names no admin address", args[1])
		}
		ts.Setenv("ADMIN", "http://"+admin[1])
	}
}

// writeBody is the script command body FILE ORGANIZATION SIGN_WITH [AGE [UNSIGNED]]: it
// writes a sign_transaction request of that age.
func writeBody(ts *testscript.TestScript, _ bool, args []string) {
	age, unsigned := time.Duration(0), Unsigned
	if len(args) > 3 {
		var err error
		age, err = time.ParseDuration(args[3])
		ts.Check(err)
	}
	if len(args) > 4 {
		unsigned = args[4]
	}
	// A millisecond more for each second of the age: bodies of two ages are two requests, however
	// long after the first the second is written.
	made := time.Now().Truncate(time.Second).Add(-age - age/1000%time.Second)
	body := SignBody(args[1], args[2], unsigned, made)
	ts.Check(os.WriteFile(filepath.Clean(ts.MkAbs(args[0])), body, 0o600))
}
