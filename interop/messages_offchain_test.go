package interop

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/drawn"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// offchainMessage is a message in the form of @solana/offchain-messages.
type offchainMessage struct {
	Version             int
	ApplicationDomain   string
	Content             any // of version 1 the text, of version 0 an offchainContent
	RequiredSignatories []offchainSigner
}

type offchainSigner struct {
	Address string `json:"address"`
}

// request returns the message in the library's form.
func (m *offchainMessage) request() map[string]any {
	request := map[string]any{"version": m.Version, "content": m.Content, "requiredSignatories": m.RequiredSignatories}
	if m.Version == 0 {
		request["applicationDomain"] = m.ApplicationDomain
	}
	return request
}

// text returns the text of a generated or decoded message.
func (m *offchainMessage) text() string {
	if content, ok := m.Content.(map[string]any); ok {
		return content["text"].(string)
	}
	return m.Content.(string)
}

// drawOffchain generates a message for a signer and up to three others.
func drawOffchain(r *rand.Rand, signer string) *offchainMessage {
	m := &offchainMessage{Version: r.IntN(2), ApplicationDomain: drawnAddress(r), RequiredSignatories: []offchainSigner{{signer}}}
	for range r.IntN(4) {
		m.RequiredSignatories = slices.Insert(m.RequiredSignatories, r.IntN(len(m.RequiredSignatories)+1), offchainSigner{drawnAddress(r)})
	}
	text := drawn.Text(r) + "."
	if m.Content = text; m.Version == 1 {
		return m
	}
	format := 1 + r.IntN(2)
	if !strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		format = r.IntN(3)
	}
	m.Content = map[string]any{"format": format, "text": text}
	return m
}

func drawnAddress(r *rand.Rand) string {
	var key [32]byte
	for i := range key {
		key[i] = byte(r.Uint32())
	}
	return base58.Encode(key[:])
}

func solanaSigner(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	secret := testenv.Hex(t, enginetest.Secret)
	return ed25519.NewKeyFromSeed(secret)
}

// randomOffchainMessages checks that what @solana/offchain-messages writes, versions 0 and
// 1, is read with the same members and signed to the same bytes, which the library
// verifies.
func randomOffchainMessages(t *testing.T, p *messagePeer) {
	signer := base58.Encode(solanaSigner(t).Public().(ed25519.PublicKey))
	for seed := range drawnMessages(t) {
		m := drawOffchain(rand.New(rand.NewPCG(seed, 74)), signer)
		var theirs struct{ Bytes, Signature string }
		p.ask(p.t, map[string]any{"op": "offchain", "message": m.request(), "secret": enginetest.Secret}, &theirs)
		raw := testenv.Hex(t, theirs.Bytes)
		read, err := solanamsg.Parse(raw, solana.Chain{})
		if err != nil {
			t.Fatalf("%v: %v", m, err)
		}
		shownAs(t, read, m)
		ours := p.sign(signer, theirs.Bytes, activity.EncodingHex, activity.HashNotApplicable)
		if ours != theirs.Signature {
			t.Fatalf("%v: signed %s, want %s", m, ours, theirs.Signature)
		}
		p.verifies(m, theirs.Bytes, signer, ours)
	}
}

// shownAs checks that the effects and fields of a message have its members.
func shownAs(t *testing.T, read chains.Transaction, m *offchainMessage) {
	t.Helper()
	if message, _ := argument(read.Effects()[0], "message"); message != m.text() {
		t.Errorf("message %q, want %q", message, m.text())
	}
	var signers, want []string
	for _, field := range read.Summary().Fields {
		if field.Label == "signer" {
			signers = append(signers, field.Value)
		}
	}
	for _, one := range m.RequiredSignatories {
		want = append(want, one.Address)
	}
	slices.Sort(signers)
	slices.Sort(want)
	if !slices.Equal(signers, want) {
		t.Errorf("signers %v, want %v", signers, want)
	}
	if application, ok := argument(read.Effects()[0], "application"); ok != (m.Version == 0) || ok && application != "0x"+hex.EncodeToString(base58.Decode(m.ApplicationDomain)) {
		t.Errorf("application %s, want %s", application, m.ApplicationDomain)
	}
}

func argument(effect chains.Effect, name string) (value string, ok bool) {
	for _, arg := range effect.Args {
		if arg.Name == name {
			return arg.Value, true
		}
	}
	return "", false
}

// verifies has the library verify a message that only we signed: if there are other
// signers, it must miss only their signatures.
func (p *messagePeer) verifies(m *offchainMessage, raw, signer, signature string) {
	p.t.Helper()
	var empty struct{}
	problem := p.try(p.t, map[string]any{"op": "offchainVerify", "bytes": raw, "signatures": map[string]string{signer: signature}}, &empty)
	others := len(m.RequiredSignatories) - 1
	if (problem == "") != (others == 0) || strings.Contains(problem, signer) {
		p.t.Errorf("%v: %q with %d other signers", m, problem, others)
	}
	for _, one := range m.RequiredSignatories {
		if one.Address != signer && !strings.Contains(problem, one.Address) {
			p.t.Errorf("%v: %s is not missed: %s", m, one.Address, problem)
		}
	}
	forged := strings.Repeat("00", 64)
	if problem := p.try(p.t, map[string]any{"op": "offchainVerify", "bytes": raw, "signatures": map[string]string{signer: forged}}, &empty); !strings.Contains(problem, signer) {
		p.t.Errorf("a signature of zeros: %q", problem)
	}
}

// offchainStricter says why we refuse bytes that @solana/offchain-messages decodes.
var offchainStricter = map[string]string{
	"are the same":          "it allows version 0 to name a signer twice",
	"the control character": "it decodes text that cannot be shown",
	"is not UTF-8":          "it replaces invalid UTF-8 (version 1), and so reads another text than was signed",
}

// offchainMutations mutates messages. What we accept, the library decodes to the same
// text; what only the library accepts, we refuse for a listed reason.
func offchainMutations(t *testing.T, p *messagePeer) {
	signer := base58.Encode(solanaSigner(t).Public().(ed25519.PublicKey))
	taken, both, stricter := 0, 0, map[string]int{}
	for seed := range drawnMessages(t) * 4 {
		r := rand.New(rand.NewPCG(seed, 75))
		m := drawOffchain(r, signer)
		var made struct{ Bytes string }
		p.ask(p.t, map[string]any{"op": "offchain", "message": m.request(), "secret": enginetest.Secret}, &made)
		raw := testenv.Hex(t, made.Bytes)
		raw = mutated(r, raw)
		var theirs struct{ Message offchainMessage }
		problem := p.try(p.t, map[string]any{"op": "offchainRead", "bytes": hex.EncodeToString(raw)}, &theirs)
		read, err := solanamsg.Parse(raw, solana.Chain{})
		switch {
		case err == nil && problem != "":
			t.Errorf("%x: accepted, the library: %s", raw, problem)
		case err == nil:
			shownAs(t, read, &theirs.Message)
			taken++
		case problem != "":
			both++
		default:
			stricter[whyStricter(t, raw, err)]++
		}
	}
	t.Logf("%d accepted by both, %d refused by both, refused only here: %v", taken, both, stricter)
	if taken == 0 || both == 0 {
		t.Error("the mutations show nothing")
	}
}

func whyStricter(t *testing.T, raw []byte, err error) string {
	t.Helper()
	for part, why := range offchainStricter {
		if strings.Contains(err.Error(), part) {
			return why
		}
	}
	if strings.Contains(err.Error(), "does not match the text that follows") && raw[16] == 0 && lengthAfterDecoding(raw) {
		return "it compares the length (version 0) with the text that it decoded, without NULs and with invalid UTF-8 replaced"
	}
	t.Errorf("%x: the library decodes it, we say %v", raw, err)
	return ""
}

// lengthAfterDecoding reports whether the length in a message of version 0 can be that of
// the text after NULs were dropped or invalid UTF-8 replaced, and is not that of its bytes.
func lengthAfterDecoding(raw []byte) bool {
	rest := raw[51+32*int(raw[50]):]
	length, text := int(binary.LittleEndian.Uint16(rest)), rest[2:]
	return length != len(text) && (length == len(text)-bytes.Count(text, []byte{0}) || !utf8.Valid(text))
}

// mutated changes, removes, adds or duplicates bytes.
func mutated(r *rand.Rand, raw []byte) []byte {
	at := r.IntN(len(raw))
	switch r.IntN(8) {
	case 0:
		return raw[:at]
	case 1:
		return append(raw, byte(r.Uint32()))
	case 2: // the second signer is the first: the count of signers stands at 50 or 17
		at = 51
		if raw[16] == 1 {
			at = 18
		}
		if len(raw) >= at+64 && raw[at-1] > 1 {
			copy(raw[at+32:at+64], raw[at:at+32])
		}
		return raw
	case 3: // the text, with what cannot be shown
		raw[len(raw)-1] = []byte{0, 7, 0x1b, 0x7f, 0x80, 0xff}[r.IntN(6)]
		return raw
	default:
		raw[at] ^= 1 << r.IntN(8)
		return raw
	}
}

// offchainLengths checks the longest text of each format, and one byte more, with one and
// three signers.
func offchainLengths(t *testing.T, p *messagePeer) {
	r := rand.New(rand.NewPCG(1, 76))
	for format := range 3 {
		for _, signers := range []int{1, 3} {
			most := 1232 - (16 + 1 + 32 + 1 + 1 + 32*signers + 2)
			if format == 2 {
				most = 65535
			}
			for _, length := range []int{most, most + 1} {
				raw := fmt.Appendf(nil, "\xffsolana offchain\x00%s%c%c", strings.Repeat("a", 32), format, signers)
				for range signers {
					raw = append(raw, base58.Decode(drawnAddress(r))...)
				}
				raw = append(append(raw, byte(length), byte(length>>8)), strings.Repeat("x", length)...)
				var theirs struct{ Message offchainMessage }
				problem := p.try(p.t, map[string]any{"op": "offchainRead", "bytes": hex.EncodeToString(raw)}, &theirs)
				_, err := solanamsg.Parse(raw, solana.Chain{})
				if (problem == "") != (length == most) || (err == nil) != (length == most) {
					t.Errorf("format %d, %d signers, %d bytes of text: we say %v, the library %q", format, signers, length, err, problem)
				}
			}
		}
	}
}
