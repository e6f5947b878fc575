package tron

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/chainhash/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/signer"
	"github.com/countersign-dev/countersign/keystore"
)

// Request implements chains.Transaction. text is an address in base58check (T…), one in
// hex (41 and 40 digits), or a key's id.
func (tx *transaction) Request(text string) (chains.Request, error) {
	with, err := readSignWith(text)
	if err != nil {
		return nil, err
	}
	return &request{with, tx}, nil
}

type request struct {
	signWith
	tx *transaction
}

// With implements chains.Request. Of several keys the owner's signs, or else the first that can. It
// refuses a key that has signed already, and one that is not at the address in signWith.
func (r *request) With(keys ...keystore.Key) (chains.Signing, error) {
	var best *signing
	var problem error
	for _, key := range keys {
		switch signing, err := r.ready(key); {
		case err != nil && problem == nil:
			problem = err
		case err == nil && (best == nil || signing.address == r.tx.owner):
			best = signing
		}
	}
	if best == nil {
		return nil, problem
	}
	return best, nil
}

func (r *request) ready(key keystore.Key) (*signing, error) {
	signer, err := r.keyOf(key)
	if err != nil {
		return nil, err
	}
	address := addressOf(key.PublicKey())
	for _, earlier := range r.tx.signatures {
		if earlier.signer == address {
			return nil, malformed("Transaction.signature", earlier.offset,
				"%s has signed already: each signer signs once", address)
		}
	}
	return &signing{tx: r.tx, key: signer, id: key.ID(), address: address}, nil
}

// signWith is a parsed signWith. The zero signWith is that of an empty text.
type signWith struct {
	signer.Place
	text string
	form form

	// Of an address 41 and the 20 bytes, followed by the four of the checksum if it is
	// in base58check.
	decoded [addressSize + checksumSize]byte
}

func readSignWith(text string) (s signWith, err error) {
	s.text = text
	if err := s.read(); err != nil {
		return s, err
	}
	s.Place = signer.At(keystore.ByKeccak(s.address()))
	if s.form == formKeyID {
		s.Place = signer.At(keystore.ByID(text))
	}
	return s, nil
}

func (s *signWith) Of(keys []keystore.Key) (keystore.Key, chains.Party, error) {
	account := func(pub keystore.PublicKey) chains.Party { return party(addressOf(pub)) }
	return signer.Account(Name, keys, s.keyOf, account)
}

// keyOf returns the signer of a key. It refuses a key that cannot sign or is not what
// signWith names.
func (s *signWith) keyOf(key keystore.Key) (keystore.ECDSASigner, error) {
	signer, err := keystore.AsECDSA(key)
	if err != nil {
		return nil, err
	}
	if address := addressOf(key.PublicKey()); s.form != formKeyID && address != s.address() {
		return nil, &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name,
			Problem: fmt.Sprintf("key %s is at %s, not at %s", key.ID(), address, s.address())}
	}
	return signer, nil
}

type form uint8

const (
	formKeyID form = iota
	formHex
	formBase58
)

func (s *signWith) address() address { return readAddress(s.decoded[:addressSize]) }

// read treats a text one character short or long as an address too, so that the error
// for a slip is a malformed address and not an unknown key.
func (s *signWith) read() (err error) {
	switch text := s.text; {
	case len(text) >= 33 && len(text) <= 35 && text[0] == 'T':
		return s.readBase58()
	case len(text) == 2*addressSize && strings.HasPrefix(text, "41") && isHex(text):
		s.form = formHex
		_, err = hex.Decode(s.decoded[:], []byte(text))
		return err
	case strings.HasPrefix(text, "0x") && isHex(text[2:]):
		return badSignWith("this looks like an Ethereum address; an address of Tron starts with T, or in hex with " +
			"41 and has 42 digits without 0x")
	}
	return nil
}

func (s *signWith) readBase58() (err error) {
	decoded := base58.Decode(s.text) // of at most 35 characters: it takes quadratic time
	switch {
	case len(decoded) == 0 && !isAlphanumeric(s.text):
		return nil // an id of that length
	case len(decoded) == 0:
		return badSignWith("%s is no address of Tron, it has been mistyped: it has a character that base58 does "+
			"not have (0, O, I, l)", s.text)
	case len(decoded) > len(s.decoded):
		return badSignWith("%s is no address of Tron, it has been mistyped: it is longer than an address", s.text)
	}
	s.form = formBase58
	copy(s.decoded[len(s.decoded)-len(decoded):], decoded)
	checksum := chainhash.DoubleHashH(s.decoded[:addressSize])
	switch {
	case [checksumSize]byte(checksum[:]) != [checksumSize]byte(s.decoded[addressSize:]):
		return badSignWith("the checksum of %s is wrong: it has been mistyped or cut off", s.text)
	case s.decoded[0] != addressPrefix:
		return badSignWith("%s is not a Tron address: expected 21 bytes that begin with 41", s.text)
	}
	return nil
}

// isAlphanumeric distinguishes a slip in an address from an id.
func isAlphanumeric(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

func isHex(text string) bool {
	return text != "" && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

func badSignWith(format string, args ...any) *chains.SignerError {
	return &chains.SignerError{Kind: chains.ErrSignWith, Chain: Name, Problem: fmt.Sprintf(format, args...)}
}
