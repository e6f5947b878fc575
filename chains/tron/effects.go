package tron

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// Effects implements chains.Transaction: what the contract does, by its type, and the
// fee. Nothing depends on the signer: the bytes name the owner.
func (tx *transaction) Effects() []chains.Effect { return tx.effects((*evm.Network).Pass) }

// effects is Effects in a pass that begin returns if a smart contract is called.
func (tx *transaction) effects(begin func(*evm.Network) *evm.Pass) []chains.Effect {
	var effects []chains.Effect
	if tx.contract.message == triggerSmartContract {
		effects = tx.callEffects(begin(network))
	} else {
		effects = tx.contract.effects(tx)
	}
	for i := range effects {
		effect := &effects[i]
		if effect.By == "" {
			effect.By = chains.BySigner
		}
		if effect.Function == "" && (effect.Kind == chains.KindSettings || effect.Kind == chains.KindAuthority) {
			effect.Function = tx.contract.message.name
		}
	}
	return append(evm.Cut(effects, chains.MaxEffects-1), tx.feeEffect())
}

// feeEffect returns the most that can be paid for inclusion, including what the
// contract's type burns.
func (tx *transaction) feeEffect() chains.Effect {
	return chains.Effect{Kind: chains.KindFee, From: tx.ownerParty, By: chains.BySigner, Asset: trxAsset,
		Amount: chains.AtMost(new(big.Int).SetUint64(tx.maximumFee())), Path: "fee"}
}

var trxAsset = chains.Native(Name)

// party returns the account at an address.
func party(a address) chains.Party { return network.Party(evm.Address(a)) }

// addressAt returns the account in a field of the contract, none if the field is
// absent.
func (tx *transaction) addressAt(field int) chains.Party {
	if !tx.values[field].present() {
		return chains.Party{}
	}
	return party(readAddress(tx.bytes(tx.values[field])))
}

// amountAt returns the amount in a field of the contract.
func (tx *transaction) amountAt(field int) chains.Quantity {
	return chains.Exactly(big.NewInt(tx.values[field].number))
}

// assetAt returns the token in a field of the contract, or TRX.
func (tx *transaction) assetAt(field int) chains.Asset {
	return tokenAsset(string(tx.bytes(tx.values[field])))
}

func tokenAsset(id string) chains.Asset {
	if id == trxToken {
		return trxAsset
	}
	return chains.Asset{Chain: Name, TokenID: id, Standard: "trc10"}
}

// label returns the label of a field in the summary.
func (tx *transaction) label(field int) string { return tx.contract.message.fields[field].label }

// moves is a transfer from the owner to another account. What goes to one that no one can
// spend from is burned.
func (tx *transaction) moves(to chains.Party, asset chains.Asset, amount chains.Quantity, path string) chains.Effect {
	effect := chains.Effect{Kind: chains.KindTransfer, From: tx.ownerParty, To: to, Asset: asset, Amount: amount, Path: path}
	if network.Lost(asset, to) {
		effect.Kind = chains.KindBurn
	}
	return effect
}

// received is what the owner gets in return, which the other party has authorized.
func (tx *transaction) received(from chains.Party, asset chains.Asset, amount chains.Quantity, path string) chains.Effect {
	return chains.Effect{Kind: chains.KindReceive, From: from, By: chains.ByOther, OtherSigner: from, To: tx.ownerParty, Asset: asset, Amount: amount, Path: path}
}

// locked and unlocked are that the owner stakes an asset, or gets it back.
func (tx *transaction) locked(asset chains.Asset, amount chains.Quantity, path string) chains.Effect {
	return chains.Effect{Kind: chains.KindStake, From: tx.ownerParty, To: tx.ownerParty, Asset: asset, Amount: amount, Path: path}
}

func (tx *transaction) unlocked(asset chains.Asset, amount chains.Quantity, path string) chains.Effect {
	return chains.Effect{Kind: chains.KindUnstake, From: tx.ownerParty, To: tx.ownerParty, Asset: asset, Amount: amount, Path: path}
}

// settings is a change that moves nothing, of the owner or of another account.
func (tx *transaction) settings(account chains.Party) []chains.Effect {
	if account.IsNone() {
		account = tx.ownerParty
	}
	return []chains.Effect{{Kind: chains.KindSettings, From: tx.ownerParty, Account: account, Path: "type"}}
}

// callEffects returns the effects of a TriggerSmartContract: the TRX and tokens that go
// with the call, and what the function does.
func (tx *transaction) callEffects(pass *evm.Pass) []chains.Effect {
	effects := tx.call(pass).Effects()
	blind := false
	for i := range effects {
		effects[i].Asset.Standard = strings.Replace(effects[i].Asset.Standard, "erc", "trc", 1)
		blind = blind || effects[i].Undecoded
	}
	if tx.values[triggerTokenValue].present() {
		effects = slices.DeleteFunc(effects, sendsNothing)
		effects = append(effects, tx.tokenValue(triggerTokenValue, tx.addressAt(triggerContract)))
		if !blind && tx.values[triggerData].present() { // no standard says what becomes of the token
			effects = append(effects, chains.Effect{Kind: chains.KindCall, From: tx.ownerParty, To: tx.addressAt(triggerContract), Undecoded: true, Path: "call"})
		}
	}
	return effects
}

// sendsNothing reports whether an effect is a transfer of 0 TRX: it names the recipient of
// a call that does nothing else.
func sendsNothing(e chains.Effect) bool {
	return (e.Kind == chains.KindTransfer || e.Kind == chains.KindBurn) && e.Asset.IsNative() &&
		e.Amount.Bound == chains.BoundExact && e.Amount.Value.Sign() == 0
}

// tokenValue is a TRC-10 token that goes with a call or a creation: the amount is in a
// field, the id in the next one.
func (tx *transaction) tokenValue(field int, to chains.Party) chains.Effect {
	asset := tokenAsset(strconv.FormatInt(tx.values[field+1].number, 10))
	return tx.moves(to, asset, tx.amountAt(field), tx.label(field))
}

// creationEffects returns the effects of a CreateSmartContract.
func (tx *transaction) creationEffects() []chains.Effect {
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

// permissionEffects returns that each key of a permission controls the account from now
// on, alone or with others.
func (tx *transaction) permissionEffects() (effects []chains.Effect) {
	for _, field := range []int{updateOwner, updateWitness, updateActives} {
		if span := tx.values[field]; !span.present() {
			continue
		} else if field != updateActives {
			effects = tx.appendHolders(effects, span, tx.label(field))
			continue
		}
		number := 0
		for active := range entries(tx.raw, tx.values[field]) {
			number++
			effects = tx.appendHolders(effects, active, tx.label(field)+" "+strconv.Itoa(number))
		}
	}
	return effects
}

func (tx *transaction) appendHolders(effects []chains.Effect, span value, path string) []chains.Effect {
	permission := permissionMessage.reread(tx.raw, span)
	threshold := strconv.FormatInt(permission[permissionThreshold].number, 10)
	for entry := range entries(tx.raw, permission[permissionKeys]) {
		key := keyMessage.reread(tx.raw, entry)
		effects = append(effects, chains.Effect{Kind: chains.KindAuthority, From: tx.ownerParty, Account: tx.ownerParty,
			To: party(readAddress(key[0].of(tx.raw))), Path: path,
			Args: []chains.Arg{{Name: "permission", Value: path}, {Name: "weight", Value: strconv.FormatInt(key[1].number, 10)}, {Name: "threshold", Value: threshold}}})
	}
	return effects
}

// voteEffects returns a change for each candidate: votes neither move nor lock
// anything.
func (tx *transaction) voteEffects() (effects []chains.Effect) {
	number := 0
	for entry := range entries(tx.raw, tx.values[voteVotes]) {
		vote := voteMessage.reread(tx.raw, entry)
		number++
		effects = append(effects, chains.Effect{Kind: chains.KindSettings, From: tx.ownerParty, To: party(readAddress(vote[0].of(tx.raw))), Account: tx.ownerParty,
			Args: []chains.Arg{{Name: "votes", Value: strconv.FormatInt(vote[1].number, 10)}}, Path: "vote " + strconv.Itoa(number)})
	}
	return effects
}

// delegationEffects returns that another account gets the resources of the owner's
// staked TRX, or loses them. The stake remains the owner's, and nothing is moved; with a
// lock, the owner cannot unstake it before that ends.
func (tx *transaction) delegationEffects() []chains.Effect {
	effects := tx.settings(chains.Party{})
	effect := &effects[0]
	effect.To, effect.Asset, effect.Amount = tx.addressAt(delegateReceiver), trxAsset, tx.amountAt(delegateAmount)
	if tx.contract.message == delegateResourceContract && tx.values[delegateLock].present() {
		period := cmp.Or(tx.values[delegatePeriod].number, defaultLock)
		effect.Kind, effect.To, effect.Account, effect.Until = chains.KindStake, tx.ownerParty, effect.To, tx.lockedUntil(period)
		effect.Function = tx.contract.message.name
		effect.Args = []chains.Arg{{Name: "locked for blocks", Value: strconv.FormatInt(period, 10)}}
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
