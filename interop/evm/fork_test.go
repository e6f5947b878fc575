package evm

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestNeverIncludedAgainstForks draws transactions with the least gas that one of the forks
// of go-ethereum's release asks of some sender, with a unit less and a unit more. Only what
// both refuse of everyone is never included on mainnet; on Sepolia it is what Amsterdam does.
func TestNeverIncludedAgainstForks(t *testing.T) {
	random := rand.New(rand.NewPCG(42, 7))
	osaka, amsterdam := params.Rules{IsHomestead: true, IsIstanbul: true, IsShanghai: true, IsOsaka: true}, params.Rules{IsHomestead: true, IsIstanbul: true, IsShanghai: true, IsOsaka: true, IsAmsterdam: true}
	refused := 0
	for range 2000 {
		tx := drawForked(random)
		least := map[uint64]uint64{1: min(tx.least(t, osaka), tx.least(t, amsterdam)), 11155111: tx.least(t, amsterdam)}
		for chainID, gas := range least {
			for _, given := range []uint64{gas - 1, gas, gas + 1} {
				got := slices.ContainsFunc(tx.hazards(t, chainID, given), func(h chains.Hazard) bool { return h.Name == ethereum.HazardNeverIncluded })
				if want := given < gas; got != want {
					t.Fatalf("chain %d, gas %d, least %d: never included %v\n%+v", chainID, given, gas, got, tx)
				} else if want {
					refused++
				}
			}
		}
	}
	if refused != 4000 {
		t.Errorf("%d refused", refused)
	}
}

// forked is a transaction of type 2 or 4 whose gas is left open.
type forked struct {
	to         *common.Address
	value      *big.Int
	data       []byte
	accessList types.AccessList
	auths      []types.SetCodeAuthorization
}

func drawForked(random *rand.Rand) (tx forked) {
	tx.to, tx.value = &common.Address{0x55}, big.NewInt(random.Int64N(2))
	tx.data = bytes.Repeat([]byte{0x5b}, random.IntN(300))
	for i := range tx.data {
		tx.data[i] *= byte(random.IntN(2))
	}
	for range random.IntN(3) {
		tx.accessList = append(tx.accessList, types.AccessTuple{Address: common.Address{1}, StorageKeys: make([]common.Hash, random.IntN(3))})
	}
	switch random.IntN(4) {
	case 0:
		tx.to = nil
		tx.data = append(tx.data, 1)
	case 1:
		tx.auths = make([]types.SetCodeAuthorization, 1+random.IntN(2))
		for i := range tx.auths {
			tx.auths[i] = types.SetCodeAuthorization{ChainID: *uint256.NewInt(5), R: *uint256.NewInt(1), S: *uint256.NewInt(1)}
		}
	}
	return tx
}

// least returns what the transaction costs the sender that pays least before it runs.
func (tx *forked) least(t *testing.T, rules params.Rules) uint64 {
	t.Helper()
	sender, value := common.Address{}, uint256.MustFromBig(tx.value)
	if tx.to != nil {
		sender = *tx.to // a transfer to itself
	}
	gas, err := core.IntrinsicGas(tx.data, tx.accessList, tx.auths, sender, tx.to, value, rules)
	testenv.Must(t, err)
	floor, err := core.FloorDataGas(rules, sender, tx.to, value, tx.data, tx.accessList)
	testenv.Must(t, err)
	return max(gas, floor)
}

func (tx *forked) hazards(t *testing.T, chainID, gas uint64) []chains.Hazard {
	t.Helper()
	kind, to := byte(types.DynamicFeeTxType), any([]byte{})
	if tx.to != nil {
		to = tx.to
	}
	list := tx.accessList
	if list == nil {
		list = types.AccessList{}
	}
	items := []any{chainID, uint64(1), uint64(1), uint64(1), gas, to, tx.value, tx.data, list}
	if tx.auths != nil {
		kind, items = types.SetCodeTxType, append(items, tx.auths)
	}
	encoded, err := rlp.EncodeToBytes(items)
	testenv.Must(t, err)
	parsed, err := ethereum.Chain{}.Parse(append([]byte{kind}, encoded...))
	testenv.Must(t, err)
	return parsed.Hazards()
}
