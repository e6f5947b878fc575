package tempomodel

import (
	"bytes"
	"crypto/ecdsa"
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

// SigningHash returns the digest that the sender signs.
func (tx *Transaction) SigningHash() []byte {
	preimage := *tx
	preimage.Sender, preimage.ForPayer = nil, false
	if !bytes.Equal(tx.FeePayer, []byte{0x80}) {
		preimage.FeeToken, preimage.FeePayer = nil, []byte{0}
	}
	return crypto.Keccak256(preimage.Encode())
}

// PayerHash returns the digest that the fee payer of a sender signs.
func (tx *Transaction) PayerHash(sender common.Address) []byte {
	preimage := *tx
	preimage.Sender, preimage.FeePayer = nil, encode(sender)
	return crypto.Keccak256([]byte{typeFeePayer}, encode(&preimage))
}

// Sign returns the signed transaction.
func (tx *Transaction) Sign(key *ecdsa.PrivateKey) []byte {
	return WithSignature(tx.Encode(), sign(key, tx.SigningHash()))
}

// WithSignature appends a signature to an unsigned transaction, as its last item.
func WithSignature(unsigned, signature []byte) []byte {
	var items []rlp.RawValue
	if err := rlp.DecodeBytes(unsigned[1:], &items); err != nil {
		panic(err)
	}
	return append([]byte{unsigned[0]}, encode(append(items, encode(signature)))...)
}

// sign returns r ‖ s ‖ v, v 27 or 28.
func sign(key *ecdsa.PrivateKey, digest []byte) []byte {
	signature, err := crypto.Sign(digest, key)
	if err != nil {
		panic(err)
	}
	signature[64] += 27
	return signature
}

// Open returns the sender of a signed transaction, and the unsigned bytes.
func Open(signed []byte) (sender common.Address, unsigned []byte, err error) {
	if len(signed) == 0 || signed[0] != typeTempo {
		return sender, nil, errors.New("not of type 0x76")
	}
	var items []rlp.RawValue
	if err := rlp.DecodeBytes(signed[1:], &items); err != nil {
		return sender, nil, err
	}
	if len(items) < 14 {
		return sender, nil, errors.New("not signed")
	}
	var signature []byte
	if err := rlp.DecodeBytes(items[len(items)-1], &signature); err != nil {
		return sender, nil, err
	}
	unsigned = append([]byte{typeTempo}, encode(items[:len(items)-1])...)
	tx, err := Decode(unsigned)
	if err != nil {
		return sender, nil, err
	}
	if !isSignature(signature) || len(signature) != 65 {
		return sender, nil, errors.New("signature of another shape")
	}
	signature[64] -= 27
	pub, err := crypto.SigToPub(tx.SigningHash(), signature)
	if err != nil {
		return sender, nil, err
	}
	return crypto.PubkeyToAddress(*pub), unsigned, nil
}

// Countersign returns the transaction with a fee payer's signature.
func (tx *Transaction) Countersign(payer *ecdsa.PrivateKey) []byte {
	sender, err := tx.SenderAddress()
	if err != nil {
		panic(err)
	}
	signed := *tx
	signed.ForPayer, signed.FeePayer = false, SignPayer(payer, tx.PayerHash(sender))
	return signed.Encode()
}

// SignFor returns the transaction with the signature of an account's access key.
func (tx *Transaction) SignFor(account common.Address, key *ecdsa.PrivateKey) []byte {
	return WithSignature(tx.Encode(), tx.KeychainSignature(account, key))
}

// KeychainSignature returns the sender's signature by an access key of an account.
func (tx *Transaction) KeychainSignature(account common.Address, key *ecdsa.PrivateKey) []byte {
	digest := crypto.Keccak256([]byte{4}, tx.SigningHash(), account[:])
	return append(append([]byte{4}, account[:]...), sign(key, digest)...)
}

// ToCountersign returns what a fee payer gets: the transaction with its sender's
// signature and a placeholder, or what the fee payer signs, with the signature.
func (tx *Transaction) ToCountersign(signature []byte, forPayer bool) *Transaction {
	signed := *tx
	signed.Sender, signed.ForPayer, signed.FeePayer = signature, forPayer, []byte{0}
	if forPayer {
		sender, err := signed.SenderAddress()
		if err != nil {
			panic(err)
		}
		signed.FeePayer = encode(sender)
	}
	return &signed
}

// SenderSignature returns the sender's own signature.
func (tx *Transaction) SenderSignature(key *ecdsa.PrivateKey) []byte {
	return sign(key, tx.SigningHash())
}

// RefusesSender returns why the network does not accept the transaction with a
// signature of the sender's own key, or nil. The key authorization must be signed by
// that account's key.
func (tx *Transaction) RefusesSender(sender common.Address) error {
	if tx.Sender != nil {
		if has, err := tx.SenderAddress(); err != nil || has == sender {
			return errors.New("the fee payer is the sender")
		}
		return nil
	}
	if len(tx.Key) == 0 {
		return nil
	}
	authorization := tx.Key[0]
	if account := authorization.Key.Account; account.Present && account.Value != sender {
		return errors.New("key authorization for another account")
	}
	signature := bytes.Clone(authorization.Signature)
	if len(signature) == 65 {
		signature[64] -= 27
		pub, err := crypto.SigToPub(crypto.Keccak256(encode(authorization.Key)), signature)
		if err == nil && crypto.PubkeyToAddress(*pub) == sender {
			return nil
		}
	}
	return errors.New("key authorization by another key") // P-256 keys have other addresses
}

// Sign returns the key with an account's signature.
func (key Key) Sign(account *ecdsa.PrivateKey) KeyAuthorization {
	return KeyAuthorization{Key: key, Signature: sign(account, crypto.Keccak256(encode(key)))}
}
