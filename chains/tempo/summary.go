package tempo

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

func (*transaction) Chain() string { return Name }

func (tx *transaction) Summary() chains.Summary {
	fields := []chains.Field{
		chains.Text("type", "0x76 (Tempo)"),
		chains.Integer("chain", tx.chainID).As("chain_id").WithNote(evm.TempoName(tx.chainID)),
	}
	for number, c := range tx.calls.all(tx.raw) {
		fields = append(fields, tx.callField(number, c))
	}
	fields = append(fields, tx.feeFields()...)
	key, nonce := chains.BigInteger("nonce key", tx.nonceKey.Big(tx.raw)), chains.Integer("nonce", tx.nonce)
	if tx.expiring() {
		key = chains.Text("nonce key", "2^256-1").WithNote("expiring nonce: valid once, until valid before")
		nonce = nonce.WithNote("tells payments apart: the same transaction with another nonce is another payment " +
			"(TIP-1106)")
	}
	fields = append(fields, key, nonce, windowField("valid after", tx.validAfter, "no limit"),
		windowField("valid before", tx.validBefore, "no limit"))
	fields = append(fields, tx.accessList.Summary()...)
	for i := range tx.authorizations {
		fields = append(fields, tx.authorizations[i].field(i+1, tx.chainID, tx.raw))
	}
	if tx.key != nil {
		fields = append(fields, tx.key.field(tx.raw))
	}
	if tx.sender != nil {
		fields = append(fields, chains.List("sender", chains.AddressField("account", tx.sender.address.String()),
			tx.sender.signature.field(tx.raw, tx.senderHash())))
	}
	noteVirtual(fields)
	return chains.Summary{Chain: Name, Effects: tx.Effects(), Fields: fields}
}

// noteVirtual notes where payments to virtual addresses (TIP-1022) go. Only the network
// knows the account.
func noteVirtual(fields []chains.Field) {
	for i := range fields {
		field := &fields[i]
		noteVirtual(field.Fields)
		if field.Type != chains.TypeAddress || !common.IsHexAddress(field.Value) {
			continue
		}
		if address := evm.Address(common.HexToAddress(field.Value)); evm.IsVirtual(address) && field.Note == "" {
			field.Note = fmt.Sprintf("virtual: goes to the account that has registered %x, with tag %x", address[:4],
				address[14:])
		}
	}
}

func (s *signing) SignerView() []chains.Field {
	if s.tx.sender != nil {
		return []chains.Field{chains.AddressField("fee payer", s.Account.String()), chains.AddressField("sender",
			s.tx.sender.address.String())}
	}
	fields := []chains.Field{chains.AddressField("from", s.Account.String())}
	if s.accessKey {
		fields = append(fields, chains.AddressField("signed by",
			s.Address.String()).WithNote("an access key of the account"))
	}
	if s.tx.calls.creates {
		created := chains.AddressField("creates",
			crypto.CreateAddress(common.Address(s.Account), s.tx.nonce).Hex())
		if s.tx.nonceKey.Len() > 0 { // the address follows from the protocol nonce, which is that of key 0
			created = chains.Text("creates", "a contract").WithNote("at the address of the account's nonce with key " +
				"0, which is not in the transaction")
		}
		fields = append(fields, created)
	}
	if s.tx.feePayer.form == payerSigned {
		fields = append(fields, s.payerField())
	}
	return fields
}

// payerField shows who has signed as the fee payer of this sender.
func (s *signing) payerField() chains.Field {
	tx := s.tx
	payer, ok := evm.Recover(tx.payerHash(s.Account), tx.feePayer.yParity, tx.feePayer.r.Uint256(tx.raw),
		tx.feePayer.s.Uint256(tx.raw))
	switch {
	case !ok:
		return chains.Text("fee payer", "no account").WithNote("the payer's signature is not valid for this sender")
	case payer == s.Account:
		return chains.AddressField("fee payer", payer.String()).WithNote("the sender itself: the network refuses it")
	}
	return chains.AddressField("fee payer", payer.String())
}

func (tx *transaction) callField(number int, c call) chains.Field {
	input := c.input.Of(tx.raw)
	var fields []chains.Field
	if c.creation {
		fields = append(fields, chains.Text("to", "none").WithNote("creates a contract"),
			chains.Bytes("init code", input))
	} else {
		fields = append(fields, chains.AddressField("to", c.to.String()))
		fields = append(fields, tx.readCall(tx.Network.Pass(), number, c).Fields()...)
	}
	if c.value.Len() > 0 {
		fields = append(fields, chains.BigInteger("value", c.value.Big(tx.raw)).
			WithNote("no account holds a native coin here: the network refuses a call with a value"))
	}
	return chains.List(fmt.Sprintf("call %d of %d", number, tx.calls.count), fields...)
}

// feeFields shows the fee. Gas is priced in 10⁻¹⁸ US dollars, whichever token pays it;
// the fee in a token of 6 decimals is rounded up.
func (tx *transaction) feeFields() []chains.Field {
	price, fee := tx.maxFeePerGas.Big(tx.raw), tx.maximumFee()
	fields := []chains.Field{
		chains.Amount("maximum fee", fee.ToBig(), 18, "USD"),
		chains.Integer("gas", tx.gas).As("gas_limit"),
		chains.Amount("max fee per gas", price, 18, "USD"),
		chains.Amount("max priority fee per gas", tx.maxPriorityFeePerGas.Big(tx.raw), 18, "USD"),
	}
	token := chains.Text("fee token", "none named").WithNote("the payer's or the network's choice")
	if tx.hasFeeToken {
		token = chains.AddressField("fee token", tx.feeToken.String())
	}
	if tx.sender == nil && tx.feePayer.form != payerNone {
		token = token.WithNote("NOT COMMITTED TO by the sender's signature: the fee payer chooses it")
	}
	return append(fields, tx.payerField(), token)
}

func (tx *transaction) payerField() chains.Field {
	if tx.sender != nil {
		return chains.Text("fee paid by", "the fee payer").WithNote("whose signature this one is to be")
	}
	switch tx.feePayer.form {
	case payerPlaceholder:
		return chains.Text("fee paid by", "another account").WithNote("a fee payer who has yet to sign")
	case payerSigned:
		return chains.Text("fee paid by", "another account").WithNote("a fee payer who has signed")
	case payerNone, payerSender:
	}
	return chains.Text("fee paid by", "the sender")
}

func windowField(label string, seconds uint64, none string) chains.Field {
	if seconds == 0 {
		return chains.Text(label, none)
	}
	return chains.Seconds(label, new(big.Int).SetUint64(seconds))
}

func (a *authorization) field(number int, txChain uint64, raw []byte) chains.Field {
	fields := a.Fields(raw)
	if a.signature.keychain {
		fields = append(fields, chains.AddressField("account", a.signature.account.String()))
	}
	if skipped := a.skipped(txChain, raw); skipped != "" {
		fields[0] = fields[0].WithNote(skipped)
	}
	return chains.List(fmt.Sprintf("authorization %d", number), append(fields, a.signature.field(raw, a.Hash(raw)))...)
}

func (key *keyAuthorization) field(raw []byte) chains.Field {
	fields := []chains.Field{
		chains.AddressField("key", key.Key.String()).WithNote(keyTypes[key.keyType]),
		windowField("expires", key.Expires, "never"),
		key.limitsField(),
		key.scopesField(),
	}
	if key.Admin {
		fields = append(fields, chains.Text("admin", "yes").WithNote("can authorize and revoke other keys"))
	}
	if key.bound {
		fields = append(fields, chains.AddressField("account", key.account.String()).WithNote("for this account only"))
	}
	if key.witness != nil {
		fields = append(fields, chains.Bytes("witness", key.witness))
	}
	return chains.List("key authorization", append(fields, key.signature.field(raw, key.digest(raw)))...)
}

func (key *keyAuthorization) limitsField() chains.Field {
	if !key.Limited {
		return chains.Text("limits", "UNLIMITED").WithNote("may spend all that the account has")
	}
	if len(key.Limits) == 0 {
		return chains.Text("limits", "none allowed").WithNote("may spend nothing")
	}
	fields := make([]chains.Field, 0, len(key.Limits))
	for _, limit := range key.Limits {
		note := "in the token's smallest unit, in all"
		if limit.Period > 0 {
			note = fmt.Sprintf("in the token's smallest unit, every %d seconds", limit.Period)
		}
		if limit.Unlimited() {
			note = "UNLIMITED: " + note
		}
		fields = append(fields, chains.BigInteger(limit.Token.String(), limit.Amount).WithNote(note))
	}
	return chains.List("limits", fields...)
}

func (key *keyAuthorization) scopesField() chains.Field {
	if !key.Scoped {
		return chains.Text("scopes", "any call")
	}
	if len(key.Scopes) == 0 {
		return chains.Text("scopes", "no call")
	}
	fields := make([]chains.Field, 0, len(key.Scopes))
	for _, s := range key.Scopes {
		if len(s.Rules) == 0 {
			fields = append(fields, chains.Text(s.Target.String(), "any call"))
			continue
		}
		fields = append(fields, chains.List(s.Target.String(), ruleFields(s.Rules)...))
	}
	return chains.List("scopes", fields...)
}

func ruleFields(rules []evm.KeyRule) []chains.Field {
	fields := make([]chains.Field, 0, len(rules))
	for _, rule := range rules {
		selector := chains.Bytes("selector", rule.Selector)
		if len(rule.Recipients) == 0 {
			selector = selector.WithNote("to any recipient")
		}
		fields = append(fields, selector)
		for _, recipient := range rule.Recipients {
			fields = append(fields, chains.AddressField("recipient", recipient.String()))
		}
	}
	return fields
}
