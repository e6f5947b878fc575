package ethereum

import (
	"math/big"
	"strconv"

	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// Contracts implements evm.Acting.
func (tx *transaction) Contracts() *evm.Network {
	return evm.OnChain(tx.chainID, evm.NetworkID(tx.chainID))
}

// MayOperate implements evm.Acting.
func (tx *transaction) MayOperate() bool { return tx.data.Len() >= evm.LeastOperation }

// call decodes the call that the transaction makes.
func (tx *transaction) call(network *evm.Network) *evm.Call {
	call := evm.Transaction{To: tx.to, Data: tx.data.Of(tx.raw)}
	if tx.value.Len() > 0 {
		call.Value = tx.value.Big(tx.raw)
	}
	return network.Read(call)
}

// Effects implements chains.Transaction: what the call does, the delegations of
// EIP-7702, and the fee.
func (tx *transaction) Effects() []chains.Effect { return tx.EffectsOn(tx.Contracts()) }

// EffectsOn implements evm.Acting.
func (tx *transaction) EffectsOn(network *evm.Network) []chains.Effect {
	effects := network.Room(2 + min(tx.authorizations.count, chains.MaxEffects))
	if tx.creation {
		effects = append(effects, tx.creationEffect(network))
	} else {
		effects = tx.call(network).AppendEffects(effects)
	}
	effects = tx.delegations(effects, network)
	return append(evm.Cut(effects, chains.MaxEffects-1), tx.feeEffect(network))
}

func (tx *transaction) creationEffect(network *evm.Network) chains.Effect {
	effect := chains.Effect{Kind: chains.KindCreate, From: chains.SignerParty(), By: chains.BySigner, Path: "init code"}
	if tx.value.Len() > 0 {
		effect.Asset, effect.Amount = chains.Native(network.ID), chains.Exactly(tx.value.Big(tx.raw))
	}
	return effect
}

// delegations appends what each authorization does that the network does not skip.
func (tx *transaction) delegations(effects []chains.Effect, network *evm.Network) []chains.Effect {
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
		effects = append(effects, network.Delegation(network.Party(by.signer), a.delegate, "authorization "+strconv.Itoa(number)))
	}
	return effects
}

// bigOf is uint256's ToBig in one allocation.
func bigOf(number *uint256.Int) *big.Int {
	word := number.Bytes32()
	return rlp.Big(word[32-number.ByteLen():])
}

// feeEffect returns the most that can be paid for inclusion. Unless the chain is known to charge
// nothing else, an L1 fee may be added; on Tempo the fee is paid in a token of the payer's choice, which
// has 6 decimals, and is rounded up.
func (tx *transaction) feeEffect(network *evm.Network) chains.Effect {
	fee, _ := tx.maximumFee()
	effect := chains.Effect{Kind: chains.KindFee, From: chains.SignerParty(), By: chains.BySigner,
		Asset: chains.Native(network.ID), Amount: chains.AtMost(bigOf(&fee)), Path: "maximum fee"}
	switch {
	case isTempo(tx.chainID):
		effect.Asset, effect.Amount = chains.UnknownAsset(network.ID), chains.AtMost(evm.TIP20Fee(fee))
	case !evm.WholeFee(tx.chainID):
		effect.Amount.Bound = chains.BoundAdded
	}
	return effect
}

var _ chains.Caller = (*transaction)(nil)

// Calls implements chains.Caller.
func (tx *transaction) Calls() []chains.Call {
	if tx.creation {
		return nil
	}
	return tx.call(tx.Contracts()).Calls()
}

// Targets implements evm.Acting.
func (tx *transaction) Targets() []evm.Address {
	switch {
	case tx.creation || tx.data.Len() == 0:
		return nil
	case tx.data.Len() < evm.LeastNested:
		return []evm.Address{tx.to}
	}
	return evm.TargetsOf(tx.Calls())
}
