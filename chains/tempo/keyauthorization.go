package tempo

import (
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// keyAuthorization gives another key access to the account:
//
//	[[chainId, keyType, keyId, expiry?, limits?, scopes?, witness?, isAdmin?, account?], signature]
//
// A trailing field is left out; an absent field that others follow is 80.
type keyAuthorization struct {
	evm.KeyGrant
	keyType   uint8
	witness   []byte // 32 bytes (TIP-1053), or none
	bound     bool   // there is an account
	account   evm.Address
	signed    rlp.Span // the inner list, header included: what the signature covers
	signature envelope
}

var keyTypes = [...]string{kindSecp256k1, kindP256, kindWebAuthn}

// keyTypeConfig is a configurable account as an access key (TIP-1111).
const keyTypeConfig = 3

func (tx *transaction) readKeyAuthorization(f *rlp.Fields) {
	key := &keyAuthorization{}
	outer := f.List("keyAuthorization")
	start := outer.At()
	inner := outer.List("authorization")
	tx.readKey(key, &inner)
	key.readOptions(&inner, tx.raw)
	outer.Join(&inner)
	key.signed = rlp.Between(start, outer.At())
	key.signature = readEnvelope(&outer, "signature", tx.raw, false)
	f.Join(&outer)
	tx.key = key
}

func (tx *transaction) readKey(key *keyAuthorization, f *rlp.Fields) {
	offset := f.At()
	if chainID := f.Uint64("chainId"); chainID != tx.chainID {
		f.Fail("chainId", offset, "is %d, but the transaction is for chain %d", chainID, tx.chainID)
	}
	offset = f.At()
	switch key.keyType = f.Uint8("keyType"); {
	case key.keyType == keyTypeConfig:
		f.Fail("keyType", offset, "is 3, a configurable account, which no network accepts before upgrade T14")
	case int(key.keyType) >= len(keyTypes):
		f.Fail("keyType", offset, "%d is unknown: 0 (secp256k1), 1 (P-256) and 2 (WebAuthn) are supported", key.keyType)
	}
	offset = f.At()
	if key.Key = f.Address("keyId"); key.Key == (evm.Address{}) {
		f.Fail("keyId", offset, "is the zero address, which stands for the account's own key")
	}
}

func (key *keyAuthorization) readOptions(f *rlp.Fields, raw []byte) {
	if readOption(f, "expiry") {
		key.Expires = f.Uint64("expiry")
	}
	if key.Limited = readOption(f, "limits"); key.Limited {
		list := f.List("limits")
		key.Limits = readLimits(&list, raw)
		f.Join(&list)
	}
	if key.Scoped = readOption(f, "scopes"); key.Scoped {
		list := f.List("scopes")
		key.Scopes = readScopes(&list)
		f.Join(&list)
	}
	if readOption(f, "witness") {
		key.witness = f.Bytes("witness", 32)
	}
	if readOption(f, "isAdmin") {
		offset := f.At()
		if marker := f.Uint8("isAdmin"); marker != 1 {
			f.Fail("isAdmin", offset, "is %d: 1 is the only marker (TIP-1049)", marker)
		}
		if key.Admin = true; key.Expires != 0 || key.Limited || key.Scoped {
			f.Fail("isAdmin", offset, "an admin key has no expiry, limits or scopes: the network refuses it")
		}
	}
	if key.bound = readOption(f, "account"); key.bound {
		key.account = f.Address("account")
	}
}

// readOption reports whether an optional field is there. It skips one that is 80, which
// another field must follow: the node refuses a last field that is 80.
func readOption(f *rlp.Fields, name string) bool {
	if !f.NextIsEmpty() {
		return f.More()
	}
	offset := f.At()
	if f.String(name); !f.More() {
		f.Fail(name, offset, "is empty and the last: a field that none follows is left out")
	}
	return false
}

func (key *keyAuthorization) digest(raw []byte) [32]byte {
	return crypto.Keccak256Hash(key.signed.Of(raw))
}
