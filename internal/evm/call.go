package evm

import (
	"bytes"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// Bounds for calls in the arguments of calls, besides chains.MaxCallDepth: how many are
// decoded in one transaction, and how many elements of one list are shown. What is beyond
// a bound is shown as bytes with a note that it is not decoded.
const (
	maxCalls = 512
	maxShown = 64
)

// account is the account that makes a call: the signer, whose address the bytes do not
// name, or a contract.
type account struct {
	signer  bool
	address Address
}

func at(a Address) account { return account{address: a} }

// Call is a call of a contract: that of a transaction, or one in the arguments of another call.
type Call struct {
	pass     *Pass
	caller   account  // msg.sender
	self     Address  // the account on which the code runs
	code     Address  // whose code runs: not self in a delegatecall
	operator *Address // whose signature in the bytes authorizes the call; nil: the signer's does
	value    *big.Int
	nothing  big.Int // what value points to if there is none
	data     []byte
	depth    int
	delegate bool // the code runs as self, which is another account
	unread   bool // it could not be read, so that its address is not known
	fallible bool // it may fail while the rest of the transaction stands
	children int
	path     string // "call", followed by the number of the call in each call around it
	zero     bool   // the bytes say address zero, which stands for the calling account
	message  bool   // a message authorizes it, and not a transaction of the signer
	note     bool   // the data is no call: see PlainData
	account  bool   // the account of a user operation is called
	typed    bool   // it is typed data, with its members as arguments: see Typed

	function *function // nil if it is not decoded
	plain    *act      // what the code does with data that has no selector; nil if it is not known
	args     []value
	rest     []byte // after the arguments
	dirty    bool   // decoded leniently
	problem  string // why it is not decoded
}

// Transaction is the call of a contract by a transaction.
type Transaction struct {
	To    Address
	Value *big.Int // in the native asset's smallest unit; nil is 0
	Data  []byte
	Path  string // of the call among others; empty: "call"
}

// arg returns the argument with a name. It panics if there is none.
func (c *Call) arg(name string) *value { return member(c.args, name) }

func member(values []value, name string) *value {
	if v := find(values, name); v != nil {
		return v
	}
	panic("evm: no parameter " + name)
}

// find returns the value with a name, nil if there is none.
func find(values []value, name string) *value {
	for i := range values {
		if values[i].name == name {
			return &values[i]
		}
	}
	return nil
}

// sibling returns the value with a role among those next to a call, nil if there is none.
func sibling(values []value, r role) *value {
	for i := range values {
		if values[i].role == r {
			return &values[i]
		}
	}
	return nil
}

// value is a decoded argument. Its bytes are those of the call data.
type value struct {
	*abiType
	word  []byte  // of an elementary static type: all 32 bytes
	bytes []byte  // of bytes and string
	list  []value // of a tuple and an array
	raw   []byte  // of an array: the encoding of its elements
	calls []*Call // the calls in it
}

func zeros(part []byte) bool { return len(bytes.Trim(part, "\x00")) == 0 }

func (v *value) address() Address { return Address(v.word[word-20:]) }

// big returns the value of an integer, within its width and with its sign.
func (v *value) big() *big.Int {
	number := rlp.Big(v.word[word-v.size:])
	if v.kind == kindInt && v.word[word-v.size]&0x80 != 0 {
		number.Sub(number, new(big.Int).Lsh(big.NewInt(1), uint(8*v.size)))
	}
	return number
}

// yes returns the value of a bool. A dirty one is true, as it is for contracts.
func (v *value) yes() bool { return !zeros(v.word) }

func (v *value) fixed() []byte { return v.word[:v.size] }

type function struct {
	standard   string
	at         contractSet
	signature  string // as the selector is computed from it
	parameters []abiType
	act        act
}

// An act is what a function does, apart from the calls in its arguments.
type act struct {
	payable bool // it takes native value
	holds   bool // its effects account for that value
	effects func(*emitter, *Call)
	after   func(*emitter, *Call) // what it does after the calls in its arguments; nil for nothing

	carriers []carrier // typed data by which the same is signed
}

func nonpayable(effects func(*emitter, *Call)) act { return act{effects: effects} }

func payable(effects func(*emitter, *Call)) act { return act{payable: true, effects: effects} }

func holds(effects func(*emitter, *Call)) act {
	return act{payable: true, holds: true, effects: effects}
}

// functionsBySelector has functions by the first four bytes of Keccak-256 over their signatures.
type functionsBySelector map[[4]byte][]*function

func (all functionsBySelector) add(f *function, at contractSet, does act) {
	f.at, f.act = at, does
	selector := [4]byte(crypto.Keccak256([]byte(f.signature)))
	all[selector] = append(all[selector], f)
}

func parseFunction(standard, text string) *function {
	name, list, _ := strings.Cut(text, "(")
	parameters := parseTypes(list)
	return &function{standard: standard, signature: name + "(" + typeList(parameters) + ")", parameters: parameters}
}

// carrier is the form that an act has in typed data (EIP-712). Its text is the encoded type,
// in which a member has a role after a colon, as in abiType, and after an equals sign the
// name of the argument that it is, if the names differ:
//
//	Permit(address owner,address spender,uint256 value=amount,uint256 nonce,uint256 deadline)
type carrier struct {
	text    string
	effects func(*emitter, *Call)
	after   func(*emitter, *Call) // nil for nothing
}

// signed adds a type of typed data that carries the same act: its signature lets anyone who has
// it have the call made.
func (d act) signed(text string) act { return d.signedAs(text, d.effects, d.after) }

// signedAs is signed for typed data that leaves something to the account that submits it, so
// that it does more than one call.
func (d act) signedAs(text string, effects, after func(*emitter, *Call)) act {
	d.carriers = append(d.carriers[:len(d.carriers):len(d.carriers)], carrier{text, effects, after})
	return d
}

func (c *Call) native() chains.Asset { return chains.Native(c.pass.ID) }

// cryptoKitties is older than ERC-721: its transfer(address,uint256) sends the kitty with that number.
var cryptoKitties = hexAddress("0x06012c8cf97BEaD5deAe237070F9587f8E7A266d")

// token returns the called contract as an asset.
func (c *Call) token(standard string) chains.Asset {
	if standard == erc20 && c.self == cryptoKitties {
		standard = erc20Or721
	}
	return chains.Token(c.pass.ID, c.party(c.self), standard)
}

func (c *Call) tokenAt(address Address, standard string) chains.Asset {
	return chains.Token(c.pass.ID, c.party(address), standard)
}

// tokenOrOne returns the called contract as an asset, or the token of it that an argument numbers:
// one of a collection, or of a multi-token contract.
func (c *Call) tokenOrOne(standard string) chains.Asset {
	asset := c.token(standard)
	if id := find(c.args, "token id"); id != nil {
		asset.NFT = id.big()
	}
	return asset
}

func (c *Call) party(address Address) chains.Party { return c.pass.Party(address) }

func (c *Call) callerParty() chains.Party {
	if c.caller.signer {
		return chains.SignerParty()
	}
	return c.party(c.caller.address)
}

func (c *Call) exactly(name string) chains.Quantity { return chains.Exactly(c.arg(name).big()) }

// tokenIn returns the asset at the address in an argument, or in a member of one.
func (c *Call) tokenIn(standard string, names ...string) chains.Asset {
	return c.tokenAt(c.within(names).address(), standard)
}

// addressOf returns the account that an argument names, or a member of one.
func (c *Call) addressOf(names ...string) chains.Party { return c.party(c.within(names).address()) }

// within returns the argument with the first name, or in it the member that the others lead to.
func (c *Call) within(names []string) *value {
	v := c.arg(names[0])
	for _, name := range names[1:] {
		v = member(v.list, name)
	}
	return v
}

// authority returns the authorization of a call, and whose it is if it is another's.
func (c *Call) authority() (chains.By, chains.Party) {
	if c.operator != nil {
		return chains.ByOther, c.party(*c.operator)
	}
	return chains.BySigner, chains.Party{}
}

// origin returns the account that sends the Ethereum transaction: the signer of one. Who
// submits a message is not known.
func (c *Call) origin() chains.Party {
	if c.message {
		return chains.SubmitterParty()
	}
	return chains.SignerParty()
}
