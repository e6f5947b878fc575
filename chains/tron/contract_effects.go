package tron

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// effectsFunc returns the effects of executing a contract, except its fee.
type effectsFunc func(*transaction) []chains.Effect

// The effects of contract types. The source of each is the actuator of java-tron's
// org.tron.core.actuator that executes the type and has its name.

func doSettings(tx *transaction) []chains.Effect { return tx.settings(chains.Party{}) }

// doContract is a setting of the smart contract in field 1.
func doContract(tx *transaction) []chains.Effect { return tx.settings(tx.addressAt(1)) }

func doCreateAccount(tx *transaction) []chains.Effect {
	return []chains.Effect{{Kind: chains.KindCreate, From: tx.ownerParty, To: tx.addressAt(1), Path: tx.label(1)}}
}

func doTransfer(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.moves(tx.addressAt(1), trxAsset, tx.amountAt(2), tx.label(1))}
}

func doTransferAsset(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.moves(tx.addressAt(2), tx.assetAt(0), tx.amountAt(3), tx.label(2))}
}

// doIssue creates the whole supply, all of which the owner gets. The network assigns
// the token's id.
func doIssue(tx *transaction) []chains.Effect {
	return []chains.Effect{{Kind: chains.KindMint, From: tx.ownerParty, To: tx.ownerParty, Asset: chains.UnknownAsset(Name),
		Amount: tx.amountAt(issueSupply), Path: tx.label(issueSupply)}}
}

// doParticipate buys from the issuer at the price of the sale.
func doParticipate(tx *transaction) []chains.Effect {
	return []chains.Effect{
		tx.moves(tx.addressAt(1), trxAsset, tx.amountAt(3), tx.label(3)),
		tx.received(tx.addressAt(1), tx.assetAt(2), chains.UnknownQuantity(), tx.label(2)),
	}
}

func doUnfreeze(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.unlocked(trxAsset, chains.UnknownQuantity(), "type")}
}

func doUnfreezeAsset(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.unlocked(chains.UnknownAsset(Name), chains.UnknownQuantity(), "type")}
}

func doFreezeV2(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.locked(trxAsset, tx.amountAt(1), tx.label(1))}
}

func doUnfreezeV2(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.unlocked(trxAsset, tx.amountAt(1), tx.label(1))}
}

// doCancelUnfreeze stakes again what has not expired, and withdraws what has.
func doCancelUnfreeze(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.locked(trxAsset, chains.UnknownQuantity(), "type"), tx.unlocked(trxAsset, chains.UnknownQuantity(), "type")}
}

// doExchangeCreate offers both tokens at the price that their amounts make: anyone may buy
// the one with the other, so that they are no stake of the owner.
func doExchangeCreate(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.moves(chains.UnknownParty(), tx.assetAt(1), tx.amountAt(2), tx.label(2)),
		tx.moves(chains.UnknownParty(), tx.assetAt(3), tx.amountAt(4), tx.label(4))}
}

// doExchangeInject adds the other token in the exchange's proportion.
func doExchangeInject(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.moves(chains.UnknownParty(), tx.assetAt(2), tx.amountAt(3), tx.label(3)),
		tx.moves(chains.UnknownParty(), chains.UnknownAsset(Name), chains.UnknownQuantity(), tx.label(1))}
}

func doExchangeWithdraw(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.unlocked(tx.assetAt(2), tx.amountAt(3), tx.label(3)), tx.unlocked(chains.UnknownAsset(Name), chains.UnknownQuantity(), tx.label(1))}
}

func doExchangeTrade(tx *transaction) []chains.Effect {
	return []chains.Effect{
		tx.moves(chains.UnknownParty(), tx.assetAt(2), tx.amountAt(3), tx.label(3)),
		tx.received(chains.UnknownParty(), chains.UnknownAsset(Name), chains.AtLeast(big.NewInt(tx.values[4].number)), tx.label(4)),
	}
}

// doOrder sells at a price or better. What is not sold comes back when the order is
// canceled.
func doOrder(tx *transaction) []chains.Effect {
	return []chains.Effect{
		tx.moves(chains.UnknownParty(), tx.assetAt(1), tx.amountAt(2), tx.label(2)),
		tx.received(chains.UnknownParty(), tx.assetAt(3), chains.AtLeast(big.NewInt(tx.values[4].number)), tx.label(4)),
	}
}

func doCancelOrder(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.unlocked(chains.UnknownAsset(Name), chains.UnknownQuantity(), tx.label(1))}
}
