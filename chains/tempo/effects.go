package tempo

import (
	"fmt"
	"iter"
	"math/big"
	"strconv"
	"strings"

	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// Contracts implements evm.Acting.
func (tx *transaction) Contracts() *evm.Network {
	return &evm.Network{ID: evm.NetworkID(tx.chainID), ChainID: tx.chainID, Symbol: "native", Decimals: 18}
}

// Effects implements chains.Transaction: what the calls do, the delegations, what
// another key may do from now on, and the fee. If the sender has signed already,
// everything but the fee is authorized by the sender's signature.
func (tx *transaction) Effects() []chains.Effect { return tx.EffectsOn(tx.Contracts()) }

// MayOperate implements evm.Acting.
func (tx *transaction) MayOperate() bool { return len(tx.raw) >= evm.LeastOperation }

// EffectsOn implements evm.Acting.
func (tx *transaction) EffectsOn(network *evm.Network) []chains.Effect {
	if tx.sender != nil {
		network.MadeBy(tx.sender.address)
	}
	effects := network.Room(int(tx.calls.count) + 1)
	if tx.calls.creates {
		effects = append(effects, chains.Effect{Kind: chains.KindCreate, From: chains.SignerParty(), By: chains.BySigner, Path: tx.callPath(1) + "init code"})
	}
	effects = evm.AppendBatch(effects, tx.made(network))
	if tx.key != nil {
		for _, effect := range tx.key.grant(tx.raw).Effects(network, chains.SignerParty()) {
			effect.Function, effect.Path = evm.GrantFunction, "key authorization"
			effects = append(effects, effect)
		}
	}
	effects = append(effects, tx.delegations(network)...)
	if tx.sender != nil {
		effects = tx.bySender(effects, network.Party(tx.sender.address))
	}
	return append(evm.Cut(effects, chains.MaxEffects-1), tx.feeEffect(network))
}

// made yields the decoded calls of contracts, without a creation, which can only be the
// first.
func (tx *transaction) made(network *evm.Network) iter.Seq[*evm.Call] {
	return func(yield func(*evm.Call) bool) {
		for number, c := range tx.calls.all(tx.raw) {
			if !c.creation && !yield(tx.readCall(network, number, c)) {
				return
			}
		}
	}
}

// callPath returns the beginning of the paths of a call's effects.
func (tx *transaction) callPath(number int) string {
	return "call " + strconv.Itoa(number) + " of " + strconv.Itoa(int(tx.calls.count)) + "/"
}

// readCall decodes a call of a contract.
func (tx *transaction) readCall(network *evm.Network, number int, c call) *evm.Call {
	call := evm.Transaction{To: c.to, Data: c.input.Of(tx.raw), Path: tx.callPath(number) + "call"}
	if c.value.Len() > 0 {
		call.Value = c.value.Big(tx.raw)
	}
	return network.Read(call)
}

// bySender attributes effects to the account whose signature is in the bytes.
func (tx *transaction) bySender(effects []chains.Effect, sender chains.Party) []chains.Effect {
	effects = chains.ResolveSigner(effects, sender)
	for i := range effects {
		if effects[i].By == chains.BySigner || effects[i].By == chains.ByStanding {
			effects[i].By, effects[i].OtherSigner = chains.ByOther, sender
		}
	}
	return effects
}

// delegations returns what each authorization does that the network does not skip.
func (tx *transaction) delegations(network *evm.Network) (effects []chains.Effect) {
	for i := range tx.authorizations {
		a := &tx.authorizations[i]
		signer, ok := a.signature.address(tx.raw, evm.AuthorizationHash(a.signed.Of(tx.raw)))
		if !ok || a.skipped(tx.chainID, tx.raw) != "" {
			continue
		}
		effects = append(effects, network.Delegation(network.Party(signer), a.delegate, fmt.Sprintf("authorization %d", i+1)))
	}
	return effects
}

// skipped returns why the network skips an authorization, empty if it does not.
func (a *authorization) skipped(chainID uint64, raw []byte) string {
	switch {
	case a.signature.keychain:
		return "by a key of its keychain: the network skips this authorization, and nothing is delegated"
	case a.chainID.Len() > 0 && a.chainID.Big(raw).Cmp(new(big.Int).SetUint64(chainID)) != 0:
		return "for another chain: the network skips this authorization here"
	}
	return ""
}

// grant returns what the key authorization lets the key do.
func (key *keyAuthorization) grant(raw []byte) *evm.KeyGrant {
	g := &evm.KeyGrant{Key: key.keyID, Admin: key.admin, Expires: key.expiry, Limited: key.limited, Scoped: key.scoped}
	for _, limit := range key.limits {
		g.Limits = append(g.Limits, limit.grant(raw))
	}
	for _, s := range key.scopes {
		read := evm.KeyScope{Target: s.target}
		for _, rule := range s.rules {
			read.Selectors = append(read.Selectors, [4]byte(rule.selector))
		}
		g.Scopes = append(g.Scopes, read)
	}
	return g
}

func (l tokenLimit) grant(raw []byte) evm.KeyLimit {
	return evm.KeyLimit{Token: l.token, Amount: l.limit.Big(raw), Period: l.period}
}

// maximumFee returns the most that gas costs, in 10⁻¹⁸ US dollars: 192 bits at most.
func (tx *transaction) maximumFee() uint256.Int {
	fee := tx.maxFeePerGas.Uint256(tx.raw)
	fee.Mul(&fee, uint256.NewInt(tx.gas))
	return fee
}

// feeEffect returns the most that can be paid for inclusion, in a token of 6 decimals,
// rounded up. A sponsored sender commits neither to the payer nor to the token.
func (tx *transaction) feeEffect(network *evm.Network) chains.Effect {
	effect := chains.Effect{Kind: chains.KindFee, From: chains.SignerParty(), By: chains.BySigner, Asset: chains.UnknownAsset(network.ID),
		Amount: chains.AtMost(evm.TIP20Fee(tx.maximumFee())), Path: "maximum fee"}
	switch sponsored := tx.sender == nil && tx.feePayer.form != payerNone; {
	case sponsored:
		effect.From, effect.By, effect.OtherSigner = chains.UnknownParty(), chains.ByOther, chains.UnknownParty()
	case tx.hasFeeToken:
		effect.Asset = chains.Token(network.ID, network.Party(tx.feeToken), "tip20")
	}
	return effect
}

// grantsKey reports whether an effect says what another key may do.
func grantsKey(effect chains.Effect) bool {
	name, _, _ := strings.Cut(effect.Function, "(")
	switch name {
	case evm.GrantFunction, "authorizeKey", "authorizeAdminKey", "updateSpendingLimit", "setAllowedCalls":
		return true
	}
	return false
}

var _ chains.Caller = (*transaction)(nil)

// Calls implements chains.Caller. If the sender has signed already, the calls are not
// made by the signature that is requested, and it returns none.
func (tx *transaction) Calls() (calls []chains.Call) {
	if tx.sender != nil {
		return nil
	}
	for call := range tx.made(tx.Contracts()) {
		calls = append(calls, call.Calls()...)
	}
	return calls
}

// Targets implements evm.Acting.
func (tx *transaction) Targets() (targets []evm.Address) {
	if tx.sender != nil {
		return nil
	}
	for _, c := range tx.calls.all(tx.raw) {
		switch {
		case c.creation || c.input.Len() == 0:
		case c.input.Len() >= evm.LeastNested:
			return evm.TargetsOf(tx.Calls())
		default:
			targets = append(targets, c.to)
		}
	}
	return targets
}
