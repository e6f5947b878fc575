package interop

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// drawnPolicy draws a wallet policy of any form that is taken, with its keys.
func drawnPolicy(t *testing.T, random *rand.Rand) *walletpolicy.Policy {
	t.Helper()
	var keys []string
	for range 1 + random.IntN(5) {
		var seed [32]byte
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		root, err := wallet.FromSeed(seed[:])
		testenv.Must(t, err)
		key, err := root.XPub(wallet.Path{48 + wallet.Hardened, wallet.Hardened, wallet.Hardened + random.Uint32N(9), 2 + wallet.Hardened})
		testenv.Must(t, err)
		keys = append(keys, key)
	}
	step := 0
	multi := func(name string) string { // each use of a key has branches of its own
		var text strings.Builder
		fmt.Fprintf(&text, "%s%s(%d", []string{"", "sorted"}[random.IntN(2)], name, 1+random.IntN(len(keys)))
		for i := range keys {
			fmt.Fprintf(&text, ",@%d/<%d;%d>/*", i, step, step+1)
		}
		step += 2
		return text.String() + ")"
	}
	var template string
	switch random.IntN(4) {
	case 0:
		template = "wsh(" + multi("multi") + ")"
	case 1:
		template = "sh(wsh(" + multi("multi") + "))"
	case 2:
		template = "sh(" + multi("multi") + ")"
	default:
		step = 2
		tree := multi("multi_a")
		for range random.IntN(4) {
			if next := multi("multi_a"); random.IntN(2) == 0 {
				tree = "{" + tree + "," + next + "}"
			} else {
				tree = "{" + next + "," + tree + "}"
			}
		}
		template = "tr(@0/**," + tree + ")"
	}
	policy, err := walletpolicy.New("drawn", template, keys)
	if err != nil {
		t.Fatalf("%s: %v", template, err)
	}
	return policy
}

// TestRegisteredWallets draws wallet policies of all forms, and compares their addresses with
// those that bitcoinjs-lib builds from the same template, and @bitcoinerlab/descriptors from
// the descriptor.
func TestRegisteredWallets(t *testing.T) {
	testenv.NodeModule(t, "@bitcoinerlab", "descriptors", "package.json")
	random := rand.New(rand.NewPCG(388, 46))
	peer := startPeer(t, "registered.mjs")
	for range testenv.Draws(t, 60) {
		policy := drawnPolicy(t, random)
		change, index := random.IntN(2) == 1, random.Uint32N(walletpolicy.MaxIndex+1)
		var keys []string
		for _, key := range policy.Keys() {
			keys = append(keys, key.Text)
		}
		script, err := policy.Script(change, index)
		testenv.Must(t, err)
		var answer struct{ Hex, Described string }
		peer.ask(t, map[string]any{"template": policy.Template(), "keys": keys, "change": change, "index": index, "descriptor": policy.BranchDescriptor(change)}, &answer)
		if want := hex.EncodeToString(script); answer.Hex != want || answer.Described != want {
			t.Errorf("%s, %v, %d: %s, bitcoinjs-lib has %s, @bitcoinerlab/descriptors %s", policy.Template(), change, index, want, answer.Hex, answer.Described)
		}
	}
}
