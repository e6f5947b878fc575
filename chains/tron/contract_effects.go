package tron

import (
	"cmp"
	"math/big"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/chains"
)

// The effects of contract types. The source of each is the actuator of java-tron's
// org.tron.core.actuator that executes the type and has its name.

func doSettings(tx *transaction) []chains.Effect { return tx.settings(tx.ownerParty) }

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

// doParticipate buys from the issuer at the price of the sale.
func doParticipate(tx *transaction) []chains.Effect {
	return []chains.Effect{
		tx.moves(tx.addressAt(1), trxAsset, tx.amountAt(3), tx.label(3)),
		tx.received(tx.addressAt(1), tx.assetAt(2), chains.UnknownQuantity(), tx.label(2)),
	}
}

// owns is that the owner stakes an asset, gets it back, or creates it: the amount in a field.
func owns(kind chains.Kind, asset chains.Asset, amount int) func(*transaction) []chains.Effect {
	return func(tx *transaction) []chains.Effect {
		return []chains.Effect{tx.own(kind, asset, tx.amountAt(amount), tx.label(amount))}
	}
}

// unstakes is that the owner gets back an unknown amount of an asset.
func unstakes(asset chains.Asset) func(*transaction) []chains.Effect {
	return func(tx *transaction) []chains.Effect {
		return []chains.Effect{tx.own(chains.KindUnstake, asset, chains.UnknownQuantity(), "type")}
	}
}

// doCancelUnfreeze stakes again what has not expired, and withdraws what has.
func doCancelUnfreeze(tx *transaction) []chains.Effect {
	return []chains.Effect{tx.own(chains.KindStake, trxAsset, chains.UnknownQuantity(), "type"),
		tx.own(chains.KindUnstake, trxAsset, chains.UnknownQuantity(), "type")}
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
	return []chains.Effect{tx.own(chains.KindUnstake, tx.assetAt(2), tx.amountAt(3), tx.label(3)),
		tx.own(chains.KindUnstake, chains.UnknownAsset(Name), chains.UnknownQuantity(), tx.label(1))}
}

func doExchangeTrade(tx *transaction) []chains.Effect { return tx.sold(2, chains.UnknownAsset(Name)) }

// doOrder sells at a price or better. What is not sold comes back when the order is canceled.
func doOrder(tx *transaction) []chains.Effect { return tx.sold(1, tx.assetAt(3)) }

// sold returns that the token in a field is sold, the amount in the next one, for at least the
// amount in field 4 of another.
func (tx *transaction) sold(token int, bought chains.Asset) []chains.Effect {
	return []chains.Effect{
		tx.moves(chains.UnknownParty(), tx.assetAt(token), tx.amountAt(token+1), tx.label(token+1)),
		tx.received(chains.UnknownParty(), bought, chains.AtLeast(big.NewInt(tx.values[4].number)), tx.label(4)),
	}
}

func doCreateContract(tx *transaction) []chains.Effect {
	created := party(tx.createdAddress())
	effect := chains.Effect{Kind: chains.KindCreate, From: tx.ownerParty, To: created, Path: "creates"}
	contract := smartContractMessage.reread(tx.raw, tx.values[createNewContract])
	if value := contract[smartValue]; value.present() {
		effect.Asset, effect.Amount = trxAsset, chains.Exactly(big.NewInt(value.number))
	}
	effects := []chains.Effect{effect}
	if tx.values[createTokenValue].present() {
		effects = append(effects, tx.tokenValue(createTokenValue, created))
	}
	return effects
}

// doPermissions returns that each key of a permission controls the account from now
// on, alone or with others.
func doPermissions(tx *transaction) (effects []chains.Effect) {
	actives := 0
	for field, span := range permissions(tx.raw, tx.values) {
		path := tx.label(field)
		if field == updateActives {
			actives++
			path += " " + strconv.Itoa(actives)
		}
		permission := permissionMessage.reread(tx.raw, span)
		threshold := strconv.FormatInt(permission[permissionThreshold].number, 10)
		for entry := range entries(tx.raw, permission[permissionKeys]) {
			key := keyMessage.reread(tx.raw, entry)
			effects = append(effects, chains.Effect{Kind: chains.KindAuthority, From: tx.ownerParty,
				Account: tx.ownerParty, To: party(readAddress(key[0].of(tx.raw))), Path: path,
				Args: []chains.Arg{{Name: "permission", Value: path},
					{Name: "weight", Value: strconv.FormatInt(key[1].number, 10)},
					{Name: "threshold", Value: threshold}}})
		}
	}
	return effects
}

// doVote returns a change for each candidate: votes neither move nor lock anything.
func doVote(tx *transaction) (effects []chains.Effect) {
	number := 0
	for entry := range entries(tx.raw, tx.values[voteVotes]) {
		vote := voteMessage.reread(tx.raw, entry)
		number++
		effects = append(effects, chains.Effect{Kind: chains.KindSettings, From: tx.ownerParty,
			To: party(readAddress(vote[0].of(tx.raw))), Account: tx.ownerParty,
			Args: []chains.Arg{{Name: "votes", Value: strconv.FormatInt(vote[1].number, 10)}},
			Path: "vote " + strconv.Itoa(number)})
	}
	return effects
}

// doDelegate returns that another account gets the resources of the owner's
// staked TRX, or loses them. The stake remains the owner's, and nothing is moved; with a
// lock, the owner cannot unstake it before that ends.
func doDelegate(tx *transaction) []chains.Effect {
	effects := tx.settings(tx.ownerParty)
	effect := &effects[0]
	effect.To, effect.Asset, effect.Amount = tx.addressAt(delegateReceiver), trxAsset, tx.amountAt(delegateAmount)
	if tx.contract.number == numberDelegate && tx.values[delegateLock].present() {
		effect.Kind, effect.To, effect.Account, effect.Until = chains.KindStake, tx.ownerParty, effect.To,
			tx.lockedUntil(cmp.Or(tx.values[delegatePeriod].number, defaultLock))
	}
	return effects
}

// lockedUntil returns the latest end of a lock of some blocks. The network counts 3 seconds
// for each, from the block of the transaction, which is before the expiration.
func (tx *transaction) lockedUntil(period int64) chains.Until {
	const blockTime, last = 3000, 253402300799_999 // milliseconds; the end of the year 9999
	expiration := tx.frame[rawExpiration].number
	if expiration > last || period > (last-expiration)/blockTime {
		return chains.Until{} // never
	}
	return chains.Until{Time: time.UnixMilli(expiration + period*blockTime).Truncate(time.Second).UTC()}
}

// defaultLock is DELEGATE_PERIOD: the lock, in blocks, of resources that are delegated
// with a lock and without a period.
const defaultLock = 86_400
