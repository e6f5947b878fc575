package evm

import (
	"cmp"
	"math/big"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
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

// Call is a call of a contract: that of a transaction, or one in the arguments of
// another call.
type Call struct {
	network  *Network
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
	args     []value
	rest     []byte // after the arguments
	dirty    bool   // decoded leniently
	problem  string // why it is not decoded

	emitter emitter // of AppendEffects
}

// Transaction is the call of a contract by a transaction.
type Transaction struct {
	To    Address
	Value *big.Int // in the native asset's smallest unit; nil is 0
	Data  []byte
	Path  string // of the call among others; empty: "call"
}

// Read decodes the call that a transaction makes, and the calls in its arguments.
func (n *Network) Read(tx Transaction) *Call {
	caller := account{signer: true}
	if n.Signer != nil {
		caller = at(*n.Signer)
	}
	return n.read(caller, tx.To, tx, false)
}

// ReadFrom decodes a call that another account than the signer, such as a Safe, makes once
// the signed message is submitted. With delegate, the code of tx.To runs as that account.
func (n *Network) ReadFrom(caller Address, tx Transaction, delegate bool) *Call {
	self := tx.To
	if delegate {
		self = caller
	}
	return n.read(at(caller), self, tx, delegate)
}

func (n *Network) read(caller account, self Address, tx Transaction, delegate bool) *Call {
	c := &Call{network: n, caller: caller, self: self, code: tx.To, value: tx.Value, data: tx.Data, path: cmp.Or(tx.Path, "call"), delegate: delegate,
		message: !caller.signer && (n.Signer == nil || caller != at(*n.Signer))}
	if c.value == nil {
		c.value = &c.nothing
	}
	r := reader{left: maxCalls}
	return r.read(c)
}

// child returns a call of a contract in the arguments of this one.
func (c *Call) child(caller account, to Address, value *big.Int, data []byte) *Call {
	c.children++
	path := c.path + "/" + strconv.Itoa(c.children-1)
	if c.typed { // of whose calls there is one
		path = "call"
	}
	return &Call{network: c.network, caller: caller, self: to, code: to, operator: c.operator, value: value, data: data,
		depth: c.depth + 1, message: c.message, path: path}
}

// reader decodes a call and the calls in its arguments.
type reader struct {
	left int // calls that may still be decoded
}

func (r *reader) read(c *Call) *Call {
	switch {
	case c.depth >= chains.MaxCallDepth:
		c.problem = "nested too deep: not decoded"
	case r.left == 0:
		c.problem = "too many calls: not decoded"
	case len(c.data) > 0:
		r.decode(c)
	}
	r.left = max(0, r.left-1)
	return c
}

func (r *reader) decode(c *Call) {
	if c.network.rawInput(c.code) {
		return
	}
	if len(c.data) < 4 {
		c.problem = "shorter than a function's selector: not decoded"
		return
	}
	f := c.network.functionAt(c.code, [4]byte(c.data))
	if f == nil {
		if c.note = c.isNote(); !c.note {
			c.problem = "unknown function"
		}
		return
	}
	r.decodeAs(c, f, c.data[4:])
}

// decodeAs decodes the arguments of a function.
func (r *reader) decodeAs(c *Call, f *function, data []byte) {
	d := c.network.decoder()
	args, used := d.tuple(data, f.parameters)
	if d.bad {
		c.problem = "has the selector of " + f.signature + ", but not its canonical encoding: not decoded"
		return
	}
	c.function, c.args, c.rest, c.dirty = f, args, data[used:], d.dirty
	r.nest(c, c.args)
}

// rawContracts are the contracts whose input has no selector, and what that input
// requests.
var rawContracts = []struct {
	at       contractSet
	requests string
}{{atWithdrawals, "withdrawal"}, {atConsolidations, "consolidation"}, {atCreate2Factory, "creation"}}

// rawInput reports whether the contract at an address takes bytes without a
// selector.
func (n *Network) rawInput(code Address) bool {
	for _, raw := range rawContracts {
		if n.isKnown(code, raw.at) {
			return true
		}
	}
	return false
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

// sibling returns the value with a role among those next to a call, nil if there is
// none.
func sibling(values []value, r role) *value {
	for i := range values {
		if values[i].role == r {
			return &values[i]
		}
	}
	return nil
}
