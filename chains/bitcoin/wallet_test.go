package bitcoin_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// heldKeys are the keys of an organization with their paths in one seed; an empty path is
// that of a key without a seed.
type heldKeys struct {
	keys  []keystore.Key
	paths []string
}

func (h heldKeys) Controls(script []byte) (chains.Account, bool) {
	for i := range h.keys {
		if addressOfKey(h.keys[i].PublicKey(), script) {
			return h.holder(i), true
		}
	}
	return chains.Account{}, false
}

func (h heldKeys) WithKey(id string) chains.Account {
	for i := range h.keys {
		if h.keys[i].ID() == id {
			return h.holder(i)
		}
	}
	return chains.Account{KeyID: id}
}

func (h heldKeys) Registered() []keystore.Registration { return nil }

func (h heldKeys) holder(i int) chains.Account {
	holder := chains.Account{KeyID: h.keys[i].ID(), Path: h.paths[i]}
	_, holder.Schnorr = h.keys[i].(keystore.SchnorrSigner)
	if holder.Path != "" {
		holder.WalletID = "seed"
	}
	return holder
}

// held returns keys at paths, the first from secret 1.
func held(t *testing.T, paths ...string) heldKeys {
	t.Helper()
	h := heldKeys{paths: paths}
	for i := range paths {
		h.keys = append(h.keys, keyOf(t, secretOf(byte(i+1))))
	}
	return h
}

// TestChangeReturnsToItsWallet pays from the first of some keys to the last, and checks
// whether that is change.
func TestChangeReturnsToItsWallet(t *testing.T) {
	const first = "m/84'/0'/0'/0/0"
	p2wpkh, p2tr := bitcointest.P2WPKH, bitcointest.BIP86
	for name, c := range map[string]struct {
		paths  []string
		to     func(keystore.PublicKey) bitcointest.Spend
		change bool
	}{
		"the change chain":                 {[]string{first, "m/84'/0'/0'/1/7"}, p2wpkh, true},
		"with the other mark of hardened":  {[]string{first, "m/84h/0h/0h/1/7"}, p2wpkh, true},
		"a receiving address":              {[]string{first, "m/84'/0'/0'/0/9"}, p2wpkh, true},
		"its own address":                  {[]string{first}, p2wpkh, true},
		"outputs that its wallet does not": {[]string{first, "m/84'/0'/0'/1/7"}, p2tr, false},
		"another account":                  {[]string{first, "m/84'/0'/1'/1/7"}, p2wpkh, false},
		"another purpose":                  {[]string{first, "m/86'/0'/0'/1/7"}, p2wpkh, false},
		"another purpose, by its outputs":  {[]string{first, "m/86'/0'/0'/1/7"}, p2tr, false},
		"the test network":                 {[]string{first, "m/84'/1'/0'/1/7"}, p2wpkh, false},
		"another coin":                     {[]string{first, "m/84'/60'/0'/1/7"}, p2wpkh, false},
		"a third chain":                    {[]string{first, "m/84'/0'/0'/2/7"}, p2wpkh, false},
		"a hardened address":               {[]string{first, "m/84'/0'/0'/1/7'"}, p2wpkh, false},
		"multisig of one account":          {[]string{"m/48'/0'/0'/2'/0/0", "m/48'/0'/0'/2'/1/0"}, p2wpkh, false},
		"another key without a seed":       {[]string{"", ""}, p2wpkh, false},
		"the same key without a seed":      {[]string{""}, p2tr, true},
		"from a seed to an imported key":   {[]string{first, ""}, p2wpkh, false},
		"from an imported key to a seed":   {[]string{"", first}, p2wpkh, false},
	} {
		h := held(t, c.paths...)
		last := h.keys[len(h.keys)-1]
		raw := bitcointest.PSBT{
			Inputs:  []bitcointest.Input{p2wpkh(h.keys[0].PublicKey()).Input(100_000, 1)},
			Outputs: []bitcointest.Output{c.to(last.PublicKey()).Output(90_000)},
		}.Encode()
		effects := heldEffects(t, raw, h, h.keys[0])
		if got := effects[0]; got.Change != c.change || got.Controlled != chains.ControlledYes || got.Amount.Value.Int64() != 90_000 || len(effects) != 2 {
			t.Errorf("%s: %+v", name, effects)
		}
	}
}

// ecdsaKey is a key in an HSM: it makes no BIP-340 signatures.
type ecdsaKey struct {
	keystore.Key
	keystore.ECDSASigner
}

// TestStuckIsNoChange: a key that makes no BIP-340 signatures has a taproot address
// as every key. What goes there is stuck: neither change nor ours, whether the key signs the
// request or another one does.
func TestStuckIsNoChange(t *testing.T) {
	for name, c := range map[string]struct {
		to   func(keystore.PublicKey) bitcointest.Spend
		hsm  bool
		mine chains.Controlled
	}{
		"taproot of software": {bitcointest.BIP86, false, chains.ControlledYes},
		"taproot of an HSM":   {bitcointest.BIP86, true, chains.ControlledNo},
		"P2WPKH of an HSM":    {bitcointest.P2WPKH, true, chains.ControlledYes},
		"P2PKH of an HSM":     {bitcointest.P2PKH, true, chains.ControlledYes},
	} {
		h := held(t, "", "")
		if c.hsm {
			for i, key := range h.keys {
				signer, err := keystore.AsECDSA(key)
				testenv.Must(t, err)
				h.keys[i] = ecdsaKey{key, signer}
			}
		}
		raw := bitcointest.PSBT{
			Inputs:  []bitcointest.Input{bitcointest.P2WPKH(h.keys[0].PublicKey()).Input(200_000, 1)},
			Outputs: []bitcointest.Output{c.to(h.keys[0].PublicKey()).Output(90_000), c.to(h.keys[1].PublicKey()).Output(90_000)},
		}.Encode()
		effects := heldEffects(t, raw, h, h.keys[0])
		if effects[0].Change != (c.mine == chains.ControlledYes) || effects[0].Controlled != c.mine || effects[1].Change || effects[1].Controlled != c.mine {
			t.Errorf("%s: %+v", name, effects)
		}
	}
}

// heldEffects returns the effects of a PSBT that keys sign, among the held ones.
func heldEffects(t *testing.T, raw []byte, h heldKeys, keys ...keystore.Key) []chains.Effect {
	t.Helper()
	return heldSigning(t, raw, h, keys...).Effects()
}

func heldSigning(t *testing.T, raw []byte, h heldKeys, keys ...keystore.Key) chains.WalletSigning {
	t.Helper()
	signing := chaintest.MustReady(t, parse(t, raw), "wallet", keys...)
	return resolved(signing, h)
}

func resolved(signing chains.Signing, accounts chains.Accounts) chains.WalletSigning {
	chains.ResolveAccounts(signing, accounts)
	return signing.(chains.WalletSigning)
}

// TestMultisigPaysItsCosigner checks that what leaves a script of several keys for the
// address of one of them is paid.
func TestMultisigPaysItsCosigner(t *testing.T) {
	h := held(t, "m/84'/0'/0'/0/0", "m/84'/0'/0'/0/1")
	a, b := h.keys[0].PublicKey(), h.keys[1].PublicKey()
	raw := bitcointest.PSBT{
		Inputs:  []bitcointest.Input{bitcointest.P2WSH(bitcointest.Multisig(2, a, b)).Input(100_000, 1)},
		Outputs: []bitcointest.Output{bitcointest.P2WPKH(a).Output(90_000)},
	}.Encode()
	if got := heldEffects(t, raw, h, h.keys...)[0]; got.Change || got.Controlled != chains.ControlledYes {
		t.Errorf("%+v", got)
	}
}

// TestExcessIsPaid checks that no more returns to a wallet than the signed inputs take
// from it: the rest of an output is a transfer of its own, behind the other effects.
func TestExcessIsPaid(t *testing.T) {
	h := held(t, "m/84'/0'/0'/0/0", "m/84'/0'/0'/1/0", "m/84'/0'/1'/0/0")
	pub := func(i int) keystore.PublicKey { return h.keys[i].PublicKey() }
	raw := bitcointest.PSBT{
		Inputs: []bitcointest.Input{bitcointest.P2WPKH(pub(0)).Input(100_000, 1), bitcointest.P2WPKH(pub(2)).Input(50_000, 2)},
		Outputs: []bitcointest.Output{
			bitcointest.P2WPKH(pub(1)).Output(40_000), bitcointest.P2WPKH(pub(1)).Output(105_000),
		},
	}.Encode()
	for name, c := range map[string]struct {
		keys    []keystore.Key
		want    string
		charged int64
	}{
		"the account signs":         {h.keys[:1], "40000 change, 60000 change, fee 5000, 45000 paid", 50_000},
		"both accounts sign":        {h.keys, "40000 change, 60000 change, fee 5000, 45000 paid", 50_000},
		"only the other one, alone": {h.keys[2:], "40000 paid, 105000 paid, fee 5000", 150_000},
	} {
		effects, text := heldEffects(t, raw, h, c.keys...), ""
		for _, effect := range effects {
			switch value := effect.Amount.Value; {
			case effect.Kind == chains.KindFee:
				text += fmt.Sprintf(", fee %v", value)
			case effect.Change:
				text += fmt.Sprintf(", %v change", value)
			default:
				text += fmt.Sprintf(", %v paid", value)
			}
		}
		if charged, ok := charge(effects); text != ", "+c.want || !ok || charged != c.charged {
			t.Errorf("%s: %s, %d charged", name, text, charged)
		}
	}
}

// TestChargeIsWhatLeavesWallets draws transactions of two accounts, an imported key, a
// multisig and a stranger, and lets some of the keys sign. What is charged is what the
// inputs bring less what returns to the wallets that pay: exactly what leaves them if
// they pay for everything, and never less.
func TestChargeIsWhatLeavesWallets(t *testing.T) {
	random := rand.New(rand.NewPCG(84, 39))
	h := held(t, "m/84'/0'/0'/0/0", "m/84'/0'/0'/1/0", "m/84'/0'/1'/0/0", "")
	wallets, stranger := []int{0, 0, 1, 2}, keyOf(t, secretOf(9)).PublicKey()
	exact, more, split := 0, 0, 0
	for range combinationCases(t) {
		var p bitcointest.PSBT
		brings, paid, back, stranged := int64(0), [3]int64{}, [3]int64{}, false
		signs := 1 + random.IntN(15) // the set of keys
		for i := range 1 + random.IntN(5) {
			amount, from := 1_000+random.Uint64N(100_000), random.IntN(6)
			if i == 0 { // one that is signed
				for from = 0; signs>>from&1 == 0; from++ {
				}
			}
			spend := bitcointest.P2WPKH(stranger)
			switch {
			case from < 4:
				spend = bitcointest.P2WPKH(h.keys[from].PublicKey())
			case from == 4:
				spend = bitcointest.P2WSH(bitcointest.Multisig(1, h.keys[0].PublicKey(), stranger))
			}
			if from < 4 && signs>>from&1 == 1 {
				paid[wallets[from]] += int64(amount)
			} else {
				stranged = true
			}
			p.Inputs, brings = append(p.Inputs, spend.Input(amount, uint32(i))), brings+int64(amount)
		}
		left := uint64(brings)
		for range 1 + random.IntN(4) {
			amount, to, pub := 1+random.Uint64N(left/2+1), random.IntN(6), stranger
			if left -= min(amount, left); to < 4 {
				pub, back[wallets[to]] = h.keys[to].PublicKey(), back[wallets[to]]+int64(amount)
			}
			p.Outputs = append(p.Outputs, bitcointest.P2WPKH(pub).Output(amount))
		}
		var keys []keystore.Key
		for i, key := range h.keys {
			if signs>>i&1 == 1 {
				keys = append(keys, key)
			}
		}
		effects := heldEffects(t, p.Encode(), h, keys...)
		returned, leaves := int64(0), int64(0)
		for w := range paid {
			returned, leaves = returned+min(paid[w], back[w]), leaves+paid[w]-min(paid[w], back[w])
		}
		charged, ok := charge(effects)
		if !ok || charged != brings-returned || charged < leaves || !stranged && charged != leaves {
			t.Fatalf("%d are charged, %d leave the wallets\n%x", charged, leaves, p.Encode())
		}
		if charged == leaves {
			exact++
		} else {
			more++
		}
		if len(effects) > len(p.Outputs)+1 {
			split++
		}
	}
	if exact == 0 || more == 0 || split == 0 {
		t.Errorf("%d exact, %d more, %d split: the test shows nothing", exact, more, split)
	}
}

// TestAccounts checks that an account is what wallets export the descriptors of.
func TestAccounts(t *testing.T) {
	random := rand.New(rand.NewPCG(44, 86))
	accounts := 0
	for range 20_000 {
		text := "m"
		for range random.IntN(4) + 3 {
			text += fmt.Sprintf("/%d", []int{0, 1, 2, 44, 49, 84, 86}[random.IntN(7)])
			if random.IntN(2) == 0 {
				text += "'"
			}
		}
		if random.IntN(2) == 0 {
			text = fmt.Sprintf("m/%d'/%d'/%d'/%d/%d", 40+random.IntN(50), random.IntN(3), random.IntN(9), random.IntN(3), random.IntN(9))
		}
		path, err := wallet.ParsePath(text)
		testenv.Must(t, err)
		want, isAccount := wallet.BitcoinAccount(path)
		got, ok := bitcoin.AccountOf(text)
		if ok != isAccount || ok && got != want.String() {
			t.Errorf("%s: %s, %v, want %v, %v", text, got, ok, want, isAccount)
		}
		if ok {
			accounts++
		}
	}
	if accounts == 0 {
		t.Error("no account was drawn")
	}
}

// TestViewAgreesWithEffects checks that the view says the same as the sentences about
// each output.
func TestViewAgreesWithEffects(t *testing.T) {
	h := held(t, "m/84'/0'/0'/0/0", "m/84'/0'/0'/1/0", "m/84'/0'/1'/0/0")
	raw := bitcointest.PSBT{
		Inputs: []bitcointest.Input{bitcointest.P2WPKH(h.keys[0].PublicKey()).Input(100_000, 1), bitcointest.P2WPKH(h.keys[2].PublicKey()).Input(9_000, 2)},
		Outputs: []bitcointest.Output{
			bitcointest.P2WPKH(h.keys[1].PublicKey()).Output(90_000), bitcointest.P2WPKH(h.keys[2].PublicKey()).Output(5_000),
			bitcointest.P2WPKH(keyOf(t, secretOf(9)).PublicKey()).Output(4_000),
		},
	}.Encode()
	signing := heldSigning(t, raw, h, h.keys[0])
	var shown bytes.Buffer
	testenv.Must(t, chains.Render(&shown, signing.SignerView()))
	for _, effect := range signing.Effects() {
		fmt.Fprintln(&shown, chains.Sentence(effect, nil))
	}
	want := `network      mainnet [of the addresses shown]
input 0      yours [to be signed]
input 1      yours [not signed: needs key ` + h.keys[2].ID() + `,
             | m/84'/0'/1'/0/0]
output 0     yours [change]
output 1     yours [a payment: its wallet does not sign for as much]
output 2     not yours
your inputs  0.00109 BTC
back to you  0.00095 BTC
you spend    0.00014 BTC [fee included]
`
	if !bytes.HasPrefix(shown.Bytes(), []byte(want)) {
		t.Errorf("%s", &shown)
	}
	for _, sentence := range []string{"(change, yours)\nsend 0.00005 BTC to ", " (yours)\nsend 0.00004 BTC to "} {
		if !bytes.Contains(shown.Bytes(), []byte(sentence)) {
			t.Errorf("no %q in\n%s", sentence, &shown)
		}
	}
}
