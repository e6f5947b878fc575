package tempo

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

func (tx *transaction) MayOperate() bool { return len(tx.raw) >= evm.LeastOperation }

// EffectsIn implements evm.Acting: what the calls do, the delegations, what another key may do
// from now on, and the fee. If the sender has signed already, everything but the fee is authorized
// by the sender's signature.
func (tx *transaction) EffectsIn(pass *evm.Pass) []chains.Effect {
	if tx.sender != nil {
		pass.MadeBy(tx.sender.address) // the key only pays the fee
	}
	effects := pass.Room(int(tx.calls.count) + 1)
	if tx.calls.creates {
		effects = append(effects, chains.Effect{Kind: chains.KindCreate, From: chains.SignerParty(),
			By: chains.BySigner, Path: callPath(1, int(tx.calls.count)) + "init code"})
	}
	effects = pass.AppendBatch(effects, tx.made(pass))
	if tx.key != nil {
		for _, effect := range tx.key.Effects(tx.Network, chains.SignerParty()) {
			effect.Function, effect.Path = evm.GrantFunction, "key authorization"
			effects = append(effects, effect)
		}
	}
	for i := range tx.authorizations {
		a := &tx.authorizations[i]
		if signer, ok := a.signature.address(tx.raw, a.Hash(tx.raw)); ok && a.skipped(tx.chainID, tx.raw) == "" {
			effects = append(effects,
				pass.Delegation(pass.Party(signer), a.Delegate, fmt.Sprintf("authorization %d", i+1)))
		}
	}
	if tx.sender != nil { // whose signature is in the bytes
		sender := pass.Party(tx.sender.address)
		effects = chains.ResolveSigner(effects, sender)
		for i := range effects {
			if effects[i].By == chains.BySigner || effects[i].By == chains.ByStanding {
				effects[i].By, effects[i].OtherSigner = chains.ByOther, sender
			}
		}
	}
	return append(evm.Cut(effects, chains.MaxEffects-1), tx.feeEffect(pass))
}

// made yields the decoded calls of contracts, without a creation, which can only be the first.
func (tx *transaction) made(pass *evm.Pass) iter.Seq[*evm.Call] {
	return func(yield func(*evm.Call) bool) {
		for number, c := range tx.calls.all(tx.raw) {
			if !c.creation && !yield(tx.readCall(pass, number, c)) {
				return
			}
		}
	}
}

// callPath returns the beginning of the paths of a call's effects.
func callPath(number, count int) string {
	return "call " + strconv.Itoa(number) + " of " + strconv.Itoa(count) + "/"
}

func (tx *transaction) readCall(pass *evm.Pass, number int, c call) *evm.Call {
	call := evm.Transaction{To: c.to, Data: c.input.Of(tx.raw), Path: callPath(number, int(tx.calls.count)) + "call"}
	if c.value.Len() > 0 {
		call.Value = c.value.Big(tx.raw)
	}
	return pass.Read(call)
}

// skipped returns why the network skips an authorization, empty if it does not.
func (a *authorization) skipped(chainID uint64, raw []byte) string {
	if a.signature.keychain {
		return "by a key of its keychain: the network skips this authorization, and nothing is delegated"
	}
	return a.Skipped(chainID, raw)
}

// maximumFee returns the most that gas costs, in 10⁻¹⁸ US dollars: 192 bits at most.
func (tx *transaction) maximumFee() uint256.Int {
	fee := tx.maxFeePerGas.Uint256(tx.raw)
	fee.Mul(&fee, uint256.NewInt(tx.gas))
	return fee
}

// feeEffect returns the most that can be paid for inclusion, in a token of 6 decimals,
// rounded up. A sponsored sender commits neither to the payer nor to the token.
func (tx *transaction) feeEffect(pass *evm.Pass) chains.Effect {
	effect := chains.Effect{Kind: chains.KindFee, From: chains.SignerParty(), By: chains.BySigner,
		Asset:  chains.UnknownAsset(pass.ID),
		Amount: chains.AtMost(evm.TIP20Fee(tx.maximumFee())), Path: "maximum fee"}
	switch sponsored := tx.sender == nil && tx.feePayer.form != payerNone; {
	case sponsored:
		effect.From, effect.By, effect.OtherSigner = chains.UnknownParty(), chains.ByOther, chains.UnknownParty()
	case tx.hasFeeToken:
		effect.Asset = chains.Token(pass.ID, pass.Party(tx.feeToken), "tip20")
	}
	return effect
}

// grantsKey reports whether an effect says what another key may do.
func grantsKey(effect chains.Effect) bool {
	name, _, _ := strings.Cut(effect.Function, "(")
	return slices.Contains([]string{evm.GrantFunction, "authorizeKey", "authorizeAdminKey", "updateSpendingLimit",
		"setAllowedCalls"}, name)
}

var _ chains.Caller = (*transaction)(nil)

// Calls implements chains.Caller. If the sender has signed already, the calls are not
// made by the signature that is requested, and it returns none.
func (tx *transaction) Calls() (calls []chains.Call) {
	if tx.sender != nil {
		return nil
	}
	for call := range tx.made(tx.Network.Pass()) {
		calls = append(calls, call.Calls()...)
	}
	return calls
}

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
