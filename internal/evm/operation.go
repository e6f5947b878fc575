package evm

import (
	"bytes"
	"errors"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// operation is a user operation of ERC-4337, in the members that its EntryPoint acts on:
// in calldata of handleOps, where its sender has signed it, or in typed data, where this
// signature is requested.
type operation struct {
	EntryPoint Address
	Sender     Address
	InitCode   []byte
	CallData   []byte
	Paymaster  []byte // paymasterAndData

	// Unpacked gas members.
	CallGas, VerificationGas, PreVerificationGas, MaxFeePerGas *big.Int
}

// LeastOperation is the length of the shortest calldata that contains a user operation:
// the selector of handleOps, the list and an operation's 9 heads.
const LeastOperation = 4 + 3*word + 9*word

var entryPoints = map[Address]int{
	hexAddress("0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789"): 6,
	hexAddress("0x0000000071727De22E5E9d8BAf0edAc6f37da032"): 7,
	hexAddress("0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108"): 8,
	hexAddress("0x433709009B8330FDa32311DF1C2AFA402eD8D009"): 9,
}

// paymaster returns the account that is charged instead of the sender. The zero address
// stands for none, in every version.
func (o *operation) paymaster() (address Address, ok bool) {
	if len(o.Paymaster) < len(address) {
		return address, false
	}
	address = Address(o.Paymaster)
	return address, address != Address{}
}

// paymasterHead is the length of paymasterAndData before the paymaster's own data, since
// EntryPoint 0.7:
//
//	paymaster 20 ‖ verification gas 16 ‖ post-operation gas 16 ‖ data
const paymasterHead = 20 + 16 + 16

// prefund returns the most that the operation costs, as its EntryPoint computes it: all
// gas limits at the highest price.
func (o *operation) prefund() *big.Int {
	gas := new(big.Int).Add(o.CallGas, o.PreVerificationGas)
	gas.Add(gas, o.VerificationGas)
	switch _, sponsored := o.paymaster(); {
	case entryPoints[o.EntryPoint] == 6 && (sponsored || 0 < len(o.Paymaster) && len(o.Paymaster) < len(Address{})):
		// The limit of the verification also holds for the paymaster's, and for what it
		// runs after the operation.
		gas.Add(gas, new(big.Int).Lsh(o.VerificationGas, 1))
	case entryPoints[o.EntryPoint] > 6 && len(o.Paymaster) >= paymasterHead:
		gas.Add(gas, new(big.Int).SetBytes(o.Paymaster[20:36]))
		gas.Add(gas, new(big.Int).SetBytes(o.Paymaster[36:paymasterHead]))
	}
	return gas.Mul(gas, o.MaxFeePerGas)
}

// packedOperation is an operation of EntryPoint 0.8 and 0.9, which hash it as typed data.
func packedOperation(e *emitter, c *Call) {
	if entryPoints[c.code] < 8 {
		c.problem = "of an EntryPoint that hashes operations in another way"
		return
	}
	o := c.operation(c.args)
	e.signed.Member, e.signed.Problem = o.checkHashed()
	e.addOperation(c, o)
}

// safeOperation is an operation of a Safe, for EntryPoint 0.6 or 0.7: typed data of its module.
func safeOperation(e *emitter, c *Call) {
	if entryPoints[c.code] > 7 {
		c.problem = "of an EntryPoint that hashes operations in another way"
		return
	}
	e.addOperation(c, c.operation(c.args))
	e.setEndOfAll(c, timeOrNever(c.arg("valid until").big()))
}

// addOperation adds what an operation of typed data does besides its call. Without calldata the
// EntryPoint makes none: the nonce is used, as by a transaction of 0 to oneself.
func (e *emitter) addOperation(c *Call, o *operation) {
	sender := c.party(o.Sender)
	e.signed.Own = func(effects []chains.Effect, own func(chains.Party) bool) {
		claimFees(effects, own)
		if own(sender) {
			o.delegated(effects)
		}
	}
	if len(c.arg("call").bytes) == 0 {
		e.add(c, chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, From: sender, To: sender,
			Asset: c.native(), Amount: chains.ExactlyUint(0), Path: "call"})
	}
}

// chargeOperation adds what an EntryPoint does around the call of an operation of typed data.
func chargeOperation(e *emitter, c *Call) {
	o := c.operation(c.args)
	o.initialize(e.adderFor(c, nil), c, c.pass.typedInit(o))
	o.charge(e.adderFor(c, nil), c, true)
}

// adderFor returns a function that adds effects of a call by the signature of an account, or by
// the one that is requested if signer is nil.
func (e *emitter) adderFor(c *Call, signer *chains.Party) func(chains.Effect) {
	return func(effect chains.Effect) {
		if signer != nil {
			effect.By, effect.OtherSigner = chains.ByOther, *signer
		}
		e.add(c, effect)
	}
}

// charge adds the fee. With a paymaster, the EntryPoint
// charges the paymaster, whose own code agrees to that. In typed data, the fee is
// therefore by its authorization, and not by the requested signature.
func (o *operation) charge(add func(chains.Effect), c *Call, typed bool) {
	sender := c.party(o.Sender)
	fee := chains.Effect{Kind: chains.KindFee, From: sender, Asset: c.native(), Amount: chains.AtMost(o.prefund())}
	if paymaster, ok := o.paymaster(); ok && paymaster != o.Sender {
		fee.From, fee.Account = c.party(paymaster), sender
		if typed {
			fee.By, fee.OtherSigner = chains.ByOther, fee.From
		}
	}
	add(fee)
}

// delegatedSender replaces the factory in calldata if the sender is delegated (EIP-7702).
// Since EntryPoint 0.8, the rest of the init code is a call of the sender itself. Earlier
// versions take it for a contract's address, which no contract can have.
var delegatedSender = hexAddress("0x7702000000000000000000000000000000000000")

// initKind is what the EntryPoint does with init code.
type initKind uint8

const (
	initNothing initKind = iota
	initCreate           // the factory in the first 20 bytes creates the sender
	initCall             // the rest is a call of the sender
)

func (o *operation) calldataInit() initKind {
	switch {
	case len(o.InitCode) < len(Address{}):
		return initNothing
	case Address(o.InitCode) != delegatedSender:
		return initCreate
	case len(o.InitCode) > len(Address{}):
		return initCall
	}
	return initNothing
}

// typedInit returns what init code in typed data does. Since EntryPoint 0.8, its first 20
// bytes are what is hashed in place of the marker in calldata, the delegate of the
// account, or the factory. They are a factory for certain only if they are the address of
// a known one, whose code does no harm to an account that is delegated to it.
func (n *Network) typedInit(o *operation) initKind {
	switch size := len(Address{}); {
	case entryPoints[o.EntryPoint] < 8:
		return o.calldataInit()
	case len(o.InitCode) <= size:
		return initNothing
	case n.isKnown(Address(o.InitCode), atAccountFactory):
		return initCreate
	}
	return initCall
}

func (o *operation) initialize(add func(chains.Effect), c *Call, kind initKind) {
	sender := c.party(o.Sender)
	switch kind {
	case initCreate:
		add(chains.Effect{Kind: chains.KindCreate, From: c.party(Address(o.InitCode)), To: sender,
			Function: chains.InitCode})
	case initCall:
		effect := chains.Effect{Kind: chains.KindCall, From: c.party(c.self), To: sender, Undecoded: true,
			Function: chains.InitCode}
		if delegate := Address(o.InitCode); delegate != delegatedSender {
			effect.Account = c.party(delegate)
		}
		add(effect)
	}
}

// delegated replaces, in place, what Read says of init code by what it is if the sender
// is one of our own keys: such an account has no factory, so that the EntryPoint calls it.
func (o *operation) delegated(effects []chains.Effect) {
	if entryPoints[o.EntryPoint] < 8 {
		return
	}
	for i := range effects {
		if create := &effects[i]; create.Kind == chains.KindCreate && create.Function == chains.InitCode &&
			create.By == chains.BySigner {
			create.Kind, create.Undecoded, create.Account = chains.KindCall, true, create.From
			create.From = new(Network).Party(o.EntryPoint)
		}
	}
}

// paymasterMagic ends paymasterAndData with a signature of the paymaster, in EntryPoint 0.9:
//
//	… ‖ signature ‖ its length 2 ‖ 22e325a297439656
var paymasterMagic = []byte{0x22, 0xe3, 0x25, 0xa2, 0x97, 0x43, 0x96, 0x56}

// checkHashed returns why the operation is not what its EntryPoint hashes, with the member
// that differs, or nil. A signature over it would be valid nowhere.
func (o *operation) checkHashed() (member string, err error) {
	size := min(len(o.InitCode), len(delegatedSender))
	switch version := entryPoints[o.EntryPoint]; {
	// 7702 and 18 zero bytes, or the beginning of it: a delegate's address may begin with 7702 too.
	case version >= 8 && size >= 2 && bytes.Equal(o.InitCode[:size], delegatedSender[:size]):
		return "initCode", errors.New("begins with the marker 0x7702, in whose place the EntryPoint hashes the " +
			"delegate of the account: put the 20 bytes of the delegate's address there")
	case version >= 9 && hasPaymasterSignature(o.Paymaster):
		return "paymasterAndData", errors.New("ends with a signature of the paymaster, which the EntryPoint does " +
			"not hash: remove the signature and the 2 bytes of its length, and keep the last 8 bytes, 22e325a297439656")
	}
	return "", nil
}

func hasPaymasterSignature(data []byte) bool {
	rest, ok := bytes.CutSuffix(data, paymasterMagic)
	if !ok || len(rest) < paymasterHead+2 {
		return false
	}
	length := int(rest[len(rest)-2])<<8 | int(rest[len(rest)-1])
	return length > 0 && length <= len(rest)-2-paymasterHead
}

// handleOps adds what an EntryPoint does before the calls of its operations, authorized
// by the signatures in them: it deploys accounts, and charges the account or its paymaster.
func handleOps(e *emitter, c *Call) {
	operations := c.arg("operations").list
	for i := range e.upTo(len(operations)) {
		o := c.operation(operations[i].list)
		signer := c.party(o.Sender)
		add := e.adderFor(c, &signer)
		o.initialize(add, c, o.calldataInit())
		o.charge(add, c, false)
	}
}

// payBeneficiary adds that the EntryPoint pays all fees to the beneficiary, after the calls.
func payBeneficiary(e *emitter, c *Call) {
	total := new(big.Int)
	operations := c.arg("operations").list
	for i := range operations {
		total.Add(total, c.operation(operations[i].list).prefund())
	}
	e.addTransfer(c, c.party(c.self), chains.ByStanding, c.addressOf("beneficiary"), c.native(), chains.AtMost(total))
}

// operation returns an operation in the calldata of an EntryPoint, packed or not.
func (c *Call) operation(members []value) *operation {
	o := &operation{EntryPoint: c.code}
	for i := range members {
		switch v := &members[i]; v.name {
		case "sender":
			o.Sender = v.address()
		case "init code":
			o.InitCode = v.bytes
		case "paymaster and data":
			o.Paymaster = v.bytes
		case "call gas limit":
			o.CallGas = v.big()
		case "verification gas limit":
			o.VerificationGas = v.big()
		case "pre-verification gas":
			o.PreVerificationGas = v.big()
		case "max fee per gas":
			o.MaxFeePerGas = v.big()
		// Since EntryPoint 0.7, gas members are packed: 16 bytes each. The first of the fees is
		// maxPriorityFeePerGas.
		case "account gas limits":
			o.VerificationGas, o.CallGas = new(big.Int).SetBytes(v.word[:16]), new(big.Int).SetBytes(v.word[16:])
		case "gas fees":
			o.MaxFeePerGas = new(big.Int).SetBytes(v.word[16:])
		}
	}
	return o
}
