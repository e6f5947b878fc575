package bitcoin_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// cosigner is a seed, whose account key is at m/48'/0'/0'/2'.
type cosigner struct {
	root *wallet.Root
	text string // the account key with its origin
	node *hdkeychain.ExtendedKey
}

var cosignerPath = wallet.Path{48 + wallet.Hardened, wallet.Hardened, wallet.Hardened, 2 + wallet.Hardened}

func newCosigner(t testing.TB, seed byte) cosigner {
	t.Helper()
	root, err := wallet.FromSeed(bytes.Repeat([]byte{seed}, 64))
	testenv.Must(t, err)
	return cosignerOf(t, root)
}

func cosignerOf(t testing.TB, root *wallet.Root) cosigner {
	t.Helper()
	text, err := root.XPub(cosignerPath)
	testenv.Must(t, err)
	node, err := hdkeychain.NewKeyFromString(text[strings.Index(text, "]")+1:])
	testenv.Must(t, err)
	return cosigner{root, text, node}
}

// key returns the signing key of an address.
func (c cosigner) key(t testing.TB, change bool, index uint32) keystore.Key {
	t.Helper()
	secret, err := c.root.Derive(keystore.CurveSecp256k1, c.path(change, index))
	testenv.Must(t, err)
	return keyOf(t, secret)
}

func (c cosigner) path(change bool, index uint32) wallet.Path {
	branch := uint32(0)
	if change {
		branch = 1
	}
	return append(slices.Clone(cosignerPath), branch, index)
}

// origin returns the value of a record about the origin of the cosigner's key.
func (c cosigner) origin(change bool, index uint32) []byte {
	fingerprint := c.root.Fingerprint()
	value := slices.Clone(fingerprint[:])
	for _, step := range c.path(change, index) {
		value = binary.LittleEndian.AppendUint32(value, step)
	}
	return value
}

// registeredForms are the templates of wallets of three cosigners.
var registeredForms = []string{
	"wsh(sortedmulti(2,@0/**,@1/**,@2/**))", "wsh(multi(2,@0/**,@1/**,@2/**))",
	"sh(wsh(sortedmulti(2,@0/**,@1/**,@2/**)))", "sh(wsh(multi(2,@0/**,@1/**,@2/**)))",
	"sh(sortedmulti(2,@0/**,@1/**,@2/**))", "sh(multi(2,@0/**,@1/**,@2/**))",
	"tr(@0/**,sortedmulti_a(2,@1/**,@2/**))", "tr(@0/**,multi_a(2,@1/**,@2/**))",
	"tr(@0/<0;1>/*,{multi_a(2,@1/**,@2/**),sortedmulti_a(1,@0/<2;3>/*,@1/<2;3>/*)})",
}

func policyOf(t testing.TB, name, template string, cosigners ...cosigner) *walletpolicy.Policy {
	t.Helper()
	keys := make([]string, len(cosigners))
	for i, c := range cosigners {
		keys[i] = c.text
	}
	policy, err := walletpolicy.New(name, template, keys)
	testenv.Must(t, err)
	return policy
}

// spendOf returns how an address of a policy is locked, with the records of an input, and the
// origins of the keys.
func spendOf(t testing.TB, policy *walletpolicy.Policy, change bool, index uint32, cosigners ...cosigner) bitcointest.Spend {
	t.Helper()
	scripts, err := policy.Scripts(change, index)
	testenv.Must(t, err)
	spend := bitcointest.Spend{Script: scripts.Output, Legacy: scripts.Redeem != nil && scripts.Witness == nil}
	add := func(kind byte, data, value []byte) {
		spend.Records = append(spend.Records, bitcointest.Record{Key: append([]byte{kind}, data...), Value: value})
	}
	if scripts.Redeem != nil {
		add(psbt.InRedeemScript, nil, scripts.Redeem)
	}
	if scripts.Witness != nil {
		add(psbt.InWitnessScript, nil, scripts.Witness)
	}
	if scripts.Leaves != nil {
		add(psbt.InTapInternalKey, nil, scripts.Internal[:])
		add(psbt.InTapMerkleRoot, nil, scripts.Root[:])
	}
	for _, leaf := range scripts.Leaves {
		add(psbt.InTapLeafScript, leaf.Control, append(bytes.Clone(leaf.Script), 0xc0))
	}
	spend.Records = append(spend.Records, origins(t, psbt.InBIP32Derivation, psbt.InTapBIP32Derivation, scripts.Leaves != nil, change, index, cosigners...)...)
	return spend
}

func origins(t testing.TB, plain, taproot byte, isTaproot, change bool, index uint32, cosigners ...cosigner) (records []bitcointest.Record) {
	t.Helper()
	for _, c := range cosigners {
		pub := c.key(t, change, index).PublicKey()
		x := pub.XOnly()
		if isTaproot {
			records = append(records, bitcointest.Record{Key: append([]byte{taproot}, x[:]...), Value: append([]byte{0}, c.origin(change, index)...)})
		} else {
			records = append(records, bitcointest.Record{Key: append([]byte{plain}, pub.Bytes()...), Value: c.origin(change, index)})
		}
	}
	return records
}

// outputTo returns an output to an address of a policy, with the origins of the keys.
func outputTo(t testing.TB, policy *walletpolicy.Policy, amount uint64, change bool, index uint32, cosigners ...cosigner) bitcointest.Output {
	t.Helper()
	scripts, err := policy.Scripts(change, index)
	testenv.Must(t, err)
	return bitcointest.Output{Amount: amount, Script: scripts.Output,
		Records: origins(t, psbt.OutBIP32Derivation, psbt.OutTapBIP32Derivation, scripts.Leaves != nil, change, index, cosigners...)}
}

// knowing are accounts with registered wallets, and no other addresses.
type knowing []keystore.Registration

func (knowing) Controls([]byte) (none chains.Account, ok bool) { return none, false }
func (knowing) WithKey(id string) chains.Account               { return chains.Account{KeyID: id} }
func (k knowing) Registered() []keystore.Registration          { return k }
func knowingOf(policies ...*walletpolicy.Policy) knowing {
	var all knowing
	for _, p := range policies {
		all = append(all, keystore.Registration{RegisteredWallet: p})
	}
	return all
}

// TestRegisteredWallets: in every form, two of three cosigners sign one after the other, each
// sees the change as change and the net amount that leaves, and the transaction is valid.
func TestRegisteredWallets(t *testing.T) {
	a, b, c := newCosigner(t, 1), newCosigner(t, 2), newCosigner(t, 3)
	stranger := bitcointest.P2WPKH(keyOf(t, secretOf(9)).PublicKey())
	for _, form := range registeredForms {
		policy := policyOf(t, "treasury", form, a, b, c)
		raw := bitcointest.PSBT{
			Inputs:  []bitcointest.Input{spendOf(t, policy, false, 5, a, b, c).Input(100_000, 1)},
			Outputs: []bitcointest.Output{stranger.Output(30_000), outputTo(t, policy, 65_000, true, 7, a, b, c)},
		}.Encode()
		var ids [][32]byte
		for _, signer := range []cosigner{b, c} { // of tr, those of the leaf
			key := signer.key(t, false, 5)
			signing, err := chaintest.Ready(parse(t, raw), key.ID(), key)
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			known := resolved(signing, knowingOf(policy))
			effects := known.Effects()
			if effects[0].Change || !effects[1].Change || effects[1].Controlled != chains.ControlledYes || known.Balance().Value.Int64() != 35_000 {
				t.Errorf("%s: %+v, %v leaves", form, effects, known.Balance())
			}
			var view bytes.Buffer
			testenv.Must(t, chains.Render(&view, known.SignerView()))
			for _, want := range []string{`yours [wallet "treasury", to be signed`, `yours [wallet "treasury": change]`, "you spend    0.00035 BTC"} {
				if !strings.Contains(view.String(), want) {
					t.Errorf("%s: no %s in\n%s", form, want, &view)
				}
			}
			use := known.Registered()
			if len(use.Used) != 1 || !use.Only || use.Mixed || len(use.Hazards) > 0 {
				t.Fatalf("%s: %+v", form, use)
			}
			ids = append(ids, known.ChargeID(use.Used[0]))
			if raw, err = signing.AppendSigned(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if ids[0] != ids[1] {
			t.Errorf("%s: the two requests are charged as two", form)
		}
		if _, err := bitcoin.Finalize(raw); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
}

// lie alters what a true PSBT says about its change, so that the money goes elsewhere.
type lie struct {
	name string
	tell func(l *liar) bitcointest.Output
}

// liar is what a lie is told about: the change output of a wallet of a, b and c.
type liar struct {
	t       testing.TB
	random  *rand.Rand
	form    string
	policy  *walletpolicy.Policy
	a, b, c cosigner
	thief   cosigner
	index   uint32
	truth   bitcointest.Output
	amount  uint64
}

// claiming returns an output to another script with everything that the true one says.
func (l *liar) claiming(policy *walletpolicy.Policy, change bool, index uint32) bitcointest.Output {
	script, err := policy.Script(change, index)
	testenv.Must(l.t, err)
	out := l.truth
	out.Script = script
	return out
}

func (l *liar) with(form string, cosigners ...cosigner) bitcointest.Output {
	return l.claiming(policyOf(l.t, "treasury", form, cosigners...), true, l.index)
}

var lies = []lie{
	{"a key of the thief's in the place of one", func(l *liar) bitcointest.Output {
		keys := []cosigner{l.a, l.b, l.c}
		keys[l.random.IntN(3)] = l.thief
		return l.with(l.form, keys...)
	}},
	{"all keys of the thief's but ours", func(l *liar) bitcointest.Output {
		return l.with(l.form, l.a, l.thief, newCosigner(l.t, 8))
	}},
	{"another order of the keys", func(l *liar) bitcointest.Output {
		return l.with(strings.Replace(l.form, "sorted", "", 2), l.c, l.a, l.b)
	}},
	{"another path", func(l *liar) bitcointest.Output {
		return l.claiming(l.policy, true, l.index+1+l.random.Uint32N(100))
	}},
	{"another branch", func(l *liar) bitcointest.Output { return l.claiming(l.policy, false, l.index) }},
	{"another threshold", func(l *liar) bitcointest.Output {
		form := l.form
		for i, was := range []string{"(2,", "(1,"} {
			if strings.Contains(form, was) {
				form = strings.Replace(form, was, []string{"(1,", "(2,"}[i], 1)
				break
			}
		}
		return l.with(form, l.a, l.b, l.c)
	}},
	{"another wrapping", func(l *liar) bitcointest.Output {
		forms := slices.DeleteFunc(slices.Clone(registeredForms), func(f string) bool { return f == l.form })
		return l.with(forms[l.random.IntN(len(forms))], l.a, l.b, l.c)
	}},
	{"another wallet's change", func(l *liar) bitcointest.Output {
		out := outputTo(l.t, policyOf(l.t, "other", l.form, l.a, l.thief, l.c), l.amount, true, l.index, l.a, l.thief, l.c)
		for _, record := range l.truth.Records { // and everything that the true one says
			if !slices.ContainsFunc(out.Records, func(other bitcointest.Record) bool { return bytes.Equal(other.Key, record.Key) }) {
				out.Records = append(out.Records, record)
			}
		}
		return out
	}},
	{"a key twice", func(l *liar) bitcointest.Output {
		account := cosignerPath
		cosignerPath = wallet.Path{48 + wallet.Hardened, wallet.Hardened, 1 + wallet.Hardened, 2 + wallet.Hardened}
		doubled := newCosigner(l.t, 1)
		cosignerPath = account
		return l.with(l.form, l.a, doubled, l.c)
	}},
	{"a forged origin", func(l *liar) bitcointest.Output {
		// The thief's own script, whose keys claim the origins of the wallet's.
		out := l.with(l.form, l.a, l.thief, l.c)
		i := l.random.IntN(len(out.Records))
		out.Records = slices.Clone(out.Records)
		out.Records[i].Key = slices.Clone(out.Records[i].Key)
		x := l.thief.key(l.t, true, l.index).PublicKey().XOnly()
		copy(out.Records[i].Key[len(out.Records[i].Key)-32:], x[:])
		return out
	}},
	{"one leaf replaced", func(l *liar) bitcointest.Output {
		if !strings.HasPrefix(l.form, "tr(") {
			return l.with(l.form, l.thief, l.b, l.c)
		}
		return l.with("tr(@0/**,{sortedmulti_a(2,@1/**,@2/**),multi_a(1,@3/**)})", l.a, l.b, l.c, l.thief)
	}},
	{"an index that no wallet finds again", func(l *liar) bitcointest.Output {
		beyond := uint32(walletpolicy.MaxIndex + 1)
		return bitcointest.Output{Amount: l.amount, Script: scriptBeyond(l, beyond),
			Records: origins(l.t, psbt.OutBIP32Derivation, psbt.OutTapBIP32Derivation, strings.HasPrefix(l.form, "tr("), true, beyond, l.a, l.b, l.c)}
	}},
	{"the other network's keys", func(l *liar) bitcointest.Output {
		out := l.with(l.form, l.thief, l.b, l.c)
		for i := range out.Records {
			value := slices.Clone(out.Records[i].Value)
			at := bytes.Index(value, binary.LittleEndian.AppendUint32(nil, wallet.Hardened+48)) + 4
			value[at] = 1 // coin type 1'
			out.Records[i].Value = value
		}
		return out
	}},
}

// scriptBeyond returns a script of the same keys at an index that walletpolicy refuses.
func scriptBeyond(l *liar, index uint32) []byte {
	var keys []keystore.PublicKey
	for _, c := range []cosigner{l.a, l.b, l.c} {
		keys = append(keys, c.key(l.t, true, index).PublicKey())
	}
	slices.SortFunc(keys, func(a, b keystore.PublicKey) int { return bytes.Compare(a.Bytes(), b.Bytes()) })
	return bitcointest.P2WSH(bitcointest.Multisig(2, keys...)).Script
}

// TestLyingPSBTs: of PSBTs that lie about the change of a registered wallet, in 13 ways and
// every form, none is shown as change, and what they take counts in full.
func TestLyingPSBTs(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 46))
	a, b, c, thief := newCosigner(t, 1), newCosigner(t, 2), newCosigner(t, 3), newCosigner(t, 7)
	told := 0
	for _, form := range registeredForms {
		policy := policyOf(t, "treasury", form, a, b, c)
		other := policyOf(t, "other", form, a, thief, c)
		for _, one := range lies {
			for range 2 {
				l := &liar{t: t, random: random, form: form, policy: policy, a: a, b: b, c: c, thief: thief, index: random.Uint32N(1000), amount: 65_000}
				l.truth = outputTo(t, policy, l.amount, true, l.index, a, b, c)
				out := one.tell(l)
				if bytes.Equal(out.Script, l.truth.Script) {
					continue // keys in another order are the same script where they are sorted
				}
				told++
				raw := bitcointest.PSBT{
					Inputs:  []bitcointest.Input{spendOf(t, policy, false, 5, a, b, c).Input(100_000, 1)},
					Outputs: []bitcointest.Output{bitcointest.P2WPKH(keyOf(t, secretOf(9)).PublicKey()).Output(30_000), out},
				}.Encode()
				key := b.key(t, false, 5)
				signing, err := chaintest.Ready(parse(t, raw), key.ID(), key)
				if err != nil {
					t.Fatalf("%s, %s: %v", form, one.name, err)
				}
				known := resolved(signing, knowingOf(policy, other))
				charged, ok := charge(known.Effects())
				if known.Effects()[1].Change || known.Balance().Value.Int64() != 100_000 || !ok || charged != 100_000 {
					t.Errorf("%s, %s: shown as change, or not counted: %+v, %v leaves", form, one.name, known.Effects(), known.Balance())
				}
			}
		}
	}
	t.Logf("%d lies", told)
	if told < 200 {
		t.Errorf("%d lies, want 200", told)
	}
}

// TestLyingInputs: an input of unknown keys that claims to be the wallet's brings it nothing,
// so that change beyond what the wallet pays is a payment.
func TestLyingInputs(t *testing.T) {
	a, b, c, thief := newCosigner(t, 1), newCosigner(t, 2), newCosigner(t, 3), newCosigner(t, 7)
	for _, form := range registeredForms[:6] {
		policy, planted := policyOf(t, "treasury", form, a, b, c), policyOf(t, "treasury", form, a, thief, c)
		lying := spendOf(t, planted, false, 6, a, b, c) // with the true wallet's origins
		raw := bitcointest.PSBT{
			Inputs:  []bitcointest.Input{spendOf(t, policy, false, 5, a, b, c).Input(100_000, 1), lying.Input(50_000, 2)},
			Outputs: []bitcointest.Output{outputTo(t, policy, 140_000, true, 7, a, b, c)},
		}.Encode()
		key := b.key(t, false, 5)
		signing := chaintest.MustReady(t, parse(t, raw), key.ID(), key)
		effects := resolved(signing, knowingOf(policy)).Effects()
		if got := effects[0]; !got.Change || got.Amount.Value.Int64() != 100_000 || effects[2].Change || effects[2].Amount.Value.Int64() != 40_000 {
			t.Errorf("%s: %+v", form, effects)
		}
	}
}

// TestTwoRegisteredWallets: what goes from one registered wallet to another is a payment, and
// a transaction that both sign is neither's.
func TestTwoRegisteredWallets(t *testing.T) {
	a, b, c, d := newCosigner(t, 1), newCosigner(t, 2), newCosigner(t, 3), newCosigner(t, 4)
	one, two := policyOf(t, "one", registeredForms[0], a, b, c), policyOf(t, "two", registeredForms[0], a, b, d)
	raw := bitcointest.PSBT{
		Inputs:  []bitcointest.Input{spendOf(t, one, false, 5, a, b, c).Input(100_000, 1)},
		Outputs: []bitcointest.Output{outputTo(t, two, 90_000, true, 7, a, b, d)},
	}.Encode()
	key := a.key(t, false, 5)
	signing := chaintest.MustReady(t, parse(t, raw), key.ID(), key)
	known := resolved(signing, knowingOf(one, two))
	if got := known.Effects()[0]; got.Change || got.Controlled != chains.ControlledYes {
		t.Errorf("%+v", got)
	}
	if use := known.Registered(); !use.Only || use.Mixed || len(use.Used) != 2 || use.Used[0].Name() != "one" {
		t.Errorf("%+v", use)
	}
	raw = bitcointest.PSBT{
		Inputs:  []bitcointest.Input{spendOf(t, one, false, 5, a, b, c).Input(100_000, 1), spendOf(t, two, false, 5, a, b, d).Input(100_000, 2)},
		Outputs: []bitcointest.Output{outputTo(t, two, 90_000, true, 7, a, b, d)},
	}.Encode()
	signing = chaintest.MustReady(t, parse(t, raw), key.ID(), key)
	known = resolved(signing, knowingOf(one, two))
	if use := known.Registered(); use.Only || !use.Mixed || len(use.Used) != 2 {
		t.Errorf("%+v", use)
	}
	if !known.Effects()[0].Change || known.Balance().Value.Int64() != 110_000 {
		t.Errorf("%+v", known.Effects())
	}
}
