package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// peer is a script of this folder that runs in Node and answers requests: see
// lines.mjs.
type peer struct {
	script  string
	command *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
}

// peers are the scripts that run, by name. Loading the libraries takes seconds, so
// tests share them.
var peers = map[string]*peer{}

// TestMain ends the peers once all tests have run.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, p := range peers {
		if err := p.end(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", p.script, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// startPeer returns the peer that runs a script, and starts it if need be.
func startPeer(t *testing.T, script string) *peer {
	t.Helper()
	command := testenv.Node(t, script)
	if p, ok := peers[script]; ok {
		return p
	}
	p := runPeer(t, command)
	peers[script] = p
	return p
}

// runPeer starts a peer that no other test uses and that the caller must end.
func runPeer(t *testing.T, node *exec.Cmd) *peer {
	t.Helper()
	command := exec.Command(node.Path, node.Args[1:]...) // not bound to the test, as node is
	command.Dir, command.Stderr = node.Dir, node.Stderr
	in, err := command.StdinPipe()
	testenv.Must(t, err)
	out, err := command.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, command.Start())
	return &peer{node.Args[1], command, in, json.NewDecoder(out)}
}

func (p *peer) end() error { return errors.Join(p.in.Close(), p.command.Wait()) }

// exchange sends a request and returns the answer.
func (p *peer) exchange(t *testing.T, request any) json.RawMessage {
	t.Helper()
	line := testenv.Encode(t, request)
	_, err := p.in.Write(append(line, '\n'))
	var answer json.RawMessage
	if err == nil {
		err = p.out.Decode(&answer)
	}
	if err != nil {
		delete(peers, p.script)
		t.Fatalf("%s: %v: request %.1000s", p.script, err, line)
	}
	return answer
}

// try sends a request and reads the answer into answer. It returns the error that
// the script has answered with, if any.
func (p *peer) try(t *testing.T, request, answer any) (problem string) {
	t.Helper()
	text := p.exchange(t, request)
	if bytes.HasPrefix(text, []byte("{")) {
		var failure struct{ Error string }
		testenv.JSON(t, text, &failure)
		if failure.Error != "" {
			return failure.Error
		}
	}
	testenv.JSON(t, text, answer)
	return ""
}

// ask is try for requests that must succeed.
func (p *peer) ask(t *testing.T, request, answer any) {
	t.Helper()
	if problem := p.try(t, request, answer); problem != "" {
		t.Fatalf("%s: %v: %s", p.script, request, problem)
	}
}

// printed runs a script that takes no requests and returns the JSON values that it
// prints.
func printed[T any](t *testing.T, script string, args ...string) (values []T) {
	t.Helper()
	out, err := testenv.Node(t, script, args...).Output()
	testenv.Must(t, err)
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var value T
		testenv.Must(t, decoder.Decode(&value))
		values = append(values, value)
	}
	return values
}
