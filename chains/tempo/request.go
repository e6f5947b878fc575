package tempo

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/keystore"
)

// Ready implements evm.Acting. A secp256k1 key signs as the sender, for its own account or for
// the one that it is an access key of; if the sender has signed already, it signs as the fee payer.
func (tx *transaction) Ready(with evm.Signing, key keystore.Key) (chains.Signing, error) {
	s := &signing{Signing: with, tx: tx}
	if root := keystore.ActsFor(key); root != nil && tx.sender == nil {
		if len(root) != len(s.Account) {
			return nil, notSigner("key %s acts for %x, which is no address of 20 bytes", s.ID, root)
		}
		s.Account, s.accessKey = evm.Address(root), true
	}
	switch {
	case tx.sender != nil && tx.sender.address == s.Account:
		return nil, notSigner("%v is the sender: the network only accepts another account as its fee payer", s.Account)
	case tx.sender != nil:
		return s, nil
	case s.accessKey && tx.calls.creates:
		return nil, notSigner("key %s is an access key: the network does not let it create contracts", s.ID)
	}
	return s, s.checkKeyAuthorization()
}

// signing is a transaction with the key that signs it.
type signing struct {
	evm.Signing
	tx        *transaction
	accessKey bool // the key is an access key of the account
}

// checkKeyAuthorization refuses a sender whose signature does not make the network
// accept the key authorization: it must not name another account, and must be signed by
// the account's own key, or as an admin by the access key that signs the transaction.
func (s *signing) checkKeyAuthorization() error {
	key := s.tx.key
	if key == nil {
		return nil
	}
	if key.bound && key.account != s.Account {
		return notSigner("the key authorization is for account %v, not for %v: the network refuses it", key.account,
			s.Account)
	}
	by, ok := key.signature.address(s.tx.raw, key.digest(s.tx.raw))
	switch {
	case !ok:
		return notSigner("the key authorization's signature is not valid: the network refuses it")
	case by == s.Account && (!s.accessKey || key.Key == s.Address && key.keyType == 0):
		return nil // by the account's own key, to which it is bound
	case by == s.Account:
		return notSigner("the key authorization is for another key than the access key %v that signs: the network "+
			"refuses it", s.Address)
	case s.accessKey && by == s.Address && key.bound:
		return nil // by an admin
	}
	return notSigner("the key authorization is signed by %v, not by the account %v: the network refuses it", by,
		s.Account)
}

func notSigner(format string, args ...any) error {
	return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name, Problem: fmt.Sprintf(format, args...)}
}

func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	signature, err := s.Key.SignECDSA(ctx, s.digest())
	if err != nil {
		return nil, err
	}
	switch {
	case s.tx.sender != nil:
		return s.tx.splicePayer(dst, &signature), nil
	case s.accessKey:
		return s.tx.splice(dst, slices.Concat([]byte{signatureKeychain2}, s.Account[:], signature[:64],
			[]byte{27 + signature[64]})), nil
	}
	signature[64] += 27
	return s.tx.splice(dst, signature[:]), nil
}

// digest returns what the key signs. An access key commits to the account:
//
//	keccak256(04 ‖ hash ‖ account)
func (s *signing) digest() [32]byte {
	switch {
	case s.tx.sender != nil:
		return s.tx.payerHash(s.tx.sender.address)
	case s.accessKey:
		hash := s.tx.senderHash()
		return crypto.Keccak256Hash([]byte{signatureKeychain2}, hash[:], s.Account[:])
	}
	return s.tx.senderHash()
}
