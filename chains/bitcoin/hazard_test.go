package bitcoin_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/keystore"
)

func wantHazards(t *testing.T, raw []byte, signer keystore.PublicKey, want ...string) []chains.Hazard {
	t.Helper()
	got := hazardsFor(parse(t, raw), signer)
	if !slices.Equal(chaintest.Names(got), want) {
		t.Errorf("hazards %v, want %v", got, want)
	}
	for _, hazard := range got {
		if hazard.Detail == "" || !slices.Contains(append(texts.HazardNames(), bitcoin.Chain{}.HazardNames()...), hazard.Name) {
			t.Errorf("%+v is not of the closed list, or says nothing", hazard)
		}
	}
	return got
}

// TestHazardSighash has each dangerous type by its name, alone and together.
func TestHazardSighash(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	for sighash, want := range map[int64][]string{
		-1:   nil,
		0x01: nil,
		0x02: {bitcoin.HazardSighashNone},
		0x03: {bitcoin.HazardSighashSingle},
		0x81: {bitcoin.HazardSighashAnyoneCanPay},
		0x82: {bitcoin.HazardSighashNone, bitcoin.HazardSighashAnyoneCanPay},
		0x83: {bitcoin.HazardSighashSingle, bitcoin.HazardSighashAnyoneCanPay},
	} {
		for _, spend := range []bitcointest.Spend{bitcointest.P2WPKH(a), bitcointest.P2PKH(a), bitcointest.BIP86(a)} {
			raw := spending(t, spend, func(in *bitcointest.Input) { in.Sighash = sighash })
			wantHazards(t, raw, a, want...)
			wantHazards(t, raw, keystore.PublicKey{}, want...)
		}
	}
}

// TestHazardSighashOfOthers checks that the sighash type of another party's input is no
// danger of the signer, but is shown without a key.
func TestHazardSighashOfOthers(t *testing.T) {
	a, b := keyOf(t, secretOf(1)).PublicKey(), keyOf(t, secretOf(2)).PublicKey()
	raw := spoil(t, func(p *bitcointest.PSBT) {
		other := bitcointest.P2WPKH(b).Input(20_000, 2)
		other.Sighash = 0x82
		p.Inputs = append(p.Inputs, other)
	})
	wantHazards(t, raw, a)
	wantHazards(t, raw, b, bitcoin.HazardSighashNone, bitcoin.HazardSighashAnyoneCanPay)
	wantHazards(t, raw, keystore.PublicKey{}, bitcoin.HazardSighashNone, bitcoin.HazardSighashAnyoneCanPay)
}

// TestHazardHighFee covers the limits of the fee and of its rate, and one above each.
func TestHazardHighFee(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	withFee := func(inputs int, fee uint64) []byte {
		p := bitcointest.PSBT{Outputs: []bitcointest.Output{bitcointest.P2WPKH(a).Output(uint64(inputs)*1_000_000 - fee)}}
		for i := range inputs {
			p.Inputs = append(p.Inputs, bitcointest.P2WPKH(a).Input(1_000_000, uint32(i)))
		}
		return p.Encode()
	}
	size := parse(t, withFee(1, 0)).VirtualSize()
	wantHazards(t, withFee(1, size*bitcoin.DefaultMaxFeeRate), a)
	wantHazards(t, withFee(1, size*bitcoin.DefaultMaxFeeRate+1), a, bitcoin.HazardHighFee)
	wantHazards(t, withFee(100, bitcoin.DefaultMaxFee), a)
	wantHazards(t, withFee(100, bitcoin.DefaultMaxFee+1), a, bitcoin.HazardHighFee)
}

// TestLimits checks that the limits are configurable.
func TestLimits(t *testing.T) {
	raw := base(t).Encode()
	for name, c := range map[string]struct {
		limits  bitcoin.Limits
		problem string
	}{
		"size":     {bitcoin.Limits{MaxSize: len(raw) - 1}, "at most"},
		"unsigned": {bitcoin.Limits{MaxUnsignedSize: len(base(t).Unsigned()) - 1}, "at most"},
	} {
		if _, err := bitcoin.New(c.limits).Parse(raw); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	tx, err := bitcoin.New(bitcoin.Limits{MaxFee: 9_999, MaxSize: len(raw), MaxUnsignedSize: len(base(t).Unsigned())}).Parse(raw)
	testenv.Must(t, err)
	if got := chaintest.Names(tx.Hazards()); !slices.Equal(got, []string{bitcoin.HazardHighFee}) {
		t.Error(got)
	}
	// The least rate whose product with the size is over 64 bits.
	rate := math.MaxUint64/parse(t, raw).VirtualSize() + 1
	tx, err = bitcoin.New(bitcoin.Limits{MaxFeeRate: rate}).Parse(raw)
	testenv.Must(t, err)
	if got := chaintest.Names(tx.Hazards()); got != nil {
		t.Errorf("with a fee rate of %d: %v", rate, got)
	}
}

// twoCoins returns the PSBT of the fee attack: two P2WPKH inputs of one key, each with
// a claimed amount.
func twoCoins(t testing.TB, first, second uint64, proof bool) bitcointest.PSBT {
	a := keyOf(t, secretOf(1)).PublicKey()
	p := bitcointest.PSBT{Outputs: []bitcointest.Output{bitcointest.P2WPKH(keyOf(t, secretOf(2)).PublicKey()).Output(1_010_000 - 1_000)}}
	for i, claimed := range []uint64{first, second} {
		in := bitcointest.P2WPKH(a).Input(1_000_000, uint32(i))
		in.Proof, in.Claimed = proof, claimed
		p.Inputs = append(p.Inputs, in)
	}
	return p
}

// TestFeeAttack is the attack that the proof of amounts prevents. There are two coins
// of 0.01 BTC each. The attacker shows the first truly and the second as 10,000
// satoshi, then the other way round: both times the fee looks like 1,000 satoshi. One
// signature of each PSBT is valid, and together they complete a transaction that pays
// 991,000 satoshi to the miner.
func TestFeeAttack(t *testing.T) {
	key := keyOf(t, secretOf(1))
	first, second := twoCoins(t, 0, 10_000, false), twoCoins(t, 10_000, 0, false)
	for _, p := range []bitcointest.PSBT{first, second} {
		if fee := parse(t, p.Encode()).Fee(); fee != 1_000 {
			t.Fatalf("the fee shown is %d", fee)
		}
		wantHazards(t, p.Encode(), key.PublicKey(), bitcoin.HazardUnprovenAmount)
		wantHazards(t, p.Encode(), keystore.PublicKey{}, bitcoin.HazardUnprovenAmount)
	}

	// With the transactions that are spent the lie is malformed, and nothing can allow
	// it.
	for i, p := range []bitcointest.PSBT{twoCoins(t, 0, 10_000, true), twoCoins(t, 10_000, 0, true)} {
		err := refused(t, p.Encode())
		if want := []string{"input 1 PSBT_IN_WITNESS_UTXO", "input 0 PSBT_IN_WITNESS_UTXO"}[i]; err.Field != want {
			t.Errorf("%v, want %s", err, want)
		}
	}

	// What the hazard stands for: allowing it signs the robbery.
	robbery := twoCoins(t, 0, 0, true)
	for i, p := range []bitcointest.PSBT{first, second} {
		signed := mustSign(t, parse(t, p.Encode()), key.ID(), key)
		packet := packetOf(t, signed)
		record := packet.Inputs[i].Find(psbt.InPartialSig)
		robbery.Inputs[i].Records = []bitcointest.Record{{Key: record.Key, Value: record.Value}}
	}
	final, err := bitcoin.Finalize(robbery.Encode())
	if err != nil {
		t.Fatalf("the attack does not work, so that this test shows nothing: %v", err)
	}
	runEngine(t, robbery.Encode(), final)
}

// TestFeeAttackOneClaimEach covers requests in which only one input is unproven. Its
// own signature commits to its amount, but that of the other input does not. Each of
// two PSBTs lies about another input, and the signatures of the proven ones complete
// the robbery.
func TestFeeAttackOneClaimEach(t *testing.T) {
	key := keyOf(t, secretOf(1))
	for liar := range 2 {
		p := twoCoins(t, 0, 0, true)
		p.Inputs[liar].Proof, p.Inputs[liar].Claimed = false, 10_000
		if fee := parse(t, p.Encode()).Fee(); fee != 1_000 {
			t.Fatalf("the fee shown is %d", fee)
		}
		wantHazards(t, p.Encode(), key.PublicKey(), bitcoin.HazardUnprovenAmount)
	}
}

// TestNoProofNeeded checks that a signature which commits to all unproven amounts needs
// no proof of them, and that one which does not is the hazard, whatever others commit
// to.
func TestNoProofNeeded(t *testing.T) {
	a, b := keyOf(t, secretOf(1)).PublicKey(), keyOf(t, secretOf(2)).PublicKey()
	x := a.XOnly()
	claim := func(spend bitcointest.Spend, salt uint32) bitcointest.Input {
		in := spend.Input(10_000, salt)
		in.Proof, in.Claim = false, true
		return in
	}
	withSighash := func(in bitcointest.Input, sighash int64) bitcointest.Input {
		in.Sighash = sighash
		return in
	}
	psbtOf := func(inputs ...bitcointest.Input) []byte {
		return bitcointest.PSBT{Inputs: inputs, Outputs: []bitcointest.Output{bitcointest.P2PKH(b).Output(9_000 * uint64(len(inputs)))}}.Encode()
	}
	both := func(raw []byte, want ...string) {
		t.Helper()
		wantHazards(t, raw, a, want...)
		wantHazards(t, raw, keystore.PublicKey{}, want...)
	}
	tree, leaf := bitcointest.Taproot(x[:], bitcointest.Leaf(b)), bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(a))
	bip86 := claim(bitcointest.BIP86(a), 9)
	v0 := claim(bitcointest.P2WPKH(a), 1)

	both(psbtOf(claim(bitcointest.BIP86(a), 2)))
	both(psbtOf(withSighash(bip86, 1)))
	both(psbtOf(claim(tree, 2)))
	both(psbtOf(claim(leaf, 2)))
	both(psbtOf(claim(leaf, 2), claim(tree, 3), bip86))
	both(psbtOf(v0)) // it commits to its own amount, and there is no other
	both(psbtOf(withSighash(bip86, 3)), bitcoin.HazardSighashSingle)
	both(psbtOf(withSighash(bip86, 0x81)), bitcoin.HazardSighashAnyoneCanPay)
	wantHazards(t, psbtOf(bip86, claim(bitcointest.P2WPKH(b), 2)), a)

	proven := bitcointest.BIP86(a).Input(10_000, 3)
	both(psbtOf(v0, bip86), bitcoin.HazardUnprovenAmount) // a claim vouches for no claim
	both(psbtOf(v0, withSighash(bip86, 1)), bitcoin.HazardUnprovenAmount)
	both(psbtOf(v0, claim(tree, 2)), bitcoin.HazardUnprovenAmount)
	both(psbtOf(v0, claim(bitcointest.P2WPKH(a), 2)), bitcoin.HazardUnprovenAmount)
	both(psbtOf(bip86, withSighash(claim(bitcointest.BIP86(a), 2), 0x81)), bitcoin.HazardSighashAnyoneCanPay, bitcoin.HazardUnprovenAmount)
	both(psbtOf(v0, bitcointest.P2PKH(a).Input(10_000, 2)), bitcoin.HazardUnprovenAmount)
	both(psbtOf(v0, proven)) // the taproot signature commits to the claim, and so does the claim's own
	wantHazards(t, psbtOf(v0, claim(bitcointest.BIP86(b), 2)), a, bitcoin.HazardUnprovenAmount)
}

// TestEstimate checks that the estimate of the virtual size is within the variation of
// signatures.
func TestEstimate(t *testing.T) {
	a, b, c := keyOf(t, secretOf(1)), keyOf(t, secretOf(2)), keyOf(t, secretOf(3))
	for name, spend := range spends(a.PublicKey(), b.PublicKey(), c.PublicKey()) {
		raw := spending(t, spend, nil)
		estimate := parse(t, raw).VirtualSize()
		actual := virtualSize(t, signAll(t, raw, a, b))
		if estimate < actual || estimate > actual+60 {
			t.Errorf("%s: %d virtual bytes estimated, %d are", name, estimate, actual)
		}
	}
}

func virtualSize(t *testing.T, signed []byte) uint64 {
	t.Helper()
	final, err := bitcoin.Finalize(signed)
	testenv.Must(t, err)
	tx := decodeTx(t, final)
	return uint64(tx.SerializeSizeStripped()*3+tx.SerializeSize()+3) / 4
}

// TestHazardNames checks that the list of names is complete.
func TestHazardNames(t *testing.T) {
	want := []string{
		"bitcoin/sighash-none", "bitcoin/sighash-single", "bitcoin/sighash-anyonecanpay",
		"bitcoin/unproven-amount", "bitcoin/high-fee", "bitcoin/never-relayed",
		"bitcoin/burn", "bitcoin/anyone-can-spend", "bitcoin/blind-call", "bitcoin/unregistered-script",
	}
	if got := (bitcoin.Chain{}).HazardNames(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if !bytes.Equal([]byte((bitcoin.Chain{}).Name()), []byte("bitcoin")) {
		t.Error("name")
	}
}
