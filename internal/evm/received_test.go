package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// TestReceivedForCertain checks that a receive, which rules ask for as a price, comes back to the
// account that pays, and for certain: not if another signature authorizes it, if a contract that
// acts for everyone gets it, or if the call may fail.
func TestReceivedForCertain(t *testing.T) {
	us := Address{0xaa}
	pass := mainnet.Pass()
	pass.signer = &us
	bought := plan(t, false, []step{swap3(caller, 100, 7, true)})
	mayFail := plan(t, false, []step{flagged(swap3(caller, 100, 7, true))})
	ofAnother := packed07(nil, nil)
	ofAnother.M3 = pack(t, "execute(address,uint256,bytes)", common.Address(routerAt), new(big.Int), bought)
	ops := pack(t, "handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address)", []operation07{ofAnother}, opBeneficiary)
	entryPoint := hexAddress("0x0000000071727De22E5E9d8BAf0edAc6f37da032")
	executed := func(mode string) []byte { // single, by the account itself
		one := append(append(append([]byte{}, routerAt[:]...), make([]byte, word)...), bought...)
		return pack(t, "execute(bytes32,bytes)", [32]byte(common.RightPadBytes(common.FromHex(mode), 32)), one)
	}
	for name, c := range map[string]struct {
		to   Address
		data []byte
		want int64 // the least that is received; negative if nothing is
	}{
		"by the signer's plan":             {routerAt, bought, 7},
		"by a command that may fail":       {routerAt, mayFail, 0},
		"by a plan of Multicall3":          {multicallAt, aggregate(t, inBatch{to: routerAt, data: bought}), -1},
		"by another account's operation":   {entryPoint, ops, -1},
		"by a batch with another's":        {callOnlyAt, batch(t, inBatch{to: entryPoint, data: ops}), -1},
		"by one that is optional in it":    {multicallAt, aggregate(t, inBatch{to: routerAt, optional: true, data: bought}), -1},
		"by an execution of the account":   {us, executed("0x0000"), 7},
		"by one of which it goes on":       {us, executed("0x0001"), 0},
		"unwrapped":                        {wethAt, pack(t, "withdraw(uint256)", big.NewInt(7)), 7},
		"unwrapped by Multicall3":          {multicallAt, aggregate(t, inBatch{to: wethAt, data: pack(t, "withdraw(uint256)", big.NewInt(7))}), -1},
		"unwrapped by Multicall3, perhaps": {multicallAt, aggregate(t, inBatch{to: wethAt, optional: true, data: pack(t, "withdraw(uint256)", big.NewInt(7))}), -1},
	} {
		got := int64(-1)
		for _, effect := range pass.Read(Transaction{To: c.to, Data: c.data}).Effects() {
			if effect.Kind == chains.KindReceive {
				got = effect.Amount.Value.Int64()
			}
		}
		if got != c.want {
			t.Errorf("%s: %d is received, want %d", name, got, c.want)
		}
	}
}
