package ethereum_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// secret is the key of the vectors, for which summaries are shown.
const secret = "e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca"

// shown are further transactions whose summaries are worth a look, encoded by
// go-ethereum.
func shown(t *testing.T) map[string][]byte {
	spender, token := common.HexToAddress("0x1111111111111111111111111111111111111111"), common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	approval := append(common.FromHex("095ea7b3"), append(common.LeftPadBytes(spender[:], 32), bytes.Repeat([]byte{0xff}, 32)...)...)
	accessList := types.AccessList{{Address: token, StorageKeys: []common.Hash{{1}, {2}}}}
	encode := func(prefix []byte, items ...any) []byte {
		list, err := rlp.EncodeToBytes(items)
		testenv.Must(t, err)
		return append(prefix, list...)
	}
	router := common.HexToAddress("0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af")
	swap := func(data []byte) []byte {
		return encode([]byte{2}, uint64(1), uint64(7), uint64(1e9), uint64(20e9), uint64(200000), router, uint64(0), data, types.AccessList{})
	}
	return map[string][]byte{
		"swap":                 swap(swapOf(t, true)),
		"swap_without_minimum": swap(swapOf(t, false)),
		"unlimited_approval":   encode([]byte{2}, uint64(1), uint64(7), uint64(1e9), uint64(20e9), uint64(60000), token, uint64(0), approval, accessList),
		"creation_any_chain":   encode(nil, uint64(7), uint64(20e9), uint64(1<<25), []byte{}, uint64(0), bytes.Repeat([]byte{0x60, 0x01}, 200)),
		"unknown_chain":        encode([]byte{2}, uint64(987654321), uint64(7), uint64(1e9), uint64(20e9), uint64(60000), token, uint64(1e18), []byte{}, accessList),
	}
}

// swapOf returns a plan of Uniswap's SDK that sells USDC for DAI, with its minimum or without.
func swapOf(t *testing.T, minimum bool) []byte {
	t.Helper()
	text := testenv.Read(t, filepath.Join(testenv.Root(), "internal", "evm", "testdata", "routerplans.json"))
	var file struct{ Plans []struct{ Name, Data string } }
	testenv.JSON(t, text, &file)
	for _, plan := range file.Plans {
		if plan.Name != "v3 USDC to DAI, exact in, no deadline" {
			continue
		}
		data := common.FromHex(plan.Data)
		if !minimum {
			clear(data[4+9*32 : 4+10*32]) // the third word of the only command's input
		}
		return data
	}
	t.Fatal("the plan is not in the file")
	return nil
}

// TestSummary compares what is shown of each transaction, and its digest, with
// testdata/summary.
func TestSummary(t *testing.T) {
	transactions := shown(t)
	for name, v := range evmtest.Vectors(t) {
		transactions[name] = chaintest.Unhex(t, v.Unsigned)
	}
	chaintest.Summaries(t, ethereum.Chain{}, transactions, evmtest.Key(t, secret))
}
