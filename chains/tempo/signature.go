package tempo

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// The signatures in authorizations and of senders. All but the first begin with a type byte:
//
//	secp256k1   r 32 ‖ s 32 ‖ v 1, 65 bytes
//	P-256       01 ‖ r ‖ s ‖ x ‖ y ‖ preHash 1, 130 bytes
//	WebAuthn    02 ‖ authenticatorData ‖ clientDataJSON ‖ r ‖ s ‖ x ‖ y, 129 to 2,049 bytes
//	keychain    04 ‖ account 20 ‖ one of the above (03, version 1, is refused)
//
// 05 is the signature of a configurable account (TIP-1107, TIP-1111), which has those
// of several owners. No network accepts it before upgrade T14, which is not scheduled,
// so it is refused by name, alone and in a keychain.
const (
	sizeSecp256k1  = 65
	sizeP256       = 130
	minWebAuthn    = 1 + 128
	maxWebAuthn    = 1 + 2048
	keychainHeader = 1 + 20

	signatureP256      = 0x01
	signatureWebAuthn  = 0x02
	signatureKeychain1 = 0x03
	signatureKeychain2 = 0x04
	signatureConfig    = 0x05
)

// envelope is a signature of one of these kinds.
type envelope struct {
	kind     string // as a person reads it
	keychain bool   // made by a key of an account's keychain, for that account
	account  evm.Address
	bytes    rlp.Span // without the keychain's header
}

// readEnvelope reads a signature and checks its shape. keychain allows signatures by a
// key of an account's keychain.
func readEnvelope(f *rlp.Fields, name string, raw []byte, keychain bool) envelope {
	offset := f.At()
	span := f.String(name)
	if f.Err() != nil {
		return envelope{}
	}
	e := envelope{bytes: span}
	signature := span.Of(raw)
	if keychain && hasKeychainHeader(signature) {
		if signature[0] == signatureKeychain1 {
			f.Fail(name, offset, "is of keychain version 1 (03), which the network refuses since T1C: expected "+
				"version 2 (04)")
		}
		e.keychain, e.account = true, evm.Address(signature[1:keychainHeader])
		e.bytes.Start += keychainHeader
		signature = signature[keychainHeader:]
	}
	e.kind = kindOf(signature)
	switch {
	case e.kind == "" && len(signature) > 1 && signature[0] == signatureConfig:
		f.Fail(name, offset, "is of a configurable account (05), which no network accepts before upgrade T14")
	case e.kind == "":
		f.Fail(name, offset, "is not a signature: %d bytes of no known kind", span.Len())
	case e.kind == kindSecp256k1 && !validSecp256k1(signature):
		f.Fail(name, offset, "is not a signature: r and s are to be between 1 and the group order, s low, v 27 or 28")
	}
	return e
}

// hasKeychainHeader reports whether a signature begins with a keychain's header. A
// secp256k1 signature has no type byte, and may begin with any byte.
func hasKeychainHeader(signature []byte) bool {
	return len(signature) > keychainHeader && len(signature) != sizeSecp256k1 &&
		(signature[0] == signatureKeychain1 || signature[0] == signatureKeychain2)
}

const (
	kindSecp256k1 = "secp256k1"
	kindP256      = "P-256"
	kindWebAuthn  = "WebAuthn"
)

func kindOf(signature []byte) string {
	size := len(signature)
	switch {
	case size == sizeSecp256k1:
		return kindSecp256k1
	case size == sizeP256 && signature[0] == signatureP256 && signature[size-1] <= 1:
		return kindP256
	case size >= minWebAuthn && size <= maxWebAuthn && signature[0] == signatureWebAuthn:
		return kindWebAuthn
	}
	return ""
}

func validSecp256k1(signature []byte) bool {
	var r, s uint256.Int
	r.SetBytes(signature[:32])
	s.SetBytes(signature[32:64])
	v := signature[64]
	return evm.ValidScalar(&r) && evm.LowScalar(&s) && (v == 27 || v == 28)
}

// field shows the signer of a digest. The network verifies signatures by P-256 keys.
func (e envelope) field(raw []byte, digest common.Hash) chains.Field {
	signer, ok := e.address(raw, digest)
	switch {
	case !ok:
		return chains.Text("signed by", "no account").WithNote("the signature is not valid")
	case e.kind == kindSecp256k1:
		return chains.AddressField("signed by", signer.String()).WithNote(e.kind)
	}
	return chains.AddressField("signed by", signer.String()).WithNote(e.kind + ", as it claims: not verified here")
}

// address returns the address of the key that signed a digest. For secp256k1 it is
// recovered; ok is false if no key can have made the signature. The other kinds include
// a P-256 key, and are not verified here.
func (e envelope) address(raw []byte, digest common.Hash) (signer evm.Address, ok bool) {
	signature := e.bytes.Of(raw)
	if e.kind == kindSecp256k1 {
		if e.keychain {
			digest = crypto.Keccak256Hash([]byte{signatureKeychain2}, digest[:], e.account[:])
		}
		var r, s uint256.Int
		r.SetBytes(signature[:32])
		s.SetBytes(signature[32:64])
		return evm.Recover(digest, signature[64]-27, r, s)
	}
	end := len(signature)
	if e.kind == kindP256 {
		end-- // preHash
	}
	hash := crypto.Keccak256Hash(signature[end-64 : end])
	return evm.Address(hash[12:]), true
}

// sender is the signer of a transaction that its fee payer countersigns.
type sender struct {
	item      rlp.Span // the signature's item, header included
	signature envelope
	address   evm.Address // the account; of a keychain's signature, the one that it names
}

// unsignedEnd returns the end of the items that sender and fee payer sign.
func (tx *transaction) unsignedEnd() int32 {
	if tx.sender == nil {
		return tx.items.End
	}
	return tx.sender.item.Start
}

// checkSigned refuses what is signed already and waits for no fee payer, and what a fee
// payer would sign for a sender that has not signed.
func (tx *transaction) checkSigned() error {
	form := tx.feePayer.form
	switch {
	case tx.sender == nil && form == payerSender:
		return malformed("signature", len(tx.raw), "is missing: a fee payer countersigns what its sender has signed")
	case tx.sender == nil:
		return nil
	case form == payerNone || form == payerSigned:
		return malformed("signature", int(tx.sender.item.Start), "is present: the transaction is signed already")
	}
	address, ok := tx.sender.signature.address(tx.raw, tx.senderHash())
	switch {
	case !ok:
		return malformed("signature", int(tx.sender.item.Start), "is not valid: no key can have made it")
	case tx.sender.signature.keychain:
		address = tx.sender.signature.account
	}
	if form == payerSender && tx.feePayer.sender != address {
		return malformed("feePayer", int(tx.feePayerItem.Start),
			"is "+tx.feePayer.sender.String()+", but "+address.String()+" has signed")
	}
	tx.sender.address = address
	return nil
}
