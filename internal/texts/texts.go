// Package texts judges the text of a message: it is known, or it is blind. One judge serves every
// carrier: personal messages (EIP-191, TIP-191), BIP-137, BIP-322, Solana's messages and its memo.
//
// Known are sign-ins that follow EIP-4361 or SIWS for an account of the carrier's chain, and
// texts that match a [Template]. Anything else has the hazard [HazardFreeText]: the requester may
// use the signature for anything. The other hazards say why a text is worse than unknown, whether
// it is known or not.
package texts

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// The hazards of texts.
const (
	HazardFreeText        = chains.HazardFreeText      // neither a sign-in nor of a template
	HazardHashLike        = "message/hash-like"        // 32 bytes, as they are or in hex
	HazardTransactionLike = "message/transaction-like" // an order: its signature alone carries it out
	HazardKeyDerivation   = "message/key-derivation"   // an application makes a private key from the signature
	HazardForeignSignIn   = "message/foreign-sign-in"  // a sign-in for another address or site, or one that is not well-formed
	HazardLooseNonce      = "message/loose-nonce"      // a sign-in whose nonce has dashes and is no UUID
)

// HazardNames returns all hazards of texts.
func HazardNames() []string {
	return []string{HazardFreeText, HazardHashLike, HazardTransactionLike, HazardKeyDerivation, HazardForeignSignIn,
		HazardLooseNonce}
}

// Text is a text that was judged.
type Text struct {
	text   []byte
	by     *Standard
	signIn *signIn // nil if it is none by the standard
	domain string  // that asks for the sign-in, or of the template that it matches
	key    string  // whose key a signature becomes
	order  string  // whose order it is
	pays   bool    // which is to pay
	asks   bool    // to sign in, in whatever form: sites may read it more loosely than the standard
}

// Read judges a text that a key is to sign on a chain with a standard of sign-ins, nil if it has
// none. The text must not be changed. Bytes that cannot be shown as text are known to be nothing.
func Read(text []byte, by *Standard) *Text {
	t := &Text{text: text, by: by}
	if t.unreadable() {
		return t
	}
	written := string(text)
	words := plainWords(written)
	if t.asks = strings.Contains(words, "wants you to sign in with your "); len(text) <= maxWords {
		marked := "^" + words + "$"
		t.key, t.order = keyOf(words, marked), whose(known().Orders, marked)
	}
	said := written
	if by != nil && t.asks {
		if t.signIn = parseSignIn(written, by); t.signIn != nil {
			t.domain, said = t.signIn.Domain, t.signIn.said()
		}
	}
	if t.order == "" && len(text) <= maxWords {
		if said = symbols(said); said != written {
			words = plainWords(said)
		}
		if instruction.isIn(words) || isOrder(words, 0) {
			t.order, t.pays = "a service that acts on it", !isOrder(words, payments) && !granted.MatchString(words)
		}
	}
	if t.signIn == nil {
		t.domain = known().domainOf(written)
	}
	return t
}

func (t *Text) unreadable() bool { return plaintext.Problem(t.text) != "" }

// String returns the text, empty if it cannot be shown.
func (t *Text) String() string {
	if t.unreadable() {
		return ""
	}
	return string(t.text)
}

// IsSignIn reports whether the text is a sign-in that follows the standard.
func (t *Text) IsSignIn() bool { return t.signIn != nil }

// IsOrdinary reports whether the text is neither a sign-in, by a standard or a template, nor makes a key,
// orders no more than a payment, and is no word with an address: what is ordinary beside one.
func (t *Text) IsOrdinary() bool {
	return t.domain == "" && t.key == "" && (t.order == "" || t.pays) && !t.asks &&
		!directs.Regexp().Match(bytes.TrimSpace(t.text))
}

// IsNote reports whether data that goes with a payment is a text that only refers to it, and short enough for
// a person to read. What receives the payment may act on any other, as bridges do.
func IsNote(data []byte) bool {
	return len(data) <= 512 && plaintext.Problem(data) == "" && Read(data, nil).IsOrdinary()
}

// Domain returns the domain that asks for the sign-in, or that the text's template belongs to,
// empty if there is none.
func (t *Text) Domain() string { return t.domain }

// Args returns what a policy sees of the text: the members of a sign-in, or the text if it has
// at most a number of bytes.
func (t *Text) Args(most int) []chains.Arg {
	switch {
	case t.signIn != nil:
		members := &t.signIn.members
		return []chains.Arg{{Name: "domain", Value: t.signIn.Domain}, {Name: "uri", Value: members[memberURI]},
			{Name: "chainId", Value: members[memberChainID]}, {Name: "statement", Value: t.signIn.Statement}}
	case len(t.text) > most || t.unreadable():
		return nil
	}
	return []chains.Arg{{Name: "message", Value: string(t.text)}}
}

// Fields returns what is shown of the text: the members of a sign-in, what more the carrier
// has, and the text.
func (t *Text) Fields(more ...chains.Field) (fields []chains.Field) {
	if t.unreadable() {
		return append(more, chains.Bytes("message", t.text))
	}
	if t.signIn != nil {
		fields = t.signIn.fields()
	}
	return append(append(fields, more...), chains.Text("message", string(t.text)))
}

// KeyDerivation is the detail of [HazardKeyDerivation]. Its argument is what DerivesKey returns.
const KeyDerivation = "%s makes a private key from this signature: who sees the signature, here or in a record of " +
	"it, has that key"

// Hazards returns the hazards of a text that this account would sign, which may be none. That
// it is not known belongs to the effect with an index, the others to the whole. 32 bytes that
// are no text are like a hash.
func (t *Text) Hazards(signer chains.Party, effect int) (hazards []chains.Hazard) {
	add := func(name, format string, args ...any) {
		if len(args) > 0 {
			format = fmt.Sprintf(format, args...)
		}
		hazards = append(hazards, chains.Hazard{Name: name, Detail: format})
	}
	if hash := hashLike(t.text); hash != "" {
		add(HazardHashLike, "%s", hash)
	}
	if t.key != "" {
		add(HazardKeyDerivation, KeyDerivation, t.key)
	}
	if t.order != "" {
		add(HazardTransactionLike,
			"the text has the form of an order: a signature over it is all that %s needs", t.order)
	}
	switch {
	case t.signIn != nil:
		if problem := t.signIn.problem(signer); problem != "" {
			add(HazardForeignSignIn, "%s", problem)
		}
		value := t.signIn.members[memberNonce]
		if value != "" && !nonce.MatchString(value) && !uuidText.MatchString(value) {
			add(HazardLooseNonce, "the nonce %s has other characters than the letters and digits of %s",
				quoted(value), t.signIn.by.name)
		}
	case t.asks:
		standard := "a standard: this chain has none"
		if t.by != nil {
			standard = t.by.name
		}
		add(HazardForeignSignIn, "the text asks to sign in but does not follow %s: "+
			"a site that reads it loosely decides which site and account it is for", standard)
	}
	// An order and a key are not known, in whatever form, nor is a text that is too long to be looked
	// at for them.
	isKnown := t.domain != "" && t.key == "" && t.order == "" && len(t.text) <= maxWords
	if !isKnown && !t.unreadable() {
		add(HazardFreeText, "the text is neither a sign-in nor of a known template: the requester may use the "+
			"signature for anything")
		hazards[len(hazards)-1] = hazards[len(hazards)-1].OnEffect(effect)
	}
	return hazards
}

// Template returns a file with a template to pin if that is all that a text which is not known
// lacks, otherwise nothing. It has the words of the text, which no log may have.
func (t *Text) Template() string {
	if hazards := t.Hazards(chains.Party{}, 0); len(hazards) != 1 || hazards[0].Name != HazardFreeText {
		return ""
	}
	return guess(t.text)
}
