package evm

import (
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// annotation is what a carrier's text has in addition to the encoded type.
var annotation = plaintext.NewPattern(`:[a-z]+|=[^,)]+`)

// encoded returns EIP-712's encodeType of the carrier.
func (c *carrier) encoded() string { return annotation.Regexp().ReplaceAllString(c.text, "") }

// parameters returns the members of the primary type. The types that it refers to stand
// behind it, each before the types that refer to it.
func (c *carrier) parameters() []abiType {
	structs := strings.Split(strings.TrimSuffix(c.text, ")"), ")")
	known := map[string][]abiType{}
	for i := len(structs) - 1; i >= 0; i-- {
		name, list, _ := strings.Cut(structs[i], "(")
		members := strings.Split(list, ",")
		types := make([]abiType, len(members))
		for j, member := range members {
			types[j] = memberType(member, known)
		}
		known[name] = types
	}
	primary, _, _ := strings.Cut(c.text, "(")
	return known[primary]
}

// memberType parses a member of a struct, which may be another one of those known.
func memberType(text string, known map[string][]abiType) (t abiType) {
	spec, name, _ := strings.Cut(text, " ")
	if of, list := strings.CutSuffix(spec, "[]"); known[of] != nil {
		if t = (abiType{kind: kindTuple, members: known[of]}); list {
			t = abiType{kind: kindArray, size: -1, members: []abiType{t}}
		}
	} else {
		t = parseTypes(spec + ")")[0]
	}
	if _, argument, ok := strings.Cut(name, "="); ok {
		name = argument
	}
	t.name = name
	return t
}

// typedFunctions has the acts that typed data carries by its encoded type.
var typedFunctions = sync.OnceValue(func() map[string]*function {
	byType := map[string]*function{}
	for _, row := range slices.Concat(standards, typedOnly) {
		for _, c := range row.act.carriers {
			byType[c.encoded()] = &function{standard: row.standard, at: row.at, parameters: c.parameters(),
				act: act{effects: c.effects, after: c.after}}
		}
	}
	return byType
})

// typedOnly are acts of typed data whose functions are not decoded.
var typedOnly = []standardAct{
	// ERC-4494, and the positions of Uniswap. The message does not name the owner.
	{"ERC-4494", atAny, "", nonpayable(permitNFT).
		signed("Permit(address spender,uint256 tokenId=token id,uint256 nonce,uint256 deadline)")},

	{"x402", atPermit2, "", nonpayable(paysWitness(x402Exact, chains.BoundExact)).
		signed(witnessTransfer + "Witness(address to,uint256 validAfter)")},
	{"x402", atPermit2, "", nonpayable(paysWitness(x402Upto, chains.BoundMost)).
		signed(witnessTransfer + "Witness(address to,address facilitator,uint256 validAfter)")},

	{"ERC-2771", atAny, "", nonpayable(forwards).
		signed(forwardRequest + "bytes:forwarded data=call)").
		signed(forwardRequest + "uint48 deadline,bytes:forwarded data=call)").
		signed(forwardRequest + "bytes:forwarded data=call,uint256 validUntilTime=deadline)")},
	{"MetaTransaction", atAny, "", nonpayable(forwards).
		signed("MetaTransaction(uint256 nonce,address from,bytes:forwarded functionSignature=call)")},
	{"GasFree", atAny, "", nonpayable(gasFreeTransfer).
		signed("PermitTransfer(address token,address serviceProvider,address user,address receiver,uint256 value," +
			"uint256 maxFee,uint256 deadline,uint256 version,uint256 nonce)")},
	{"ZK Stack", atBootloader, "", act{effects: zkSyncBefore, after: zkSyncFee}.signed(zkSyncTransaction)},
}

// TypedTypes returns the encoded types of typed data that carry an act.
func TypedTypes() []string {
	return slices.Collect(maps.Keys(typedFunctions()))
}

// Typed is typed data (EIP-712).
type Typed struct {
	Type     string   // its encoded type
	Name     string   // the domain's name
	Version  string   // the domain's version
	Contract *Address // the domain's verifyingContract, nil if it names none
	Members  []chains.TypedValue
}

// ReadTyped returns what a signature over typed data authorizes. ok is false if no act is
// known by its type, or not at the contract that verifies it.
func (p *Pass) ReadTyped(typed Typed) (signed *Signed, ok bool) {
	f := typedFunction(typed.Type)
	if f == nil {
		return nil, false
	}
	var verifier Address
	switch {
	case f.at == atBootloader && typed.Contract == nil && typed.Name == "zkSync" && typed.Version == "2" &&
		p.ChainID != 0: // the domain of a ZK Stack chain's own transactions
		verifier = bootloader
	case f.at == atBootloader || typed.Contract == nil:
		return nil, false
	default:
		verifier = *typed.Contract
	}
	c := &Call{pass: p, caller: account{signer: true}, self: verifier, code: verifier, value: new(big.Int),
		path:  "message",
		depth: -1, message: true, typed: true, function: f, args: typedValues(f.parameters, typed.Members)}
	if point := sibling(c.args, roleVerifier); point != nil {
		c.self, c.code = point.address(), point.address()
	}
	if !p.verifies(c.code, f.at) {
		return nil, false
	}
	r := reader{left: maxCalls}
	r.nest(c, c.args)
	return c.signed()
}

// typedFunction returns the act that typed data of a type carries, nil if none is known.
func typedFunction(encoded string) *function {
	if f := typedFunctions()[encoded]; f != nil {
		return f
	}
	for _, transfer := range permit2Witnessed {
		rest, found := strings.CutPrefix(encoded, transfer.witnessed)
		witness, _, _ := strings.Cut(rest, ")")
		if found && strings.Count(witness, ",") == 0 && strings.Contains(encoded, ")"+permit2Permissions) {
			return typedFunctions()[transfer.plain]
		}
	}
	return nil
}

// verifies reports whether the contract at an address is of a kind. Typed data that names no
// chain is for all chains on which it is. Where an address commits to the code, no other
// contract can verify the signature.
func (n *Network) verifies(address Address, w contractSet) bool {
	if w == atAny || w == asClaimed || w == atBootloader {
		return true
	}
	if len(n.Prefix) > 0 { // contracts have other addresses where an address has a prefix
		return false
	}
	c := contracts()[address]
	return c != nil && c.is(w) && (n.ChainID == 0 || c.chains == nil || c.on(n.ChainID))
}

// signed returns what the signature over typed data authorizes, of which the call has the
// members as its arguments.
func (c *Call) signed() (signed *Signed, ok bool) {
	signed = &Signed{Fields: func() (fields []chains.Field) {
		for i := range c.args {
			for _, call := range c.args[i].calls {
				fields = append(fields, call.Fields()...)
			}
		}
		return fields
	}}
	e := c.pass.emit(nil)
	e.signed = signed
	c.function.act.effects(e, c)
	if c.problem != "" {
		return nil, false
	}
	e.emitNested(c.args)
	calls := len(e.effects)
	if c.function.act.after != nil {
		c.function.act.after(e, c)
	}
	last := append([]chains.Effect(nil), e.effects[calls:]...)
	e.effects = e.effects[:calls]
	e.emitLeftovers()
	signed.Effects = ending(e.effects, last)
	// What points at effects that are cut off points at the last one, which stands for them.
	for i := range signed.Owners {
		signed.Owners[i].Effect = min(signed.Owners[i].Effect, len(signed.Effects)-1)
	}
	for i := range signed.Ends {
		signed.Ends[i].Effect = min(signed.Ends[i].Effect, len(signed.Effects)-1)
	}
	signed.Delegate = c.pass.delegate(c.args)
	return signed, len(signed.Effects) > 0
}

// delegate returns whose code runs as the account that makes the calls in arguments, none if it does
// nothing but make calls that are read.
func (p *Pass) delegate(args []value) (code chains.Party) {
	for i := range args {
		for _, call := range args[i].calls {
			switch {
			case call.unread:
				code = chains.UnknownParty()
			case call.delegate && call.function != nil && p.isKnown(call.code, atMultiSend):
				code = p.delegate(call.args)
			case call.delegate:
				code = p.Party(call.code)
			}
			if !code.IsNone() {
				return code
			}
		}
	}
	return code
}

// typedValues returns the members of a struct as arguments. There may be more members than
// parameters.
func typedValues(parameters []abiType, members []chains.TypedValue) []value {
	values := make([]value, len(parameters))
	for i := range parameters {
		values[i] = typedValue(&parameters[i], &members[i])
	}
	return values
}

func typedValue(t *abiType, from *chains.TypedValue) value {
	v := value{abiType: t}
	switch t.kind {
	case kindTuple:
		v.list = typedValues(t.members, from.List)
	case kindArray:
		v.list = make([]value, len(from.List))
		for i := range from.List {
			v.list[i] = typedValue(&t.members[0], &from.List[i])
		}
	case kindBytes, kindString:
		v.bytes = from.Bytes
	case kindFixed:
		v.word = append(append(make([]byte, 0, word), from.Bytes...), make([]byte, word-len(from.Bytes))...)
	case kindAddress:
		v.word = append(make([]byte, word-len(Address{}), word), from.Bytes...)
	default:
		v.word = from.Number.FillBytes(make([]byte, word))
	}
	return v
}

// signatory returns the account that signs what the arguments say: the one in an argument, or
// the signer if typed data names none.
func (c *Call) signatory(name string) chains.Party {
	if v := find(c.args, name); v != nil {
		return c.party(v.address())
	}
	return chains.SignerParty()
}

// under returns the path of an effect of a member of typed data; that of a call is its own.
func (c *Call) under(path string) string {
	if c.typed {
		return c.path + "/" + path
	}
	return c.path
}

// requireSignature returns the authorization of the next effect, which an account signs. In calldata
// the signature is among the arguments; over typed data it is the one that is requested.
func (e *emitter) requireSignature(c *Call, owner chains.Party) (chains.By, chains.Party) {
	if !c.typed {
		return chains.ByOther, owner
	}
	if !owner.IsSigner() {
		e.signed.Owners = append(e.signed.Owners, Claim{owner, len(e.effects)})
	}
	return chains.BySigner, chains.Party{}
}

// setEnd says until when the last effect can happen. What takes a permission back may.
func (e *emitter) setEnd(c *Call, until chains.Until) {
	if last := len(e.effects) - 1; c.typed && last >= 0 && e.effects[last].Kind != chains.KindRevoke {
		e.signed.Ends = append(e.signed.Ends, end{last, until})
	}
}

// setEndOfAll says until when the message can be used.
func (e *emitter) setEndOfAll(c *Call, until chains.Until) {
	if c.typed {
		e.signed.Ends = append(e.signed.Ends, end{-1, until})
	}
}

// timeOrNever is TimeOf where 0 stands for never.
func timeOrNever(seconds *big.Int) chains.Until {
	if seconds.Sign() == 0 {
		return chains.Until{}
	}
	return TimeOf(seconds)
}

// TimeOf returns the time of seconds since 1970. What RFC 3339 cannot write is never.
func TimeOf(seconds *big.Int) chains.Until {
	if !seconds.IsInt64() || seconds.Sign() < 0 || seconds.Int64() > chains.LastSecond {
		return chains.Until{}
	}
	return chains.Until{Time: time.Unix(seconds.Int64(), 0)}
}
