package bitcoin_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

func wantNotSigner(t *testing.T, err error, parts ...string) {
	t.Helper()
	if !errors.Is(err, chains.ErrNotSigner) {
		t.Fatalf("got %v, want ErrNotSigner", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// TestNothingToSign checks that the refusal says why for each input.
func TestNothingToSign(t *testing.T) {
	a, b, c := keyOf(t, secretOf(1)), keyOf(t, secretOf(2)), keyOf(t, secretOf(3))
	multisig := bitcointest.Multisig(1, a.PublicKey(), b.PublicKey())
	uncompressed := c.PublicKey().Uncompressed()
	old := append(append([]byte{65}, uncompressed[:]...), txscript.OP_CHECKSIG)
	x := c.PublicKey().XOnly()
	separated := append([]byte{txscript.OP_CODESEPARATOR}, bitcointest.P2PK(c.PublicKey()).Script...)
	success := append(append(append([]byte{32}, x[:]...), txscript.OP_CHECKSIG), 0xfe)
	without := func(spend bitcointest.Spend) bitcointest.Spend {
		spend.Records = nil
		return spend
	}
	final := bitcointest.P2SH(multisig)
	final.Records = []bitcointest.Record{{Key: []byte{psbt.InFinalScriptSig}, Value: []byte{0x51}}}
	packet := bitcointest.PSBT{Outputs: []bitcointest.Output{bitcointest.P2WPKH(a.PublicKey()).Output(1)}}
	for i, spend := range []bitcointest.Spend{
		bitcointest.P2WPKH(a.PublicKey()), bitcointest.P2PKH(b.PublicKey()),
		bitcointest.P2WSH(multisig),
		without(bitcointest.P2SH(multisig)),
		without(bitcointest.P2WSH(multisig)),
		bitcointest.BIP86(a.PublicKey()),
		{Script: []byte{txscript.OP_1}, Legacy: true},
		bitcointest.P2SH(old),
		bitcointest.P2WSH(separated),
		bitcointest.Taproot(bitcointest.NUMS, success),
		final,
	} {
		packet.Inputs = append(packet.Inputs, spend.Input(1_000, uint32(i)))
	}
	tx := parse(t, packet.Encode())
	_, err := sign(t.Context(), tx, c.ID(), c)
	wantNotSigner(t, err,
		"nothing to sign for key "+c.PublicKey().String(),
		"inputs 0 to 1: locked to another key",
		"input 2: no such key in the script",
		"input 3: its redeem script (PSBT_IN_REDEEM_SCRIPT) is missing",
		"input 4: its witness script (PSBT_IN_WITNESS_SCRIPT) is missing",
		"input 5: the output key is not this key's, and no leaf script has the key",
		"input 6: its script is of a kind that is not signed",
		"input 7: has the key in its uncompressed form",
		"input 8: its script has OP_CODESEPARATOR",
		"input 9: the key's leaf has OP_CODESEPARATOR, OP_SUCCESS",
		"input 10: already final",
	)
	address := (bitcoin.Chain{}).Addresses(c.PublicKey())[2].Address
	_, err = sign(t.Context(), tx, address, c)
	wantNotSigner(t, err, "inputs 0 to 10: locked to another address")
}

// TestFinalIsRefused checks that a final input of the key's stops the whole request.
func TestFinalIsRefused(t *testing.T) {
	key := keyOf(t, secretOf(1))
	raw := spoil(t, func(p *bitcointest.PSBT) {
		second := bitcointest.P2WPKH(key.PublicKey()).Input(1_000, 2)
		second.Records = []bitcointest.Record{{Key: []byte{psbt.InFinalScriptWitness}, Value: []byte{1, 1, 0xaa}}}
		p.Inputs = append(p.Inputs, second)
	})
	_, err := sign(t.Context(), parse(t, raw), key.ID(), key)
	parse, ok := errors.AsType[*chains.ParseError](err)
	if !ok || parse.Field != "input 1" || parse.Offset != 8+5+41 || !strings.Contains(parse.Problem, "already final") {
		t.Errorf("%v", err)
	}
}

// onlyECDSA is a key without BIP-340, as in an HSM.
type onlyECDSA struct {
	keystore.Key
	keystore.ECDSASigner
	calls *int
}

func (k onlyECDSA) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	*k.calls++
	return k.ECDSASigner.SignECDSA(ctx, digest)
}

// TestKeyWithoutSchnorr checks that a taproot input is refused with a hint what to do,
// and that no other input is signed, unless signWith leaves the taproot input out.
func TestKeyWithoutSchnorr(t *testing.T) {
	full := keyOf(t, secretOf(1))
	calls := 0
	key := onlyECDSA{full, full.(keystore.ECDSASigner), &calls}
	raw := spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs = append(p.Inputs, bitcointest.BIP86(full.PublicKey()).Input(1_000, 2))
	})
	tx := parse(t, raw)
	_, err := sign(t.Context(), tx, key.ID(), key)
	if !errors.Is(err, keystore.ErrUnsupported) || !strings.Contains(err.Error(), "input 1 is taproot") ||
		!strings.Contains(err.Error(), "P2WPKH") || calls != 0 {
		t.Errorf("%v, %d signatures made", err, calls)
	}
	segwit := (bitcoin.Chain{}).Addresses(full.PublicKey())[2].Address
	if _, err := sign(t.Context(), tx, segwit, key); err != nil || calls != 1 {
		t.Errorf("%v, %d signatures made", err, calls)
	}
	other := chaintest.Key(t, keystore.CurveEd25519, secretOf(1))
	if _, err := sign(t.Context(), tx, other.ID(), other); !errors.Is(err, keystore.ErrUnsupported) {
		t.Errorf("ed25519: %v", err)
	}
}

// failing is a key that makes only one signature.
type failing struct {
	keystore.Key
	keystore.ECDSASigner
	left int
}

var errHSM = errors.New("hsm: device removed")

func (k *failing) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	if k.left--; k.left < 0 {
		return [65]byte{}, errHSM
	}
	return k.ECDSASigner.SignECDSA(ctx, digest)
}

// TestAllOrNothing checks that nothing is returned if the key fails at the second
// input.
func TestAllOrNothing(t *testing.T) {
	full := keyOf(t, secretOf(1))
	raw := spoil(t, func(p *bitcointest.PSBT) {
		p.Inputs = append(p.Inputs, bitcointest.P2WPKH(full.PublicKey()).Input(1_000, 2))
	})
	signed, err := sign(t.Context(), parse(t, raw), full.ID(), &failing{full, full.(keystore.ECDSASigner), 1})
	if signed != nil || !errors.Is(err, errHSM) || !strings.Contains(err.Error(), "input 1") {
		t.Errorf("%x %v", signed, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if signed, err := sign(ctx, parse(t, raw), full.ID(), full); signed != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%x %v", signed, err)
	}
}

// TestUnknownFieldsStay checks that unknown fields come out unchanged, wherever they
// are, even out of order.
func TestUnknownFieldsStay(t *testing.T) {
	key := keyOf(t, secretOf(1))
	strange := []bitcointest.Record{
		{Key: []byte{0xfd, 0x34, 0x12, 7}, Value: []byte("unknown")},
		{Key: append([]byte{psbt.Proprietary, 3}, "abc\x01data"...), Value: []byte("proprietary")},
		{Key: []byte{0x60}, Value: nil},
	}
	for _, version := range []uint32{psbt.Version0, psbt.Version2} {
		for _, unsorted := range []bool{false, true} {
			raw := spoil(t, func(p *bitcointest.PSBT) {
				p.Version, p.Unsorted, p.Global, p.Outputs[0].Records = version, unsorted, strange, strange
				p.Inputs[0].Records = strange
			})
			signed := mustSign(t, parse(t, raw), key.ID(), key)
			wantOnlySignatures(t, raw, signed)
		}
	}
}

// TestInsertionPlace checks that a record is inserted before the first record whose key
// sorts after it, or else at the end.
func TestInsertionPlace(t *testing.T) {
	key := keyOf(t, secretOf(1))
	for _, c := range []struct {
		types []byte
		want  []uint64
	}{
		{[]byte{0x01}, []uint64{0x01, 0x02}},
		{[]byte{0x01, 0x03}, []uint64{0x01, 0x02, 0x03}},
		{[]byte{0x60, 0x01}, []uint64{0x02, 0x60, 0x01}},
	} {
		p := base(t)
		p.Unsorted, p.Inputs[0].Proof, p.Inputs[0].Claim = true, false, false
		for _, keyType := range c.types {
			value := map[byte][]byte{0x01: bitcointest.AppendTxOut(nil, 100_000, p.Inputs[0].Script), 0x03: {1, 0, 0, 0}}[keyType]
			p.Inputs[0].Records = append(p.Inputs[0].Records, bitcointest.Record{Key: []byte{keyType}, Value: value})
		}
		signed := mustSign(t, parse(t, p.Encode()), key.ID(), key)
		packet := packetOf(t, signed)
		var got []uint64
		for _, record := range packet.Inputs[0].Records {
			got = append(got, record.Type)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("records %x, want %x", got, c.want)
		}
	}
}

// TestModifiable checks that signing clears and sets the bits of
// PSBT_GLOBAL_TX_MODIFIABLE that its signatures fix (BIP-370), and changes nothing
// else.
func TestModifiable(t *testing.T) {
	key := keyOf(t, secretOf(1))
	for _, c := range []struct {
		sighash   int64
		flags, is byte
	}{
		{-1, 0b011, 0b000}, {1, 0b1011, 0b1000}, {0x81, 0b011, 0b001}, {2, 0b011, 0b010}, {0x82, 0b011, 0b011},
		{3, 0b011, 0b100}, {0x83, 0b011, 0b101}, {1, 0, 0}, {1, 0b100, 0b100},
	} {
		for _, spend := range []bitcointest.Spend{bitcointest.P2WPKH(key.PublicKey()), bitcointest.BIP86(key.PublicKey())} {
			raw := spoil(t, func(p *bitcointest.PSBT) {
				p.Version, p.Inputs[0] = psbt.Version2, spend.Input(100_000, 1)
				p.Inputs[0].Sighash = c.sighash
				p.Global = []bitcointest.Record{{Key: []byte{psbt.GlobalTxModifiable}, Value: []byte{c.flags}}}
			})
			signed := mustSign(t, parse(t, raw), key.ID(), key)
			record := parse(t, signed).Packet().Global.Find(psbt.GlobalTxModifiable)
			if got := record.Value[0]; got != c.is {
				t.Errorf("sighash %#x: flags %03b become %03b, want %03b", c.sighash, c.flags, got, c.is)
			}
			signed[record.ValueOffset()] = c.flags
			wantOnlySignatures(t, raw, signed)
		}
	}
}

// TestSigners covers every form of address, and addresses of scripts in the
// transaction, of which the keys that have not signed come first.
func TestSigners(t *testing.T) {
	a, b := keyOf(t, secretOf(1)), keyOf(t, secretOf(2))
	store := memory.New()
	for _, secret := range [][]byte{secretOf(1), secretOf(2)} {
		if _, err := store.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
			t.Fatal(err)
		}
	}
	stranger := keyOf(t, secretOf(7)).PublicKey()
	for _, spend := range []bitcointest.Spend{
		bitcointest.P2WSH(bitcointest.Multisig(2, stranger, b.PublicKey(), a.PublicKey())),
		bitcointest.P2SH(bitcointest.Multisig(2, a.PublicKey(), b.PublicKey())),
		bitcointest.Taproot(bitcointest.NUMS, bitcointest.LeafMultisig(2, b.PublicKey(), a.PublicKey())),
	} {
		raw := spending(t, spend, nil)
		address := addressIn(t, parse(t, raw))
		first := find(t, store, parse(t, raw), address)
		signed := mustSign(t, parse(t, raw), address, first)
		second := find(t, store, parse(t, signed), address)
		if first.PublicKey() == second.PublicKey() {
			t.Errorf("%s: the same key again", address)
		}
		signed = mustSign(t, parse(t, signed), address, second)
		if _, err := bitcoin.Finalize(signed); err != nil {
			t.Error(err)
		}
	}
	elsewhere := "2N4Jr7nS66g7qemt8mSWyjBMnUjW25a2Cg3"
	_, err := locate(parse(t, base(t).Encode()), elsewhere)
	wantNotSigner(t, err, "no input is locked to "+elsewhere)
	raw := spending(t, bitcointest.P2WSH(bitcointest.Multisig(1, a.PublicKey())), func(in *bitcointest.Input) { in.Records = nil })
	_, err = locate(parse(t, raw), addressIn(t, parse(t, raw)))
	wantNotSigner(t, err, "PSBT_IN_WITNESS_SCRIPT) is missing")
}

// addressIn returns the address of the first input, as shown.
func addressIn(t *testing.T, tx chains.Transaction) string {
	t.Helper()
	for _, field := range tx.Summary().Fields[1].Fields[0].Fields {
		if field.Label == "address" {
			return field.Shown
		}
	}
	t.Fatal("no address")
	return ""
}

// TestSignatureOrder checks that the signatures of two leaves are in the order of their
// keys.
func TestSignatureOrder(t *testing.T) {
	a := keyOf(t, secretOf(1))
	leaves := [][]byte{bitcointest.Leaf(a.PublicKey()), bitcointest.LeafMultisig(1, a.PublicKey())}
	for range 2 {
		slices.Reverse(leaves)
		signed := mustSign(t, parse(t, spending(t, bitcointest.Taproot(bitcointest.NUMS, leaves...), nil)), a.ID(), a)
		packet := packetOf(t, signed)
		var keys [][]byte
		for record := range packet.Inputs[0].All(psbt.InTapScriptSig) {
			keys = append(keys, record.Key)
		}
		if len(keys) != 2 || bytes.Compare(keys[0], keys[1]) >= 0 {
			t.Errorf("%x", keys)
		}
	}
}

// TestRefusedLeafBesideSigned checks that an input is the key's if one of its leaves
// can be signed, even if another leaf with the key is refused, in either order.
func TestRefusedLeafBesideSigned(t *testing.T) {
	key := keyOf(t, secretOf(1))
	good := bitcointest.Leaf(key.PublicKey())
	bad := append([]byte{txscript.OP_CODESEPARATOR}, good...)
	for _, leaves := range [][][]byte{{good, bad}, {bad, good}} {
		raw := bitcointest.PSBT{
			Inputs:   []bitcointest.Input{bitcointest.Taproot(bitcointest.NUMS, leaves...).Input(100_000, 1)},
			Outputs:  []bitcointest.Output{bitcointest.P2WPKH(keyOf(t, secretOf(2)).PublicKey()).Output(90_000)},
			Unsorted: true,
		}.Encode()
		signing := chaintest.MustReady(t, parse(t, raw), key.ID(), key)
		if balance := signing.(chains.WalletSigning).Balance(); balance.Value == nil || balance.Value.Int64() != 100_000 {
			t.Errorf("balance %+v, want 100000", balance)
		}
		if view := signing.SignerView(); view[1].Value != "yours" {
			t.Errorf("input 0 is shown as %q", view[1].Value)
		}
	}
}

// TestRefusedLeaf checks that a leaf of which it is not known what its script does is not
// signed.
func TestRefusedLeaf(t *testing.T) {
	key := keyOf(t, secretOf(1))
	leaf := bitcointest.Leaf(key.PublicKey())
	for name, spend := range map[string]bitcointest.Spend{
		"OP_CODESEPARATOR": bitcointest.Taproot(bitcointest.NUMS, append([]byte{txscript.OP_CODESEPARATOR}, leaf...)),
		"OP_SUCCESS":       bitcointest.Taproot(bitcointest.NUMS, append(bytes.Clone(leaf), 0xfe)),
		"leaf version c2":  bitcointest.TaprootVersion(0xc2, bitcointest.NUMS, leaf),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sign(t.Context(), parse(t, spending(t, spend, nil)), key.ID(), key)
			wantNotSigner(t, err, "the key's leaf has OP_CODESEPARATOR, OP_SUCCESS or a leaf version other than c0")
		})
	}
}
