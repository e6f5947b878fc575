package bitcoin_test

import (
	"crypto/rc4" //nolint:gosec // as Counterparty does
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// pushedBy returns data behind each opcode that can push it.
func pushedBy(data []byte) map[string][]byte {
	size := byte(len(data))
	return map[string][]byte{
		"OP_DATA":      append([]byte{size}, data...),
		"OP_PUSHDATA1": append([]byte{txscript.OP_PUSHDATA1, size}, data...),
		"OP_PUSHDATA2": append([]byte{txscript.OP_PUSHDATA2, size, byte(len(data) >> 8)}, data...),
		"OP_PUSHDATA4": append([]byte{txscript.OP_PUSHDATA4, size, 0, 0, 0}, data...),
		"behind OP_0":  append([]byte{txscript.OP_0, size}, data...),
	}
}

// counterparty encrypts data as an instruction of the base PSBT's transaction.
func counterparty(t testing.TB, data []byte) []byte {
	t.Helper()
	in := base(t).Inputs[0]
	id := in.ID()
	slices.Reverse(id[:])
	cipher, err := rc4.NewCipher(id[:])
	testenv.Must(t, err)
	out := make([]byte, len(data))
	cipher.XORKeyStream(out, data)
	return out
}

// TestTokenProtocols checks that outputs which move tokens carried by the inputs are
// named and blind, however their mark is pushed and wherever the output stands.
func TestTokenProtocols(t *testing.T) {
	for protocol, data := range map[string][]byte{
		"omni":         []byte("omni\x00\x00\x00\x00\x00\x00\x00\x1f\x00\x00\x00\x00\x3b\x9a\xca\x00"),
		"stacks":       []byte("X2$\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x3b\x9a\xca\x00"),
		"counterparty": counterparty(t, []byte("CNTRPRTY\x02\x00\x00\x00\x00\x00\x00\x00\x01")),
	} {
		for opcode, push := range pushedBy(data) {
			t.Run(protocol+" "+opcode, func(t *testing.T) {
				wantProtocol(t, protocol, bitcointest.Output{Script: append([]byte{txscript.OP_RETURN}, push...)})
			})
		}
	}
	t.Run("runestone", func(t *testing.T) {
		wantProtocol(t, "runestone", bitcointest.Output{Script: []byte{txscript.OP_RETURN, txscript.OP_13, 2, 0x16, 1}})
	})
}

// wantProtocol checks that an output is a blind call of a protocol in the first, the
// second and the last place, and that the value in it still is an effect.
func wantProtocol(t *testing.T, protocol string, out bitcointest.Output, more ...string) {
	t.Helper()
	a := keyOf(t, secretOf(1)).PublicKey()
	for place := range 3 {
		raw := spoil(t, func(p *bitcointest.PSBT) {
			p.Outputs = append(p.Outputs, bitcointest.P2WPKH(a).Output(1_000))
			p.Outputs = slices.Insert(p.Outputs, place, out)
		})
		hazards := wantHazards(t, raw, a, append([]string{bitcoin.HazardBlindCall}, more...)...)
		wantHazards(t, raw, keystore.PublicKey{}, append([]string{bitcoin.HazardBlindCall}, more...)...)
		index, _ := hazards[0].Effect()
		effects := parse(t, raw).Effects()
		if e := effects[index]; e.Kind != chains.KindCall || e.Function != protocol || !e.Undecoded {
			t.Errorf("place %d: %+v is not a call of %s", place, e, protocol)
		}
		if got := effects[index+1]; out.Amount > 0 && (got.Amount.Value == nil || got.Amount.Value.Uint64() != out.Amount) {
			t.Errorf("place %d: the value of %d sat is not an effect, but %+v", place, out.Amount, got)
		}
		if want := 4; out.Amount == 0 && len(effects) != want || out.Amount > 0 && len(effects) != want+1 {
			t.Errorf("place %d: %d effects", place, len(effects))
		}
	}
}

// TestTokenProtocolsWithValue checks instructions in outputs that pay as well: what they
// pay is accounted for beside the call.
func TestTokenProtocolsWithValue(t *testing.T) {
	exodus := append([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20},
		0x94, 0x6c, 0xb2, 0xe0, 0x80, 0x75, 0xbc, 0xba, 0xf1, 0x57, 0xe4, 0x7b, 0xcb, 0x67, 0xeb, 0x2b, 0x23, 0x39, 0xd2, 0x42)
	exodus = append(exodus, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
	marked := append([]byte("\x13CNTRPRTY"), make([]byte, 23)...)
	hash, key := counterparty(t, marked[:20]), counterparty(t, marked[:31])
	inHash := slices.Concat([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, hash, []byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG})
	own := keyOf(t, secretOf(1)).PublicKey()
	behind := slices.Concat([]byte{0, 33}, own.Bytes(), []byte{txscript.OP_2, txscript.OP_CHECKMULTISIG})
	inKey := slices.Concat([]byte{txscript.OP_1, 33, 2}, key, behind)
	stamp := append([]byte("\x00\x40stamp:"), make([]byte, 24)...)
	stamps := slices.Concat([]byte{txscript.OP_1, 33, 2}, counterparty(t, stamp[:31]), behind)
	for name, c := range map[string]struct {
		protocol string
		script   []byte
		more     []string
	}{
		"omni, to its address":      {"omni", exodus, nil},
		"counterparty in a hash":    {"counterparty", inHash, nil},
		"counterparty in a key":     {"counterparty", inKey, nil},
		"SRC-20 in a key":           {"stamps", stamps, nil},
		"SRC-20 in a script's hash": {"stamps", append([]byte{txscript.OP_0, 32}, stamp...), nil},
		"runestone, value burned":   {"runestone", []byte{txscript.OP_RETURN, txscript.OP_13}, []string{bitcoin.HazardBurn}},
		"omni, value burned":        {"omni", bitcointest.Nulldata("omni\x00\x00\x00\x00"), []string{bitcoin.HazardBurn}},
		"omni, the push is cut off": {"omni", append([]byte{txscript.OP_RETURN, 4}, "omni\x09"...), []string{bitcoin.HazardBurn}},
	} {
		t.Run(name, func(t *testing.T) {
			wantProtocol(t, c.protocol, bitcointest.Output{Amount: 5_000, Script: c.script}, c.more...)
		})
	}
}

// TestNotATokenProtocol has text that only contains a mark, and a digest. Other data is of a protocol that
// is not known, as a mark under another key is, and numbers that are no pushes.
func TestNotATokenProtocol(t *testing.T) {
	a := keyOf(t, secretOf(1)).PublicKey()
	wrong := counterparty(t, []byte("CNTRPRTX\x02"))
	for _, data := range []string{"CNTRPRTY\x02", string(wrong), "=:BTC.BTC:mallory:00000000000000", "RSKT01" + strings.Repeat("\xab", 20), strings.Repeat("\xab", 20), strings.Repeat("a", 600)} {
		wantProtocol(t, "an unknown protocol", bitcointest.Output{Script: append([]byte{txscript.OP_RETURN}, pushedBy([]byte(data))["OP_PUSHDATA2"]...)})
	}
	wantProtocol(t, "an unknown protocol", bitcointest.Output{Script: []byte{txscript.OP_RETURN, txscript.OP_1}})
	for _, data := range []string{"hello omni", "omn", "X", "xX2$", strings.Repeat("\xab", 32),
		"Thank you for the coffee, Anna!!"} {
		raw := spoil(t, func(p *bitcointest.PSBT) {
			p.Outputs = append(p.Outputs, bitcointest.Output{Script: bitcointest.Nulldata(data)})
		})
		wantHazards(t, raw, a)
	}
	raw := spoil(t, func(p *bitcointest.PSBT) {
		p.Outputs = append(p.Outputs, bitcointest.P2PKH(a).Output(1_000), bitcointest.Output{Script: []byte{txscript.OP_RETURN}})
	})
	wantHazards(t, raw, a)
}

// TestManyNotes: the ninth text of a transaction is not judged, and so is no note. Texts are judged together
// too, as THORChain reads them.
func TestManyNotes(t *testing.T) {
	note := bitcointest.Output{Script: bitcointest.Nulldata("invoice 17")}
	digest := bitcointest.Output{Script: bitcointest.Nulldata(strings.Repeat("\xab", 32))}
	eight := slices.Concat(slices.Repeat([]bitcointest.Output{digest}, 9), slices.Repeat([]bitcointest.Output{note}, 8))
	a := keyOf(t, secretOf(1)).PublicKey()
	of := func(outputs []bitcointest.Output) []byte {
		return spoil(t, func(p *bitcointest.PSBT) { p.Outputs = append(p.Outputs, outputs...) })
	}
	wantHazards(t, of(eight), a)
	wantHazards(t, of(append(eight, note)), a, bitcoin.HazardBlindCall)
	begins, ends := bitcointest.Nulldata("s"), bitcointest.Nulldata(":ETH.ETH:mallory")
	wantHazards(t, of([]bitcointest.Output{{Script: begins}, {Script: ends}}), a, bitcoin.HazardBlindCall)
}
