package peers

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// nodeKeys is the number of keys and transactions that rotate in Node. It is smaller than
// in Go: there, signing takes so long that cache misses do not matter.
const nodeKeys = 100

// nodePeer is a Node process that runs peers.mjs with one library.
type nodePeer struct {
	t       testing.TB
	to      *json.Encoder
	answers *bufio.Scanner
}

// startNode prepares a library for the first transactions, or messages, and their keys. It
// passes the script as text, so that the script finds the packages of the folder it runs
// in, interop/.
func startNode(t testing.TB, library string, transactions []string) peer {
	t.Helper()
	script := testenv.Read(t, "peers.mjs")
	command := testenv.Node(t, "--input-type=module", "--eval", string(script))
	var said bytes.Buffer // would otherwise fall between a benchmark's name and its figures
	command.Stderr = &said
	stdin, err := command.StdinPipe()
	testenv.Must(t, err)
	stdout, err := command.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, command.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("node: %s", said.String())
		}
	})
	p := newNodePeer(t, stdin, stdout)
	p.load(library, transactions[:nodeKeys])
	return p
}

func newNodePeer(t testing.TB, to io.Writer, from io.Reader) *nodePeer {
	answers := bufio.NewScanner(from)
	answers.Buffer(nil, 1<<20)
	return &nodePeer{t: t, to: json.NewEncoder(to), answers: answers}
}

func (p *nodePeer) load(library string, transactions []string) {
	p.t.Helper()
	request := map[string]any{"op": "load", "library": library}
	secrets := make([]string, nodeKeys)
	for i := range nodeKeys {
		secrets[i] = hex.EncodeToString(workload.Secret(i))
	}
	request["secrets"], request["transactions"] = secrets, transactions
	p.ask(request)
}

type nodeAnswer struct {
	Signed      string
	Nanoseconds int64
	Error       string
}

func (p *nodePeer) ask(request any) nodeAnswer {
	p.t.Helper()
	testenv.Must(p.t, p.to.Encode(request))
	if !p.answers.Scan() {
		p.t.Fatalf("peers.mjs ended: %v", p.answers.Err())
	}
	var answer nodeAnswer
	testenv.JSON(p.t, p.answers.Bytes(), &answer)
	if answer.Error != "" {
		p.t.Fatal("peers.mjs: ", answer.Error)
	}
	return answer
}

func (p *nodePeer) sign(i int) string {
	return p.ask(map[string]any{"op": "sign", "i": i}).Signed
}

func (p *nodePeer) time(from, calls int) time.Duration {
	return time.Duration(p.ask(map[string]any{"op": "time", "from": from, "calls": calls}).Nanoseconds)
}
