package tempomodel

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

// Refuses returns why the raw unsigned transaction must be refused, or nil: it is not
// the canonical encoding of a Transaction, or breaks a rule.
func Refuses(raw []byte) error {
	tx, err := Decode(raw)
	if err != nil {
		return err
	}
	if !bytes.Equal(tx.Encode(), raw) {
		return errors.New("not the canonical encoding")
	}
	return errors.Join(tx.refusesSender(), tx.refusesNumbers(), tx.refusesCalls(), tx.refusesAccessList(),
		tx.refusesPayer(), tx.refusesSignatures(), tx.refusesKey())
}

// Decode reads an unsigned transaction, or one that its sender has signed.
func Decode(raw []byte) (*Transaction, error) {
	if len(raw) == 0 || raw[0] != typeTempo && raw[0] != typeFeePayer {
		return nil, errors.New("of neither type 0x76 nor 0x78")
	}
	tx := &Transaction{ForPayer: raw[0] == typeFeePayer}
	var items []rlp.RawValue
	if err := rlp.DecodeBytes(raw[1:], &items); err != nil {
		return nil, err
	}
	if last := len(items) - 1; last >= 13 && items[last][0] < 0xc0 {
		if err := rlp.DecodeBytes(items[last], &tx.Sender); err != nil {
			return nil, err
		}
		if tx.Sender == nil {
			tx.Sender = []byte{}
		}
		items = items[:last]
	}
	if err := rlp.DecodeBytes(encode(items), tx); err != nil {
		return nil, err
	}
	return tx, nil
}

// Encode encodes an unsigned transaction, or one that its sender has signed.
func (tx *Transaction) Encode() []byte {
	kind := byte(typeTempo)
	if tx.ForPayer {
		kind = typeFeePayer
	}
	unsigned := append([]byte{kind}, encode(tx)...)
	if tx.Sender == nil {
		return unsigned
	}
	return WithSignature(unsigned, tx.Sender)
}

// refusesSender checks that only a transaction that waits for a fee payer is signed
// already, by the account that it names, if any.
func (tx *Transaction) refusesSender() error {
	placeholder := bytes.Equal(tx.FeePayer, []byte{0})
	switch {
	case tx.Sender == nil && !tx.ForPayer:
		return nil
	case tx.Sender == nil || !tx.ForPayer && !placeholder:
		return errors.New("not signed by its sender, or waits for no fee payer")
	}
	sender, err := tx.SenderAddress()
	if err != nil {
		return err
	}
	if tx.ForPayer && !bytes.Equal(tx.FeePayer, encode(sender)) {
		return errors.New("names another sender")
	}
	return nil
}

// SenderAddress returns the account of the sender's signature.
func (tx *Transaction) SenderAddress() (sender common.Address, err error) {
	signature, digest := tx.Sender, tx.SigningHash()
	inKeychain := len(signature) > 21 && len(signature) != 65 && signature[0] == 4
	if inKeychain {
		digest = crypto.Keccak256([]byte{4}, digest, signature[1:21])
		sender, signature = common.Address(signature[1:21]), signature[21:]
	}
	if !isSignature(signature) {
		return sender, errors.New("sender's signature is no signature")
	}
	if len(signature) != 65 {
		if end := len(signature); !inKeychain {
			if signature[0] == 1 {
				end-- // preHash
			}
			sender = common.Address(crypto.Keccak256(signature[end-64 : end])[12:])
		}
		return sender, nil
	}
	plain := bytes.Clone(signature)
	plain[64] -= 27
	pub, err := crypto.SigToPub(digest, plain)
	if err == nil && !inKeychain {
		sender = crypto.PubkeyToAddress(*pub)
	}
	return sender, err
}

func encode(value any) []byte {
	out, err := rlp.EncodeToBytes(value)
	if err != nil {
		panic(err)
	}
	return out
}

// expiringKey is the nonce key of expiring nonces (TIP-1009): 2^256−1.
var expiringKey = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

func (tx *Transaction) refusesNumbers() error {
	expiring := tx.NonceKey.Cmp(expiringKey) == 0
	switch {
	case tx.ChainID == 0:
		return errors.New("chain id 0")
	case tx.Cap.BitLen() > 128 || tx.Tip.Cmp(tx.Cap) > 0:
		return errors.New("fees over 128 bits, or tip over cap")
	case tx.NonceKey.BitLen() > 256:
		return errors.New("nonce key over 256 bits")
	case tx.Gas == 0:
		return errors.New("gas 0")
	case !expiring && tx.Nonce == math.MaxUint64:
		return errors.New("nonce 2^64−1")
	case expiring && tx.ValidBefore == 0:
		return errors.New("expiring nonce without validBefore")
	case tx.ValidBefore != 0 && tx.ValidBefore <= tx.ValidAfter:
		return errors.New("never valid")
	}
	return nil
}

func (tx *Transaction) refusesCalls() error {
	if len(tx.Calls) == 0 || len(tx.Calls) > 32 {
		return errors.New("no calls, or too many")
	}
	for i, call := range tx.Calls {
		switch {
		case call.Value.BitLen() > 256 || len(call.Input) > 128*1024:
			return errors.New("value over 256 bits, or input over 128 KiB")
		case len(call.To) == 20:
		case len(call.To) != 0:
			return errors.New("to is of another length")
		case i > 0 || len(tx.Authorizations) > 0:
			return errors.New("a creation that is not first, or with authorizations")
		}
	}
	return nil
}

func (tx *Transaction) refusesAccessList() error {
	if len(tx.AccessList) > 256 {
		return errors.New("access list is too long")
	}
	total := 0
	for _, entry := range tx.AccessList {
		if total += len(entry.StorageKeys); len(entry.StorageKeys) > 256 || total > 2048 {
			return errors.New("too many storage keys")
		}
	}
	return nil
}

func (tx *Transaction) refusesPayer() error {
	if len(tx.FeeToken) != 0 && len(tx.FeeToken) != 20 {
		return errors.New("fee token is of another length")
	}
	if bytes.Equal(tx.FeePayer, []byte{0x80}) || bytes.Equal(tx.FeePayer, []byte{0}) || tx.ForPayer {
		return nil // for ForPayer, refusesSender compares it with the sender
	}
	var signature PayerSignature
	if err := rlp.DecodeBytes(tx.FeePayer, &signature); err != nil {
		return fmt.Errorf("fee payer: %w", err)
	}
	if !crypto.ValidateSignatureValues(signature.YParity, signature.R, signature.S, true) {
		return errors.New("fee payer's signature is no signature")
	}
	return nil
}

func (tx *Transaction) refusesSignatures() error {
	if len(tx.Authorizations) > 16 {
		return errors.New("too many authorizations")
	}
	for _, a := range tx.Authorizations {
		signature := a.Signature
		if len(signature) > 21 && len(signature) != 65 && signature[0] == 4 {
			signature = signature[21:] // by a key of an account's keychain, version 2
		}
		if a.ChainID.BitLen() > 256 || !isSignature(signature) {
			return errors.New("authorization with a chain id over 256 bits, or without a signature")
		}
	}
	return nil
}

func isSignature(signature []byte) bool {
	size := len(signature)
	switch {
	case size == 65:
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:64])
		return crypto.ValidateSignatureValues(signature[64]-27, r, s, true)
	case size > 0 && signature[0] == 1:
		return size == 1+129 && signature[129] <= 1
	case size > 0 && signature[0] == 2:
		return size >= 1+128 && size <= 1+2048
	}
	return false
}

func (tx *Transaction) refusesKey() error {
	if len(tx.Key) == 0 {
		return nil
	}
	key := tx.Key[0].Key
	switch {
	case len(tx.Key) > 1:
		return errors.New("two key authorizations")
	case key.ChainID != tx.ChainID || key.Type > 2 || key.Admin > 1:
		return errors.New("key for another chain, of another type, or with another admin marker")
	case key.ID == common.Address{}:
		return errors.New("key with the zero address")
	case key.Admin == 1 && (key.Expiry != 0 || key.Limits.Present || key.Scopes.Present):
		return errors.New("admin key with restrictions")
	case !isSignature(tx.Key[0].Signature):
		return errors.New("key authorization is not signed")
	}
	return errors.Join(key.refusesLimits(), key.refusesScopes())
}

func (key Key) refusesLimits() error {
	tokens := map[common.Address]bool{}
	for _, limit := range key.Limits.Value {
		tokens[limit.Token] = true
		if limit.Amount.BitLen() > 128 {
			return errors.New("limit over 128 bits")
		}
	}
	if len(tokens) != len(key.Limits.Value) || len(tokens) > 256 {
		return errors.New("a token twice, or too many")
	}
	return nil
}

func (key Key) refusesScopes() error {
	targets := map[common.Address]bool{{}: true}
	for _, scope := range key.Scopes.Value {
		targets[scope.Target] = true
		selectors := map[[4]byte]bool{}
		for _, rule := range scope.Rules {
			selectors[rule.Selector] = true
			recipients := map[common.Address]bool{{}: true}
			for _, recipient := range rule.Recipients {
				recipients[recipient] = true
			}
			if len(recipients) != 1+len(rule.Recipients) || len(recipients) > 1+64 {
				return errors.New("a recipient twice, zero, or too many")
			}
			if len(rule.Recipients) > 0 && (!isTIP20(scope.Target) || !slices.Contains(recipientSelectors,
				rule.Selector)) {
				return errors.New("recipients of something else than a TIP-20 transfer")
			}
		}
		if len(selectors) != len(scope.Rules) || len(selectors) > 64 {
			return errors.New("a selector twice, or too many")
		}
	}
	if len(targets) != 1+len(key.Scopes.Value) || len(targets) > 1+64 {
		return errors.New("a target twice, zero, or too many")
	}
	return nil
}

// recipientSelectors are the functions whose recipients a scope can name.
var recipientSelectors = func() (selectors [][4]byte) {
	for _, signature := range []string{"transfer(address,uint256)", "approve(address,uint256)",
		"transferWithMemo(address,uint256,bytes32)"} {
		selectors = append(selectors, [4]byte(crypto.Keccak256([]byte(signature))))
	}
	return selectors
}()

// isTIP20 reports whether an address is one of TIP-20 tokens.
func isTIP20(token common.Address) bool {
	return bytes.HasPrefix(token[:], common.FromHex("20c000000000000000000000"))
}
