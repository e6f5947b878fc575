package tempo

import (
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains/internal/evm"
	"github.com/countersign-dev/countersign/chains/internal/rlp"
)

// keyAuthorization gives another key access to the account:
//
//	[[chainId, keyType, keyId, expiry?, limits?, scopes?, witness?, isAdmin?, account?], signature]
//
// A trailing field is left out; one that others follow is 80 if it is not there.
type keyAuthorization struct {
	keyType   uint8
	keyID     evm.Address
	expiry    uint64 // seconds since the epoch; 0: never
	limited   bool   // limits is a list, be it empty
	limits    []tokenLimit
	scoped    bool // scopes is a list, be it empty
	scopes    []scope
	witness   []byte // 32 bytes (TIP-1053), or none
	admin     bool   // TIP-1049
	account   *evm.Address
	signed    rlp.Span // the inner list, header included: what the signature covers
	signature envelope
}

// tokenLimit is [token, limit, period?]: what may be spent, in all or in each
// period of seconds.
type tokenLimit struct {
	token  evm.Address
	limit  uint256.Int
	period uint64
}

// scope is [target, [[selector, [recipient…]]…]]: which calls are allowed
// (TIP-1011). No rules: any call to the target. No recipients: any.
type scope struct {
	target evm.Address
	rules  []selectorRule
}

type selectorRule struct {
	selector   []byte
	recipients []evm.Address
}

var keyTypes = [...]string{kindSecp256k1, kindP256, kindWebAuthn}

func (tx *transaction) readKeyAuthorization(f *rlp.Fields) {
	if at := f.At(); !f.NextIsList() {
		f.Raw("keyAuthorization")
		f.Fail("keyAuthorization", at, "is not a list: a key authorization is expected here, or nothing; is the transaction signed already?")
		return
	}
	key := &keyAuthorization{}
	outer := f.List("keyAuthorization")
	start := outer.At()
	inner := outer.List("authorization")
	tx.readKey(key, &inner)
	key.readOptions(&inner)
	outer.Join(&inner)
	key.signed = rlp.Span{Start: start, End: outer.At()}
	key.signature = readEnvelope(&outer, "signature", tx.raw, false)
	f.Join(&outer)
	tx.key = key
}

func (tx *transaction) readKey(key *keyAuthorization, f *rlp.Fields) {
	at := f.At()
	if chainID := f.Uint64("chainId"); chainID != tx.chainID {
		f.Fail("chainId", at, "is %d, but the transaction is for chain %d", chainID, tx.chainID)
	}
	at = f.At()
	if key.keyType = f.Uint8("keyType"); int(key.keyType) >= len(keyTypes) {
		f.Fail("keyType", at, "%d is unknown: 0 (secp256k1), 1 (P-256) and 2 (WebAuthn) are supported", key.keyType)
	}
	key.keyID = f.Address("keyId")
}

func (key *keyAuthorization) readOptions(f *rlp.Fields) {
	if readOption(f, "expiry") {
		key.expiry = f.Uint64("expiry")
	}
	if key.limited = readOption(f, "limits"); key.limited {
		key.readLimits(f)
	}
	if key.scoped = readOption(f, "scopes"); key.scoped {
		key.readScopes(f)
	}
	if readOption(f, "witness") {
		key.witness = f.Bytes("witness", 32)
	}
	if readOption(f, "isAdmin") {
		at := f.At()
		if marker := f.Uint8("isAdmin"); marker != 1 {
			f.Fail("isAdmin", at, "is %d: 1 is the only marker (TIP-1049)", marker)
		}
		key.admin = true
	}
	if readOption(f, "account") {
		account := evm.Address(f.Address("account"))
		key.account = &account
	}
}

// readOption reports whether an optional field is there. If it is 80, it reads
// over it: another has to follow then. The node refuses one that is 80 and the last.
func readOption(f *rlp.Fields, name string) bool {
	if !f.NextIsEmpty() {
		return f.More()
	}
	at := f.At()
	if f.String(name); !f.More() {
		f.Fail(name, at, "is empty and the last: a field that none follows is left out")
	}
	return false
}

func (key *keyAuthorization) readLimits(f *rlp.Fields) {
	list := f.List("limits")
	for list.More() {
		tuple := list.List("limit")
		limit := tokenLimit{token: tuple.Address("token"), limit: tuple.Uint256("limit")}
		if tuple.More() {
			at := tuple.At()
			if limit.period = tuple.Uint64("period"); limit.period == 0 {
				tuple.Fail("period", at, "is 0: left out is its only form then")
			}
		}
		list.Join(&tuple)
		key.limits = append(key.limits, limit)
	}
	f.Join(&list)
}

func (key *keyAuthorization) readScopes(f *rlp.Fields) {
	list := f.List("scopes")
	for list.More() {
		tuple := list.List("scope")
		s := scope{target: tuple.Address("target")}
		rules := tuple.List("selectorRules")
		for rules.More() {
			s.rules = append(s.rules, readRule(&rules))
		}
		tuple.Join(&rules)
		list.Join(&tuple)
		key.scopes = append(key.scopes, s)
	}
	f.Join(&list)
}

func readRule(f *rlp.Fields) selectorRule {
	tuple := f.List("rule")
	rule := selectorRule{selector: tuple.Bytes("selector", 4)}
	recipients := tuple.List("recipients")
	for recipients.More() {
		rule.recipients = append(rule.recipients, recipients.Address("recipient"))
	}
	tuple.Join(&recipients)
	f.Join(&tuple)
	return rule
}

func (key *keyAuthorization) digest(raw []byte) [32]byte {
	return crypto.Keccak256Hash(key.signed.Of(raw))
}
