package bitcoin_test

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/keystore"
)

// TestDust has the limits that Bitcoin Core gives for each form of output at its default
// of 3,000 sat/kvB (GetDustThreshold), and one satoshi less.
func TestDust(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	for name, c := range map[string]struct {
		script []byte
		limit  uint64
	}{
		"P2PKH":     {bitcointest.P2PKH(a).Script, 546},
		"P2SH":      {bitcointest.Nested(bitcointest.P2WPKH(a)).Script, 540},
		"P2WPKH":    {bitcointest.P2WPKH(a).Script, 294},
		"P2WSH":     {bitcointest.P2WSH(bitcointest.P2PK(a).Script).Script, 330},
		"P2TR":      {bitcointest.BIP86(a).Script, 330},
		"P2PK":      {bitcointest.P2PK(a).Script, 576},
		"OP_RETURN": {bitcointest.Nulldata("hello"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			with := func(amount uint64) []byte {
				return spoil(t, func(p *bitcointest.PSBT) {
					p.Outputs = append(p.Outputs, bitcointest.Output{Amount: amount, Script: c.script})
				})
			}
			if c.limit == 0 {
				wantHazards(t, with(0), a)
				return
			}
			wantHazards(t, with(c.limit), a)
			for _, amount := range []uint64{0, 1, c.limit - 1} {
				wantHazards(t, with(amount), a, bitcoin.HazardNeverRelayed)
				wantHazards(t, with(amount), keystore.PublicKey{}, bitcoin.HazardNeverRelayed)
			}
		})
	}
}

// TestEphemeralDust checks that exactly one output of dust is relayed, and only by a
// transaction without a fee (Bitcoin Core's PreCheckEphemeralTx).
func TestEphemeralDust(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	anchor := bitcointest.Output{Script: []byte{txscript.OP_1, 2, 0x4e, 0x73}}
	for name, c := range map[string]struct {
		fee  uint64
		dust int
		want []string
	}{
		"one, no fee":        {0, 1, nil},
		"two, no fee":        {0, 2, []string{bitcoin.HazardNeverRelayed}},
		"one, a satoshi fee": {1, 1, []string{bitcoin.HazardNeverRelayed}},
		"none, no fee":       {0, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			raw := spoil(t, func(p *bitcointest.PSBT) {
				p.TxVersion, p.Outputs[0].Amount = 3, p.Inputs[0].Amount-c.fee
				for range c.dust {
					p.Outputs = append(p.Outputs, anchor)
				}
			})
			wantHazards(t, raw, a, c.want...)
		})
	}
}

// TestDustLeftOpen checks that dust which a signature leaves open is not judged: it can
// still get another amount.
func TestDustLeftOpen(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	raw := spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs[0].Sighash = 3
		p.Outputs = append(p.Outputs, bitcointest.P2WPKH(a).Output(1))
	})
	wantHazards(t, raw, a, bitcoin.HazardSighashSingle)
}

// TestTransactionVersion has the versions that Bitcoin Core relays, and others.
func TestTransactionVersion(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	for version, want := range map[uint32][]string{
		0: {bitcoin.HazardNeverRelayed}, 1: nil, 2: nil, 3: nil, 4: {bitcoin.HazardNeverRelayed},
		5: {bitcoin.HazardNeverRelayed}, 1 << 31: {bitcoin.HazardNeverRelayed}, 0xffffffff: {bitcoin.HazardNeverRelayed},
	} {
		raw := base(t).Encode()
		at := bytes.Index(raw, []byte{2, 0, 0, 0, 1}) // of the unsigned transaction, with its number of inputs
		raw[at], raw[at+1], raw[at+2], raw[at+3] = byte(version), byte(version>>8), byte(version>>16), byte(version>>24)
		wantHazards(t, raw, a, want...)
	}
}

// TestVersion3Size: a transaction of version 3 is relayed up to 10,000 virtual bytes (BIP-431), and
// of version 2 beyond.
func TestVersion3Size(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	of := func(version uint32, padding int) []byte {
		return spoil(t, func(p *bitcointest.PSBT) {
			p.TxVersion = version
			script := append([]byte{txscript.OP_RETURN, txscript.OP_PUSHDATA2, byte(padding), byte(padding >> 8)}, make([]byte, padding)...)
			p.Outputs = append(p.Outputs, bitcointest.Output{Script: script})
		})
	}
	const some = 9_000
	full := some + 10_000 - int(parse(t, of(3, some)).VirtualSize())
	for padding, want := range map[int][]string{full: nil, full + 1: {bitcoin.HazardNeverRelayed}} {
		wantHazards(t, of(3, padding), a, append(want, bitcoin.HazardBlindCall)...)
		wantHazards(t, of(2, padding), a, bitcoin.HazardBlindCall)
	}
}

// TestFeeShare has fees at the limits of the share, and beyond one or both.
func TestFeeShare(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	high := []string{bitcoin.HazardHighFee}
	for name, c := range map[string]struct {
		in, fee uint64
		want    []string
	}{
		"a quarter":                {200_000, 50_000, nil},
		"more than a quarter":      {200_000, 50_001, high},
		"more, of less than 50000": {60_000, 49_999, nil},
		"more, of 50000":           {60_000, 50_000, high},
		"99 percent":               {100_000, 99_000, high},
	} {
		t.Run(name, func(t *testing.T) {
			raw := spoil(t, func(p *bitcointest.PSBT) {
				p.Inputs[0].Amount, p.Outputs[0].Amount = c.in, c.in-c.fee
			})
			wantHazards(t, raw, a, c.want...)
			wantHazards(t, raw, keystore.PublicKey{}, c.want...)
		})
	}
}

// TestFeeShareUnproven checks that a share of inputs which nothing proves is not judged:
// that the amount is unproven is the hazard.
func TestFeeShareUnproven(t *testing.T) {
	a, b := keyOf(t, secretOf(1)).PublicKey(), keyOf(t, secretOf(2)).PublicKey()
	raw := spoil(t, func(p *bitcointest.PSBT) {
		other := bitcointest.P2WPKH(b).Input(60_000, 2)
		other.Proof = false
		p.Inputs = append(p.Inputs, other)
	})
	wantHazards(t, raw, a, bitcoin.HazardUnprovenAmount)
}
