package ethereum

import (
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

func (tx *transaction) MayOperate() bool { return tx.data.Len() >= evm.LeastOperation }

func (tx *transaction) call(pass *evm.Pass) *evm.Call {
	call := evm.Transaction{To: tx.to, Data: tx.data.Of(tx.raw)}
	if tx.value.Len() > 0 {
		call.Value = tx.value.Big(tx.raw)
	}
	return pass.Read(call)
}

// EffectsIn implements evm.Acting: what the call does, the delegations of EIP-7702, and the fee.
func (tx *transaction) EffectsIn(pass *evm.Pass) []chains.Effect {
	effects := pass.Room(2 + min(tx.authorizations.count, chains.MaxEffects))
	if tx.creation {
		effect := chains.Effect{Kind: chains.KindCreate, From: chains.SignerParty(), By: chains.BySigner,
			Path: "init code"}
		if tx.value.Len() > 0 {
			effect.Asset, effect.Amount = chains.Native(pass.ID), chains.Exactly(tx.value.Big(tx.raw))
		}
		effects = append(effects, effect)
	} else {
		effects = tx.call(pass).AppendEffects(effects)
	}
	effects = tx.delegations(effects, pass)
	return append(evm.Cut(effects, chains.MaxEffects-1), tx.feeEffect(pass))
}

// delegations appends what each authorization does that the network does not skip.
func (tx *transaction) delegations(effects []chains.Effect, pass *evm.Pass) []chains.Effect {
	for number, a := range tx.authorizations.all(tx.raw) {
		if len(effects) >= chains.MaxEffects {
			break
		}
		if a.skipped(tx.chainID, tx.raw) != "" {
			continue
		}
		by := tx.authorizations.signers()[number-1]
		if !by.ok {
			continue
		}
		effects = append(effects, pass.Delegation(pass.Party(by.signer), a.Delegate,
			"authorization "+strconv.Itoa(number)))
	}
	return effects
}

// feeEffect returns the most that can be paid for inclusion. Unless the chain is known to charge
// nothing else, an L1 fee may be added; on Tempo the fee is paid in a token of the payer's choice, which
// has 6 decimals, and is rounded up.
func (tx *transaction) feeEffect(pass *evm.Pass) chains.Effect {
	fee, _ := tx.maximumFee()
	word := fee.Bytes32() // uint256's ToBig takes two allocations
	effect := chains.Effect{Kind: chains.KindFee, From: chains.SignerParty(), By: chains.BySigner,
		Asset: chains.Native(pass.ID), Amount: chains.AtMost(rlp.Big(word[32-fee.ByteLen():])), Path: "maximum fee"}
	switch {
	case isTempo(tx.chainID):
		effect.Asset, effect.Amount = chains.UnknownAsset(pass.ID), chains.AtMost(evm.TIP20Fee(fee))
	case !evm.WholeFee(tx.chainID):
		effect.Amount.Bound = chains.BoundAdded
	}
	return effect
}

var _ chains.Caller = (*transaction)(nil)

func (tx *transaction) Calls() []chains.Call {
	if tx.creation {
		return nil
	}
	return tx.call(tx.Network.Pass()).Calls()
}

func (tx *transaction) Targets() []evm.Address {
	switch {
	case tx.creation || tx.data.Len() == 0:
		return nil
	case tx.data.Len() < evm.LeastNested:
		return []evm.Address{tx.to}
	}
	return evm.TargetsOf(tx.Calls())
}
