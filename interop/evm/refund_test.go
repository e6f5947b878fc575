package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
)

// refundGas is the gas of a transaction that tries to make a refund expensive: more than
// seven times what one may have on Ethereum (EIP-7825).
const refundGas = 1 << 27

// TestRefundOverhead measures what a Safe pays for gas, with data of up to 100 kB, and
// holds it against the amount of the effect. The most expensive call sends value to a
// precompile that fails: it is a new account, and uses all of its gas. The caller also fills
// the Safe's memory before the measurement begins, by padding the signatures: that would
// make memory which is used for the first time more expensive.
func TestRefundOverhead(t *testing.T) {
	w := newWorld(t)
	of := func(folder, name string) []byte {
		return artifact(t, "@safe-global", "safe-smart-account", "build", "artifacts", "contracts", folder, name+".sol", name+".json")
	}
	padder := w.deploy(t, w.signer, w.own("Padder"))
	guard := w.deploy(t, w.signer, w.own("Guard"))
	burner := common.Address{0xbb, 0xbb} // uses all gas
	w.state.SetCode(burner, []byte{byte(vm.INVALID)}, tracing.CodeChangeUnspecified)
	delegated := common.Address{0xdd} // EIP-7702: the delegate's code is loaded as well
	w.state.SetCode(delegated, types.AddressToDelegation(burner), tracing.CodeChangeUnspecified)
	for _, singleton := range []string{"Safe", "SafeL2"} {
		safe := w.deploy(t, w.signer, of("proxies", "SafeProxy"), w.deploy(t, w.signer, of("", singleton)))
		w.must(t, w.signer, safe, 0, call("setup(address[],uint256,address,bytes,address,address,uint256,address)", 256, 1, 0, 320, 0, 0, 0, 0, 1, w.other, []byte{}))
		w.must(t, w.signer, safe, 1e9, nil)
		w.must(t, w.signer, w.erc20, 0, call("transfer(address,uint256)", safe, big.NewInt(1e17)))
		for _, guarded := range []bool{false, true} {
			if guarded {
				w.refund(t, safe, safe, new(big.Int), call("setGuard(address)", guard), 0, 0, padder)
			}
			most := map[int]int64{}
			for _, size := range []int{0, 1, 4, 68, 1000, 10_000, 30_000, 100_000} {
				for _, padding := range []int{0, 100, 10_000, 100_000, 300_000, 1_000_000, 2_000_000, 3_000_000} {
					for name, target := range map[string]common.Address{"new": {0x99, byte(padding), byte(padding >> 8), byte(padding >> 16), byte(size), byte(size >> 8), 1},
						"burning": burner, "delegated": delegated, "precompiled": {19: 0x0a}} {
						used := w.refund(t, safe, target, big.NewInt(1), make([]byte, size), 20_000, padding, padder)
						if used < 0 {
							continue // more memory than the gas pays for
						}
						limit := refundLimit(t, size)
						if used > limit {
							t.Errorf("%s, %d bytes to a %s account with %d bytes of padding: %d gas, the effect says %d", singleton, size, name, padding, used, limit)
						}
						most[size] = max(most[size], used-20_000)
					}
				}
			}
			t.Logf("%s, guarded %v: most gas beyond safeTxGas by size of the data: %v", singleton, guarded, most)
		}
	}
}

// refundLimit returns the most gas that the effect of a refund counts, with 20,000 for the
// call.
func refundLimit(t *testing.T, size int) int64 {
	t.Helper()
	zero := common.Address{}.Hex()
	effects := read(t, typedData("SafeTx", safeTx, map[string]any{"chainId": 1, "verifyingContract": common.Address{1}.Hex()},
		map[string]any{"to": common.Address{2}.Hex(), "value": 0, "data": hexText(make([]byte, size)), "operation": 0, "safeTxGas": 20_000, "baseGas": 0,
			"gasPrice": 1, "gasToken": zero, "refundReceiver": zero, "nonce": 0})).Effects()
	return effects[len(effects)-1].Amount.Value.Int64()
}

// refund sends a transaction of a Safe with padded signatures, and returns the gas for
// which the Safe pays, −1 if the transaction fails. It restores the state unless gas is 0,
// which is a transaction without a refund.
func (w *world) refund(t *testing.T, safe, target common.Address, value *big.Int, data []byte, gas, padding int, padder common.Address) int64 {
	t.Helper()
	start, price := w.state.Copy(), min(1, gas)
	nonce := w.view(w.state, safe, "nonce()")
	hash := common.BigToHash(w.view(w.state, safe, "getTransactionHash(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,uint256)",
		target, value, 320, 0, gas, 0, price, w.erc20, w.third, nonce, data))
	v, a, b := w.sign(w.other, hash[:])
	before := to(safe, safeFunction, target, value, 320, 0, gas, 0, price, w.erc20, w.third, 320+len(words(data)), data).data
	paid := w.view(w.state, w.erc20, "balanceOf(address)", w.third)
	config := w.config(w.signer, new(big.Int))
	config.GasLimit, config.EVMConfig = refundGas, vm.Config{}
	_, _, err := runtime.Call(padder, structureCall("pad(address,bytes,bytes,uint256)", safe, before, append(append(a[:], b[:]...), byte(v)), padding), config)
	used := new(big.Int).Sub(w.view(w.state, w.erc20, "balanceOf(address)", w.third), paid).Int64()
	if gas > 0 {
		w.state = start
	} else if err != nil {
		t.Fatal(err)
	}
	if err != nil {
		return -1
	}
	return used
}
