package evm_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestRecover compares the recovery of an authorization's signer (EIP-7702) with
// go-ethereum's, for a valid signature and for faulty ones.
func TestRecover(t *testing.T) {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("authority")))
	testenv.Must(t, err)
	order := uint256.MustFromBig(crypto.S256().Params().N)
	for name, change := range map[string]func(a *types.SetCodeAuthorization){
		"right":          func(*types.SetCodeAuthorization) {},
		"other parity":   func(a *types.SetCodeAuthorization) { a.V ^= 1 },
		"parity 2":       func(a *types.SetCodeAuthorization) { a.V = 2 },
		"parity 27":      func(a *types.SetCodeAuthorization) { a.V += 27 },
		"r 0":            func(a *types.SetCodeAuthorization) { a.R.Clear() },
		"s 0":            func(a *types.SetCodeAuthorization) { a.S.Clear() },
		"r the order":    func(a *types.SetCodeAuthorization) { a.R = *order },
		"s the order":    func(a *types.SetCodeAuthorization) { a.S = *order },
		"r 2^256−1":      func(a *types.SetCodeAuthorization) { a.R.SetAllOne() },
		"s 2^256−1":      func(a *types.SetCodeAuthorization) { a.S.SetAllOne() },
		"high s":         func(a *types.SetCodeAuthorization) { a.S.Sub(order, &a.S); a.V ^= 1 },
		"s half":         func(a *types.SetCodeAuthorization) { a.S.Rsh(order, 1) },
		"s half and one": func(a *types.SetCodeAuthorization) { a.S.Rsh(order, 1); a.S.AddUint64(&a.S, 1) },
		"r is no x":      func(a *types.SetCodeAuthorization) { a.R.SetUint64(5) },
	} {
		authorization, err := types.SignSetCode(key, types.SetCodeAuthorization{ChainID: *uint256.NewInt(1), Address: common.Address{7}, Nonce: 9})
		testenv.Must(t, err)
		change(&authorization)
		want, fails := authorization.Authority()
		got, ok := evm.Recover(authorization.SigHash(), authorization.V, authorization.R, authorization.S)
		if ok != (fails == nil) || (ok && common.Address(got) != want) {
			t.Errorf("%s: %v, %v; go-ethereum: %v, %v", name, got, ok, want, fails)
		}
	}
}
