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

// Request implements chains.Transaction.
func (tx *transaction) Request(signWith string) (chains.Request, error) {
	with, err := evm.ReadSignWith(Name, signWith)
	if err != nil {
		return nil, err
	}
	return &request{SignWith: with, tx: tx}, nil
}

type request struct {
	evm.SignWith
	tx *transaction
}

// With implements chains.Request. A secp256k1 key signs as the sender, for its own
// account or for the one that it is an access key of; if the sender has signed already,
// it signs as the fee payer. With refuses what the network would not accept.
func (r *request) With(keys ...keystore.Key) (chains.Signing, error) {
	signer, key, err := r.Signer(keys)
	if err != nil {
		return nil, err
	}
	s := &signing{tx: r.tx, signer: signer, id: key.ID(), address: evm.AddressOf(key.PublicKey())}
	s.account = s.address
	if root := keystore.ActsFor(key); root != nil && r.tx.sender == nil {
		if len(root) != len(s.account) {
			return nil, notSigner("key %s acts for %x, which is no address of 20 bytes", s.id, root)
		}
		s.account, s.accessKey = evm.Address(root), true
	}
	return s, s.check()
}

// signing is a transaction with the key that signs it.
type signing struct {
	tx        *transaction
	signer    keystore.ECDSASigner
	id        string      // of the key
	address   evm.Address // of the key
	account   evm.Address // for which it signs
	accessKey bool        // it is an access key of the account
	own       chains.Parties
}

func (s *signing) check() error {
	switch {
	case s.tx.sender != nil && s.tx.sender.address == s.account:
		return notSigner("%v is the sender: the network only accepts another account as its fee payer", s.account)
	case s.tx.sender != nil:
		return nil
	case s.accessKey && s.tx.calls.creates:
		return notSigner("key %s is an access key: the network does not let it create contracts", s.id)
	}
	return s.checkKeyAuthorization()
}

// checkKeyAuthorization refuses a sender whose signature does not make the network
// accept the key authorization: it must not name another account, and must be signed by
// the account's own key, or as an admin by the access key that signs the transaction.
func (s *signing) checkKeyAuthorization() error {
	key := s.tx.key
	if key == nil {
		return nil
	}
	if key.bound && key.account != s.account {
		return notSigner("the key authorization is for account %v, not for %v: the network refuses it", key.account, s.account)
	}
	by, ok := key.signature.address(s.tx.raw, key.digest(s.tx.raw))
	switch {
	case !ok:
		return notSigner("the key authorization's signature is not valid: the network refuses it")
	case by == s.account && (!s.accessKey || key.keyID == s.address && key.keyType == 0):
		return nil // by the account's own key, to which it is bound
	case by == s.account:
		return notSigner("the key authorization is for another key than the access key %v that signs: the network refuses it", s.address)
	case s.accessKey && by == s.address && key.bound:
		return nil // by an admin
	}
	return notSigner("the key authorization is signed by %v, not by the account %v: the network refuses it", by, s.account)
}

func notSigner(format string, args ...any) error {
	return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name, Problem: fmt.Sprintf(format, args...)}
}

// KeyIDs implements chains.Signing.
func (s *signing) KeyIDs() []string { return []string{s.id} }

// Effects implements chains.Signing.
func (s *signing) Effects() []chains.Effect {
	effects, _ := s.resolved(s.tx.network())
	return effects
}

// resolved returns the effects with what depends on the signer and on our own accounts.
func (s *signing) resolved(network *evm.Network) (effects []chains.Effect, signer chains.Party) {
	return network.Resolved(&s.account, s.own, s.tx.effects)
}

// Own implements chains.OwnReader.
func (s *signing) Own(mine func(address []byte) (bool, error)) (err error) {
	if len(s.tx.raw) >= evm.LeastOperation {
		s.own, err = chains.OwnParties(s.tx.effects(s.tx.briefly()), mine)
	}
	return err
}

// AppendSigned implements chains.Signing.
func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	signature, err := s.signer.SignECDSA(ctx, s.digest())
	if err != nil {
		return nil, err
	}
	switch {
	case s.tx.sender != nil:
		return s.tx.splicePayer(dst, &signature), nil
	case s.accessKey:
		return s.tx.splice(dst, slices.Concat([]byte{signatureKeychain2}, s.account[:], signature[:64], []byte{27 + signature[64]})), nil
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
		return crypto.Keccak256Hash([]byte{signatureKeychain2}, hash[:], s.account[:])
	}
	return s.tx.senderHash()
}
