package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// safeCall returns an execTransaction that the signer, an owner, sends itself.
func (w *world) safeCall(target common.Address, value *big.Int, data []byte, operation int) execution {
	signature := append(words(w.signer, 0), 1)
	return to(w.safe, "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)",
		target, value, 320, operation, 0, 0, 0, 0, 0, 320+len(words(data)), data, signature)
}

func (w *world) safeOwn(signature string, args ...any) execution {
	return w.safeCall(w.safe, new(big.Int), call(signature, args...), 0)
}

func packed(operation byte, target common.Address, value *big.Int, data []byte) []byte {
	out := append([]byte{operation}, target[:]...)
	return append(append(out, words(value, len(data))...), data...)
}

var safeDraws = []draw{
	{"Safe execTransaction, value", func(w *world, r *random) execution { return w.safeCall(r.party(), r.amount(1e9), nil, 0) }},
	{"Safe execTransaction, ERC-20 transfer", func(w *world, r *random) execution {
		return w.safeCall(w.erc20, new(big.Int), call("transfer(address,uint256)", r.party(), r.amount(1e9)), 0)
	}},
	{"Safe multiSend 1.5.0", func(w *world, r *random) execution {
		at := []common.Address{multiSend, callOnly}[r.IntN(2)]
		list := append(packed(0, w.erc20, new(big.Int), call("transfer(address,uint256)", r.party(), r.amount(1e9))), packed(0, r.party(), r.amount(1e9), nil)...)
		return w.safeCall(at, new(big.Int), call("multiSend(bytes)", 32, list), 1)
	}},
	{"Safe multiSend 1.5.0, to zero", func(w *world, r *random) execution {
		list := packed(0, common.Address{}, new(big.Int), call("addOwnerWithThreshold(address,uint256)", r.party(), 1))
		return w.safeCall(callOnly, new(big.Int), call("multiSend(bytes)", 32, list), 1)
	}},
	{"multiSend of a contract that is not listed", func(w *world, r *random) execution {
		value := r.amount(1e9)
		return to(w.unlisted, "multiSend(bytes)", 32, packed(0, r.party(), value, nil)).with(value)
	}},
	{"Safe addOwnerWithThreshold", func(w *world, r *random) execution {
		return w.safeOwn("addOwnerWithThreshold(address,uint256)", r.party(), 1)
	}},
	{"Safe swapOwner", func(w *world, r *random) execution {
		return w.safeOwn("swapOwner(address,address,address)", common.Address{19: 1}, w.signer, r.party())
	}},
	{"Safe removeOwner", func(w *world, r *random) execution {
		return w.safeOwn("removeOwner(address,address,uint256)", w.signer, w.other, 1)
	}},
	{"Safe disableModule", func(w *world, r *random) execution {
		return w.safeOwn("disableModule(address,address)", common.Address{19: 1}, w.third)
	}},
	{"Safe enableModule", func(w *world, r *random) execution { return w.safeOwn("enableModule(address)", r.party()) }},
	{"Safe setFallbackHandler", func(w *world, r *random) execution {
		return w.safeOwn("setFallbackHandler(address)", r.party())
	}},
	{"Safe changeThreshold", func(w *world, r *random) execution { return w.safeOwn("changeThreshold(uint256)", 1+r.IntN(2)) }},
}

var controlDraws = []draw{
	{"transferOwnership", func(w *world, r *random) execution {
		return to([]common.Address{w.owned, w.admin}[r.IntN(2)], "transferOwnership(address)", r.party())
	}},
	{"renounceOwnership", func(w *world, r *random) execution { return to(w.owned, "renounceOwnership()") }},
	{"acceptOwnership", func(w *world, r *random) execution { return to(w.pending, "acceptOwnership()") }},
	{"grantRole", func(w *world, r *random) execution {
		return to(w.owned, "grantRole(bytes32,address)", []common.Hash{{}, r.hash()}[r.IntN(2)], r.party())
	}},
	{"revokeRole", func(w *world, r *random) execution {
		party := r.party()
		w.prepare(w.signer, w.owned, 0, call("grantRole(bytes32,address)", 0, party))
		return to(w.owned, "revokeRole(bytes32,address)", 0, party)
	}},
	{"renounceRole", func(w *world, r *random) execution {
		return to(w.owned, "renounceRole(bytes32,address)", 0, w.signer)
	}},
	{"upgradeTo", func(w *world, r *random) execution {
		return to(w.uups, "upgradeTo(address)", w.implementations[r.IntN(2)])
	}},
	{"upgradeToAndCall", func(w *world, r *random) execution {
		return to(w.uups, "upgradeToAndCall(address,bytes)", w.implementations[r.IntN(2)], 64, call("supportsInterface(bytes4)", 0))
	}},
	{"ProxyAdmin upgrade", func(w *world, r *random) execution {
		return to(w.admin, "upgrade(address,address)", w.proxy, w.implementations[r.IntN(2)])
	}},
	{"ProxyAdmin changeProxyAdmin", func(w *world, r *random) execution {
		return to(w.admin, "changeProxyAdmin(address,address)", w.proxy, r.party())
	}},
}
