package ethereum

import (
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/evm"
)

// contractsOf returns the network whose contracts a chain's calls run.
func contractsOf(chainID uint64) *evm.Network {
	return &evm.Network{ID: evm.NetworkID(chainID), ChainID: chainID, Symbol: networkOf(chainID).symbol, Decimals: 18}
}

func (tx *transaction) contracts() *evm.Network { return contractsOf(tx.chainID) }

// call is the call that the transaction makes.
func (tx *transaction) call(network *evm.Network) *evm.Call {
	return network.Read(evm.Transaction{To: tx.to, Value: tx.value.Big(tx.raw), Data: tx.data.Of(tx.raw)})
}

// Effects implements chains.Transaction: what the call does, the delegations
// of EIP-7702, and the fee.
func (tx *transaction) Effects() []chains.Effect { return tx.effects(tx.contracts()) }

func (tx *transaction) effects(network *evm.Network) []chains.Effect {
	var effects []chains.Effect
	if tx.creation {
		effects = append(effects, tx.creationEffect(network))
	} else {
		effects = tx.call(network).Effects()
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

// delegations appends that the code of a delegate gets control of an account, for
// each authorization that the network does not skip. It stands by the signature
// of the account, which is in the bytes.
func (tx *transaction) delegations(effects []chains.Effect, network *evm.Network) []chains.Effect {
	for number, a := range tx.authorizations.all(tx.raw) {
		if len(effects) >= chains.MaxEffects {
			break
		}
		signer, ok := a.authority(tx.raw)
		if !ok || a.skipped(tx.chainID, tx.raw) != "" {
			continue
		}
		authority := network.Party(signer)
		effect := chains.Effect{Kind: chains.KindAuthority, From: authority, By: chains.ByOther, OtherSigner: authority,
			To: network.Party(a.delegate), Account: authority, Path: "authorization " + strconv.Itoa(number)}
		if a.delegate == (evm.Address{}) {
			effect.Kind, effect.To = chains.KindRevoke, chains.Party{}
		}
		effects = append(effects, effect)
	}
	return effects
}

// feeEffect is the most that can be paid for inclusion. On OP-stack chains the L1
// data fee comes on top; on Tempo it is paid in a token of the payer's choice,
// of 6 decimals, and rounded up.
func (tx *transaction) feeEffect(network *evm.Network) chains.Effect {
	fee, _ := tx.maximumFee()
	effect := chains.Effect{Kind: chains.KindFee, From: chains.SignerParty(), By: chains.BySigner,
		Asset: chains.Native(network.ID), Amount: chains.AtMost(fee.ToBig()), Path: "maximum fee"}
	switch {
	case opStack[tx.chainID]:
		effect.Amount.Bound = chains.BoundAdded
	case isTempo(tx.chainID):
		effect.Asset, effect.Amount = chains.UnknownAsset(network.ID), chains.AtMost(evm.TIP20Fee(fee))
	}
	return effect
}

// Effects implements chains.Signing.
func (s *signing) Effects() []chains.Effect {
	network := s.tx.contracts()
	return evm.Resolve(s.tx.effects(network), network.Party(s.address))
}
