package fuzz

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// FuzzBitcoinMessage checks that a BIP-322 message is refused if its text cannot be
// shown; otherwise it is shown whole, moves nothing, is known or has the hazard of a text that is
// not, and its signature satisfies the script engine. With another text in the same PSBT, or none, it is refused.
func FuzzBitcoinMessage(f *testing.F) {
	key := bitcoinKey(f)
	addresses := bitcoin.Chain{}.Addresses(key.PublicKey())
	hash := key.PublicKey().Hash160()
	redeem := append([]byte{txscript.OP_0, 20}, hash[:]...) // of the address that wraps P2WPKH
	for i, text := range []string{"", "Hello World", "é世😁\t\n", "\x00", "\u202e", "\r\n", "\r", "\xff", strings.Repeat("long ", 200),
		"Approve Portals sign-in", strings.Repeat("ab", 32)} {
		f.Add(text, byte(i), uint32(0), uint32(0))
	}
	f.Add("later", byte(1), uint32(800_000), uint32(0xfffffffe))
	f.Fuzz(func(t *testing.T, text string, of byte, lockTime, sequence uint32) {
		message := bitcoin.ToSign{Text: text, Address: addresses[int(of)%len(addresses)].Address, LockTime: lockTime, Sequence: sequence}
		if strings.HasPrefix(message.Address, "3") || strings.HasPrefix(message.Address, "2") {
			message.RedeemScript = redeem
		}
		raw, err := message.PSBT()
		if err != nil {
			t.Fatalf("%+v: %v", message, err)
		}
		tx, err := bitcoin.Chain{}.Parse(raw)
		if hidden := !isShowable(text); err != nil || hidden {
			if !hidden {
				t.Fatalf("%q: %v", text, err)
			}
			if err == nil {
				t.Fatalf("%q is taken", text)
			}
			return
		}
		checkText(t, tx, text)
		if !shows(tx.Summary().Fields, text) {
			t.Fatalf("%q is shown as %+v", text, tx.Summary().Fields)
		}
		signed, err := chaintest.Sign(t.Context(), bitcoin.Chain{}, raw, message.Address, key)
		testenv.Must(t, err)
		if signature, ok, err := bitcoin.MessageSignature(signed); !ok || err != nil || len(signature) < 60 {
			t.Fatalf("%q: signature %q, %v", text, signature, err)
		}
		for _, other := range [][]byte{[]byte(text + "."), nil} {
			if _, err := (bitcoin.Chain{}).Parse(withText(t, raw, other)); err == nil {
				t.Fatalf("%q is taken for %q", other, text)
			}
		}
	})
}

// checkText checks the judgement of a text: it is one message, of a template's domain or with the
// hazard of a text that is not known, and all of its hazards are a text's.
func checkText(t *testing.T, tx chains.Transaction, text string) {
	t.Helper()
	effects, hazards, free := tx.Effects(), tx.Hazards(), 0
	for _, hazard := range hazards {
		if !slices.Contains(bitcoin.Chain{}.Words().TextHazards, hazard.Name) {
			t.Fatalf("%q: hazard %+v", text, hazard)
		}
		if index, ok := hazard.Effect(); hazard.Name == chains.HazardFreeText && ok && index == 0 {
			free++
		}
	}
	if len(effects) != 1 || effects[0].Kind != chains.KindMessage || len(hazards) > 0 && free != 1 || free == 0 && effects[0].Domain == "" {
		t.Fatalf("%q: effects %+v, hazards %+v", text, effects, hazards)
	}
}

func isShowable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(strings.ReplaceAll(text, "\r\n", "\n"), func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	})
}

func shows(fields []chains.Field, text string) bool {
	for _, field := range fields {
		if field.Value == text && field.Type == chains.TypeText || shows(field.Fields, text) {
			return true
		}
	}
	return false
}

// withText returns a PSBT with another text of its message, or without one if text is
// nil.
func withText(t *testing.T, raw, text []byte) []byte {
	t.Helper()
	packet, err := psbt.Read(raw)
	testenv.Must(t, err)
	records := packet.Global.Records[:0]
	for _, record := range packet.Global.Records {
		if record.Type == uint64(psbt.GlobalSignedMessage) {
			if text == nil {
				continue
			}
			record.Value = text
		}
		records = append(records, record)
	}
	packet.Global.Records = records
	return packet.Encode()
}
