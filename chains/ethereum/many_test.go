package ethereum_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/testenv"
)

const listsABI = `[
{"type":"function","name":"handleOps","inputs":[{"name":"operations","type":"tuple[]","components":[{"name":"sender","type":"address"},{"name":"nonce","type":"uint256"},{"name":"initCode","type":"bytes"},{"name":"callData","type":"bytes"},{"name":"accountGasLimits","type":"bytes32"},{"name":"preVerificationGas","type":"uint256"},{"name":"gasFees","type":"bytes32"},{"name":"paymasterAndData","type":"bytes"},{"name":"signature","type":"bytes"}]},{"name":"beneficiary","type":"address"}]},
{"type":"function","name":"safeBatchTransferFrom","inputs":[{"name":"from","type":"address"},{"name":"to","type":"address"},{"name":"ids","type":"uint256[]"},{"name":"amounts","type":"uint256[]"},{"name":"data","type":"bytes"}]},
{"type":"function","name":"transferFrom","inputs":[{"name":"transfers","type":"tuple[]","components":[{"name":"from","type":"address"},{"name":"to","type":"address"},{"name":"amount","type":"uint160"},{"name":"token","type":"address"}]}]},
{"type":"function","name":"lockdown","inputs":[{"name":"approvals","type":"tuple[]","components":[{"name":"token","type":"address"},{"name":"spender","type":"address"}]}]},
{"type":"function","name":"permit","inputs":[{"name":"owner","type":"address"},{"name":"permit","type":"tuple","components":[{"name":"details","type":"tuple[]","components":[{"name":"token","type":"address"},{"name":"amount","type":"uint160"},{"name":"expiration","type":"uint48"},{"name":"nonce","type":"uint48"}]},{"name":"spender","type":"address"},{"name":"sigDeadline","type":"uint256"}]},{"name":"signature","type":"bytes"}]},
{"type":"function","name":"permitTransferFrom","inputs":[{"name":"permit","type":"tuple","components":[{"name":"permitted","type":"tuple[]","components":[{"name":"token","type":"address"},{"name":"amount","type":"uint256"}]},{"name":"nonce","type":"uint256"},{"name":"deadline","type":"uint256"}]},{"name":"transferDetails","type":"tuple[]","components":[{"name":"to","type":"address"},{"name":"requestedAmount","type":"uint256"}]},{"name":"owner","type":"address"},{"name":"signature","type":"bytes"}]}
]`

// TestListsOfMany: whatever is in a list that has more entries than a transaction has
// effects is not hidden: an effect that is not decoded stands for the rest.
func TestListsOfMany(t *testing.T) {
	parsed, err := abi.JSON(strings.NewReader(listsABI))
	testenv.Must(t, err)
	type moved struct {
		From   common.Address
		To     common.Address
		Amount *big.Int
		Token  common.Address
	}
	type operation struct {
		Sender                      common.Address
		Nonce                       *big.Int
		InitCode, CallData          []byte
		AccountGasLimits            [32]byte
		PreVerificationGas          *big.Int
		GasFees                     [32]byte
		PaymasterAndData, Signature []byte
	}
	type pair struct{ Token, Spender common.Address }
	type detail struct {
		Token                     common.Address
		Amount, Expiration, Nonce *big.Int
	}
	type permitted struct {
		Token  common.Address
		Amount *big.Int
	}
	type requested struct {
		To              common.Address
		RequestedAmount *big.Int
	}
	from, to, one := common.Address{1}, common.Address{2}, big.NewInt(1)
	permit2, token := common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3"), common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	for name, test := range map[string]struct {
		at   common.Address
		args func(n int) []any
	}{
		"safeBatchTransferFrom": {token, func(n int) []any {
			list := make([]*big.Int, n)
			for i := range list {
				list[i] = big.NewInt(int64(i))
			}
			return []any{from, to, list, list, []byte{}}
		}},
		"transferFrom": {permit2, func(n int) []any {
			list := make([]moved, n)
			for i := range list {
				list[i] = moved{from, to, one, token}
			}
			return []any{list}
		}},
		"handleOps": {common.HexToAddress("0x0000000071727De22E5E9d8BAf0edAc6f37da032"), func(n int) []any {
			list := make([]operation, max(n-1, 0)) // and what the beneficiary gets
			for i := range list {
				list[i] = operation{Sender: from, Nonce: one, PreVerificationGas: one}
			}
			return []any{list, to}
		}},
		"lockdown": {permit2, func(n int) []any {
			list := make([]pair, n)
			for i := range list {
				list[i] = pair{token, to}
			}
			return []any{list}
		}},
		"permit": {permit2, func(n int) []any {
			list := make([]detail, n)
			for i := range list {
				list[i] = detail{token, one, one, one}
			}
			return []any{from, struct {
				Details     []detail
				Spender     common.Address
				SigDeadline *big.Int
			}{list, to, one}, []byte{}}
		}},
		"permitTransferFrom": {permit2, func(n int) []any {
			list, transfers := make([]permitted, n), make([]requested, n)
			for i := range list {
				list[i], transfers[i] = permitted{token, one}, requested{to, one}
			}
			return []any{struct {
				Permitted       []permitted
				Nonce, Deadline *big.Int
			}{list, one, one}, transfers, from, []byte{}}
		}},
		// Permit2 skips amounts of 0: they are no effects, and hide none.
		"permitTransferFrom ": {permit2, func(n int) []any {
			list, transfers := make([]permitted, 2*n), make([]requested, 2*n)
			for i := range list {
				list[i], transfers[i] = permitted{token, one}, requested{to, big.NewInt(int64(i / n))}
			}
			return []any{struct {
				Permitted       []permitted
				Nonce, Deadline *big.Int
			}{list, one, one}, transfers, from, []byte{}}
		}},
	} {
		for _, n := range []int{1, chains.MaxEffects - 1, chains.MaxEffects, chains.MaxEffects + 1, 2 * chains.MaxEffects} {
			data, err := parsed.Pack(strings.TrimSpace(name), test.args(n)...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			network := evm.Network{ID: "eip155:1", ChainID: 1}
			effects := evm.Cut(network.Pass().Read(evm.Transaction{To: [20]byte(test.at), Data: data}).Effects(), chains.MaxEffects)
			last := effects[len(effects)-1]
			if len(effects) != min(n, chains.MaxEffects) || last.Undecoded != (n > chains.MaxEffects) || n > chains.MaxEffects && last.Kind != chains.KindCall {
				t.Errorf("%s of %d: %d effects, the last %+v", name, n, len(effects), last)
			}
		}
	}
}
