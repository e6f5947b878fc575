package bitcoin_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
	storememory "github.com/countersign-dev/countersign/store/memory"
)

// registeredWallets is a registry of one organization.
type registeredWallets []keystore.Registration

// Registered implements keystore.WalletRegistry.
func (r registeredWallets) Registered(context.Context, string) ([]keystore.Registration, error) {
	return r, nil
}

// treasuryPolicy pays at most 0.0005 BTC a day from the treasury, and nothing from elsewhere.
const treasuryPolicy = `schema: countersign.policy/2
assets:
  coin: {chain: bip122, token: native}
limits:
  - {name: daily, asset: coin, max: "0.0005", window: 24h, per: wallet}
rules:
  - {name: treasury, allow: [transfer, fee], on: bitcoin, when: wallet == 'treasury', limit: daily}
tests:
  - {effects: [{kind: transfer, asset: coin, amount: "0.0004", to: bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4}], on: bitcoin, wallet: treasury, expect: allow}
  - {effects: [{kind: transfer, asset: coin, amount: "0.0004", to: bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4}], on: bitcoin, wallet: other, expect: deny}
  - {effects: [{kind: transfer, asset: coin, amount: "0.0004", to: bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4}], on: bitcoin, expect: deny}
`

// treasury is a 2-of-3 wallet of two seeds of an organization and one of another.
type treasury struct {
	t      *testing.T
	roots  [3]*wallet.Root
	policy *walletpolicy.Policy
	keys   *memory.Store
	ids    [2]string // of our keys of the receiving address 5
}

var treasuryAccount = wallet.Path{48 + wallet.Hardened, wallet.Hardened, wallet.Hardened, 2 + wallet.Hardened}

func newTreasury(t *testing.T) *treasury {
	t.Helper()
	w := &treasury{t: t, keys: memory.New()}
	texts := make([]string, len(w.roots))
	for i := range w.roots {
		var err error
		if w.roots[i], err = wallet.FromSeed([]byte(strings.Repeat(string(rune('a'+i)), 64))); err != nil {
			t.Fatal(err)
		}
		if texts[i], err = w.roots[i].XPub(treasuryAccount); err != nil {
			t.Fatal(err)
		}
		if i == len(w.ids) {
			continue // the other's
		}
		secret, err := w.roots[i].Derive(keystore.CurveSecp256k1, append(treasuryAccount[:4:4], 0, 5))
		testenv.Must(t, err)
		info, err := w.keys.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret})
		testenv.Must(t, err)
		w.ids[i] = info.ID
	}
	var err error
	if w.policy, err = walletpolicy.New("treasury", "wsh(sortedmulti(2,@0/**,@1/**,@2/**))", texts); err != nil {
		t.Fatal(err)
	}
	return w
}

// psbt returns a PSBT that pays an amount of 100,000 satoshi, fee included, and the rest to
// the wallet's change address.
func (w *treasury) psbt(pays uint64, salt uint32) string {
	w.t.Helper()
	return hex.EncodeToString(w.payment(pays, salt).Encode())
}

// input spends an amount of the wallet's receiving address 5.
func (w *treasury) input(amount uint64, salt uint32) bitcointest.Input {
	w.t.Helper()
	from, err := w.policy.Scripts(false, 5)
	testenv.Must(w.t, err)
	spend := bitcointest.P2WSH(from.Witness)
	spend.Records = append(spend.Records, w.origins(psbt.InBIP32Derivation, 0, 5)...)
	return spend.Input(amount, salt)
}

func (w *treasury) payment(pays uint64, salt uint32) bitcointest.PSBT {
	w.t.Helper()
	back, err := w.policy.Scripts(true, 3)
	testenv.Must(w.t, err)
	change := bitcointest.Output{Amount: 100_000 - pays, Script: back.Output, Records: w.origins(psbt.OutBIP32Derivation, 1, 3)}
	paid := bitcointest.Output{Amount: pays - 1_000, Script: append([]byte{0, 20}, make([]byte, 19)...)}
	paid.Script = append(paid.Script, 9)
	return bitcointest.PSBT{Inputs: []bitcointest.Input{w.input(100_000, salt)}, Outputs: []bitcointest.Output{paid, change}}
}

func (w *treasury) origins(kind byte, branch, index uint32) (records []bitcointest.Record) {
	for _, root := range w.roots {
		path := append(treasuryAccount[:4:4], branch, index)
		pub, err := root.PublicKey(path)
		testenv.Must(w.t, err)
		fingerprint := root.Fingerprint()
		value := fingerprint[:]
		for _, step := range path {
			value = append(value, byte(step), byte(step>>8), byte(step>>16), byte(step>>24))
		}
		records = append(records, bitcointest.Record{Key: append([]byte{kind}, pub.Bytes()...), Value: value})
	}
	return records
}

func (w *treasury) engine(kept store.Store, rules string) *countersign.Caller {
	w.t.Helper()
	file, err := policy.Parse("policy.yaml", []byte(rules), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...)})
	testenv.Must(w.t, err)
	engine, err := countersign.New(countersign.Config{
		Keystore: w.keys, Chains: []chains.Chain{bitcoin.New(bitcoin.Limits{})}, Store: kept, Policy: file,
		Wallets: registeredWallets{{RegisteredWallet: w.policy, Leaf: "wallet/register/treasury"}},
	})
	testenv.Must(w.t, err)
	return engine.As(access.User{ID: "u-1", Name: "ann"}, "")
}

// TestRegisteredWalletInList: a list is refused that spends from a registered wallet, whose name is
// said: what such wallets are charged is shared by their cosigners' requests.
func TestRegisteredWalletInList(t *testing.T) {
	w := newTreasury(t)
	list := activity.SignTransactionsIntent{Type: activity.TransactionTypeBitcoin, Transactions: []activity.ListedTransaction{
		{SignWith: w.ids[0], UnsignedTransaction: w.psbt(20_000, 1)}}}
	_, err := w.engine(storememory.New(1<<20), treasuryPolicy).Sign(t.Context(), "org", list)
	if err == nil || !strings.Contains(err.Error(), "transactions[0]: it spends from the registered wallet treasury, or may do so") {
		t.Error(err)
	}
}

// TestCosignersAreChargedOnce: two cosigners of one organization sign the same transaction in
// two requests. The limit counts what leaves the wallet once, and the record names the wallet.
func TestCosignersAreChargedOnce(t *testing.T) {
	w := newTreasury(t)
	kept := storememory.New(1 << 20)
	engine := w.engine(kept, treasuryPolicy)
	sign := func(keyID, unsigned string) error {
		_, err := engine.SignTransaction(t.Context(), "org", activity.SignTransactionIntent{
			Type: activity.TransactionTypeBitcoin, SignWith: keyID, UnsignedTransaction: unsigned,
		})
		return err
	}
	first, second := w.psbt(40_000, 1), w.psbt(40_000, 2)
	for _, id := range w.ids {
		for range 2 { // once more changes nothing either
			if err := sign(id, first); err != nil {
				t.Fatalf("cosigner %s: %v", id, err)
			}
		}
	}
	if err := sign(w.ids[0], second); err == nil || !strings.Contains(err.Error(), "0.0001 of 0.0005 BTC is left") {
		t.Errorf("a second transaction: %v", err)
	}
	if err := sign(w.ids[0], w.psbt(10_000, 3)); err != nil {
		t.Errorf("what is left: %v", err)
	}
	if err := sign(w.ids[1], w.psbt(10_001, 4)); err == nil || !strings.Contains(err.Error(), "0 of 0.0005 BTC is left") {
		t.Errorf("more than is left: %v", err)
	}
	recorded, err := kept.List(t.Context(), "org", store.Filter{Limit: 1})
	if err != nil || len(recorded) != 1 {
		t.Fatalf("%v, %v", recorded, err)
	}
	record, err := activity.DecodeRecord(recorded[0].Data)
	testenv.Must(t, err)
	digest := w.policy.Digest()
	want := activity.RegisteredWallet{Name: "treasury", Digest: hex.EncodeToString(digest[:]), Leaf: "wallet/register/treasury"}
	if used := record.Decision.Wallets; len(used) != 1 || used[0] != want {
		t.Errorf("the record names %+v", used)
	}
}

// TestJoinedInputsOfATreasury: a request that signs for a registered wallet and for another one, be
// it of a single key or registered too, is charged to neither: a limit per wallet would count what
// the treasury pays for a wallet of its key.
func TestJoinedInputsOfATreasury(t *testing.T) {
	w := newTreasury(t)
	rules, _, _ := strings.Cut(strings.Replace(treasuryPolicy, ", when: wallet == 'treasury'", "", 1), "tests:")
	pub, err := w.roots[0].PublicKey(append(treasuryAccount[:4:4], 0, 5))
	testenv.Must(t, err)
	own := bitcointest.P2WPKH(pub)
	alone, other := own.Input(600, 7), w.input(600, 8)
	for name, c := range map[string]struct {
		joined  *bitcointest.Input
		refused string
	}{
		"alone":                              {nil, ""},
		"with a coin of the treasury":        {&other, ""},
		"with a coin of one of its own keys": {&alone, "it has no single wallet"},
	} {
		p := w.payment(40_000, 1)
		if c.joined != nil {
			p.Inputs = append(p.Inputs, *c.joined)
			p.Outputs = append(p.Outputs, own.Output(400))
		}
		_, err := w.engine(storememory.New(1<<20), rules).SignTransaction(t.Context(), "org", activity.SignTransactionIntent{
			Type: activity.TransactionTypeBitcoin, SignWith: w.ids[0], UnsignedTransaction: hex.EncodeToString(p.Encode()),
		})
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func isDenied(err error) bool {
	refusal, ok := errors.AsType[*activity.Error](err)
	return ok && refusal.Reason == activity.ReasonNotAuthorized
}

// TestWalletIsAbsent: a rule that asks for the wallet matches nothing where none signs, and a
// deny that does denies.
func TestWalletIsAbsent(t *testing.T) {
	w := newTreasury(t)
	pub, err := w.roots[0].PublicKey(append(treasuryAccount[:4:4], 0, 5))
	testenv.Must(t, err)
	alone := bitcointest.P2WPKH(pub)
	unsigned := hex.EncodeToString(bitcointest.PSBT{Inputs: []bitcointest.Input{alone.Input(10_000, 1)}, Outputs: []bitcointest.Output{alone.Output(9_000)}}.Encode())
	const deny = "schema: countersign.policy/2\nrules:\n  - {name: never, deny: request, when: wallet == 'cold'}\n  - {name: all, allow: [transfer, fee]}\n"
	for name, rules := range map[string]string{"allow": treasuryPolicy, "deny": deny} {
		_, err := w.engine(storememory.New(1<<20), rules).SignTransaction(t.Context(), "org", activity.SignTransactionIntent{
			Type: activity.TransactionTypeBitcoin, SignWith: w.ids[0], UnsignedTransaction: unsigned,
		})
		if !isDenied(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
