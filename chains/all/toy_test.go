package all_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/messages"
)

// toy is a chain of an embedder's. Policies have a test of their own with one.
type toy struct{ ethereum.Chain }

func (toy) Name() string { return "toy" }

func (toy) Words() chains.Words { return chains.Words{Namespace: "toy"} }

// TestToyChain checks that nothing takes a chain that it does not know for one of the chains
// here: names, descriptors and messages refuse it by name, and amounts are shown in their
// smallest units.
func TestToyChain(t *testing.T) {
	refused := map[string]error{}
	book := names.New()
	refused["a token"] = book.AddToken("toy", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "PLAY", 3)
	refused["a label"] = book.AddLabel("toy", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "friend")
	folder, err := descriptors.Open(fstest.MapFS{"toy.json": {Data: []byte(`{"chain":"toy","address":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","name":"Toy","abi":[{"type":"function","name":"play","inputs":[]}]}`)}}, descriptors.Options{})
	if err != nil || len(folder.Files()) != 1 {
		t.Fatal(err, folder)
	}
	if problem := folder.Files()[0].Problem; !strings.Contains(problem, `chain "toy"`) {
		t.Errorf("a descriptor of it: %q", problem)
	}
	reader := messages.Reader{Now: time.Now, Chain: func(name string) chains.Chain {
		if name != "toy" {
			return nil
		}
		return toy{}
	}}
	for name, payload := range map[string]struct {
		text     string
		encoding activity.Encoding
		hash     activity.HashFunction
	}{
		"typed data":         {`{"types":{"EIP712Domain":[],"M":[]},"primaryType":"M","domain":{},"message":{}}`, activity.EncodingEIP712, activity.HashNone},
		"a personal message": {"\x19Ethereum Signed Message:\n2hi", activity.EncodingText, activity.HashKeccak256},
		"its own prefix":     {"\x19Toy Signed Message:\n2hi", activity.EncodingText, activity.HashKeccak256},
		"a text":             {"hello, world", activity.EncodingText, activity.HashNotApplicable},
		"a delegation":       {`{"address":"0x00000000000000000000000000000000000000aa","chainId":1,"nonce":7}`, activity.EncodingAuthorization, activity.HashNone},
	} {
		_, refused[name] = reader.Read(payload.text, payload.encoding, payload.hash)
	}
	for name, err := range refused {
		if err == nil || !strings.Contains(err.Error(), "toy") && !strings.Contains(err.Error(), "does not sign for") {
			t.Errorf("%s: %v", name, err)
		}
	}
	sent := chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, From: chains.SignerParty(), Asset: chains.Native("toy"), Amount: chains.ExactlyUint(1500)}
	if got := chains.Sentence(sent, book); !strings.Contains(got, "1500 of the smallest unit of toy") {
		t.Error(got)
	}
}
