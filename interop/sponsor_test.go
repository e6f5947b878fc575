package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

const (
	sponsoredToken = "0x20C0000000000000000000000000000000000000"
	anotherToken   = "0x20C0000000000000000000000000000000000001"
	sponsoredUser  = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F" // of the key of 32 bytes 0x46
	recipient      = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
)

// TestSponsor has viem/tempo send transactions through the relay of docs/sponsor.md.
// countersign serve pays their fees under the policy of that page, and ox reads them.
func TestSponsor(t *testing.T) {
	testenv.Slow(t)
	s := newSponsor(t)
	for _, hostile := range []string{"{", "null", "[]", `{"method":"eth_signRawTransaction"}`, `{"id":1,"method":"eth_signRawTransaction","params":["0x76c0"]}`, strings.Repeat("x", 2_000_000)} {
		answer, err := http.Post(s.relayURL, "application/json", strings.NewReader(hostile)) // the relay must survive it
		if err == nil {
			_ = answer.Body.Close()
		}
	}
	dearest := map[string]any{"gas": "495000", "maxFeePerGas": "100000000000", "maxPriorityFeePerGas": "0"} // viem adds 5,000 gas
	transfer := func(token string, more map[string]any) map[string]any {
		return merged(map[string]any{"token": token, "to": recipient, "amount": "5"}, dearest, more)
	}
	accepted := 0
	for _, way := range []map[string]any{
		{"transport": "withRelay"}, {"transport": "withRelay", "policy": "sign-and-broadcast"},
		{"transport": "withFeePayer"}, {"transport": "withFeePayer", "policy": "sign-and-broadcast"},
	} {
		got := s.call(t, merged(way, map[string]any{"action": "token.transfer", "args": transfer(sponsoredToken, nil)}))
		if got.Error != "" {
			t.Errorf("%v: %s", way, got.Error)
			continue
		}
		accepted++
		s.wantPaid(t, "500000")
	}
	for name, line := range map[string]map[string]any{
		"another token": {"action": "token.transfer", "args": transfer(anotherToken, nil)},
		"a higher fee":  {"action": "token.transfer", "args": transfer(sponsoredToken, map[string]any{"gas": "495001"})},
		"a memo and a higher fee": {"action": "token.transfer", "args": transfer(sponsoredToken, map[string]any{
			"memo": "0x" + strings.Repeat("33", 32), "maxFeePerGas": "100000000001"})},
		"an approval": {"action": "token.approve", "args": merged(dearest, map[string]any{"token": sponsoredToken, "spender": recipient, "amount": "5"})},
		"a burn":      {"action": "token.burn", "args": merged(dearest, map[string]any{"token": sponsoredToken, "amount": "5"})},
		"a new role": {"action": "token.grantRoles", "args": merged(dearest, map[string]any{
			"token": sponsoredToken, "roles": []string{"issuer"}, "to": recipient})},
	} {
		for _, transport := range []string{"withRelay", "withFeePayer"} {
			got := s.call(t, merged(line, map[string]any{"transport": transport}))
			why := "rule only-transfers denies this request"
			if strings.Contains(name, "fee") {
				why = "effect 1 (fee) is not covered by any rule"
			}
			if !strings.Contains(got.Error, why) {
				t.Errorf("%s through %s: hash %q, error %q, want %q", name, transport, got.Hash, got.Error, why)
			}
		}
	}
	s.documented(t)
	const day, over = 40, 7
	got := s.call(t, map[string]any{"many": day - accepted - 1 + over, "args": transfer(sponsoredToken, nil)})
	if got.Accepted != day-accepted-1 || len(got.Refused) != over {
		t.Fatalf("%d and %d before were accepted, %d refused: %s", got.Accepted, accepted+1, len(got.Refused), got.Error)
	}
	for _, why := range got.Refused {
		if !strings.Contains(why, "sponsored") {
			t.Errorf("refused for %s", why)
		}
	}
}

// sponsor is a server, a relay, clients, and the node that receives transactions.
type sponsor struct {
	*peer
	address, nodeURL, relayURL string

	mu   sync.Mutex
	sent []string
}

type sponsorAnswer struct {
	Hash, Error, Sender, Payer, FeeToken, Gas string
	Accepted                                  int
	Refused                                   []string
}

func newSponsor(t *testing.T) *sponsor {
	t.Helper()
	s := new(sponsor)
	node := httptest.NewServer(http.HandlerFunc(s.node))
	t.Cleanup(node.Close)
	s.nodeURL = node.URL
	folder := t.TempDir()
	program := testenv.GoProgram(t, ".", "./cmd/countersign")
	made := filepath.Join(folder, "sponsor")
	config := filepath.Join(made, "countersign.yaml")
	runProgram(t, "", program, "init", made)
	key := runProgram(t, "", program, "keys", "generate", "--config", config, "--curve", "secp256k1", "--name", "sponsor")
	var generated struct {
		Addresses []struct{ Format, Address string }
	}
	testenv.JSON(t, key, &generated)
	s.address = generated.Addresses[0].Address
	writeFile(t, filepath.Join(made, "key.json"), key)
	rules := strings.Replace(testenv.SamplePolicies(t)["A sponsor on Tempo"], `max: "50"`, `max: "2"`, 1) // a shorter day: 40 fees of 0.05
	if !strings.Contains(rules, `max: "2"`) {
		t.Fatal("the limit of the sample is not 50")
	}
	writeFile(t, filepath.Join(made, "policy.yaml"), []byte(rules))
	text := testenv.Read(t, config)
	writeFile(t, config, bytes.Replace(text, []byte("    name: Example\n"), []byte("    name: Example\n    policy: policy.yaml\n"), 1))
	s.startRelay(t, folder, startProgram(t, program, config))
	s.peer = runPeer(t, testenv.Node(t, "sponsor.mjs", s.nodeURL, s.relayURL))
	t.Cleanup(func() { testenv.Must(t, s.end()) })
	return s
}

func writeFile(t *testing.T, name string, content []byte) {
	t.Helper()
	testenv.Write(t, name, content)
}

// clientOfPage returns the client of docs/sponsor.md.
func clientOfPage(t *testing.T) string {
	t.Helper()
	text := testenv.Read(t, filepath.Join(testenv.Root(), "docs", "sponsor.md"))
	return regexp.MustCompile("(?s)```js\n(.*?)```").FindStringSubmatch(string(text))[1]
}

// startRelay runs docs/sponsor/relay.mjs, with other addresses and paths.
func (s *sponsor) startRelay(t *testing.T, folder, server string) {
	t.Helper()
	relay := testenv.Read(t, filepath.Join(testenv.Root(), "docs", "sponsor", "relay.mjs"))
	code := strings.NewReplacer(
		"https://rpc.tempo.xyz", s.nodeURL, "http://127.0.0.1:8080", server,
		`"sponsor/key.json"`, strconv.Quote(filepath.Join(folder, "sponsor", "key.json")),
		`"sponsor/api-key.json"`, strconv.Quote(filepath.Join(folder, "sponsor", "api-key.json")),
		`.listen(8090, "127.0.0.1");`, `.listen(0, "127.0.0.1", function () { console.log(this.address().port); });`,
	).Replace(string(relay))
	command := testenv.Node(t, "--input-type=module", "--eval", code)
	out, err := command.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line := bufio.NewScanner(out)
	if !line.Scan() {
		t.Fatal("the relay has not started")
	}
	s.relayURL = "http://127.0.0.1:" + line.Text()
}

// node answers clients like a node without eth_fillTransaction, and records the
// transactions that are sent.
func (s *sponsor) node(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ID     json.RawMessage
		Method string
		Params []json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	results := map[string]any{
		"eth_chainId": "0x1079", "eth_getTransactionCount": "0x7", "eth_estimateGas": "0xc350", "eth_maxPriorityFeePerGas": "0x0",
		"eth_gasPrice": "0x2540be400", "eth_blockNumber": "0x1", "eth_call": "0x" + strings.Repeat("00", 31) + "01",
		"eth_getBlockByNumber": map[string]any{"number": "0x1", "timestamp": "0x6b49d200", "baseFeePerGas": "0x2540be400", "gasLimit": "0x1c9c380", "transactions": []any{}},
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": asked.ID}
	switch result, known := results[asked.Method]; {
	case asked.Method == "eth_sendRawTransaction":
		var raw string
		if err := json.Unmarshal(asked.Params[0], &raw); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.sent = append(s.sent, raw)
		s.mu.Unlock()
		answer["result"] = "0x" + strings.Repeat("22", 32)
	case known:
		answer["result"] = result
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "the node does not know " + asked.Method}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *sponsor) call(t *testing.T, line map[string]any) (got sponsorAnswer) {
	t.Helper()
	testenv.JSON(t, s.exchange(t, line), &got)
	return got
}

// wantPaid checks that the last transaction is the user's, with the fee paid by the
// sponsor in its token.
func (s *sponsor) wantPaid(t *testing.T, gas string) {
	t.Helper()
	s.mu.Lock()
	last := s.sent[len(s.sent)-1]
	s.mu.Unlock()
	got := s.call(t, map[string]any{"read": last})
	if !strings.EqualFold(got.Sender, sponsoredUser) || !strings.EqualFold(got.Payer, s.address) || !strings.EqualFold(got.FeeToken, sponsoredToken) || gas != "" && got.Gas != gas {
		t.Errorf("%s: %+v", last, got)
	}
}

// documented runs the client of the page.
func (s *sponsor) documented(t *testing.T) {
	t.Helper()
	code := strings.NewReplacer("https://rpc.tempo.xyz", s.nodeURL, "http://127.0.0.1:8090", s.relayURL).Replace(clientOfPage(t))
	command := testenv.Node(t, "--input-type=module", "--eval", code+"console.log(hash);")
	command.Env = append(os.Environ(), "USER_KEY=0x"+strings.Repeat("46", 32))
	if out, err := command.Output(); err != nil || strings.TrimSpace(string(out)) != "0x"+strings.Repeat("22", 32) {
		t.Fatalf("%v: %s", err, out)
	}
	s.wantPaid(t, "")
}

func merged(sources ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, source := range sources {
		maps.Copy(out, source)
	}
	return out
}
