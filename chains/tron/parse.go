package tron

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
)

func (tx *transaction) parse() error {
	switch { // what is not a transaction at all
	case len(tx.raw) == 0:
		return malformed("", -1, "empty: expected raw_data_hex")
	case len(tx.raw) > tx.limits.MaxSize:
		return malformed("", -1, "%d bytes, the network accepts %d", len(tx.raw), tx.limits.MaxSize)
	case tx.raw[0] == '{':
		return malformed("", 0, "this is JSON: expected raw_data_hex, the member of that name in a TronWeb transaction")
	case len(tx.raw) == sha256.Size && tx.raw[0] != 0x0a:
		return malformed("", 0, "32 bytes: this looks like a transaction id: expected raw_data_hex, since nothing "+
			"is signed that cannot be read")
	}
	if err := tx.findRawData(); err != nil {
		return err
	}
	if err := rawMessage.read(tx.raw, tx.from, tx.to, tx.frame[:]); err != nil {
		return err
	}
	if err := tx.readContract(); err != nil {
		return err
	}
	if size := tx.signedSize() + resultRoom; size > tx.limits.MaxSize {
		return malformed("", -1, "%d bytes once signed and with room for its result, the network accepts %d", size,
			tx.limits.MaxSize)
	}
	tx.id = sha256.Sum256(tx.raw[tx.from:tx.to])
	return tx.recoverSigners()
}

// findRawData distinguishes the two forms: a raw starts with its two reference bytes
// (0a 02), a whole Transaction with a raw_data that does.
func (tx *transaction) findRawData() error {
	tx.from, tx.to = 0, len(tx.raw)
	if tx.raw[0] != 0x0a {
		return nil
	}
	length, offset, err := readVarint(tx.raw, 1, len(tx.raw), "Transaction.raw_data")
	// In 0a 02 0a 02 the reference bytes happen to be these.
	if whole := err == nil && length != 2 && bytes.HasPrefix(tx.raw[offset:], []byte{0x0a, 0x02}); !whole {
		return nil
	}
	var whole values
	if err := transactionMessage.read(tx.raw, 0, len(tx.raw), whole[:]); err != nil {
		return err
	}
	tx.whole = true
	tx.from, tx.to = whole[0].from(), whole[0].to()
	for entry := range entries(tx.raw, whole[1]) {
		tx.signatures = append(tx.signatures, signature{offset: entry.from()})
	}
	if len(tx.signatures) >= maxSignatures {
		return malformed("Transaction.signature", tx.signatures[len(tx.signatures)-1].offset,
			"%d signatures already: the network accepts at most %d", len(tx.signatures), maxSignatures)
	}
	return nil
}

func (tx *transaction) readContract() error {
	span := tx.frame[rawContract]
	if err := contractMessage.read(tx.raw, span.from(), span.to(), tx.envelope[:]); err != nil {
		return err
	}
	number := tx.envelope[contractType].number
	contract, err := contractOf(number, max(tx.envelope[contractType].from(), span.from()))
	if err != nil {
		return err
	}
	tx.contract = contract
	inAny := tx.envelope[contractParameter]
	if err := anyMessage.read(tx.raw, inAny.from(), inAny.to(), tx.parameter[:]); err != nil {
		return err
	}
	url := tx.parameter[0]
	if got := url.of(tx.raw); string(got) != contract.typeURL {
		return malformed("Any.type_url", url.from(), "%q does not match contract type %d, which requires %q", got,
			number, contract.typeURL)
	}
	if tx.values = tx.few[:]; len(contract.message.fields) > len(tx.few) {
		tx.values = make([]value, len(contract.message.fields))
	}
	if err := contract.message.read(tx.raw, tx.parameter[1].from(), tx.parameter[1].to(), tx.values); err != nil {
		return err
	}
	tx.owner = readAddress(tx.values[contract.message.indexOf(kindOwner)].of(tx.raw))
	tx.ownerParty = party(tx.owner)
	return nil
}

// recoverSigners recovers the signers of all signatures. It refuses a signer that is
// there twice, even with different signatures: the network counts each once.
func (tx *transaction) recoverSigners() error {
	for i := range tx.signatures {
		signature := &tx.signatures[i]
		signer, err := recoverSigner(tx.id, tx.raw[signature.offset:signature.offset+signatureSize])
		if err != nil {
			return malformed("Transaction.signature", signature.offset, "%s", err)
		}
		signature.signer = signer
		for _, earlier := range tx.signatures[:i] {
			if earlier.signer == signer {
				return malformed("Transaction.signature", signature.offset,
					"%s has signed already at byte %d: each signer signs once", signer, earlier.offset)
			}
		}
	}
	return nil
}

func recoverSigner(id [32]byte, signature []byte) (signer address, err error) {
	plain := [signatureSize]byte(signature)
	if plain[64] >= vOffset {
		plain[64] -= vOffset
	}
	if plain[64] > 1 {
		return signer, fmt.Errorf("v is %02x, want 1b or 1c (or 00 or 01)", signature[64])
	}
	point, err := crypto.Ecrecover(id[:], plain[:])
	if err != nil {
		return signer, errors.New("no key can have made it")
	}
	hash := crypto.Keccak256Hash(point[1:])
	copy(signer[:], hash[12:])
	return signer, nil
}

func (c Chain) Parse(raw []byte) (chains.Transaction, error) {
	tx := &transaction{raw: raw, limits: Limits{
		MaxSize:  min(cmp.Or(c.limits.MaxSize, DefaultMaxSize), math.MaxInt32), // the range of a value's offsets
		FeeLimit: cmp.Or(c.limits.FeeLimit, DefaultFeeLimit),
		Lifetime: cmp.Or(c.limits.Lifetime, DefaultLifetime),
	}}
	if err := tx.parse(); err != nil {
		return nil, err
	}
	return tx, nil
}
