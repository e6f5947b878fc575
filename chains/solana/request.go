package solana

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/signer"
	"github.com/countersign-dev/countersign/keystore"
)

// signWith is what should sign: an address, or the id of a key or a wallet.
type signWith struct {
	signer.Place
	text string

	// address is set if the text is an address.
	address   [keySize]byte
	isAddress bool
}

// readSignWith reads signWith. A text that only looks like an address is an error, so
// that a mistyped address is not reported as a key that does not exist.
func readSignWith(text string) (s signWith, err error) {
	s.text = text
	if s.address, s.isAddress = decodeKey(text); s.isAddress {
		s.Place = signer.At(keystore.ByEd25519(s.address))
		return s, nil
	}
	if problem := addressProblem(text); problem != "" {
		return s, &chains.SignerError{Kind: chains.ErrSignWith, Chain: Name, Problem: problem}
	}
	s.Place = signer.At(keystore.ByID(text))
	return s, nil
}

func (s *signWith) Of(keys []keystore.Key) (keystore.Key, chains.Party, error) {
	return signer.Account(Name, keys, s.keyOf, func(pub keystore.PublicKey) chains.Party { return party(pub.Bytes()) })
}

// keyOf refuses a key that cannot sign or is not the one that signWith names.
func (s *signWith) keyOf(key keystore.Key) (keystore.Ed25519Signer, error) {
	signer, err := keystore.AsEd25519(key)
	if err != nil {
		return nil, err
	}
	pub := key.PublicKey()
	if pub.Curve() != keystore.CurveEd25519 {
		return nil, fmt.Errorf("%w: key %s is of %s, and Solana signs with %s",
			keystore.ErrUnsupported, key.ID(), pub.Curve(), keystore.CurveEd25519)
	}
	if raw := pub.Ed25519(); s.isAddress && s.address != raw {
		return nil, notSigner("key %s has the address %s, not %s", key.ID(), encode58(raw[:]), s.text)
	}
	return signer, nil
}

type request struct {
	signWith
	t *Transaction
}

func (t *Transaction) Request(signWith string) (chains.Request, error) {
	with, err := readSignWith(signWith)
	if err != nil {
		return nil, err
	}
	return &request{with, t}, nil
}

// With implements chains.Request. The keys of a wallet that have an empty slot sign; a
// single key must have one.
func (r *request) With(keys ...keystore.Key) (chains.Signing, error) {
	s := &signing{t: r.t}
	s.keys = s.inlineKey[:0]
	var refused error
	for _, key := range keys {
		slotKey, err := r.slotKey(key)
		if err != nil {
			refused = cmp.Or(refused, err)
			continue
		}
		s.keys = append(s.keys, slotKey)
		s.slots = appendSlot(s.slots, slotKey.slot)
	}
	if len(s.keys) == 0 {
		return nil, refused
	}
	return s, nil
}

// slotKey refuses a key that cannot sign, is not the one that signWith names, is not a
// signer of the transaction, or has signed already.
func (r *request) slotKey(key keystore.Key) (slotKey, error) {
	signer, err := r.keyOf(key)
	if err != nil {
		return slotKey{}, err
	}
	raw := key.PublicKey().Ed25519()
	slot := 0
	for slot < r.t.header.required && !bytes.Equal(r.t.key(slot), raw[:]) {
		slot++
	}
	if slot == r.t.header.required {
		var signers []string
		for i := range r.t.header.required {
			signers = append(signers, fmt.Sprintf("%s (%s)", encode58(r.t.key(i)), r.t.slotState(i)))
		}
		return slotKey{}, notSigner("%s is not a signer of this transaction; its signers are %s", encode58(raw[:]),
			strings.Join(signers, ", "))
	}
	if r.t.filled(slot) {
		return slotKey{}, malformed(item("signatures", slot), r.t.signatureAt(slot), "%s has signed already",
			encode58(raw[:]))
	}
	return slotKey{key.ID(), signer, slot}, nil
}
