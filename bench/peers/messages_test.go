package peers

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// messagePeers returns the libraries for a kind of message, by name.
func messagePeers(kind workload.MessageKind) map[string]func(testing.TB, *workload.Messages) peer {
	form := "typed"
	if kind.Personal {
		form = "personal"
	}
	inNode := func(library string) func(testing.TB, *workload.Messages) peer {
		return func(t testing.TB, w *workload.Messages) peer { return startNode(t, library+"-"+form, w.Texts) }
	}
	return map[string]func(testing.TB, *workload.Messages) peer{
		"go-ethereum": func(t testing.TB, w *workload.Messages) peer { return apitypesPeer(t, w, kind.Personal) },
		"viem":        inNode("viem"), "ethers": inNode("ethers"),
	}
}

// apitypesPeer reads typed data with encoding/json, hashes it with apitypes, or a text
// with accounts.TextHash, and signs with crypto.Sign.
func apitypesPeer(t testing.TB, w *workload.Messages, personal bool) peer {
	keys := secp256k1Keys(t, workload.Keys)
	digestOf := func(text string) ([]byte, error) {
		var data apitypes.TypedData
		if err := json.Unmarshal([]byte(text), &data); err != nil {
			return nil, err
		}
		digest, _, err := apitypes.TypedDataAndHash(data)
		return digest, err
	}
	if personal {
		digestOf = func(text string) ([]byte, error) { return accounts.TextHash([]byte(text)), nil }
	}
	return goPeer(func(i int) string {
		i %= workload.Keys
		digest, err := digestOf(w.Texts[i])
		testenv.Must(t, err)
		signed, err := crypto.Sign(digest, keys[i])
		testenv.Must(t, err)
		return hex.EncodeToString(signed)
	})
}

// compareMessages compares the peer's first signatures with the engine's.
func compareMessages(t testing.TB, w *workload.Messages, p peer) {
	t.Helper()
	engine := w.Engine(t, countersign.Config{})
	for i := range 3 {
		want, err := engine.SignMessage(t.Context(), workload.Organization, w.Intents[i])
		testenv.Must(t, err)
		if got := strings.TrimPrefix(p.sign(i), "0x"); len(got) != 130 || got[:128] != want.R+want.S {
			t.Fatalf("message %d: the peer signed\n%s\nthe engine\n%s%s", i, got, want.R, want.S)
		}
	}
}

// TestMessagePeers checks that every peer signs as the engine does.
func TestMessagePeers(t *testing.T) {
	for _, kind := range workload.MessageKinds() {
		w := workload.NewMessages(t, kind)
		for name, ready := range messagePeers(kind) {
			t.Run(kind.Name+"/"+name, func(t *testing.T) { compareMessages(t, w, ready(t, w)) })
		}
	}
}

// BenchmarkMessagePeers measures the engine, without verification, relative to each
// peer: from the text of a message to its signature.
func BenchmarkMessagePeers(b *testing.B) {
	for _, kind := range workload.MessageKinds() {
		w := workload.NewMessages(b, kind)
		for _, name := range []string{"go-ethereum", "viem", "ethers"} {
			b.Run(kind.Name+"/"+name, func(b *testing.B) {
				theirs := messagePeers(kind)[name](b, w)
				compareMessages(b, w, theirs)
				ours := w.WholeMessage(b, w.Engine(b, countersign.Config{ReleaseUnverifiedSignatures: true}))
				measure.Pairs(b, pairs, measure.Calls(ours), theirs.time)
			})
		}
	}
}
