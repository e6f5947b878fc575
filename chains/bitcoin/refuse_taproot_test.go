package bitcoin_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// spoilTaproot changes the records of a taproot input with two leaves.
func spoilTaproot(t testing.TB, change func(record *bitcointest.Record)) []byte {
	a, b := keyOf(t, secretOf(1)).PublicKey(), keyOf(t, secretOf(2)).PublicKey()
	return spending(t, bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(a), bitcointest.Leaf(b)), func(in *bitcointest.Input) {
		in.Records = slices.Clone(in.Records)
		for i := range in.Records {
			in.Records[i].Key, in.Records[i].Value = bytes.Clone(in.Records[i].Key), bytes.Clone(in.Records[i].Value)
			change(&in.Records[i])
		}
	})
}

// TestRefusedTaproot has fields that do not lead to the output key.
func TestRefusedTaproot(t *testing.T) {
	other := keyOf(t, secretOf(9)).PublicKey().XOnly()
	internal := spoilTaproot(t, func(r *bitcointest.Record) {
		if r.Key[0] == psbt.InTapInternalKey {
			r.Value = other[:]
		}
	})
	root := spoilTaproot(t, func(r *bitcointest.Record) {
		if r.Key[0] == psbt.InTapMerkleRoot {
			r.Value[0] ^= 1
		}
	})
	changeLeaf := func(change func(r *bitcointest.Record)) []byte {
		return spoilTaproot(t, func(r *bitcointest.Record) {
			if r.Key[0] == psbt.InTapLeafScript {
				change(r)
			}
		})
	}
	parity := changeLeaf(func(r *bitcointest.Record) { r.Key[1] ^= 1 })
	version := changeLeaf(func(r *bitcointest.Record) { r.Value[len(r.Value)-1] = 0xc2 })
	script := changeLeaf(func(r *bitcointest.Record) { r.Value[5] ^= 1 })
	path := changeLeaf(func(r *bitcointest.Record) { r.Key[40] ^= 1 })
	bip86 := spending(t, bitcointest.BIP86(keyOf(t, secretOf(1)).PublicKey()), func(in *bitcointest.Input) {
		in.Records = []bitcointest.Record{{Key: []byte{psbt.InTapInternalKey}, Value: other[:]}}
	})
	noPoint := spending(t, bitcointest.BIP86(keyOf(t, secretOf(1)).PublicKey()), func(in *bitcointest.Input) {
		in.Records = []bitcointest.Record{{Key: []byte{psbt.InTapInternalKey}, Value: bytes.Repeat([]byte{0xff}, 32)}}
	})
	leafAt := func(raw []byte, of func(*psbt.Record) int) int {
		packet := packetOf(t, raw)
		return of(packet.Inputs[0].Find(psbt.InTapLeafScript))
	}
	const leaf = "input 0 PSBT_IN_TAP_LEAF_SCRIPT"
	runRefusals(t, []refusal{
		{"internal key other than the leaf's", internal, leaf, "elsewhere", leafAt(internal, (*psbt.Record).DataOffset) + 1},
		{"merkle root other than the leaf's", root, leaf, "leads to merkle root", leafAt(root, (*psbt.Record).DataOffset) + 33},
		{"parity", parity, leaf, "do not lead to the output key", leafAt(parity, func(r *psbt.Record) int { return r.Offset })},
		{"leaf version", version, leaf, "leaf version c2, the control block says c0", leafAt(version, (*psbt.Record).ValueOffset)},
		{"leaf script", script, leaf, "leads to merkle root", leafAt(script, (*psbt.Record).DataOffset) + 33},
		{"merkle path", path, leaf, "leads to merkle root", leafAt(path, (*psbt.Record).DataOffset) + 33},
		{"internal key", bip86, "input 0 PSBT_IN_TAP_INTERNAL_KEY", "the output is locked to", valueAt(t, bip86, 0, psbt.InTapInternalKey)},
		{"internal key off the curve", noPoint, "input 0 PSBT_IN_TAP_INTERNAL_KEY", "not the x coordinate", valueAt(t, noPoint, 0, psbt.InTapInternalKey)},
	})
}

// TestRefusedSighash has types that do not exist, or have nothing to sign.
func TestRefusedSighash(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	const field = "input 0 PSBT_IN_SIGHASH_TYPE"
	var cases []refusal
	for _, sighash := range []int64{0, 4, 0x80, 0x84, 0x1f, 0x41, 0x101, 1 << 31} {
		raw := spoil(t, func(p *bitcointest.PSBT) { p.Inputs[0].Sighash = sighash })
		cases = append(cases, refusal{"segwit", raw, field, "unknown sighash type", valueAt(t, raw, 0, psbt.InSighashType)})
	}
	for _, sighash := range []int64{4, 0x80, 0x84, 0x100} {
		raw := spending(t, bitcointest.BIP86(a), func(in *bitcointest.Input) { in.Sighash = sighash })
		cases = append(cases, refusal{"taproot", raw, field, "unknown sighash type", valueAt(t, raw, 0, psbt.InSighashType)})
	}
	for _, sighash := range []int64{3, 0x83} {
		raw := spoil(t, func(p *bitcointest.PSBT) {
			second := bitcointest.P2PKH(a).Input(50_000, 2)
			second.Sighash = sighash
			p.Inputs = append(p.Inputs, second)
		})
		cases = append(cases, refusal{"single", raw, "input 1 PSBT_IN_SIGHASH_TYPE", "there is no output 1", valueAt(t, raw, 1, psbt.InSighashType)})
	}
	runRefusals(t, cases)
}

// TestRefusedSignatures has signatures that do not verify, by any key.
func TestRefusedSignatures(t *testing.T) {
	key := keyOf(t, secretOf(1))
	signed := mustSign(t, parse(t, base(t).Encode()), key.ID(), key)
	packet := packetOf(t, signed)
	record := packet.Inputs[0].Find(psbt.InPartialSig)
	sighashAt := record.ValueOffset() + len(record.Value) - 1
	change := func(at int, to byte) []byte {
		raw := bytes.Clone(signed)
		raw[at] = to
		return raw
	}
	const field = "input 0 PSBT_IN_PARTIAL_SIG"
	at := record.ValueOffset()
	runRefusals(t, []refusal{
		{"other r", change(at+6, signed[at+6]^1), field, "does not verify", at},
		{"other key", change(record.DataOffset(), signed[record.DataOffset()]^1), field, "which is not in the input's script", at},
		{"no DER", change(at, 0x31), field, "not strict DER", at},
		{"other sighash", change(sighashAt, 2), field, "does not verify", at},
		{"unknown sighash", change(sighashAt, 0), field, "unknown sighash type", at},
		{"single", change(sighashAt, 0x41), field, "unknown sighash type", at},
	})
	asked := spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs[0].Sighash = 1
		p.Inputs[0].Records = []bitcointest.Record{{Key: record.Key, Value: append(bytes.Clone(record.Value[:len(record.Value)-1]), 2)}}
	})
	runRefusals(t, []refusal{{"other than asked", asked, field, "PSBT_IN_SIGHASH_TYPE asks for 0x1", valueAt(t, asked, 0, psbt.InPartialSig)}})
}

// TestRefusedHighS has the signature with n − s instead of s, which verifies as well,
// but which no node relays.
func TestRefusedHighS(t *testing.T) {
	key := keyOf(t, secretOf(1))
	signed := mustSign(t, parse(t, base(t).Encode()), key.ID(), key)
	record := parse(t, signed).Packet().Inputs[0].Find(psbt.InPartialSig)
	signature, err := ecdsa.ParseDERSignature(record.Value[:len(record.Value)-1])
	testenv.Must(t, err)
	s := signature.S()
	s.Negate()
	high := s.Bytes()
	r := record.Value[4 : 4+record.Value[3]]
	der := slices.Concat([]byte{0x30, byte(4 + len(r) + 33), 2, byte(len(r))}, r, []byte{2, 33, 0}, high[:], []byte{1})
	raw := spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs[0].Records = []bitcointest.Record{{Key: record.Key, Value: der}}
	})
	runRefusals(t, []refusal{{"high s", raw, "input 0 PSBT_IN_PARTIAL_SIG", "does not verify", valueAt(t, raw, 0, psbt.InPartialSig)}})
}

// TestRefusedTapSignatures is TestRefusedSignatures for BIP-340.
func TestRefusedTapSignatures(t *testing.T) {
	a, b := keyOf(t, secretOf(1)), keyOf(t, secretOf(2))
	for _, spend := range []bitcointest.Spend{
		bitcointest.BIP86(a.PublicKey()), bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(a.PublicKey()), bitcointest.Leaf(b.PublicKey())),
	} {
		signed := mustSign(t, parse(t, spending(t, spend, nil)), a.ID(), a)
		packet := packetOf(t, signed)
		for i := range packet.Inputs[0].Records {
			record := &packet.Inputs[0].Records[i]
			if !isSignature(record.Type) {
				continue
			}
			for at := range record.Value {
				raw := bytes.Clone(signed)
				raw[record.ValueOffset()+at] ^= 1
				if err := refused(t, raw); err.Offset != record.ValueOffset() {
					t.Errorf("byte %d: %v", at, err)
				}
			}
		}
	}
}

// TestRefusedTapSignatureForms has BIP-340 signatures that are refused before they are
// verified.
func TestRefusedTapSignatureForms(t *testing.T) {
	a := keyOf(t, secretOf(1))
	plain := bitcointest.BIP86(a.PublicKey())
	adding := func(spend bitcointest.Spend, sighash int64, key, value []byte) []byte {
		return spending(t, spend, func(in *bitcointest.Input) {
			in.Sighash = sighash
			in.Records = append(slices.Clone(in.Records), bitcointest.Record{Key: key, Value: value})
		})
	}
	keySig, signature := []byte{psbt.InTapKeySig}, make([]byte, 64)
	withDefault := adding(plain, -1, keySig, append(bytes.Clone(signature), 0))
	otherThanAsked := adding(plain, 1, keySig, signature)
	lost := adding(plain, -1, keySig, append(bytes.Clone(signature), 4))
	offCurve := adding(plain, -1, slices.Concat([]byte{psbt.InTapScriptSig}, bytes.Repeat([]byte{0xff}, 32), make([]byte, 32)), signature)
	ecdsaKey := a.PublicKey().Compressed()
	wrongKind := adding(plain, -1, slices.Concat([]byte{psbt.InPartialSig}, ecdsaKey[:]), append(derOfOnes(), 1))
	const field = "input 0 PSBT_IN_TAP_KEY_SIG"
	packet := packetOf(t, wrongKind)
	runRefusals(t, []refusal{
		{"default with a byte", withDefault, field, "65 bytes with SIGHASH_DEFAULT", valueAt(t, withDefault, 0, psbt.InTapKeySig)},
		{"other than asked", otherThanAsked, field, "PSBT_IN_SIGHASH_TYPE asks for 0x1", valueAt(t, otherThanAsked, 0, psbt.InTapKeySig)},
		{"unknown sighash", lost, field, "unknown sighash type 0x4", valueAt(t, lost, 0, psbt.InTapKeySig)},
		{"key off the curve", offCurve, "input 0 PSBT_IN_TAP_SCRIPT_SIG", "is that leaf and has the key", valueAt(t, offCurve, 0, psbt.InTapScriptSig)},
		{"ECDSA", wrongKind, "input 0 PSBT_IN_PARTIAL_SIG", "cannot spend a taproot output", packet.Inputs[0].Find(psbt.InPartialSig).Offset},
	})
}

// derOfOnes returns a signature in DER whose r and s are 1.
func derOfOnes() []byte { return []byte{0x30, 6, 2, 1, 1, 2, 1, 1} }

// TestRefusedPartialSigForms has ECDSA signatures that are refused before they are
// verified.
func TestRefusedPartialSigForms(t *testing.T) {
	pub := keyOf(t, secretOf(1)).PublicKey()
	key := pub.Compressed()
	record := func(sighash byte) bitcointest.Record {
		return bitcointest.Record{Key: slices.Concat([]byte{psbt.InPartialSig}, key[:]), Value: append(derOfOnes(), sighash)}
	}
	single := spoil(t, func(p *bitcointest.PSBT) {
		second := bitcointest.P2WPKH(pub).Input(50_000, 2)
		second.Records = append(slices.Clone(second.Records), record(3))
		p.Inputs = append(p.Inputs, second)
	})
	noScript := spending(t, bitcointest.P2SH(bitcointest.Multisig(1, pub)), func(in *bitcointest.Input) {
		in.Records = []bitcointest.Record{record(1)}
	})
	runRefusals(t, []refusal{
		{"single without output", single, "input 1 PSBT_IN_PARTIAL_SIG", "SIGHASH_SINGLE, but there is no output 1", valueAt(t, single, 1, psbt.InPartialSig)},
		{"no redeem script", noScript, "input 0 PSBT_IN_PARTIAL_SIG", "cannot be checked: its redeem script", valueAt(t, noScript, 0, psbt.InPartialSig)},
	})
}

// TestUncommittedLeaf checks that a leaf script that the output key does not commit to is
// refused, where the PSBT names neither the internal key nor the merkle root.
func TestUncommittedLeaf(t *testing.T) {
	pub := keyOf(t, secretOf(1)).PublicKey()
	spend := bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(pub))
	spend.Records = spend.Records[2:]
	parse(t, spending(t, spend, nil))
	for i := range 16 { // half of them lead to a key of the same parity
		raw := spending(t, spend, func(in *bitcointest.Input) {
			other := bitcointest.Leaf(keyOf(t, secretOf(byte(2+i))).PublicKey())
			in.Records = []bitcointest.Record{{Key: in.Records[0].Key, Value: append(other, in.Records[0].Value[len(other):]...)}}
		})
		if err := refused(t, raw); !strings.Contains(err.Problem, "do not lead to the output key") {
			t.Errorf("%d: %v", i, err)
		}
	}
}
