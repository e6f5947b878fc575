package evm

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

// nest decodes the calls among values of a call's arguments, by the roles of those values.
func (r *reader) nest(c *Call, values []value) {
	for i := range values {
		v := &values[i]
		switch {
		case v.kind == kindArray && v.role == roleCall:
			r.nestParallel(c, v, sibling(values, roleTarget), sibling(values, roleNative))
		case v.kind == kindArray || v.kind == kindTuple:
			r.nest(c, v.list)
		case v.role == roleCall:
			call := r.call(c, v.bytes, sibling(values, roleTarget), sibling(values, roleNative),
				sibling(values, roleOperation))
			call.fallible = fallible(c, values)
			v.calls = []*Call{call}
		case v.role == roleSelf:
			call := c.child(c.caller, c.self, new(big.Int), v.bytes)
			call.code, call.delegate = c.code, c.delegate
			v.calls = []*Call{r.read(call)}
		case v.role == roleOp && len(v.bytes) == 0:
			v.calls = []*Call{} // the EntryPoint makes none
		case v.role == roleOp:
			sender := sibling(values, roleTarget).address()
			call := c.child(at(c.self), sender, new(big.Int), v.bytes)
			call.account = true
			if !c.typed { // whose requested signature is the sender's
				call.operator = &sender
			}
			v.calls = []*Call{r.read(call)}
		case v.role == roleForwarded:
			v.calls = []*Call{r.forwarded(c, values, v.bytes)}
		case v.role == roleSent:
			call := c.child(at(find(values, "from").address()), sibling(values, roleTarget).address(),
				sibling(values, roleNative).big(), v.bytes)
			v.calls = []*Call{r.read(call)}
		case v.role == rolePacked:
			v.calls = r.packed(c, v.bytes)
		case v.role == roleExecutions:
			mode := c.args[0].fixed()
			v.calls = r.executions(c, mode, v.bytes)
			for _, call := range v.calls {
				call.fallible = mode[1] != modeReverts
			}
		case v.role == roleCommands:
			v.calls = r.commands(c, v.bytes, c.arg("inputs").list)
		}
	}
}

// fallible reports whether a call among values may fail while the others stand.
func fallible(c *Call, values []value) bool {
	if optional := sibling(values, roleOptional); optional != nil {
		return optional.yes()
	}
	required := sibling(c.args, roleRequired)
	return required != nil && !required.yes()
}

// nestParallel decodes calls whose targets and values are in lists of their own.
func (r *reader) nestParallel(c *Call, calls, targets, natives *value) {
	for i := range calls.list {
		call := &calls.list[i]
		if i >= len(targets.list) || natives != nil && i >= len(natives.list) && len(natives.list) > 0 {
			return // the contract refuses lists that differ in length
		}
		var native *value
		if natives != nil && len(natives.list) > 0 {
			native = &natives.list[i]
		}
		call.calls = []*Call{r.call(c, call.bytes, &targets.list[i], native, nil)}
	}
}

// call decodes a call that the called contract makes.
func (r *reader) call(c *Call, data []byte, target, native, operation *value) *Call {
	value := new(big.Int)
	if native != nil {
		value = native.big()
	}
	delegate := operation != nil && operation.word[word-1] == 1
	return r.onward(c, target.address(), value, data, delegate)
}

// toSelf is onward for a contract that interprets the zero address as itself.
func (r *reader) toSelf(c *Call, to Address, value *big.Int, data []byte, delegate bool) *Call {
	if to != (Address{}) {
		return r.onward(c, to, value, data, delegate)
	}
	call := r.onward(c, c.self, value, data, delegate)
	call.zero = true
	return call
}

// onward decodes a call, or a delegatecall, that the called account makes.
func (r *reader) onward(c *Call, to Address, value *big.Int, data []byte, delegate bool) *Call {
	call := c.child(at(c.self), to, value, data)
	if call.delegate = delegate; delegate {
		call.self = c.self
	}
	return r.read(call)
}

// packed decodes the consecutive transactions of a Safe's multiSend:
//
//	operation 1 ‖ to 20 ‖ value 32 ‖ length 32 ‖ data
//
// Version 1.5.0 calls the Safe itself if "to" is zero. Bytes that are no whole
// transaction become a call with a problem.
func (r *reader) packed(c *Call, packed []byte) (calls []*Call) {
	onward := r.onward
	if c.pass.isKnown(c.code, atZeroIsCaller) {
		onward = r.toSelf
	}
	for rest := packed; len(rest) > 0; {
		size, ok := packedSize(rest)
		if !ok || rest[0] > 1 || len(calls) == maxCalls {
			call := c.child(at(c.self), Address{}, new(big.Int), rest)
			call.unread, call.problem = true, "not a packed transaction: not decoded"
			return append(calls, call)
		}
		calls = append(calls, onward(c, Address(rest[1:21]), new(big.Int).SetBytes(rest[21:21+word]),
			rest[packedHead:size], rest[0] == 1))
		rest = rest[size:]
	}
	return calls
}

// packedHead is the length of a packed transaction without its data.
const packedHead = 1 + 20 + word + word

func packedSize(packed []byte) (size int, ok bool) {
	if len(packed) < packedHead || !zeros(packed[packedHead-word:packedHead-8]) {
		return 0, false
	}
	length := binary.BigEndian.Uint64(packed[packedHead-8:])
	if length > uint64(len(packed)-packedHead) {
		return 0, false
	}
	return packedHead + int(length), true
}

// The first byte of a mode of ERC-7579 says how the executions are encoded, and the second whether
// one that fails takes the others with it.
const (
	modeReverts = 0x00

	modeSingle   = 0x00 // to 20 ‖ value 32 ‖ data
	modeBatch    = 0x01 // abi.encode((address,uint256,bytes)[]), followed by operation data in ERC-7821
	modeDelegate = 0xff // to 20 ‖ data
)

const batchCalls = "(address:target to,uint256:native value,bytes:call call)[] calls"

var (
	batchTypes   = parseTypes(batchCalls + ")")
	batchOpTypes = parseTypes(batchCalls + ",bytes operation data)")
)

// executions decodes what an account of ERC-7579 or ERC-7821 executes, nil if the
// encoding is not known.
func (r *reader) executions(c *Call, mode, data []byte) []*Call {
	switch {
	case mode[0] == modeSingle && len(data) >= 20+word:
		return []*Call{r.onward(c, Address(data[:20]), new(big.Int).SetBytes(data[20:20+word]), data[20+word:], false)}
	case mode[0] == modeDelegate && len(data) >= 20:
		return []*Call{r.onward(c, Address(data[:20]), new(big.Int), data[20:], true)}
	case mode[0] == modeBatch:
		return r.batch(c, data)
	}
	return nil
}

// batch decodes a batch of executions. The zero address stands for the account itself (ERC-7821).
func (r *reader) batch(c *Call, data []byte) (calls []*Call) {
	for _, types := range [][]abiType{batchTypes, batchOpTypes} {
		d := c.pass.decoder()
		values, used := d.tuple(data, types)
		if d.bad || used != len(data) {
			continue
		}
		for _, execution := range values[0].list {
			calls = append(calls, r.toSelf(c, execution.list[0].address(), execution.list[1].big(),
				execution.list[2].bytes, false))
		}
		return calls
	}
	return nil
}

// Read decodes the call that a transaction makes, and the calls in its arguments.
func (p *Pass) Read(tx Transaction) *Call {
	caller := account{signer: true}
	if p.signer != nil {
		caller = at(*p.signer)
	}
	return p.read(caller, tx.To, tx, false)
}

// ReadFrom decodes a call that another account than the signer, such as a Safe, makes once
// the signed message is submitted. With delegate, the code of tx.To runs as that account.
func (p *Pass) ReadFrom(caller Address, tx Transaction, delegate bool) *Call {
	self := tx.To
	if delegate {
		self = caller
	}
	return p.read(at(caller), self, tx, delegate)
}

func (p *Pass) read(caller account, self Address, tx Transaction, delegate bool) *Call {
	c := &Call{pass: p, caller: caller, self: self, code: tx.To, value: tx.Value, data: tx.Data,
		path: cmp.Or(tx.Path, "call"), delegate: delegate,
		message: !caller.signer && (p.signer == nil || caller != at(*p.signer))}
	c.value = cmp.Or(c.value, &c.nothing)
	r := reader{left: maxCalls}
	return r.read(c)
}

func (c *Call) child(caller account, to Address, value *big.Int, data []byte) *Call {
	c.children++
	path := c.path + "/" + strconv.Itoa(c.children-1)
	if c.typed { // of whose calls there is one
		path = "call"
	}
	return &Call{pass: c.pass, caller: caller, self: to, code: to, operator: c.operator, value: value, data: data,
		depth: c.depth + 1, message: c.message, path: path}
}

// reader decodes a call and the calls in its arguments.
type reader struct {
	left int // calls that may still be decoded
}

func (r *reader) read(c *Call) *Call {
	if len(c.data) == 0 {
		c.plain, _ = c.pass.plainInput(c.code, 0)
	}
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
	var plain bool
	if c.plain, plain = c.pass.plainInput(c.code, len(c.data)); plain {
		return
	}
	if len(c.data) < 4 {
		c.problem = "shorter than a function's selector: not decoded"
		return
	}
	f := c.pass.functionAt(c.code, [4]byte(c.data))
	if f == nil {
		// A note to a payment: the signer's own transaction sends native value with it to an account
		// that is in no list of contracts.
		n := c.pass
		c.note = c.depth == 0 && !c.message && !c.delegate && c.value.Sign() > 0 && len(n.Prefix) == 0 &&
			n.known(c.self) == nil && !tokenContracts()[tokenContract{n.ID, c.self}] && !c.ofOwn() && PlainData(c.data)
		if !c.note {
			c.problem = "unknown function"
		}
		return
	}
	r.decodeAs(c, f, c.data[4:])
}

func (r *reader) decodeAs(c *Call, f *function, data []byte) {
	d := c.pass.decoder()
	args, used := d.tuple(data, f.parameters)
	if d.bad {
		c.problem = "has the selector of " + f.signature + ", but not its canonical encoding: not decoded"
		return
	}
	c.function, c.args, c.rest, c.dirty = f, args, data[used:], d.dirty
	r.nest(c, c.args)
}

// commands decodes the commands of a Universal Router, each with its input.
func (r *reader) commands(c *Call, commands []byte, inputs []value) []*Call {
	if len(commands) != len(inputs) {
		return nil // the router refuses them
	}
	calls := make([]*Call, len(commands))
	for i, command := range commands {
		call := c.child(c.caller, c.self, new(big.Int), inputs[i].bytes)
		if f := routerCommands[command&commandMask]; f != nil {
			r.decodeAs(call, f, call.data)
		} else {
			call.problem = fmt.Sprintf("command 0x%02x is not decoded", command)
		}
		call.fallible = command&mayFailFlag != 0
		calls[i] = call
	}
	return calls
}

func (r *reader) forwarded(c *Call, values []value, data []byte) *Call {
	to := c.self
	if target := sibling(values, roleTarget); target != nil {
		to = target.address()
	}
	from := find(values, "from").address()
	call := c.child(at(from), to, new(big.Int), data)
	if len(data) < 4 || c.pass.hasPlainInput(to) {
		call.data = slices.Concat(data, from[:])
		call.problem = "the account's address behind it makes it another call: not decoded"
		return call
	}
	return r.read(call)
}
