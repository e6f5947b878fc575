package evm

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
)

// entryPoint is a version of the ERC-4337 EntryPoint, with contracts that use it.
type entryPoint struct {
	version   string
	at        common.Address
	artifacts string // the folder of its npm package
	packed    bool   // its operations have packed gas fields: since 0.7
	hashed    bool   // accounts sign the EIP-712 hash itself: since 0.8

	implementation, account, factory, paymaster, delegate common.Address // account: owned by the other account
	taker                                                 common.Address // a paymaster that takes tokens
}

func (w *world) isEntryPoint(at common.Address) bool {
	return slices.ContainsFunc(w.entryPoints, func(e *entryPoint) bool { return e.at == at })
}

// deployEntryPoints deploys each version, with a factory, an account and a paymaster.
func (w *world) deployEntryPoints(t *testing.T) {
	w.entryPoints = []*entryPoint{
		{version: "0.6", at: common.HexToAddress("0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789"), artifacts: "entrypoint-0.6"},
		{version: "0.7", at: common.HexToAddress("0x0000000071727De22E5E9d8BAf0edAc6f37da032"), artifacts: "@account-abstraction/contracts", packed: true},
		{version: "0.8", at: common.HexToAddress("0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108"), artifacts: "entrypoint-0.8", packed: true, hashed: true},
		{version: "0.9", at: common.HexToAddress("0x433709009B8330FDa32311DF1C2AFA402eD8D009"), artifacts: "entrypoint-0.9", packed: true, hashed: true},
	}
	for _, e := range w.entryPoints {
		of := func(name string) []byte { return artifact(t, e.artifacts, "artifacts", name+".json") }
		w.install(t, e.at, of("EntryPoint"))
		if e.version == "0.8" { // where it is published
			e.factory = common.HexToAddress("0x13E9ed32155810FDbd067D4522C492D6f68E5944")
			w.install(t, e.factory, of("SimpleAccountFactory"), e.at)
		} else {
			e.factory = w.deploy(t, w.signer, of("SimpleAccountFactory"), e.at)
		}
		e.implementation = w.deploy(t, w.signer, of("SimpleAccount"), e.at)
		e.account = w.deploy(t, w.signer, openzeppelin(t, "ERC1967Proxy"), e.implementation, 64, call("initialize(address)", w.other))
		e.paymaster = w.deploy(t, w.signer, w.own("Paymaster"))
		for _, at := range []common.Address{e.factory, e.account, e.paymaster} {
			w.genuine[at] = true
		}
		if e.hashed {
			e.delegate = w.deploy(t, w.signer, of("Simple7702Account"), e.at)
		}
		for _, payer := range []common.Address{w.signer, e.paymaster} {
			w.must(t, w.signer, e.at, 1e10, call("depositTo(address)", payer))
		}
	}
}

// takes is how many tokens the paymaster that takes tokens takes for an operation.
const takes = 7

// deployTakers deploys a paymaster that takes tokens, to which the accounts approve some.
func (w *world) deployTakers(t *testing.T) {
	taker := w.deploy(t, w.signer, w.own("TokenPaymaster"), w.erc20)
	approve := call("approve(address,uint256)", taker, big.NewInt(1e15))
	w.must(t, w.other, w.erc20, 0, approve)
	for _, e := range w.entryPoints {
		e.taker = taker
		w.must(t, w.signer, e.at, 1e12, call("depositTo(address)", taker))
		w.must(t, w.signer, e.at, 1e12, call("depositTo(address)", e.paymaster))
		w.must(t, w.other, e.account, 0, structureCall("execute(address,uint256,bytes)", w.erc20, 0, approve))
	}
}

// fundAccounts gives the accounts the funds that their operations move.
func (w *world) fundAccounts(t *testing.T) {
	for _, e := range w.entryPoints {
		w.must(t, w.signer, w.erc20, 0, call("transfer(address,uint256)", e.account, big.NewInt(1e15)))
		w.state.AddBalance(e.account, uint256.NewInt(1e15), tracing.BalanceChangeUnspecified)
	}
}

// operation is a user operation.
type operation struct {
	sender                   common.Address
	factory, data, paymaster []byte
	nonce                    *big.Int
}

// encode encodes an operation with the gas limits.
func (e *entryPoint) encode(o operation, gas []int64, signature []byte) raw {
	if !e.packed {
		return structure(o.sender, o.nonce, o.factory, o.data, int(gas[0]), int(gas[1]), int(gas[2]), int(gas[3]), 0, o.paymaster, signature)
	}
	pair := func(high, low int64) common.Hash {
		return common.BigToHash(new(big.Int).Or(new(big.Int).Lsh(big.NewInt(high), 128), big.NewInt(low)))
	}
	return structure(o.sender, o.nonce, o.factory, o.data, pair(gas[1], gas[0]), int(gas[2]), pair(0, gas[3]), o.paymaster, signature)
}

func (e *entryPoint) tuple() string {
	if e.packed {
		return "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)"
	}
	return "(address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)"
}

// signedBy returns an operation with random gas limits, signed by the owner.
func (w *world) signedBy(owner common.Address, r *random, e *entryPoint, o operation) raw {
	o.nonce = w.view(w.state, e.at, "getNonce(address,uint192)", o.sender, r.limit(60))
	gas := []int64{300_000 + r.Int64N(1000), 900_000 + r.Int64N(1000), 50_000 + r.Int64N(1000), r.Int64N(10)}
	hash := common.BigToHash(w.view(w.state, e.at, "getUserOpHash("+e.tuple()+")", 32, e.encode(o, gas, make([]byte, 65))))
	digest := hash[:]
	if !e.hashed {
		digest = crypto.Keccak256([]byte("\x19Ethereum Signed Message:\n32"), digest)
	}
	v, a, b := w.sign(owner, digest)
	return e.encode(o, gas, append(append(a[:], b[:]...), byte(v)))
}

// handle returns a handleOps call of operations.
func (e *entryPoint) handle(beneficiary common.Address, operations ...any) execution {
	return execution{to: e.at, value: new(big.Int), data: append(call("handleOps("+e.tuple()+"[],address)"), structure(list(operations...), beneficiary)...)}
}

// paid returns the paymaster field of an operation.
func (e *entryPoint) paid(r *random) []byte {
	out := slices.Clone(e.paymaster[:])
	if e.packed {
		out = append(out, words(new(big.Int).Or(new(big.Int).Lsh(big.NewInt(200_000), 128), big.NewInt(int64(r.IntN(50_000)))))...)
	}
	return out
}

func (w *world) transferFrom20(r *random) []byte {
	return structureCall("execute(address,uint256,bytes)", w.erc20, 0, call("transfer(address,uint256)", r.party(), r.amount(1e9)))
}

func structureCall(signature string, args ...any) []byte {
	return append(call(signature), structure(args...)...)
}

// batch returns an executeBatch call, in the form of the version's accounts.
func (e *entryPoint) batch(w *world, r *random) []byte {
	inner, to, amount := call("transfer(address,uint256)", r.party(), r.amount(1e9)), r.party(), r.amount(1e9)
	switch {
	case !e.packed:
		return structureCall("executeBatch(address[],bytes[])", raw(words(1, w.erc20)), list(inner))
	case !e.hashed:
		return structureCall("executeBatch(address[],uint256[],bytes[])", raw(words(2, w.erc20, to)), raw(words(2, 0, amount)), list(inner, []byte{}))
	}
	return structureCall("executeBatch((address,uint256,bytes)[])", list(raw(structure(w.erc20, 0, inner)), raw(structure(to, amount, []byte{}))))
}

// creates returns an operation that creates its account, paid for by the paymaster.
func (w *world) creates(r *random, e *entryPoint) execution {
	salt := r.limit(200)
	factory := append(slices.Clone(e.factory[:]), call("createAccount(address,uint256)", w.other, salt)...)
	o := operation{factory: factory, paymaster: e.paid(r)}
	o.sender = common.BigToAddress(w.view(w.state, e.factory, "getAddress(address,uint256)", w.other, salt))
	return e.handle(r.party(), w.signedBy(w.other, r, e, o))
}

// delegates returns an operation of the other account, which is delegated (EIP-7702) and
// which the EntryPoint may initialize first.
func (w *world) delegates(r *random, e *entryPoint) execution {
	w.state.SetCode(w.other, types.AddressToDelegation(e.delegate), tracing.CodeChangeUnspecified)
	marker := append([]byte{0x77, 0x02}, make([]byte, []int{0, 18, 40}[r.IntN(3)])...)
	o := operation{sender: w.other, factory: marker, data: w.transferFrom20(r)}
	if r.coin() {
		o.paymaster = e.paid(r)
	}
	w.genuine[w.other] = true
	return e.handle(r.party(), w.signedBy(w.other, r, e, o))
}

// entryPointDraws generates the decoded calls of each version.
var entryPointDraws = func() (all []draw) {
	for i, version := range []string{"0.6", "0.7", "0.8", "0.9"} {
		add := func(name string, call func(w *world, r *random, e *entryPoint) execution) {
			all = append(all, draw{fmt.Sprintf("EntryPoint %s %s", version, name), func(w *world, r *random) execution { return call(w, r, w.entryPoints[i]) }})
		}
		add("receives", func(w *world, r *random, e *entryPoint) execution { return execution{to: e.at, value: r.amount(1e9)} })
		add("depositTo", func(w *world, r *random, e *entryPoint) execution {
			return to(e.at, "depositTo(address)", r.party()).with(r.amount(1e9))
		})
		add("withdrawTo", func(w *world, r *random, e *entryPoint) execution {
			return to(e.at, "withdrawTo(address,uint256)", r.party(), r.amount(1e8))
		})
		add("addStake", func(w *world, r *random, e *entryPoint) execution {
			return to(e.at, "addStake(uint32)", 1+r.IntN(1000)).with(big.NewInt(1 + r.Int64N(1e9)))
		})
		add("unlockStake", func(w *world, r *random, e *entryPoint) execution {
			w.prepare(w.signer, e.at, 1+r.Int64N(1e9), call("addStake(uint32)", 1+r.IntN(1000)))
			return to(e.at, "unlockStake()")
		})
		add("withdrawStake", func(w *world, r *random, e *entryPoint) execution {
			w.time = now - 2000
			w.prepare(w.signer, e.at, 1+r.Int64N(1e9), call("addStake(uint32)", 1+r.IntN(1000)))
			w.prepare(w.signer, e.at, 0, call("unlockStake()"))
			w.time = now
			return to(e.at, "withdrawStake(address)", r.party())
		})
		add("incrementNonce", func(w *world, r *random, e *entryPoint) execution {
			return to(e.at, "incrementNonce(uint192)", r.limit(60))
		})
		add("handleOps, ERC-20 transfer", func(w *world, r *random, e *entryPoint) execution {
			return e.handle(r.party(), w.signedBy(w.other, r, e, operation{sender: e.account, data: w.transferFrom20(r)}))
		})
		add("handleOps, value", func(w *world, r *random, e *entryPoint) execution {
			data := structureCall("execute(address,uint256,bytes)", r.party(), r.amount(1e9), []byte{})
			return e.handle(r.party(), w.signedBy(w.other, r, e, operation{sender: e.account, data: data, paymaster: e.paid(r)}))
		})
		add("handleOps, executeBatch", func(w *world, r *random, e *entryPoint) execution {
			return e.handle(r.party(), w.signedBy(w.other, r, e, operation{sender: e.account, data: e.batch(w, r)}))
		})
		add("handleOps, an account that is created", (*world).creates)
		if i >= 2 {
			add("handleOps, a delegated account", (*world).delegates)
		}
	}
	return all
}()

// prepare makes a call whose changes are not compared.
func (w *world) prepare(from, to common.Address, value int64, data []byte) {
	if err := w.try(from, to, value, data); err != nil {
		panic(err)
	}
}
