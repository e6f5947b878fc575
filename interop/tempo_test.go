package interop

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// tempoAnswer is an answer of tempo.mjs.
type tempoAnswer struct {
	Unsigned, Signed, Viem, Again    string
	ToPayer, ForPayer, Countersigned string
	AccessKey, AccessKeyViem         string
	Forms                            []struct{ Name, ToPayer, ForPayer, Countersigned string }
	Types                            []string
}

// TestTempoLibraries has ox and viem serialize and sign random transactions of all kinds,
// and checks that we sign what they serialized to the same bytes.
func TestTempoLibraries(t *testing.T) {
	const count = 600
	random := rand.New(rand.NewPCG(18, 19))
	for i := range count {
		c := tempomodel.Generate(random, i)
		compareTempo(t, &c, askTempo(t, map[string]any{"privateKey": hexutil.Encode(crypto.FromECDSA(c.Key)), "tx": tempoFields(c.Tx)}))
	}
}

func compareTempo(t *testing.T, c *tempomodel.Case, theirs tempoAnswer) {
	t.Helper()
	if want := hexutil.Encode(c.Unsigned); theirs.Unsigned != want {
		t.Fatalf("ox serialises, unsigned\n%s\nthe oracle\n%s", theirs.Unsigned, want)
	}
	ours := signTempo(t, c, c.Unsigned)
	if ours != theirs.Signed {
		t.Errorf("ox signs\n%s\nours\n%s", theirs.Signed, ours)
	}
	if ours != theirs.Viem {
		t.Errorf("viem signs\n%s\nours\n%s", theirs.Viem, ours)
	}
}

// TestTempoFeeTokenOfPlaceholder checks a transaction with a fee token that a sponsor will
// pay for. ox omits the token when it serializes; we keep it. The signature is the same.
func TestTempoFeeTokenOfPlaceholder(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 21))
	for range 40 {
		c := tempomodel.Generate(random, tempoKind("fee payer to come"))
		c.Tx.FeeToken = hexutil.MustDecode("0x20c0000000000000000000000000000000000001")
		answer := askTempo(t, map[string]any{"privateKey": hexutil.Encode(crypto.FromECDSA(c.Key)), "tx": tempoFields(c.Tx)})
		if answer.Unsigned != hexutil.Encode(c.Unsigned) {
			t.Fatalf("ox keeps the fee token now: %s", answer.Unsigned)
		}
		if got := signTempo(t, &c, c.Unsigned); got != answer.Signed || got != answer.Viem {
			t.Errorf("without the token\nox   %s\nviem %s\nours %s", answer.Signed, answer.Viem, got)
		}
		withToken := c.Tx.Encode()
		if bytes.Equal(withToken, c.Unsigned) {
			t.Fatal("the token is not there")
		}
		signature := hexutil.MustDecode(answer.Signed)[len(hexutil.MustDecode(answer.Signed))-65:]
		if want := hexutil.Encode(tempomodel.WithSignature(withToken, signature)); signTempo(t, &c, withToken) != want {
			t.Errorf("with the token\nwant %s", want)
		}
	}
}

// TestTempoLimitsOfKeys checks that absent limits (all may be spent) and an empty list of
// limits (nothing may be spent) stay different, with and without scopes. ox before
// 0.14.67 confused them. We sign the bytes that came in, and check the model against ox.
func TestTempoLimitsOfKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(22, 23))
	limits := map[string]tempomodel.Option[[]tempomodel.Limit]{"all": {}, "nothing": tempomodel.Some([]tempomodel.Limit{})}
	scopes := map[string]tempomodel.Option[[]tempomodel.Scope]{"any call": {}, "no call": tempomodel.Some([]tempomodel.Scope{})}
	for spends, limits := range limits {
		for calls, scopes := range scopes {
			t.Run(spends+" may be spent, "+calls, func(t *testing.T) {
				c := tempomodel.Generate(random, tempoKind("key authorization"))
				key := tempomodel.Key{ChainID: c.Tx.ChainID, ID: c.Tx.Key[0].Key.ID, Limits: limits, Scopes: scopes}
				c.Tx.Key = []tempomodel.KeyAuthorization{key.Sign(c.Key)}
				unsigned := c.Tx.Encode()
				answer := askTempo(t, map[string]string{"unsigned": hexutil.Encode(unsigned)})
				if want := hexutil.Encode(unsigned); answer.Again != want {
					t.Errorf("ox encodes again\n%s\nnot\n%s", answer.Again, want)
				}
				if want := hexutil.Encode(c.Tx.Sign(c.Key)); signTempo(t, &c, unsigned) != want {
					t.Errorf("want %s: the bytes that came in", want)
				}
			})
		}
	}
}

func tempoKind(name string) int {
	for kind := range tempomodel.Kinds {
		if tempomodel.Kinds[kind] == name {
			return kind
		}
	}
	panic("no kind " + name)
}

// askTempo sends a request to tempo.mjs.
func askTempo(t *testing.T, request any) (answer tempoAnswer) {
	t.Helper()
	startPeer(t, "tempo.mjs").ask(t, request, &answer)
	return answer
}

// signTempo signs a transaction with the engine.
func signTempo(t *testing.T, c *tempomodel.Case, unsigned []byte) string {
	t.Helper()
	keys := memory.New()
	if _, err := keys.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: crypto.FromECDSA(c.Key)}); err != nil {
		t.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys, AllowHazards: []string{countersign.AllHazards}})
	testenv.Must(t, err)
	defer engine.Close()
	result, err := engine.SignTransaction(t.Context(), "org", activity.SignTransactionIntent{
		SignWith: crypto.PubkeyToAddress(c.Key.PublicKey).Hex(), Type: activity.TransactionTypeTempo,
		UnsignedTransaction: hexutil.Encode(unsigned),
	})
	if err != nil {
		t.Fatalf("%x: %v", unsigned, err)
	}
	return "0x" + result.SignedTransaction
}
