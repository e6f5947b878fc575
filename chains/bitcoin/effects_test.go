package bitcoin_test

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestEffectsHoldInExecution draws transactions of two keys of the signer's and one of
// another party, with all sighash types, signs them, and has btcd's script engine run
// them over what they spend.
//
//   - Every satoshi that the inputs bring is in one effect, or the effects say that
//     they do not know.
//   - An output that can be changed without making one of the signatures invalid
//     has an unknown recipient; one that cannot has the one that it pays.
//   - Each key is a wallet. What the effects charge is what its inputs bring less what
//     returns to the wallets that paid, and never less than leaves them.
//   - The balance is what the signer's inputs spend less what returns.
func TestEffectsHoldInExecution(t *testing.T) {
	random := rand.New(rand.NewPCG(143, 341))
	keys := []keystore.Key{keyOf(t, secretOf(1)), keyOf(t, secretOf(2)), keyOf(t, secretOf(3))}
	open, committed := 0, 0
	for n := range combinationCases(t) {
		raw := drawSpend(random, keys)
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			signing := chaintest.MustReady(t, parse(t, raw), "wallet", keys[0], keys[1])
			signed, err := signing.AppendSigned(t.Context(), nil)
			testenv.Must(t, err)
			run := newExecution(t, raw, signed, keys)
			checkSum(t, signing, run)
			o, c := run.checkCommitments(t, signing.Effects())
			open, committed = open+o, committed+c
			run.checkBalance(t, signing)
		})
	}
	t.Logf("%d outputs left open, %d committed to", open, committed)
	if open == 0 || committed == 0 {
		t.Error("the test shows nothing")
	}
}

// drawSpend returns a PSBT with all amounts proven.
func drawSpend(random *rand.Rand, keys []keystore.Key) []byte {
	us, too, them := keys[0].PublicKey(), keys[1].PublicKey(), keys[2].PublicKey()
	p := bitcointest.PSBT{Version: uint32(random.IntN(2)) * 2}
	total := uint64(0)
	outputs := 1 + random.IntN(4)
	for i := range 1 + random.IntN(4) {
		pub, other := us, them
		switch random.IntN(4) {
		case 0:
			pub = too
		case 1:
			if i > 0 {
				pub, other = them, us
			}
		}
		kinds := coinKinds(pub, other)
		in := kinds[random.IntN(len(kinds)-1)].spend.Input(10_000+random.Uint64N(1_000_000), uint32(i))
		if pub != them && random.IntN(3) == 0 {
			if in.Sighash = []int64{1, 2, 3, 0x81, 0x82, 0x83}[random.IntN(6)]; in.Sighash&3 == 3 && i >= outputs {
				in.Sighash = 1
			}
		}
		p.Inputs, total = append(p.Inputs, in), total+in.Amount
	}
	scripts := [][]byte{
		bitcointest.P2WPKH(us).Script, bitcointest.BIP86(too).Script, bitcointest.Nested(bitcointest.P2WPKH(us)).Script,
		bitcointest.P2PKH(them).Script, bitcointest.BIP86(them).Script, bitcointest.P2WSH(bitcointest.P2PK(them).Script).Script,
		bitcointest.Nulldata("x"), {txscript.OP_1, 2, 0x4e, 0x73}, {txscript.OP_TRUE},
	}
	for range outputs {
		value := random.Uint64N(total/uint64(outputs) + 1)
		if random.IntN(6) == 0 {
			value = 0
		}
		p.Outputs = append(p.Outputs, bitcointest.Output{Amount: value, Script: scripts[random.IntN(len(scripts))]})
	}
	return p.Encode()
}

// execution is a signed transaction, what it truly spends, and which of its inputs and
// outputs are truly the signer's.
type execution struct {
	tx    *wire.MsgTx
	spent *txscript.MultiPrevOutFetcher
	fee   uint64
	ours  [][]byte // output scripts
	in    map[int]bool
	keys  []keystore.Key // the signer's
}

func newExecution(t *testing.T, raw, signed []byte, keys []keystore.Key) *execution {
	t.Helper()
	all, err := sign(t.Context(), parse(t, signed), "id", keys[2])
	if err != nil {
		all = signed // the other party has no input
	}
	final, err := bitcoin.Finalize(all)
	if err != nil {
		t.Fatalf("%v\n%x", err, raw)
	}
	run := &execution{tx: decodeTx(t, final), spent: txscript.NewMultiPrevOutFetcher(nil), in: map[int]bool{}, keys: keys[:2]}
	for _, key := range keys[:2] {
		for _, c := range coinKinds(key.PublicKey(), keys[2].PublicKey()) {
			run.ours = append(run.ours, c.spend.Script)
		}
	}
	packet := parse(t, raw).Packet()
	for i := range packet.Inputs {
		amount, script, err := packet.Inputs[i].Previous.Output(packet.Inputs[i].OutputIndex)
		testenv.Must(t, err)
		run.spent.AddPrevOut(run.tx.TxIn[i].PreviousOutPoint, wire.NewTxOut(int64(amount), script))
		run.fee, run.in[i] = run.fee+amount, run.owns(script)
	}
	for i := range packet.Inputs {
		if !runs(run.tx, i, run.spent) {
			t.Fatalf("input %d does not run", i)
		}
	}
	for _, out := range run.tx.TxOut {
		run.fee -= uint64(out.Value)
	}
	return run
}

func (e *execution) owns(script []byte) bool {
	return slices.ContainsFunc(e.ours, func(own []byte) bool { return bytes.Equal(own, script) })
}

// checkSum checks that transfers, burns and the fee add up to what the inputs bring.
func checkSum(t *testing.T, signing chains.Signing, run *execution) {
	t.Helper()
	sum, unknown := new(big.Int), false
	for _, effect := range signing.Effects() {
		switch {
		case effect.Amount.IsUnknown():
			unknown = true
		case effect.Kind == chains.KindTransfer || effect.Kind == chains.KindBurn || effect.Kind == chains.KindFee:
			sum.Add(sum, effect.Amount.Value)
		default:
			t.Errorf("effect %+v", effect)
		}
	}
	total := new(big.Int).SetUint64(run.fee)
	for _, out := range run.tx.TxOut {
		total.Add(total, big.NewInt(out.Value))
	}
	if !unknown && sum.Cmp(total) != 0 {
		t.Errorf("effects of %v satoshi, the inputs bring %v", sum, total)
	}
}

// checkCommitments changes each output in turn. If all of the signer's inputs still
// run, its effect must have said so.
func (e *execution) checkCommitments(t *testing.T, effects []chains.Effect) (open, committed int) {
	t.Helper()
	for i, out := range e.tx.TxOut {
		script := out.PkScript
		out.PkScript = []byte{txscript.OP_RETURN, 1, 0x99}
		free := false // for one of the signatures, if not for all
		for input, ours := range e.in {
			free = free || ours && runs(e.tx, input, e.spent)
		}
		out.PkScript = script
		at := slices.IndexFunc(effects, func(effect chains.Effect) bool { return effect.Path == fmt.Sprintf("outputs/%d", i) })
		switch {
		case free:
			open++
			if at < 0 || !effects[at].To.IsUnknown() || effects[at].Change {
				t.Errorf("output %d can be changed, and is not said to be", i)
			}
		case at < 0 && out.Value == 0:
			committed++
		default:
			committed++
			e.checkOutput(t, effects, i)
		}
	}
	return open, committed
}

// checkOutput checks the effects of one output, which together have its amount.
func (e *execution) checkOutput(t *testing.T, effects []chains.Effect, index int) {
	t.Helper()
	out, sum, burn := e.tx.TxOut[index], int64(0), false
	for _, effect := range effects {
		if effect.Path != fmt.Sprintf("outputs/%d", index) {
			continue
		}
		sum += effect.Amount.Value.Int64()
		burn = out.PkScript[0] == txscript.OP_RETURN || len(out.PkScript) < 5
		if (effect.Kind == chains.KindBurn) != burn || !burn && !effect.To.Is(out.PkScript) || burn && effect.Change {
			t.Errorf("%+v of script %x", effect, out.PkScript)
		}
	}
	if sum != out.Value {
		t.Errorf("effects of %d, output of %d", sum, out.Value)
	}
}

// wallet returns which of the signer's keys alone controls a script, or -1.
func (e *execution) wallet(script []byte) int {
	return slices.IndexFunc(e.keys, func(key keystore.Key) bool { return addressOfKey(key.PublicKey(), script) })
}

// checkBalance checks what the effects charge, and the balance, against what the
// transaction does to each wallet.
func (e *execution) checkBalance(t *testing.T, signing chains.Signing) {
	t.Helper()
	effects := signing.Effects()
	brings, spent := int64(0), int64(0) // all inputs, and the signer's
	var paid, back [2]int64
	for i, in := range e.tx.TxIn {
		previous := e.spent.FetchPrevOutput(in.PreviousOutPoint)
		brings += previous.Value
		if e.in[i] {
			spent += previous.Value
		}
		if wallet := e.wallet(previous.PkScript); wallet >= 0 {
			paid[wallet] += previous.Value
		}
	}
	for i, out := range e.tx.TxOut {
		at := slices.IndexFunc(effects, func(effect chains.Effect) bool { return effect.Path == fmt.Sprintf("outputs/%d", i) })
		if wallet := e.wallet(out.PkScript); wallet >= 0 && at >= 0 && !effects[at].To.IsUnknown() {
			back[wallet] += out.Value
		}
	}
	returned := min(paid[0], back[0]) + min(paid[1], back[1])
	if charged, ok := charge(effects); ok && charged != brings-returned {
		t.Errorf("%d are charged, want %d", charged, brings-returned)
	}
	balance := signing.(chains.WalletSigning).Balance()
	switch {
	case balance.Bound == chains.BoundExact && balance.Value != nil && balance.Value.Int64() == spent-returned:
	case balance.Bound == chains.BoundMost && balance.Value.Int64() == spent:
		if !slices.ContainsFunc(effects, func(effect chains.Effect) bool { return effect.To.IsUnknown() }) {
			t.Error("the balance is a bound, and no output is open")
		}
	default:
		t.Errorf("balance %+v, truly %d", balance, spent-returned)
	}
}

// charge adds up what limits count. ok is false if an amount is not known: then no limit
// lets it pass.
func charge(effects []chains.Effect) (sum int64, ok bool) {
	for _, effect := range effects {
		switch {
		case effect.Change || !effect.Kind.Spends():
		case effect.Amount.IsUnknown():
			return 0, false
		default:
			sum += effect.Amount.Value.Int64()
		}
	}
	return sum, true
}

// TestTooManyEffects checks that what is not accounted for is a call that is not
// decoded, and a hazard.
func TestTooManyEffects(t *testing.T) {
	a, b := keyOf(t, secretOf(1)).PublicKey(), keyOf(t, secretOf(2)).PublicKey()
	for count, want := range map[int][]string{chains.MaxEffects - 2: nil, chains.MaxEffects - 1: {bitcoin.HazardBlindCall}} {
		raw := spoil(t, func(p *bitcointest.PSBT) {
			p.Inputs[0].Amount, p.Outputs = 200_000, nil
			for range count {
				p.Outputs = append(p.Outputs, bitcointest.P2WPKH(b).Output(300))
			}
		})
		effects := parse(t, raw).Effects()
		if got := wantHazards(t, raw, a, want...); len(got) == 1 && !pointsAt(got[0], chains.MaxEffects-2) {
			t.Errorf("%+v points elsewhere", got[0])
		}
		if last := effects[len(effects)-1]; last.Kind != chains.KindFee || len(effects) > chains.MaxEffects {
			t.Errorf("%d effects, the last %+v", len(effects), last)
		}
	}
}

// TestWalletSigns checks that several keys sign in one call what each of them can,
// once, that change to any of them is change, and that keys without a use do no harm.
func TestWalletSigns(t *testing.T) {
	a, b, c := keyOf(t, secretOf(1)), keyOf(t, secretOf(2)), keyOf(t, secretOf(3))
	ed25519 := chaintest.Key(t, keystore.CurveEd25519, secretOf(4))
	raw := bitcointest.PSBT{
		Inputs: []bitcointest.Input{
			bitcointest.P2WPKH(a.PublicKey()).Input(10_000, 1), bitcointest.BIP86(b.PublicKey()).Input(20_000, 2),
			bitcointest.P2WSH(bitcointest.Multisig(2, a.PublicKey(), b.PublicKey())).Input(30_000, 3),
			bitcointest.P2PKH(c.PublicKey()).Input(40_000, 4),
		},
		Outputs: []bitcointest.Output{
			bitcointest.BIP86(b.PublicKey()).Output(15_000), bitcointest.P2WPKH(c.PublicKey()).Output(80_000),
		},
	}.Encode()
	signing := chaintest.MustReady(t, parse(t, raw), "treasury", ed25519, a, b, a)
	if ids := signing.KeyIDs(); !slices.Equal(ids, []string{a.ID(), b.ID()}) {
		t.Errorf("keys %v sign", ids)
	}
	if balance := signing.(chains.WalletSigning).Balance(); balance.Value == nil || balance.Value.Int64() != 45_000 {
		t.Errorf("balance %+v", balance)
	}
	if effects := signing.Effects(); !effects[0].Change || effects[1].Change {
		t.Errorf("%+v", effects)
	}
	at := map[string]string{}
	for _, field := range signing.SignerView() {
		at[field.Label] = field.Value + " " + field.Note
	}
	for label, want := range map[string]string{
		"input 0": "yours to be signed", "input 2": "yours to be signed by 2 keys", "input 3": "not yours locked to another key",
		"output 0": "yours change", "output 1": "not yours ", "you spend": "45000 fee included",
	} {
		if at[label] != want {
			t.Errorf("%s: %q, want %q", label, at[label], want)
		}
	}
	signed, err := signing.AppendSigned(t.Context(), nil)
	testenv.Must(t, err)
	signAll(t, signed, c)
}

// TestWalletSignsAllOrNothing checks that no signature is made if one of the keys
// cannot make one of its own.
func TestWalletSignsAllOrNothing(t *testing.T) {
	a, b := keyOf(t, secretOf(1)), keyOf(t, secretOf(2))
	calls := 0
	hsm := onlyECDSA{a, a.(keystore.ECDSASigner), &calls}
	raw := bitcointest.PSBT{
		Inputs:  []bitcointest.Input{bitcointest.P2WPKH(b.PublicKey()).Input(10_000, 1), bitcointest.BIP86(a.PublicKey()).Input(20_000, 2)},
		Outputs: []bitcointest.Output{bitcointest.P2WPKH(b.PublicKey()).Output(25_000)},
	}.Encode()
	if signing, err := chaintest.Ready(parse(t, raw), "treasury", b, hsm); signing != nil || err == nil || calls != 0 {
		t.Errorf("%v, %v, %d signatures made", signing, err, calls)
	}
	_, err := chaintest.Ready(parse(t, raw), "treasury", keyOf(t, secretOf(8)), keyOf(t, secretOf(9)))
	wantNotSigner(t, err, "nothing to sign for any of 2 keys")
}
