package tron

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/texts"
)

// Effects implements chains.Transaction: what the contract does, by its type, and the
// fee. Nothing depends on the signer: the bytes name the owner.
func (tx *transaction) Effects() []chains.Effect { return tx.effects(network.Pass()) }

// effects is Effects in a pass over the call of a smart contract.
func (tx *transaction) effects(pass *evm.Pass) []chains.Effect {
	var effects []chains.Effect
	if tx.contract.number == numberTrigger {
		effects = tx.callEffects(pass)
	} else {
		effects = tx.contract.effects(tx)
		moves := tx.contract.number == numberTransfer || tx.contract.number == numberTransferAsset // and no more
		if first := &effects[0]; !moves && first.Args == nil && first.Kind != chains.KindCreate {
			first.Args = tx.unsaid(effects)
		}
	}
	if memo := tx.frame[rawData]; memo.present() && !texts.IsNote(memo.of(tx.raw)) { // who is paid may act on it
		effects = append(effects, chains.Effect{Kind: chains.KindCall, From: tx.ownerParty, To: chains.UnknownParty(),
			Undecoded: true, Function: "memo", Path: "memo"})
	}
	for i := range effects {
		effect := &effects[i]
		effect.By = cmp.Or(effect.By, chains.BySigner)
		if effect.Function == "" && (effect.Kind == chains.KindSettings || effect.Kind == chains.KindAuthority) {
			effect.Function = tx.contract.message.name
		}
	}
	fee := chains.AtMost(new(big.Int).SetUint64(tx.maximumFee())) // with what the contract's type burns
	return append(evm.Cut(effects, chains.MaxEffects-1), chains.Effect{Kind: chains.KindFee, From: tx.ownerParty,
		By: chains.BySigner, Asset: trxAsset, Amount: fee, Path: "fee"})
}

// moves is a transfer from the owner to another account. What goes to one that no one can
// spend from is burned.
func (tx *transaction) moves(to chains.Party, asset chains.Asset, amount chains.Quantity, path string) chains.Effect {
	effect := chains.Effect{Kind: chains.KindTransfer, From: tx.ownerParty, To: to, Asset: asset, Amount: amount,
		Path: path}
	if network.Lost(asset, to) {
		effect.Kind = chains.KindBurn
	}
	return effect
}

// received is what the owner gets in return, which the other party has authorized.
func (tx *transaction) received(from chains.Party, asset chains.Asset, amount chains.Quantity,
	path string) chains.Effect {
	return chains.Effect{Kind: chains.KindReceive, From: from, By: chains.ByOther, OtherSigner: from,
		To: tx.ownerParty, Asset: asset, Amount: amount, Path: path}
}

// own is that the owner stakes an asset, gets it back, or creates it.
func (tx *transaction) own(kind chains.Kind, asset chains.Asset, amount chains.Quantity, path string) chains.Effect {
	return chains.Effect{Kind: kind, From: tx.ownerParty, To: tx.ownerParty, Asset: asset, Amount: amount, Path: path}
}

// settings is a change of an account that moves nothing.
func (tx *transaction) settings(account chains.Party) []chains.Effect {
	return []chains.Effect{{Kind: chains.KindSettings, From: tx.ownerParty, Account: account, Path: "type"}}
}

// unsaid returns what no effect has as a member: fields, such as what settings are set to, and the
// entries of maps.
func (tx *transaction) unsaid(effects []chains.Effect) (args []chains.Arg) {
	for _, f := range summarize(tx.raw, tx.contract.message, tx.values) {
		if f.Type == chains.TypeList {
			f.Label, f.Value = f.Label+" "+f.Fields[0].Value, f.Fields[1].Value
		}
		said := func(e chains.Effect) bool {
			if f.Type == chains.TypeAmount || f.Symbol == tokenUnit {
				return f.Value == e.Amount.Value.String()
			}
			return slices.Contains([]string{e.To.String(), e.Account.String(), e.Asset.TokenID, trxToken}, f.Value)
		}
		if !slices.ContainsFunc(effects, said) {
			args = append(args, chains.Arg{Name: f.Label, Value: f.Value})
		}
	}
	return args
}

// callEffects returns the effects of a TriggerSmartContract: the TRX and tokens that go
// with the call, and what the function does.
func (tx *transaction) callEffects(pass *evm.Pass) []chains.Effect {
	effects := tx.call(pass).AppendEffects(pass.Room(2))
	blind := false
	for i := range effects {
		effects[i].Asset.Standard = strings.Replace(effects[i].Asset.Standard, "erc", "trc", 1)
		blind = blind || effects[i].Undecoded
	}
	if tx.values[triggerTokenValue].present() {
		effects = slices.DeleteFunc(effects, sendsNothing)
		effects = append(effects, tx.tokenValue(triggerTokenValue, tx.addressAt(triggerContract)))
		if !blind && tx.values[triggerData].present() { // no standard says what becomes of the token
			effects = append(effects, chains.Effect{Kind: chains.KindCall, From: tx.ownerParty,
				To: tx.addressAt(triggerContract), Undecoded: true, Path: "call"})
		}
	}
	return effects
}

// tokenValue is a TRC-10 token that goes with a call or a creation: the amount is in a
// field, the id in the next one.
func (tx *transaction) tokenValue(field int, to chains.Party) chains.Effect {
	asset := tokenAsset(strconv.FormatInt(tx.values[field+1].number, 10))
	return tx.moves(to, asset, tx.amountAt(field), tx.label(field))
}

// sendsNothing reports whether an effect is a transfer of 0 TRX: it names the recipient of
// a call that does nothing else.
func sendsNothing(e chains.Effect) bool {
	return (e.Kind == chains.KindTransfer || e.Kind == chains.KindBurn) && e.Asset.IsNative() &&
		e.Amount.Bound == chains.BoundExact && e.Amount.Value.Sign() == 0
}

// createdAddress returns the address of the new contract: Keccak-256 over the
// transaction's id and the owner's 21 bytes.
func (tx *transaction) createdAddress() (created address) {
	creator := tx.owner
	hash := crypto.Keccak256Hash(tx.id[:], []byte{addressPrefix}, creator[:])
	copy(created[:], hash[12:])
	return created
}

func (tx *transaction) call(pass *evm.Pass) *evm.Call {
	call := evm.Transaction{To: evm.Address(readAddress(tx.values[triggerContract].of(tx.raw))),
		Data: tx.values[triggerData].of(tx.raw)}
	if value := tx.values[triggerValue].number; value != 0 {
		call.Value = big.NewInt(value)
	}
	return pass.ReadFrom(evm.Address(tx.owner), call, false)
}

var _ chains.Caller = (*transaction)(nil)

func (tx *transaction) Calls() []chains.Call {
	if tx.contract.number != numberTrigger {
		return nil
	}
	return tx.call(network.Pass()).Calls()
}
