package tempo_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
	"github.com/countersign-dev/countersign/keystore"
)

// TestPreimage checks what the sender signs with each form of a fee payer: without one
// the bytes that came in, with one the same items with feeToken 80 and feePayer 00.
func TestPreimage(t *testing.T) {
	sponsored := typed(with(with(items, feeToken, "80"), feePayer, "00")...)
	for _, c := range []struct{ name, raw, preimage string }{
		{"nobody else pays", typed(items...), typed(items...)},
		{"nobody else pays, no token", typed(with(items, feeToken, "80")...), typed(with(items, feeToken, "80")...)},
		{"placeholder", sponsored, sponsored},
		{"placeholder, with a token", typed(with(items, feePayer, "00")...), sponsored},
		{"signed", typed(with(items, feePayer, payer)...), sponsored},
		{"signed, no token", typed(with(with(items, feeToken, "80"), feePayer, payer)...), sponsored},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, raw := evmtest.NewFixedKey(t), chaintest.Unhex(t, c.raw)
			signed := evmtest.SignRaw(t, tempo.Chain{}, raw, key)
			if want := crypto.Keccak256(chaintest.Unhex(t, c.preimage)); !bytes.Equal(key.Digest[:], want) {
				t.Errorf("%x was signed, want %x", key.Digest, want)
			}
			if want := tempomodel.WithSignature(raw, fixedSignature); !bytes.Equal(signed, want) {
				t.Errorf("signed\n got %x\nwant %x", signed, want)
			}
		})
	}
}

// TestFeeTokenNotCommittedTo checks that the sender's signature does not depend on the
// fee payer's token, and that the summary says so.
func TestFeeTokenNotCommittedTo(t *testing.T) {
	const note = "NOT COMMITTED TO by the sender's signature: the fee payer chooses it"
	for _, c := range []struct{ name, token, payer, note string }{
		{"the sender pays", alphaUSD, "80", ""},
		{"the sender pays, none named", "80", "80", "the payer's or the network's choice"},
		{"placeholder", alphaUSD, "00", note},
		{"placeholder, none named", "80", "00", note},
		{"signed", alphaUSD, payer, note},
		{"signed, none named", "80", payer, note},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx, err := tempo.Chain{}.Parse(chaintest.Unhex(t, typed(with(with(items, feeToken, c.token), feePayer, c.payer)...)))
			testenv.Must(t, err)
			if got := fieldOf(t, tx.Summary().Fields, "fee token").Note; got != c.note {
				t.Errorf("note %q, want %q", got, c.note)
			}
		})
	}
}

// TestFeePayerShown recovers the payer, which depends on the sender.
func TestFeePayerShown(t *testing.T) {
	sender, sponsor := strings.Repeat("01", 32), strings.Repeat("02", 32)
	for _, c := range []struct{ name, signer, want, note string }{
		{"sponsor", sponsor, address(t, sponsor), ""},
		{"the sender itself", sender, address(t, sender), "the sender itself: the network refuses it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx := parse(t, sponsoredBy(t, c.signer, address(t, sender)))
			field := fieldOf(t, view(t, tx, sender), "fee payer")
			if field.Value != c.want || field.Note != c.note {
				t.Errorf("fee payer %q [%s], want %q [%s]", field.Value, field.Note, c.want, c.note)
			}
			// For another sender the signature is another payer's.
			if field := fieldOf(t, view(t, tx, strings.Repeat("03", 32)), "fee payer"); field.Value == c.want {
				t.Error("the payer's signature does not cover the sender")
			}
		})
	}
}

// sponsoredBy returns a transaction that a fee payer has signed for a sender.
func sponsoredBy(t *testing.T, payer, sender string) []byte {
	t.Helper()
	tx, err := tempomodel.Decode(chaintest.Unhex(t, typed(items...)))
	testenv.Must(t, err)
	key, err := crypto.ToECDSA(chaintest.Unhex(t, payer))
	testenv.Must(t, err)
	tx.FeePayer = tempomodel.SignPayer(key, tx.PayerHash([20]byte(chaintest.Unhex(t, sender))))
	return tx.Encode()
}

func parse(t *testing.T, raw []byte) chains.Transaction {
	t.Helper()
	tx, err := tempo.Chain{}.Parse(raw)
	if err != nil {
		t.Fatalf("%x: %v", raw, err)
	}
	return tx
}

// view returns what is shown to a signer.
func view(t *testing.T, tx chains.Transaction, secret string) []chains.Field {
	t.Helper()
	signing := chaintest.MustReady(t, tx, "id", evmtest.Key(t, secret))
	return signing.SignerView()
}

func fieldOf(t *testing.T, fields []chains.Field, label string) chains.Field {
	t.Helper()
	for _, field := range fields {
		if field.Label == label {
			return field
		}
	}
	t.Fatalf("there is no %q in %v", label, fields)
	return chains.Field{}
}

func publicKey(t *testing.T, secret string) keystore.PublicKey {
	t.Helper()
	return evmtest.Key(t, secret).PublicKey()
}

func address(t *testing.T, secret string) string {
	t.Helper()
	return (tempo.Chain{}).Addresses(publicKey(t, secret))[0].Address
}
