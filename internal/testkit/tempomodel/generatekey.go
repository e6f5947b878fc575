package tempomodel

import (
	"crypto/ecdh"
	"encoding/base64"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

func (g generator) authorization() authorization {
	a := authorization{ChainID: new(big.Int).SetUint64(g.number()), Address: g.address(), Nonce: g.number()}
	digest := crypto.Keccak256([]byte{5}, encode([]any{a.ChainID, a.Address, a.Nonce}))
	if g.IntN(3) > 0 {
		a.Signature = g.signature(digest)
		return a
	}
	account := g.exactly(20)
	digest = crypto.Keccak256([]byte{4}, digest, account)
	a.Signature = append(append([]byte{4}, account...), g.signature(digest)...)
	return a
}

// keyAuthorization returns an authorization signed by the sender, the only kind that
// the network accepts.
func (g generator) keyAuthorization(chainID uint64) KeyAuthorization {
	key := Key{ChainID: chainID, Type: uint8(g.IntN(3)), ID: g.address()}
	if g.IntN(2) == 0 {
		key.Expiry = g.number()
	}
	switch g.IntN(3) {
	case 0:
		key.Limits = Some([]Limit{})
	case 1:
		key.Limits = Some(g.limits())
	}
	switch g.IntN(3) {
	case 0:
		key.Scopes = Some([]Scope{})
	case 1:
		key.Scopes = Some(g.scopes())
	}
	if g.IntN(3) == 0 {
		key.Witness = Some(common.Hash(g.exactly(32)))
	}
	if g.IntN(4) == 0 {
		key.Admin, key.Expiry, key.Limits, key.Scopes = 1, 0, Option[[]Limit]{}, Option[[]Scope]{}
	}
	if g.IntN(3) == 0 {
		key.Account = Some(crypto.PubkeyToAddress(g.sender.PublicKey))
	}
	return key.Sign(g.sender)
}

func (g generator) limits() []Limit {
	limits := make([]Limit, 1+g.IntN(3))
	for i := range limits {
		limits[i] = Limit{Token: g.address(), Amount: g.amount(16)}
		if g.IntN(2) == 0 {
			limits[i].Period = g.number()
		}
	}
	return limits
}

func (g generator) scopes() []Scope {
	scopes := make([]Scope, 1+g.IntN(3))
	for i := range scopes {
		scopes[i].Target = g.address()
		for range g.IntN(3) {
			scopes[i].Rules = append(scopes[i].Rules, rule{Selector: [4]byte(g.exactly(4))})
		}
		if g.IntN(2) > 0 {
			scopes[i].Target = common.Address(append(common.FromHex("20c000000000000000000000"), g.exactly(8)...))
			scopes[i].Rules = append(scopes[i].Rules, g.transferRules()...)
		}
	}
	return scopes
}

// transferRules returns rules that name recipients, for functions that allow it.
func (g generator) transferRules() (rules []rule) {
	for _, selector := range recipientSelectors[:g.IntN(len(recipientSelectors)+1)] {
		rule := rule{Selector: selector}
		for range g.IntN(3) {
			rule.Recipients = append(rule.Recipients, g.address())
		}
		rules = append(rules, rule)
	}
	return rules
}

// signature returns one of the three primitive kinds. Only that of secp256k1 is valid:
// only the network verifies the others.
func (g generator) signature(digest []byte) []byte {
	switch g.IntN(3) {
	case 0:
		return append(append(append([]byte{1}, g.exactly(64)...), g.p256()...), byte(g.IntN(2)))
	case 1:
		challenge := base64.RawURLEncoding.EncodeToString(digest)
		client := fmt.Sprintf(`{"type":"webauthn.get","challenge":%q,"origin":"https://example.com"}`, challenge)
		data := append(g.exactly(32), 5, 0, 0, 0, 1)
		signature := append(append([]byte{2}, data...), client...)
		return append(append(signature, g.exactly(64)...), g.p256()...)
	}
	return sign(g.key(), digest)
}

// p256 returns the coordinates of a random public key.
func (g generator) p256() []byte {
	for {
		if key, err := ecdh.P256().NewPrivateKey(g.exactly(32)); err == nil {
			return key.PublicKey().Bytes()[1:]
		}
	}
}
