package interop

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

type solanaBuild struct {
	Op      string `json:"op"`
	Version any    `json:"version"`
	Signers int    `json:"signers"`
	Lookups bool   `json:"lookups"`
	Mask    int    `json:"mask"`
	Number  int    `json:"number"`
}

type solanaCase struct{ By, Unsigned, Signed string }

// runSolana executes a transaction in litesvm and returns its error, if any.
func runSolana(t *testing.T, transaction []byte) string {
	t.Helper()
	var empty struct{}
	return startPeer(t, "solana.mjs").try(t, map[string]string{"op": "run", "transaction": hex.EncodeToString(transaction)}, &empty)
}

// solanaBuilds returns transactions with one to twelve signers: legacy, v0 with and
// without lookup tables, and v1 with every mask.
func solanaBuilds() (builds []solanaBuild) {
	add := func(version any, signers int, lookups bool, mask int) {
		builds = append(builds, solanaBuild{"build", version, signers, lookups, mask, len(builds)})
	}
	for signers := 1; signers <= 12; signers++ {
		for mask := range 16 {
			add(1, signers, false, mask)
		}
		if signers > 9 {
			continue // the transaction would exceed 1,232 bytes
		}
		for range 2 {
			add("legacy", signers, false, 0)
			add(0, signers, false, 0)
			add(0, signers, true, 0)
		}
	}
	return builds
}

// solanaSigners returns the keys of the script's signers, by address.
func solanaSigners(t *testing.T) map[string]keystore.Key {
	t.Helper()
	keys := map[string]keystore.Key{}
	for i := range 12 {
		secret := sha256.Sum256(fmt.Appendf(nil, "interop signer %d", i))
		key := chaintest.Key(t, keystore.CurveEd25519, secret[:])
		keys[solana.Chain{}.Addresses(key.PublicKey())[0].Address] = key
	}
	return keys
}

// TestSolana signs what @solana/kit and @solana/web3.js have built, with the signers in
// random order, and compares the result with theirs. litesvm accepts the signatures, but
// not after a bit has been flipped.
func TestSolana(t *testing.T) {
	peer, keys := startPeer(t, "solana.mjs"), solanaSigners(t)
	random := rand.New(rand.NewPCG(5, 6))
	compared, executed := 0, 0
	for _, build := range solanaBuilds() {
		var answer struct {
			Blockhash string
			Cases     []solanaCase
		}
		peer.ask(t, build, &answer)
		for _, c := range answer.Cases {
			signed := signSolana(t, testenv.Hex(t, c.Unsigned), build.Signers, keys, random)
			if got := hex.EncodeToString(signed); got != c.Signed {
				t.Fatalf("%+v by %s:\n got %s\nwant %s", build, c.By, got, c.Signed)
			}
			compared++
			if by := c.By; by != "@solana/kit" && build.Version != 0 {
				continue // nearly the same transaction: it would be a duplicate
			}
			for _, broken := range [][]byte{
				flipSolana(t, signed, testenv.Hex(t, answer.Blockhash), random),
				flipSolana(t, signed, solanaSlot(t, signed, random), random),
			} {
				if failure := runSolana(t, broken); failure != "SignatureFailure" {
					t.Errorf("%+v by %s with a bit changed: litesvm says %q", build, c.By, failure)
				}
			}
			switch failure := runSolana(t, signed); {
			case failure == "SignatureFailure":
				t.Errorf("%+v by %s: litesvm refuses the signatures", build, c.By)
			case failure == "":
				executed++
			case build.Version == 1 && build.Mask&6 != 6: // no compute budget
			case failure == "AlreadyProcessed" && c.By != "@solana/kit":
			default:
				t.Errorf("%+v by %s: litesvm says %s", build, c.By, failure)
			}
		}
	}
	t.Logf("%d transactions compared, %d executed", compared, executed)
	if compared < 250 || executed < 75 {
		t.Errorf("only %d transactions compared, %d executed", compared, executed)
	}
}

func signSolana(t *testing.T, raw []byte, signers int, keys map[string]keystore.Key, random *rand.Rand) []byte {
	t.Helper()
	tx, err := sdk.TransactionFromBytes(raw)
	testenv.Must(t, err)
	if len(tx.Message.Signers()) != signers {
		t.Fatalf("%d signers, of %d", len(tx.Message.Signers()), signers)
	}
	for _, i := range random.Perm(signers) {
		address := tx.Message.AccountKeys[i].String()
		if raw, err = chaintest.Sign(context.Background(), solana.Chain{}, raw, address, keys[address]); err != nil {
			t.Fatal(err)
		}
	}
	return raw
}

// solanaSlot returns one of the signatures of a transaction.
func solanaSlot(t *testing.T, signed []byte, random *rand.Rand) []byte {
	t.Helper()
	tx, err := sdk.TransactionFromBytes(signed)
	testenv.Must(t, err)
	signature := tx.Signatures[random.IntN(len(tx.Signatures))]
	return signature[:ed25519.SignatureSize]
}

// flipSolana flips one random bit in a part of the transaction.
func flipSolana(t *testing.T, signed, within []byte, random *rand.Rand) []byte {
	t.Helper()
	offset := bytes.Index(signed, within)
	if offset < 0 {
		t.Fatal("the transaction does not contain the part")
	}
	broken := bytes.Clone(signed)
	broken[offset+random.IntN(len(within))] ^= 1 << random.IntN(8)
	return broken
}
