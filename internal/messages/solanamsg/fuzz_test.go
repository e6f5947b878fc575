package solanamsg_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// header returns the header of an off-chain message of version 0 with one signer.
func header(format byte, signer []byte, length int) string {
	head := "\xffsolana offchain\x00" + strings.Repeat("a", 32) + string(format) + "\x01" + string(signer)
	return string(binary.LittleEndian.AppendUint16([]byte(head), uint16(length)))
}

// FuzzOffchain checks that an accepted off-chain message can be rebuilt from what is
// shown, that its bytes are signed, only by a signer that it names, and that it is not
// the message of a transaction.
func FuzzOffchain(f *testing.F) {
	key := chaintest.Key(f, keystore.CurveEd25519, bytes.Repeat([]byte{0x46}, 32))
	signer := key.PublicKey().Bytes()
	for format := range byte(3) {
		f.Add([]byte(header(format, signer, 5) + "hello"))
		f.Add([]byte(header(format, signer, 3) + "é\n"))
	}
	f.Add([]byte("\xffsolana offchain\x01\x01" + string(signer) + "hello"))
	f.Add([]byte("\xffsolana offchain\x01\x02" + strings.Repeat("\x01", 32) + string(signer) + "hello"))
	f.Add([]byte("\xffsolana offchain\x01\x02" + strings.Repeat("\xfe", 32) + string(signer) + "hello"))
	f.Add([]byte("\xffsolana offchain\x01\x01" + string(signer) + strings.Repeat("ab", 32)))
	f.Add([]byte("\xffsolana offchain\x02"))
	f.Add([]byte("\xffsolana offchain\x00\x00\x05\x00hello"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := solanamsg.Parse(raw, solana.Chain{})
		if err != nil {
			return
		}
		if !bytes.Equal(rebuild(t, raw, read), raw) {
			t.Fatalf("%x is shown as %+v", raw, read.Summary().Fields)
		}
		checkSigned(t, read, raw, key, names(read, key) || isLegacy(read))
	})
}

// names reports whether a message is shown with the key as a signer.
func names(read chains.Transaction, key keystore.Key) bool {
	return slices.ContainsFunc(read.Summary().Fields, func(field chains.Field) bool {
		return field.Label == "signer" && field.Value == base58.Encode(key.PublicKey().Bytes())
	})
}

// isLegacy reports whether a message is shown as one with the header of 20 bytes.
func isLegacy(read chains.Transaction) bool {
	return strings.Contains(read.Summary().Fields[0].Value, "20 bytes")
}

// rebuild returns an off-chain message built from what is shown of it. Only the format,
// which does not change the meaning, is taken from the bytes.
func rebuild(t *testing.T, raw []byte, read chains.Transaction) []byte {
	t.Helper()
	var signers, text, application []byte
	for _, field := range read.Summary().Fields {
		switch field.Label {
		case "signer":
			signers = append(signers, base58.Decode(field.Value)...)
		case "message":
			text = []byte(field.Value)
		case "application domain":
			application = applicationOf(t, field.Value)
		}
	}
	out := append([]byte(signingDomain), raw[len(signingDomain)])
	if isLegacy(read) {
		out = binary.LittleEndian.AppendUint16(append(out, raw[len(out)]), uint16(len(text)))
		return append(out, text...)
	}
	if application != nil {
		out = append(append(out, application...), raw[len(signingDomain)+1+32])
	}
	out = append(append(out, byte(len(signers)/32)), signers...)
	if application != nil {
		out = binary.LittleEndian.AppendUint16(out, uint16(len(text)))
	}
	return append(out, text...)
}

// applicationOf parses an application domain as shown: hex, or text without the zeros
// that pad it.
func applicationOf(t *testing.T, shown string) []byte {
	t.Helper()
	if digits, ok := strings.CutPrefix(shown, "0x"); ok && len(digits) == 64 {
		raw := testenv.Hex(t, digits)
		return raw
	}
	return append([]byte(shown), make([]byte, 32-len(shown))...)
}

// checkSigned checks that the key signs exactly the bytes if it may, and that they are
// not the message of a transaction.
func checkSigned(t *testing.T, read chains.Transaction, raw []byte, key keystore.Key, named bool) {
	t.Helper()
	if _, err := (solana.Chain{}).ParseMessage(raw); err == nil {
		t.Fatalf("%x is also a transaction", raw)
	}
	signing, err := chaintest.Ready(read, key.ID(), key)
	if err != nil {
		if named {
			t.Fatalf("%x: %v", raw, err)
		}
		return
	}
	signed, err := signing.AppendSigned(t.Context(), nil)
	if err != nil || !ed25519.Verify(key.PublicKey().Bytes(), raw, signed) {
		t.Fatalf("%x: %v, or other bytes were signed", raw, err)
	}
}

// FuzzRaw checks that an accepted text without a header is shown whole, has a hazard
// unless it is a sign-in for its signer, and is neither a transaction nor an off-chain
// message.
func FuzzRaw(f *testing.F) {
	key := chaintest.Key(f, keystore.CurveEd25519, bytes.Repeat([]byte{0x46}, 32))
	address := base58.Encode(key.PublicKey().Bytes())
	siws := "example.com wants you to sign in with your Solana account:\n" + address
	for _, text := range []string{"hello", " \t\n", "é世😁", siws, siws + "\n\nHello\n\nURI: https://example.org", siws + "\r\n", strings.Repeat("ab", 32), strings.Repeat("k", 32),
		"\x01\x00\x01\x03", "\x80\x01", "\xff", "A\x00"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := solanamsg.Parse(raw, solana.Chain{})
		if (err == nil) != solanamsg.IsRawText(raw) {
			t.Fatalf("%q: %v", raw, err)
		}
		if err != nil {
			return
		}
		fields := read.Summary().Fields
		if fields[len(fields)-1].Value != string(raw) || solanamsg.IsOffchain(raw) {
			t.Fatalf("%q is shown as %+v", raw, fields)
		}
		signing := chaintest.MustReady(t, read, key.ID(), key)
		if read.Effects()[0].Function != "sign in" && len(signing.Hazards()) == 0 {
			t.Fatalf("%q has no hazard", raw)
		}
		if read.Effects()[0].Function == "sign in" && fields[2].Value != address && len(signing.Hazards()) == 0 {
			t.Fatalf("%q: the account %s has no hazard", raw, fields[2].Value)
		}
		checkSigned(t, read, raw, key, true)
	})
}
