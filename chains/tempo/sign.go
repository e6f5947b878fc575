package tempo

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/evm"
	"github.com/countersign-dev/countersign/chains/internal/rlp"
	"github.com/countersign-dev/countersign/internal/keccak"
	"github.com/countersign-dev/countersign/keystore"
)

// AppendSigned implements chains.Transaction.
func (tx *transaction) AppendSigned(ctx context.Context, dst []byte, key keystore.Key, signWith string) ([]byte, error) {
	signer, err := tx.ready(key, signWith)
	if err != nil {
		return nil, err
	}
	signature, err := signer.SignECDSA(ctx, tx.preimageHash())
	if err != nil {
		return nil, err
	}
	return tx.splice(dst, &signature), nil
}

// Check implements chains.Transaction: any secp256k1 key can sign it, and at an
// address the one that is there, unless the network refuses what it would sign.
func (tx *transaction) Check(key keystore.Key, signWith string) error {
	_, err := tx.ready(key, signWith)
	return err
}

func (tx *transaction) ready(key keystore.Key, signWith string) (keystore.ECDSASigner, error) {
	signer, err := evm.Signer(Name, key, signWith)
	if err != nil {
		return nil, err
	}
	return signer, tx.checkSender(evm.AddressOf(key.PublicKey()))
}

// checkSender refuses a sender under whose signature the network does not take the
// transaction: its key authorization names another account, or has another's
// signature. Keys of a keychain, which may sign one as admins, are told apart by
// the sender's signature.
func (tx *transaction) checkSender(sender evm.Address) error {
	key := tx.key
	if key == nil {
		return nil
	}
	if key.bound && key.account != sender {
		return notSigner("the key authorization is for account %v, not for %v: the network refuses it", key.account, sender)
	}
	switch signer, ok := key.signature.address(tx.raw, key.digest(tx.raw)); {
	case !ok:
		return notSigner("the key authorization's signature is not valid: the network refuses it")
	case signer != sender:
		return notSigner("the key authorization is signed by %v, not by the account %v: the network refuses it", signer, sender)
	}
	return nil
}

func notSigner(format string, args ...any) error {
	return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name, Problem: fmt.Sprintf(format, args...)}
}

// sponsored is feeToken and feePayer as a sponsored sender signs them.
var sponsored = []byte{0x80, 0x00}

// preimageHash is Keccak-256 over what the sender signs: the raw bytes, or, if
// somebody else pays, the same items with feeToken 80 and feePayer 00.
func (tx *transaction) preimageHash() [32]byte {
	if tx.feePayer.form == payerNone || tx.feePayer.form == payerPlaceholder && !tx.hasFeeToken {
		return keccak.SumHeap256(nil, tx.raw)
	}
	before := tx.raw[tx.items.Start:tx.feeTokenItem.Start]
	after := tx.raw[tx.feePayerItem.End:tx.items.End]
	var room [1 + rlp.MaxListHeader]byte
	header := rlp.AppendListHeader(append(room[:0], typeTempo), len(before)+len(sponsored)+len(after))
	return keccak.SumHeap256(header, before, sponsored, after)
}

// splice appends the items with the signature behind them, as a string of 65
// bytes, and a header that counts it in front:
//
//	76 ‖ header ‖ items ‖ b8 41 ‖ r ‖ s ‖ v
func (tx *transaction) splice(dst []byte, signature *[65]byte) []byte {
	size := tx.items.Len() + 2 + len(signature)
	out := slices.Grow(dst, 1+rlp.MaxListHeader+size)
	out = rlp.AppendListHeader(append(out, typeTempo), size)
	out = append(out, tx.items.Of(tx.raw)...)
	out = append(out, 0xb7+1, byte(len(signature)))
	out = append(out, signature[:64]...)
	return append(out, 27+signature[64])
}
