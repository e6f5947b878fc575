package evm

import (
	"bytes"
	"encoding/hex"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// control adds that a party controls an account, or has a say in it.
func (e *emitter) control(c *Call, over Address, to chains.Party) {
	e.add(c, chains.Effect{Kind: chains.KindAuthority, From: c.callerParty(), To: to, Account: c.party(over)})
}

// controlTo is for functions that give control of the called contract to the account in
// an argument.
func controlTo(name string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) { e.control(c, c.self, c.addressOf(name)) }
}

// controlOf is for functions that give control of the proxy in an argument to the
// account in another.
func controlOf(name string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) { e.control(c, c.arg("proxy").address(), c.addressOf(name)) }
}

func acceptOwnership(e *emitter, c *Call) { e.control(c, c.self, c.callerParty()) }

func renounceOwnership(e *emitter, c *Call) { e.control(c, c.self, c.party(Address{})) }

// loses is for functions that take control of the called contract from the account in
// an argument.
func loses(name string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		e.add(c, chains.Effect{Kind: chains.KindRevoke, From: c.callerParty(), To: c.addressOf(name), Account: c.party(c.self)})
	}
}

func swapOwner(e *emitter, c *Call) {
	loses("old owner")(e, c)
	e.control(c, c.self, c.addressOf("new owner"))
}

func installModule(e *emitter, c *Call) { e.control(c, c.self, c.addressOf("module")) }

func setupSafe(e *emitter, c *Call) {
	owners := c.arg("owners").list
	for i := range owners {
		if e.full() {
			return
		}
		e.control(c, c.self, c.party(owners[i].address()))
	}
}

// execTransaction adds the refund that a Safe pays for the gas of its
// transaction: to the receiver, or to the signer if it is zero.
func execTransaction(e *emitter, c *Call) {
	if c.arg("gas price").big().Sign() == 0 {
		return
	}
	to := c.addressOf("refund receiver")
	if zeros(c.arg("refund receiver").word) {
		to = chains.SignerParty()
	}
	e.moved(c, c.party(c.self), chains.BySigner, to, c.routerAsset(c.arg("gas token").address()), chains.Quantity{Bound: chains.BoundMost})
}

// delegatedSender replaces the factory if the sender is delegated (EIP-7702). Since
// EntryPoint 0.8, the rest of the init code is a call of the sender itself. Earlier
// versions take it for a contract's address, which no contract can have.
var delegatedSender = hexAddress("0x7702000000000000000000000000000000000000")

// handleOps adds what an EntryPoint does around the calls of its operations, authorized
// by the signatures in them: it deploys accounts, and pays the fee of the account or
// its paymaster to the beneficiary.
func handleOps(e *emitter, c *Call) {
	total := new(big.Int)
	operations := c.arg("operations").list
	for i := range operations {
		if e.full() {
			return
		}
		operation := operations[i].list
		sender := c.party(member(operation, "sender").address())
		add := func(effect chains.Effect) {
			effect.By, effect.OtherSigner = chains.ByOther, sender
			e.add(c, effect)
		}
		blind := func(to chains.Party, function string) {
			add(chains.Effect{Kind: chains.KindCall, From: c.party(c.self), To: to, Undecoded: true, Function: function})
		}
		switch init := member(operation, "init code").bytes; {
		case len(init) < 20: // nothing is called
		case Address(init[:20]) == delegatedSender && len(init) > 20:
			blind(sender, "init code")
		case Address(init[:20]) != delegatedSender:
			add(chains.Effect{Kind: chains.KindCreate, From: c.party(c.self), To: sender})
			blind(c.party(Address(init[:20])), "init code")
		}
		payer := sender
		if paymaster := member(operation, "paymaster and data").bytes; len(paymaster) >= 20 {
			payer = c.party(Address(paymaster[:20]))
			blind(payer, "paymaster")
		}
		fee := operationFee(operation)
		total.Add(total, fee)
		add(chains.Effect{Kind: chains.KindFee, From: payer, Asset: c.native(), Amount: chains.AtMost(fee)})
	}
	e.add(c, chains.Effect{Kind: chains.KindTransfer, From: c.party(c.self), By: chains.ByStanding, To: c.addressOf("beneficiary"),
		Asset: c.native(), Amount: chains.AtMost(total)})
}

// operationFee returns the most that an operation pays: all of its gas limits at its
// highest price.
func operationFee(operation []value) *big.Int {
	gas, price := new(big.Int).Set(member(operation, "pre-verification gas").big()), new(big.Int)
	paymaster := member(operation, "paymaster and data").bytes
	for i := range operation {
		switch v := &operation[i]; v.name {
		case "call gas limit":
			gas.Add(gas, v.big())
		case "verification gas limit":
			// With a paymaster, an EntryPoint 0.6 may run the verification three times.
			limit := v.big()
			if len(paymaster) > 0 {
				limit.Mul(limit, big.NewInt(3))
			}
			gas.Add(gas, limit)
		case "max fee per gas":
			price = v.big()
		case "account gas limits":
			gas.Add(gas, new(big.Int).SetBytes(v.word[:16])).Add(gas, new(big.Int).SetBytes(v.word[16:]))
		case "gas fees":
			price.SetBytes(v.word[16:])
		case "paymaster and data":
			if len(paymaster) >= 52 && operation[4].kind == kindFixed {
				gas.Add(gas, new(big.Int).SetBytes(paymaster[20:36])).Add(gas, new(big.Int).SetBytes(paymaster[36:52]))
			}
		}
	}
	return gas.Mul(gas, price)
}

// depositFor adds that the value of the call is held for an account.
func depositFor(e *emitter, c *Call, account chains.Party) {
	e.add(c, chains.Effect{Kind: chains.KindStake, From: c.callerParty(), To: account, Account: c.party(c.self), Asset: c.native(), Amount: chains.Exactly(c.value)})
}

func depositTo(e *emitter, c *Call) { depositFor(e, c, c.addressOf("account")) }

func addStake(e *emitter, c *Call) { depositFor(e, c, c.callerParty()) }

func withdrawTo(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindUnstake, From: c.callerParty(), To: c.addressOf("to"), Account: c.party(c.self),
		Asset: c.native(), Amount: chains.Exactly(c.arg("amount").big())})
}

func withdrawStake(e *emitter, c *Call) {
	e.add(c, chains.Effect{Kind: chains.KindUnstake, From: c.callerParty(), To: c.addressOf("to"), Account: c.party(c.self),
		Asset: c.native(), Amount: chains.All()})
}

// depositValidator stakes the value of the call. Withdrawal credentials that begin with
// 01 or 02 end in the address that can withdraw it.
func depositValidator(e *emitter, c *Call) {
	to := chains.UnknownParty()
	if credentials := c.arg("withdrawal credentials").bytes; len(credentials) == 32 && (credentials[0] == 1 || credentials[0] == 2) && zeros(credentials[1:12]) {
		to = c.party(Address(credentials[12:]))
	}
	key := c.arg("validator key").bytes
	e.add(c, chains.Effect{Kind: chains.KindStake, From: c.callerParty(), To: to, Account: validator(key),
		Asset: c.native(), Amount: chains.Exactly(c.value)})
}

// validator returns the account of a validator on the beacon chain, at its BLS key.
func validator(key []byte) chains.Party { return chains.PartyAt(key, blsKey) }

var blsKey = &chains.Notation{Text: func(key []byte) string { return "0x" + hex.EncodeToString(key) }}

var gwei = big.NewInt(1e9)

// raw adds what contracts do whose input has no selector.
func (e *emitter) raw(c *Call) {
	switch n, data := c.network, c.data; {
	case c.delegate:
		e.undecoded(c)
	case n.isKnown(c.code, atWithdrawals) && len(data) == 56:
		amount := chains.All()
		if !zeros(data[48:]) {
			amount = chains.AtMost(new(big.Int).Mul(new(big.Int).SetBytes(data[48:]), gwei))
		}
		e.add(c, chains.Effect{Kind: chains.KindUnstake, From: c.callerParty(), To: c.callerParty(), Account: validator(data[:48]),
			Asset: c.native(), Amount: amount})
	case n.isKnown(c.code, atConsolidations) && len(data) == 96:
		e.consolidation(c, data[:48], data[48:])
	case n.isKnown(c.code, atCreate2Factory) && len(data) >= word:
		e.add(c, chains.Effect{Kind: chains.KindCreate, From: c.callerParty(), To: c.party(Create2(c.code, data[:word], data[word:]))})
	default:
		e.undecoded(c)
	}
}

// consolidation adds that the balance of a validator goes to another, whose withdrawal
// credentials the bytes do not say, or that a validator compounds.
func (e *emitter) consolidation(c *Call, source, target []byte) {
	if bytes.Equal(source, target) {
		e.add(c, chains.Effect{Kind: chains.KindSettings, From: c.callerParty(), Account: validator(source)})
		return
	}
	e.add(c, chains.Effect{Kind: chains.KindStake, From: c.callerParty(), To: chains.UnknownParty(), Account: validator(target),
		Asset: c.native(), Amount: chains.All()})
}
