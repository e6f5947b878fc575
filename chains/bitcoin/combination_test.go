package bitcoin_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// This file tests the promise that amounts are proven, against an attacker who may make
// several requests. The attacker draws a transaction, and PSBTs that describe it with
// false amounts and scripts, and keeps the signatures of each PSBT that is accepted.
// Then btcd's script engine decides, over the true previous outputs, which of the
// signatures are valid.

// combinationCases is how many transactions are drawn.
func combinationCases(t *testing.T) int {
	t.Helper()
	if testing.Short() {
		return testenv.Draws(t, 200)
	}
	return testenv.Draws(t, 1_000)
}

// coin is a true previous output, and how a signature spends it.
type coin struct {
	kind  string
	ours  bool
	spend bitcointest.Spend
	input bitcointest.Input // true, proven
	sign  func(signature []byte) (script []byte, witness wire.TxWitness)
}

// coinKinds lock to a key; the last has a leaf of the other key as well.
func coinKinds(pub, other keystore.PublicKey) []coin {
	compressed, x := pub.Bytes(), pub.XOnly()
	withKey := func(signature []byte) ([]byte, wire.TxWitness) { return nil, wire.TxWitness{signature, compressed} }
	alone := func(signature []byte) ([]byte, wire.TxWitness) { return nil, wire.TxWitness{signature} }
	nested, script := bitcointest.Nested(bitcointest.P2WPKH(pub)), bitcointest.P2PK(pub).Script
	return []coin{
		{kind: "P2WPKH", spend: bitcointest.P2WPKH(pub), sign: withKey},
		{kind: "BIP-86", spend: bitcointest.BIP86(pub), sign: alone},
		{kind: "P2SH-P2WPKH", spend: nested, sign: func(signature []byte) ([]byte, wire.TxWitness) {
			return push(bitcointest.P2WPKH(pub).Script), wire.TxWitness{signature, compressed}
		}},
		{kind: "P2PKH", spend: bitcointest.P2PKH(pub), sign: func(signature []byte) ([]byte, wire.TxWitness) {
			return append(push(signature), push(compressed)...), nil
		}},
		{kind: "P2WSH", spend: bitcointest.P2WSH(script), sign: func(signature []byte) ([]byte, wire.TxWitness) {
			return nil, wire.TxWitness{signature, script}
		}},
		{kind: "tree", spend: bitcointest.Taproot(x[:], bitcointest.Leaf(other)), sign: alone},
	}
}

// addressOfKey reports whether a script is one of the four addresses of a key.
func addressOfKey(pub keystore.PublicKey, script []byte) bool {
	for _, own := range []bitcointest.Spend{
		bitcointest.P2PKH(pub), bitcointest.P2WPKH(pub), bitcointest.Nested(bitcointest.P2WPKH(pub)), bitcointest.BIP86(pub),
	} {
		if bytes.Equal(own.Script, script) {
			return true
		}
	}
	return false
}

func push(data []byte) []byte { return append([]byte{byte(len(data))}, data...) }

// world is one transaction, what it truly spends, and what was claimed about it.
type world struct {
	random   *rand.Rand
	us, them keystore.Key
	coins    []coin
	outputs  []bitcointest.Output
	totalIn  uint64
	totalOut uint64
	alone    uint64 // of the inputs at addresses of the signer's key alone
	leaving  int64  // the true balance: what goes to that key from elsewhere is paid

	signatures map[int][]given // of the signer's keys, by input
	shown      []request       // accepted
}

// given is a signature, with the request that yielded it.
type given struct {
	request   int
	signature []byte
}

// request is what an accepted request showed.
type request struct {
	fee     uint64
	leaving int64
}

// draw returns a transaction of two to four inputs, the first of which is the signer's.
func draw(t *testing.T, random *rand.Rand, us, them keystore.Key) *world {
	w := &world{random: random, us: us, them: them, signatures: map[int][]given{}}
	only := random.IntN(12) // kinds 0 to 5: all inputs are of that kind; else any
	for i := range 2 + random.IntN(3) {
		pub, other := us.PublicKey(), them.PublicKey()
		ours := i == 0 || random.IntN(3) > 0
		if !ours {
			pub, other = other, pub
		}
		kinds := coinKinds(pub, other)
		c := kinds[random.IntN(len(kinds))]
		if only < len(kinds) {
			c = kinds[only]
		}
		amounts := []uint64{1_000, 20_000, 1_000_000, 4_000_000}
		c.ours, c.input = ours, c.spend.Input(amounts[random.IntN(len(amounts))], uint32(i))
		w.coins, w.totalIn = append(w.coins, c), w.totalIn+c.input.Amount
		if ours {
			w.leaving += int64(c.input.Amount)
			if addressOfKey(us.PublicKey(), c.spend.Script) {
				w.alone += c.input.Amount
			}
		}
	}
	w.totalOut = w.totalIn - 500
	if random.IntN(2) == 0 {
		w.totalOut = w.totalIn / uint64(1+random.IntN(20))
	}
	change := w.totalOut / uint64(1+random.IntN(5))
	w.outputs = []bitcointest.Output{
		bitcointest.P2WPKH(us.PublicKey()).Output(change), bitcointest.P2WPKH(them.PublicKey()).Output(w.totalOut - change),
	}
	w.leaving -= int64(min(change, w.alone))
	return w
}

// lie describes the transaction differently. Each input is proven, claimed truly, or
// claimed with another amount or another script; the last lie makes the fee look small.
func (w *world) lie() []byte {
	p := bitcointest.PSBT{Version: uint32(w.random.IntN(2)) * 2, Outputs: w.outputs}
	sum, last, proofs := uint64(0), -1, w.random.IntN(5)
	for i, c := range w.coins {
		in := c.input
		if w.random.IntN(4) >= proofs && !c.spend.Legacy {
			in.Proof, last = false, i
			w.falsify(&in)
		}
		p.Inputs, sum = append(p.Inputs, in), sum+claimed(in)
	}
	if last >= 0 && w.random.IntN(3) > 0 {
		if target := w.totalOut + 500; target > sum-claimed(p.Inputs[last]) {
			p.Inputs[last].Claimed = target - (sum - claimed(p.Inputs[last]))
		}
	}
	return p.Encode()
}

func claimed(in bitcointest.Input) uint64 {
	if in.Claimed != 0 {
		return in.Claimed
	}
	return in.Amount
}

// falsify changes the claims about an input: its amount, or its script and the fields
// that belong to it. The outpoint stays.
func (w *world) falsify(in *bitcointest.Input) {
	previous := in.Previous()
	if w.random.IntN(2) == 0 {
		in.Claimed = []uint64{600, 2_000, 30_000, 900_000, 2_100_000_000_000_000 / 8}[w.random.IntN(5)]
	}
	if w.random.IntN(4) == 0 {
		pub, other := w.us.PublicKey(), w.them.PublicKey()
		if w.random.IntN(4) == 0 {
			pub, other = other, pub
		}
		kinds := coinKinds(pub, other)
		decoy := kinds[w.random.IntN(len(kinds))].spend
		in.Tx, in.Index = previous, 1
		in.Script, in.Records = decoy.Script, decoy.Records
	}
}

// ask signs one PSBT if an engine with default limits would, that is, if it has no
// hazard.
func (w *world) ask(t *testing.T, raw []byte, allowed ...string) {
	t.Helper()
	signWith := w.us.ID()
	if n := w.random.IntN(12); n < 4 {
		signWith = bitcoin.Chain{}.Addresses(w.us.PublicKey())[n].Address
	}
	signed, leaving, ok := signDefault(t, raw, w.us, signWith, allowed...)
	if !ok {
		return
	}
	packet := packetOf(t, signed)
	w.shown = append(w.shown, request{shownFee(t, signed), leaving})
	for i := range packet.Inputs {
		for _, record := range packet.Inputs[i].Records {
			if isSignature(record.Type) {
				w.signatures[i] = append(w.signatures[i], given{len(w.shown) - 1, record.Value})
			}
		}
	}
}

// combine searches, with the script engine and the true previous outputs, for a valid
// signature of each of the signer's inputs. The other inputs are the attacker's, who
// can always sign. It returns the requests whose signatures are valid, and whether the
// transaction is complete.
func (w *world) combine(t *testing.T) (used map[int]bool, complete bool) {
	t.Helper()
	truth := bitcointest.PSBT{Outputs: w.outputs}
	spent := txscript.NewMultiPrevOutFetcher(nil)
	for _, c := range w.coins {
		truth.Inputs = append(truth.Inputs, c.input)
	}
	tx := decodeTx(t, truth.Unsigned())
	for i, c := range w.coins {
		spent.AddPrevOut(tx.TxIn[i].PreviousOutPoint, wire.NewTxOut(int64(c.input.Amount), c.input.Script))
	}
	used, complete = map[int]bool{}, true
	for i, c := range w.coins {
		found := !c.ours
		for _, g := range w.signatures[i] {
			tx.TxIn[i].SignatureScript, tx.TxIn[i].Witness = c.sign(g.signature)
			if runs(tx, i, spent) {
				used[g.request], found = true, true
			}
			tx.TxIn[i].SignatureScript, tx.TxIn[i].Witness = nil, nil
		}
		complete = complete && found
	}
	return used, complete
}

func runs(tx *wire.MsgTx, index int, spent *txscript.MultiPrevOutFetcher) bool {
	out := spent.FetchPrevOutput(tx.TxIn[index].PreviousOutPoint)
	engine, err := txscript.NewEngine(out.PkScript, tx, index, txscript.StandardVerifyFlags, nil,
		txscript.NewTxSigHashes(tx, spent), out.Value, spent)
	return err == nil && engine.Execute() == nil
}

// TestCombinedSignaturesSpendWhatWasShown draws transactions, and up to five lying
// PSBTs of each. Every request that yielded a signature which is valid over the true
// previous outputs must have shown the true fee. In a control run with the hazard
// allowed, the same attack must succeed.
func TestCombinedSignaturesSpendWhatWasShown(t *testing.T) {
	us, them := keyOf(t, secretOf(0x22)), keyOf(t, secretOf(0x33))
	for name, allowed := range map[string][]string{"default": nil, "control": {bitcoin.HazardUnprovenAmount}} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(2020, 14199))
			accepted, completed, robbed := 0, 0, 0
			for n := range combinationCases(t) {
				w := draw(t, random, us, them)
				for range 2 + random.IntN(4) {
					w.ask(t, w.lie(), allowed...)
				}
				used, complete := w.combine(t)
				accepted += len(w.shown)
				if complete {
					completed++
				}
				if problem := w.more(used); problem != "" {
					robbed++
					if len(allowed) == 0 {
						t.Fatalf("case %d: %s", n, problem)
					}
				}
			}
			t.Logf("%d requests accepted, %d transactions completed, %d of them robberies", accepted, completed, robbed)
			if accepted == 0 || completed == 0 || len(allowed) > 0 && robbed == 0 {
				t.Error("the test shows nothing")
			}
		})
	}
}

// more returns in what the signatures yield more than was shown.
func (w *world) more(used map[int]bool) string {
	for i := range used {
		if fee := w.totalIn - w.totalOut; w.shown[i].fee != fee {
			return fmt.Sprintf("a valid signature was given for a fee of %d, it is %d", w.shown[i].fee, fee)
		}
		if w.shown[i].leaving < w.leaving {
			return fmt.Sprintf("a valid signature was given where %d was to leave us, it is %d", w.shown[i].leaving, w.leaving)
		}
	}
	return ""
}

// shownFee returns the fee that a PSBT shows.
func shownFee(t *testing.T, raw []byte) uint64 {
	t.Helper()
	return parse(t, raw).Fee()
}

// TestClaimedTaprootVouchesForNothing: why a taproot input that is only claimed does not prove
// amounts beside other inputs of ours, though its signature commits to all of them (BIP-341). The
// claim can be false: here both inputs are truly P2WPKH, and each of two PSBTs proves one of them
// and claims that the other is taproot and small. The signature of what is proven is valid, and the
// two together pay as a fee what neither of the PSBTs showed.
func TestClaimedTaprootVouchesForNothing(t *testing.T) {
	us, them := keyOf(t, secretOf(0x22)), keyOf(t, secretOf(0x33))
	pub := us.PublicKey()
	const amount, claim = 1_000_000, 1_000
	w := &world{random: rand.New(rand.NewPCG(2020, 14199)), us: us, them: them, signatures: map[int][]given{}, totalIn: 2 * amount, totalOut: amount}
	for i := range 2 {
		c := coinKinds(pub, them.PublicKey())[0]
		c.ours, c.input = true, c.spend.Input(amount, uint32(i))
		w.coins = append(w.coins, c)
	}
	w.outputs = []bitcointest.Output{bitcointest.P2WPKH(them.PublicKey()).Output(amount)}
	for decoy := range 2 {
		p := bitcointest.PSBT{Outputs: w.outputs, Inputs: []bitcointest.Input{w.coins[0].input, w.coins[1].input}}
		in := &p.Inputs[decoy]
		taproot := bitcointest.BIP86(pub)
		in.Tx, in.Index, in.Proof, in.Claimed = in.Previous(), 1, false, claim
		in.Script, in.Records = taproot.Script, taproot.Records
		raw := p.Encode()
		wantHazards(t, raw, pub, bitcoin.HazardUnprovenAmount)
		signed, _, ok := signDefault(t, raw, us, us.ID(), bitcoin.HazardUnprovenAmount)
		if !ok {
			t.Fatal("not signed with the hazard allowed")
		}
		if fee := shownFee(t, signed); fee != claim {
			t.Fatalf("a fee of %d is shown", fee)
		}
		packet := packetOf(t, signed)
		for i := range packet.Inputs {
			for _, record := range packet.Inputs[i].Records {
				if isSignature(record.Type) {
					w.signatures[i] = append(w.signatures[i], given{decoy, record.Value})
				}
			}
		}
	}
	if used, complete := w.combine(t); !complete || len(used) != 2 {
		t.Errorf("the robbery does not work any more: %v, %t", used, complete)
	}
}
