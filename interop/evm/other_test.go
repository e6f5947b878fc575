package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

const tokenPermissions = "TokenPermissions(address token,uint256 amount)"

// allowed returns an owner's signature over a Permit2 struct.
func (w *world) allowed(owner common.Address, kind string, members ...any) []byte {
	v, a, b := w.sign(owner, w.typed(permit2, structHash(kind, members...)))
	return append(append(a[:], b[:]...), byte(v))
}

// permit2Batch returns a Permit2 permit for two tokens and the owner's signature.
func (w *world) permit2Batch(r *random, owner, spender common.Address) (permit raw, signature []byte) {
	details, hashes, deadline := words(2), []byte{}, now+1+r.IntN(1000)
	for _, token := range []common.Address{w.erc20, w.token} {
		nonce := int(w.three(permit2, "allowance(address,address,address)", owner, token, spender)[2].Int64())
		detail := []any{token, r.limit(160), now + 1 + r.IntN(1000), nonce}
		details, hashes = append(details, words(detail...)...), append(hashes, structHash(permitDetails, detail...)...)
	}
	signature = w.allowed(owner, "PermitBatch(PermitDetails[] details,address spender,uint256 sigDeadline)"+permitDetails,
		crypto.Keccak256Hash(hashes), spender, deadline)
	return structure(raw(details), spender, deadline), signature
}

// requests returns what an owner permits of two tokens, what is requested of it, and the
// hash of the permissions.
func (w *world) requests(r *random) (permitted, requested []byte, hash common.Hash) {
	permitted, requested, hashes := words(2), words(2), []byte{}
	for _, token := range []common.Address{w.erc20, w.token} {
		most := r.amount(1e9)
		permitted = append(permitted, words(token, most)...)
		requested = append(requested, words(r.party(), new(big.Int).Rsh(most, uint(r.IntN(3))))...)
		hashes = append(hashes, structHash(tokenPermissions, token, most)...)
	}
	return permitted, requested, crypto.Keccak256Hash(hashes)
}

const witness = "Order witness)Order(bytes32 content)" + tokenPermissions

// otherDraws generates the other decoded calls, in the order of the decoding table.
var otherDraws = []draw{
	{"increaseApproval", func(w *world, r *random) execution {
		return to(w.token, "increaseApproval(address,uint256)", r.party(), r.amount(1e9))
	}},
	{"ERC-5805 delegate", func(w *world, r *random) execution {
		return to(w.token, "delegate(address)", r.party())
	}},
	{"decreaseApproval", func(w *world, r *random) execution {
		return to(w.token, "decreaseApproval(address,uint256)", permit2, r.amount(1e9))
	}},
	{"permit of Dai", func(w *world, r *random) execution {
		args := []any{w.other, r.party(), w.view(w.state, w.token, "nonces(address)", w.other), now + r.IntN(1000), r.coin()}
		v, a, b := w.sign(w.other, w.typed(w.token, structHash("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)", args...)))
		return to(w.token, "permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)", append(args, v, a, b)...)
	}},
	{"ERC-3009 transferWithAuthorization, bytes", func(w *world, r *random) execution {
		return w.authorized(r, "transferWithAuthorization", "TransferWithAuthorization", r.party())
	}},
	{"ERC-3009 receiveWithAuthorization, bytes", func(w *world, r *random) execution {
		return w.authorized(r, "receiveWithAuthorization", "ReceiveWithAuthorization", w.signer)
	}},
	{"ERC-1363 transferFromAndCall, bytes", func(w *world, r *random) execution {
		return with(w.token, "transferFromAndCall(address,address,uint256,bytes)", w.other, w.ethReceiver, r.amount(1e9), r.some())
	}},
	{"ERC-1363 approveAndCall, bytes", func(w *world, r *random) execution {
		return with(w.token, "approveAndCall(address,uint256,bytes)", w.ethReceiver, r.limit(256), r.some())
	}},
	{"Permit2 permit, batch", func(w *world, r *random) execution {
		permit, signature := w.permit2Batch(r, w.other, r.party())
		return with(permit2, "permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)", w.other, permit, signature)
	}},
	{"Permit2 permitTransferFrom, batch", func(w *world, r *random) execution {
		permitted, requested, hash := w.requests(r)
		nonce, deadline := r.IntN(1<<30), now+1
		signature := w.allowed(w.other, "PermitBatchTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline)"+tokenPermissions,
			hash, w.signer, nonce, deadline)
		return with(permit2, "permitTransferFrom(((address,uint256)[],uint256,uint256),(address,uint256)[],address,bytes)",
			raw(structure(raw(permitted), nonce, deadline)), raw(requested), w.other, signature)
	}},
	{"Permit2 permitWitnessTransferFrom", func(w *world, r *random) execution {
		most, nonce, deadline, content := r.amount(1e9), r.IntN(1<<30), now+1, r.hash()
		signature := w.allowed(w.other, "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,"+witness,
			common.BytesToHash(structHash(tokenPermissions, w.erc20, most)), w.signer, nonce, deadline, content)
		return with(permit2, "permitWitnessTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes32,string,bytes)",
			w.erc20, most, nonce, deadline, r.party(), most, w.other, content, []byte(witness), signature)
	}},
	{"Permit2 permitWitnessTransferFrom, batch", func(w *world, r *random) execution {
		permitted, requested, hash := w.requests(r)
		nonce, deadline, content := r.IntN(1<<30), now+1, r.hash()
		signature := w.allowed(w.other, "PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,"+witness,
			hash, w.signer, nonce, deadline, content)
		return with(permit2, "permitWitnessTransferFrom(((address,uint256)[],uint256,uint256),(address,uint256)[],address,bytes32,string,bytes)",
			raw(structure(raw(permitted), nonce, deadline)), raw(requested), w.other, content, []byte(witness), signature)
	}},
	{"Universal Router PERMIT2_PERMIT_BATCH", func(w *world, r *random) execution {
		permit, signature := w.permit2Batch(r, w.signer, router)
		return commands([]byte{0x03}, []byte(structure(permit, signature)))
	}},
	{"Universal Router with a deadline", func(w *world, r *random) execution {
		return with(router, "execute(bytes,bytes[],uint256)", []byte{0x02}, list(words(w.erc20, r.party(), r.amount(1e9))), now+r.IntN(1000))
	}},
	{"Multicall3 tryAggregate", func(w *world, r *random) execution {
		return with(multicall3, "tryAggregate(bool,(address,bytes)[])", r.coin(), w.pairs(r))
	}},
	{"Multicall3 blockAndAggregate", func(w *world, r *random) execution {
		return with(multicall3, "blockAndAggregate((address,bytes)[])", w.pairs(r))
	}},
	{"Multicall3 tryBlockAndAggregate", func(w *world, r *random) execution {
		return with(multicall3, "tryBlockAndAggregate(bool,(address,bytes)[])", r.coin(), w.pairs(r))
	}},
	{"Multicall3 aggregate3", func(w *world, r *random) execution {
		inner := call("transfer(address,uint256)", r.party(), r.amount(1e9))
		return with(multicall3, "aggregate3((address,bool,bytes)[])", list(raw(structure(w.erc20, r.coin(), inner))))
	}},
	{"ERC-7579 execute, one", func(w *world, r *random) execution {
		to, value := r.party(), r.amount(1e9)
		return with(w.modular, "execute(bytes32,bytes)", 0, append(to[:], words(value)...)).with(value)
	}},
	{"ERC-7579 execute, several", func(w *world, r *random) execution {
		value := r.amount(1e9)
		return with(w.modular, "execute(bytes32,bytes)", common.Hash{0: 1}, []byte(structure(list(raw(structure(r.party(), value, []byte{})), raw(structure(r.party(), 0, []byte{})))))).with(value)
	}},
	{"ERC-7579 executeFromExecutor", func(w *world, r *random) execution {
		to, value := r.party(), r.amount(1e9)
		return with(w.modular, "executeFromExecutor(bytes32,bytes)", 0, append(to[:], words(value)...)).with(value)
	}},
	{"ERC-7579 installModule", func(w *world, r *random) execution {
		return with(w.modular, "installModule(uint256,address,bytes)", 1+r.IntN(2), w.yes, []byte{})
	}},
	{"ERC-7579 uninstallModule", func(w *world, r *random) execution {
		kind := 1 + r.IntN(2)
		w.prepare(w.signer, w.modular, 0, structureCall("installModule(uint256,address,bytes)", kind, w.yes, []byte{}))
		return with(w.modular, "uninstallModule(uint256,address,bytes)", kind, w.yes, []byte{})
	}},
	{"multicall", func(w *world, r *random) execution { return with(w.many, "multicall(bytes[])", w.roles(r)) }},
	{"multicall with a deadline", func(w *world, r *random) execution {
		return with(w.many, "multicall(uint256,bytes[])", now+r.IntN(1000), w.roles(r))
	}},
	{"Safe execTransactionFromModule", func(w *world, r *random) execution {
		w.prepare(w.signer, w.safe, 0, w.safeOwn("enableModule(address)", w.signer).data)
		return with(w.safe, "execTransactionFromModule(address,uint256,bytes,uint8)", w.erc20, 0, call("transfer(address,uint256)", r.party(), r.amount(1e9)), 0)
	}},
	{"Safe setup", func(w *world, r *random) execution {
		owners := words(2, common.Address{0x44, byte(1 + r.IntN(9))}, common.Address{0x45, byte(1 + r.IntN(9))})
		return with(w.blank, "setup(address[],uint256,address,bytes,address,address,uint256,address)", raw(owners), 1+r.IntN(2), 0, []byte{}, 0, 0, 0, 0)
	}},
	{"Safe setGuard", func(w *world, _ *random) execution { return w.safeOwn("setGuard(address)", w.yes) }},
	{"Safe setModuleGuard", func(w *world, _ *random) execution { return w.safeOwn("setModuleGuard(address)", w.yes) }},
	{"proxy changeAdmin", func(w *world, r *random) execution { return to(w.plain, "changeAdmin(address)", r.party()) }},
	{"ProxyAdmin upgradeAndCall", func(w *world, r *random) execution {
		return with(w.admin, "upgradeAndCall(address,address,bytes)", w.proxy, w.implementations[r.IntN(2)], call("supportsInterface(bytes4)", 0))
	}},
}

// with returns a call whose arguments are encoded by structure.
func with(at common.Address, signature string, args ...any) execution {
	return execution{to: at, value: new(big.Int), data: structureCall(signature, args...)}
}

// some returns bytes, often none.
func (r *random) some() []byte { return make([]byte, []int{0, 0, 1, 40}[r.IntN(4)]) }

// pairs returns two calls for Multicall3.
func (w *world) pairs(r *random) raw {
	transfer := func(token common.Address) any {
		return raw(structure(token, call("transfer(address,uint256)", r.party(), r.amount(1e9))))
	}
	return list(transfer(w.erc20), transfer(w.token))
}

// roles returns two calls that grant roles.
func (w *world) roles(r *random) raw {
	return list(call("grantRole(bytes32,address)", r.hash(), r.party()), call("grantRole(bytes32,address)", 0, r.party()))
}

// authorized is like authorization, with the signature as bytes.
func (w *world) authorized(r *random, function, kind string, receiver common.Address) execution {
	args := []any{w.other, receiver, r.amount(1e9), r.IntN(now), now + 1 + r.IntN(1000), r.hash()}
	v, a, b := w.sign(w.other, w.typed(w.token, structHash(kind+"(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)", args...)))
	return with(w.token, function+"(address,address,uint256,uint256,uint256,bytes32,bytes)", append(args, append(append(a[:], b[:]...), byte(v)))...)
}
