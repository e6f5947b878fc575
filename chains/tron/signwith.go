package tron

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/chainhash/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Signers implements chains.Transaction. signWith is an address in base58check
// (T…), one in hex (41 and 40 digits), or a key's id.
func (tx *transaction) Signers(signWith string) ([]keystore.Locator, error) {
	meant, err := tx.resolve(signWith)
	switch {
	case err != nil:
		return nil, err
	case meant.form == formKeyID:
		tx.locator[0] = keystore.ByID(signWith)
	default:
		tx.locator[0] = keystore.ByKeccak(meant.address())
	}
	return tx.locator[:], nil
}

// CheckSpelling implements chains.Spelled.
func (tx *transaction) CheckSpelling(signWith string) error {
	meant, err := tx.resolve(signWith)
	if err != nil {
		return err
	}
	return meant.checkSpelling()
}

// resolve reads a signWith, and remembers it for the calls that follow.
func (tx *transaction) resolve(text string) (*signWith, error) {
	meant := &tx.signWith
	if meant.text == text {
		return meant, nil
	}
	*meant = signWith{text: text}
	if err := meant.read(); err != nil {
		*meant = signWith{}
		return nil, err
	}
	return meant, nil
}

// signWith is what a signWith says. The zero signWith is that of an empty text.
type signWith struct {
	text string
	form form

	// Of an address 41 and the 20 bytes, with the four of the checksum behind them
	// if it is in base58check.
	decoded [addressSize + checksumSize]byte
}

// form is a form in which signWith is written.
type form uint8

const (
	formKeyID form = iota
	formHex
	formBase58
)

func (s *signWith) address() address { return readAddress(s.decoded[:addressSize]) }

// read takes what is one character short or long for an address too, so that a
// slip is called a malformed address and not an unknown key. It leaves the
// checksum to checkSpelling: to hash an address costs as much as to hash a
// transaction, and the key that is found knows its own.
func (s *signWith) read() (err error) {
	switch text := s.text; {
	case len(text) >= 33 && len(text) <= 35 && text[0] == 'T':
		return s.readBase58()
	case len(text) == 2*addressSize && strings.HasPrefix(text, "41") && isHex(text):
		s.form = formHex
		_, err = hex.Decode(s.decoded[:], []byte(text))
		return err
	case strings.HasPrefix(text, "0x") && isHex(text[2:]):
		return badSignWith("this looks like an Ethereum address; an address of Tron starts with T, or in hex with 41 and has 42 digits without 0x")
	}
	return nil
}

func (s *signWith) readBase58() (err error) {
	decoded := base58.Decode(s.text) // of at most 35 characters: it takes quadratic time
	switch {
	case len(decoded) == 0 && !isAlphanumeric(s.text):
		return nil // an id of that length
	case len(decoded) == 0:
		return badSignWith("%s is no address of Tron, it has been mistyped: it has a character that base58 does not have (0, O, I, l)", s.text)
	case len(decoded) > len(s.decoded):
		return badSignWith("%s is no address of Tron, it has been mistyped: it is longer than an address", s.text)
	}
	s.form = formBase58
	copy(s.decoded[len(s.decoded)-len(decoded):], decoded)
	if s.decoded[0] != addressPrefix {
		return s.checkSpelling()
	}
	return nil
}

// checkSpelling refuses an address in base58check with a wrong checksum, or with
// another first byte.
func (s *signWith) checkSpelling() error {
	if s.form != formBase58 {
		return nil
	}
	checksum := chainhash.DoubleHashB(s.decoded[:addressSize])
	switch {
	case [checksumSize]byte(checksum) != [checksumSize]byte(s.decoded[addressSize:]):
		return badSignWith("the checksum of %s is wrong: it has been mistyped or cut off", s.text)
	case s.decoded[0] != addressPrefix:
		return badSignWith("%s is not an address of Tron: 21 bytes with 41 in front are expected", s.text)
	}
	return nil
}

// isAlphanumeric tells a slip in an address from an id.
func isAlphanumeric(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// checkIsAt refuses a misspelled address, and a key that is at another one.
func (s *signWith) checkIsAt(key keystore.Key) error {
	if err := s.checkSpelling(); err != nil {
		return err
	}
	if ours := addressOf(key.PublicKey()); ours != s.address() {
		return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name,
			Problem: fmt.Sprintf("key %s is at %s, not at %s", key.ID(), ours, s.address())}
	}
	return nil
}

func isHex(text string) bool {
	return text != "" && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}
