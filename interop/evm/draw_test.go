package evm

import (
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// execution is a call by the signer, whose changes the effects must account for.
type execution struct {
	function string
	to       common.Address
	value    *big.Int
	data     []byte

	authorizations []types.SetCodeAuthorization // not nil: a transaction of type 4
}

// draw generates calls of one function with random arguments.
type draw struct {
	name string
	call func(w *world, r *random) execution
}

// random generates arguments.
type random struct {
	*rand.Rand
	w *world
}

// party returns an account, sometimes one that appears nowhere else.
func (r *random) party() common.Address {
	return []common.Address{r.w.other, r.w.signer, r.w.third, {0x44, byte(1 + r.IntN(3))}}[r.IntN(4)]
}

func (r *random) amount(most int64) *big.Int { return big.NewInt(r.Int64N(most)) }

// limit returns a number of all ones, of any length up to bits.
func (r *random) limit(bits int) *big.Int {
	all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1))
	return all.Rsh(all, uint(r.IntN(bits)))
}

func (r *random) coin() bool { return r.IntN(2) == 0 }

func (r *random) hash() (h common.Hash) {
	for i := range h {
		h[i] = byte(r.Uint32())
	}
	return h
}

func to(at common.Address, signature string, args ...any) execution {
	return execution{to: at, value: new(big.Int), data: call(signature, args...)}
}

func (e execution) with(value *big.Int) execution {
	e.value = value
	return e
}

var draws = func() (all []draw) {
	for _, list := range [][]draw{tokenDraws, vaultDraws, signedDraws, knownDraws, entryPointDraws, stakingDraws, routerDraws, swapDraws, otherDraws, safeDraws, controlDraws, delegationDraws} {
		all = append(all, list...)
	}
	return all
}()

var tokenDraws = []draw{
	{"value", func(w *world, r *random) execution { return execution{to: r.party(), value: r.amount(1e9)} }},
	{"ERC-20 transfer", func(w *world, r *random) execution {
		return to(w.erc20, "transfer(address,uint256)", r.party(), r.amount(1e9))
	}},
	{"ERC-20 transfer to the token", func(w *world, r *random) execution {
		return to(w.erc20, "transfer(address,uint256)", w.erc20, r.amount(1e9))
	}},
	{"ERC-20 approve", func(w *world, r *random) execution {
		return to(w.erc20, "approve(address,uint256)", r.party(), r.limit(256))
	}},
	{"ERC-20 transferFrom", func(w *world, r *random) execution {
		return to(w.erc20, "transferFrom(address,address,uint256)", w.other, r.party(), r.amount(1e9))
	}},
	{"increaseAllowance", func(w *world, r *random) execution {
		return to(w.erc20, "increaseAllowance(address,uint256)", r.party(), r.amount(1e9))
	}},
	{"decreaseAllowance", func(w *world, r *random) execution {
		return to(w.erc20, "decreaseAllowance(address,uint256)", permit2, r.amount(1e9))
	}},
	{"ERC-721 approve", func(w *world, r *random) execution {
		return to(w.erc721, "approve(address,uint256)", r.party(), r.IntN(4))
	}},
	{"ERC-721 transferFrom", func(w *world, r *random) execution {
		return to(w.erc721, "transferFrom(address,address,uint256)", w.signer, r.party(), r.IntN(4))
	}},
	{"ERC-721 safeTransferFrom", func(w *world, r *random) execution {
		return to(w.erc721, "safeTransferFrom(address,address,uint256)", w.signer, r.party(), r.IntN(4))
	}},
	{"ERC-721 safeTransferFrom, bytes", func(w *world, r *random) execution {
		return to(w.erc721, "safeTransferFrom(address,address,uint256,bytes)", w.signer, r.party(), r.IntN(4), 128, []byte{})
	}},
	{"setApprovalForAll", func(w *world, r *random) execution {
		return to([]common.Address{w.erc721, w.erc1155}[r.IntN(2)], "setApprovalForAll(address,bool)", r.party(), r.coin())
	}},
	{"ERC-1155 safeTransferFrom", func(w *world, r *random) execution {
		return to(w.erc1155, "safeTransferFrom(address,address,uint256,uint256,bytes)", w.signer, r.party(), r.IntN(3), r.amount(1e3), 160, []byte{})
	}},
	{"ERC-1155 safeBatchTransferFrom", func(w *world, r *random) execution {
		return to(w.erc1155, "safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)", w.signer, r.party(), 160, 256, 352,
			2, r.IntN(3), r.IntN(3), 2, r.amount(1e3), r.amount(1e3), []byte{})
	}},
	{"ERC-777 send", func(w *world, r *random) execution {
		return to(w.erc777, "send(address,uint256,bytes)", r.party(), r.amount(1e9), 96, []byte{})
	}},
	{"ERC-777 burn", func(w *world, r *random) execution {
		return to(w.erc777, "burn(uint256,bytes)", r.amount(1e9), 64, []byte{})
	}},
	{"ERC-777 authorizeOperator", func(w *world, r *random) execution {
		return to(w.erc777, "authorizeOperator(address)", r.party())
	}},
	{"ERC-777 revokeOperator", func(w *world, r *random) execution { return to(w.erc777, "revokeOperator(address)", r.party()) }},
	{"ERC-777 operatorSend", func(w *world, r *random) execution {
		return to(w.erc777, "operatorSend(address,address,uint256,bytes,bytes)", w.other, r.party(), r.amount(1e9), 160, 192, []byte{}, []byte{})
	}},
	{"ERC-1363 transferAndCall", func(w *world, r *random) execution {
		return to(w.token, "transferAndCall(address,uint256)", w.ethReceiver, r.amount(1e9))
	}},
	{"ERC-1363 transferAndCall, bytes", func(w *world, r *random) execution {
		return to(w.token, "transferAndCall(address,uint256,bytes)", w.ethReceiver, r.amount(1e9), 96, []byte{})
	}},
	{"ERC-1363 transferFromAndCall", func(w *world, r *random) execution {
		return to(w.token, "transferFromAndCall(address,address,uint256)", w.other, w.ethReceiver, r.amount(1e9))
	}},
	{"ERC-1363 approveAndCall", func(w *world, r *random) execution {
		return to(w.token, "approveAndCall(address,uint256)", w.ethReceiver, r.limit(256))
	}},
	{"ERC-6909 transfer", func(w *world, r *random) execution {
		return to(w.erc6909, "transfer(address,uint256,uint256)", r.party(), r.IntN(4), r.amount(1e6))
	}},
	{"ERC-6909 transferFrom", func(w *world, r *random) execution {
		return to(w.erc6909, "transferFrom(address,address,uint256,uint256)", w.other, r.party(), r.IntN(4), r.amount(1e6))
	}},
	{"ERC-6909 approve", func(w *world, r *random) execution {
		return to(w.erc6909, "approve(address,uint256,uint256)", r.party(), r.IntN(4), r.limit(256))
	}},
	{"ERC-6909 setOperator", func(w *world, r *random) execution {
		return to(w.erc6909, "setOperator(address,bool)", r.party(), r.coin())
	}},
}

// typed returns the EIP-712 digest of a struct hash, in the domain of a contract.
func (w *world) typed(at common.Address, hashed []byte) []byte {
	separator := common.BigToHash(w.view(w.state, at, "DOMAIN_SEPARATOR()"))
	return crypto.Keccak256([]byte{0x19, 1}, separator[:], hashed)
}

// structHash hashes an EIP-712 struct.
func structHash(kind string, members ...any) []byte {
	return crypto.Keccak256(words(append([]any{crypto.Keccak256Hash([]byte(kind))}, members...)...))
}

// authorization returns an ERC-3009 call with a signature of the other account.
func (w *world) authorization(r *random, function, kind string, receiver common.Address) execution {
	args := []any{w.other, receiver, r.amount(1e9), r.IntN(now), now + 1 + r.IntN(1000), r.hash()}
	v, a, b := w.sign(w.other, w.typed(w.token, structHash(kind+"(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)", args...)))
	return to(w.token, function+"(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)", append(args, v, a, b)...)
}

const permitDetails = "PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)"

// permit2Single returns a Permit2 permit for the ERC-20 token and the owner's signature.
func (w *world) permit2Single(r *random, owner, spender common.Address) (permit []any, signature []byte) {
	nonce := int(w.three(permit2, "allowance(address,address,address)", owner, w.erc20, spender)[2].Int64())
	details := []any{w.erc20, r.limit(160), now + 1 + r.IntN(1000), nonce}
	deadline := now + 1 + r.IntN(1000)
	v, a, b := w.sign(owner, w.typed(permit2, structHash("PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)"+permitDetails,
		common.BytesToHash(structHash(permitDetails, details...)), spender, deadline)))
	return append(details, spender, deadline), append(append(a[:], b[:]...), byte(v))
}

var signedDraws = []draw{
	{"ERC-2612 permit", func(w *world, r *random) execution {
		args := []any{w.other, r.party(), r.limit(256)}
		nonce, deadline := w.view(w.state, w.token, "nonces(address)", w.other), now+r.IntN(1000)
		v, a, b := w.sign(w.other, w.typed(w.token, structHash("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)", append(args, nonce, deadline)...)))
		return to(w.token, "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)", append(args, deadline, v, a, b)...)
	}},
	{"ERC-3009 transferWithAuthorization", func(w *world, r *random) execution {
		return w.authorization(r, "transferWithAuthorization", "TransferWithAuthorization", r.party())
	}},
	{"ERC-3009 receiveWithAuthorization", func(w *world, r *random) execution {
		return w.authorization(r, "receiveWithAuthorization", "ReceiveWithAuthorization", w.signer)
	}},
	{"ERC-3009 cancelAuthorization", func(w *world, r *random) execution {
		nonce := r.hash()
		v, a, b := w.sign(w.other, w.typed(w.token, structHash("CancelAuthorization(address authorizer,bytes32 nonce)", w.other, nonce)))
		return to(w.token, "cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)", w.other, nonce, v, a, b)
	}},
	{"Permit2 permit", func(w *world, r *random) execution {
		permit, signature := w.permit2Single(r, w.other, r.party())
		return to(permit2, "permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)",
			append(append([]any{w.other}, permit...), 256, signature)...)
	}},
	{"Permit2 permitTransferFrom", func(w *world, r *random) execution {
		most, nonce, deadline := r.amount(1e9), r.IntN(1<<30), now+1
		permitted := structHash("TokenPermissions(address token,uint256 amount)", w.erc20, most)
		v, a, b := w.sign(w.other, w.typed(permit2, structHash("PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)",
			common.BytesToHash(permitted), w.signer, nonce, deadline)))
		requested := new(big.Int).Rsh(most, uint(r.IntN(3)))
		return to(permit2, "permitTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes)",
			w.erc20, most, nonce, deadline, r.party(), requested, w.other, 256, append(append(a[:], b[:]...), byte(v)))
	}},
}

var knownDraws = []draw{
	{"WETH deposit", func(w *world, r *random) execution { return to(weth, "deposit()").with(r.amount(1e9)) }},
	{"WETH receives", func(w *world, r *random) execution { return execution{to: weth, value: r.amount(1e9)} }},
	{"WETH withdraw", func(w *world, r *random) execution { return to(weth, "withdraw(uint256)", r.amount(1e9)) }},
	{"WETH transferFrom", func(w *world, r *random) execution {
		return to(weth, "transferFrom(address,address,uint256)", w.other, r.party(), r.amount(1e6))
	}},
	{"Permit2 approve", func(w *world, r *random) execution {
		return to(permit2, "approve(address,address,uint160,uint48)", w.erc20, r.party(), r.limit(160), r.limit(48))
	}},
	{"Permit2 transferFrom", func(w *world, r *random) execution {
		return to(permit2, "transferFrom(address,address,uint160,address)", w.other, r.party(), r.amount(1e9), w.erc20)
	}},
	{"Permit2 transferFrom, batch", func(w *world, r *random) execution {
		return to(permit2, "transferFrom((address,address,uint160,address)[])", 32, 2,
			w.other, r.party(), r.amount(1e9), w.erc20, w.other, r.party(), r.amount(1e9), w.erc20)
	}},
	{"Permit2 lockdown", func(w *world, r *random) execution {
		return to(permit2, "lockdown((address,address)[])", 32, 2, w.erc20, router, w.erc20, r.party())
	}},
	{"Permit2 invalidateNonces", func(w *world, r *random) execution {
		return to(permit2, "invalidateNonces(address,address,uint48)", w.erc20, r.party(), 1+r.IntN(1000))
	}},
	{"Permit2 invalidateUnorderedNonces", func(w *world, r *random) execution {
		return to(permit2, "invalidateUnorderedNonces(uint256,uint256)", r.limit(60), r.limit(256))
	}},
	{"Multicall3 aggregate", func(w *world, r *random) execution {
		inner := call("transfer(address,uint256)", r.party(), r.amount(1e9))
		return to(multicall3, "aggregate((address,bytes)[])", 32, 1, 32, w.erc20, 64, inner)
	}},
	{"Multicall3 aggregate3Value", func(w *world, r *random) execution {
		value := r.amount(1e9)
		return to(multicall3, "aggregate3Value((address,bool,uint256,bytes)[])", 32, 1, 32, r.party(), false, value, 128, []byte{}).with(value)
	}},
	{"CREATE2 factory", func(w *world, r *random) execution {
		hash := r.hash()
		return execution{to: factory, value: new(big.Int), data: append(hash[:], w.own("Receiver")...)}
	}},
	{"CREATE2 factory, with value", func(_ *world, r *random) execution {
		hash, oneByte := r.hash(), common.FromHex("0x6001600c60003960016000f300")
		return execution{to: factory, value: r.amount(1e9), data: append(hash[:], oneByte...)}
	}},
}
