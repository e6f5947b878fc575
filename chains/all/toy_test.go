package all_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/messages"
)

// toy is a chain of an embedder's. Policies have a test of their own with one.
type toy struct{ chains.Chain }

func (toy) Name() string { return "toy" }

func (toy) Words() chains.Words { return chains.Words{Namespace: "toy"} }

// written is the toy with words for its addresses.
type written struct{ toy }

func (written) Words() chains.Words {
	return chains.Words{Namespace: "toy", ListID: 4242, ReadAddress: func(text string) ([]byte, bool, error) {
		name, ok := strings.CutPrefix(text, "@")
		return []byte(name), ok, nil
	}}
}

// toyTransaction is a transaction of it.
const toyTransaction = "toy: play"

// Parse reads a transaction as an empty one.
func (c toy) Parse(raw []byte) (chains.Transaction, error) {
	if string(raw) == toyTransaction {
		return nil, nil
	}
	return nil, errors.New("no transaction of a toy")
}

// TestToyChain checks that nothing takes a chain that it does not know for one of the chains
// here: names, descriptors and messages refuse it by name, and amounts are shown in their
// smallest units. Its transactions are known in the texts of every chain by its row alone.
func TestToyChain(t *testing.T) {
	refused := map[string]error{}
	book := names.New(append(all.Chains(all.Limits{}), toy{ethereum.Chain{}})...)
	refused["a token"] = book.AddToken("toy", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "PLAY", 3)
	refused["a label"] = book.AddLabel("toy", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "friend")
	for want, of := range map[string]error{"must be one of bip122, eip155:N, solana, tron": names.New(all.Chains(all.Limits{})...).AddLabel("toy", "@franzi00", "friend"),
		"must be toy": names.New(written{toy{ethereum.Chain{}}}).AddLabel("toy:1", "@franzi00", "friend"), "is not an address of toy": names.New(written{toy{ethereum.Chain{}}}).AddLabel("toy", "franzi00", "friend")} {
		if of == nil || !strings.Contains(of.Error(), want) {
			t.Errorf("%v, want %s", of, want)
		}
	}
	named := names.New(written{toy{ethereum.Chain{}}})
	if err := named.AddTokenList([]byte(`{"name":"toys","tokens":[{"chainId":4242,"address":"@franzi00","symbol":"PLAY","decimals":3}]}`)); err != nil {
		t.Error(err)
	}
	given := chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, From: chains.SignerParty(), To: chains.PartyWritten([]byte("franzi01"), "@franzi01"),
		Asset: chains.Token("toy", chains.PartyWritten([]byte("franzi00"), "@franzi00"), ""), Amount: chains.ExactlyUint(1500)}
	if err := named.AddLabel("toy", "@franzi01", "friend"); err != nil {
		t.Error(err)
	}
	if got, want := chains.Sentence(given, named), "send 1.5 PLAY to @franzi01 (friend)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	folder, err := descriptors.Open(fstest.MapFS{"toy.json": {Data: []byte(`{"chain":"toy","address":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","name":"Toy","abi":[{"type":"function","name":"play","inputs":[]}]}`)}}, descriptors.Options{})
	if err != nil || len(folder.Files()) != 1 {
		t.Fatal(err, folder)
	}
	if problem := folder.Files()[0].Problem; !strings.Contains(problem, `chain "toy"`) {
		t.Errorf("a descriptor of it: %q", problem)
	}
	reader := messages.Reader{Now: time.Now, Chains: []chains.Chain{toy{ethereum.Chain{}}}}
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
	everywhere := messages.Reader{Now: time.Now, Chains: append(all.Chains(all.Limits{}), toy{ethereum.Chain{}})}
	for name, payload := range map[string]string{"raw": toyTransaction, "in hex": hex.EncodeToString([]byte(toyTransaction)), "in base64": base64.StdEncoding.EncodeToString([]byte(toyTransaction))} {
		for under, read := range map[string]func() (chains.Transaction, error){
			"Ethereum": func() (chains.Transaction, error) {
				return everywhere.Read("\x19Ethereum Signed Message:\n"+strconv.Itoa(len(payload))+payload, activity.EncodingText, activity.HashKeccak256)
			},
			"Bitcoin": func() (chains.Transaction, error) {
				return everywhere.Read("\x18Bitcoin Signed Message:\n"+string(rune(len(payload)))+payload, activity.EncodingText, activity.HashDoubleSHA256)
			},
			"Solana": func() (chains.Transaction, error) {
				return everywhere.Read(payload, activity.EncodingText, activity.HashNotApplicable)
			},
		} {
			message, err := read()
			if err != nil {
				t.Fatal(under, name, err)
			}
			if !slices.ContainsFunc(message.Hazards(), func(hazard chains.Hazard) bool {
				return hazard.Name == chains.HazardFreeText
			}) {
				t.Errorf("its transaction %s, as a text of %s: %v", name, under, message.Hazards())
			}
		}
	}
	sent := chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, From: chains.SignerParty(), Asset: chains.Native("toy"), Amount: chains.ExactlyUint(1500)}
	if got := chains.Sentence(sent, book); !strings.Contains(got, "1500 of the smallest unit of toy") {
		t.Error(got)
	}
}
