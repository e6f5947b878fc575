package ethereum_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// sponsoredBy returns a transaction of EntryPoint 0.7's handleOps with an operation that
// costs 30 ether, for which a paymaster pays, if one is given.
func sponsoredBy(t *testing.T, sender common.Address, paymaster []byte) []byte {
	t.Helper()
	parsed, err := abi.JSON(strings.NewReader(listsABI))
	testenv.Must(t, err)
	type operation struct {
		Sender                      common.Address
		Nonce                       *big.Int
		InitCode, CallData          []byte
		AccountGasLimits            [32]byte
		PreVerificationGas          *big.Int
		GasFees                     [32]byte
		PaymasterAndData, Signature []byte
	}
	o := operation{Sender: sender, Nonce: big.NewInt(1), PreVerificationGas: big.NewInt(3e10), PaymasterAndData: paymaster}
	big.NewInt(1e9).FillBytes(o.GasFees[16:])
	data, err := parsed.Pack("handleOps", []operation{o}, common.Address{0xbe})
	testenv.Must(t, err)
	point := "94" + "0000000071727de22e5e9d8baf0edac6f37da032"
	return chaintest.Unhex(t, typed("02", with(with(with(with(items2, 8, str(hex.EncodeToString(data))), 7, "80"), 6, point), 5, "83030d40")...))
}

// TestFeesOfOperations: the fee of a foreign operation is not judged, unless the signer or
// another key of the organization pays it as the paymaster.
func TestFeesOfOperations(t *testing.T) {
	key := evmtest.Key(t, signerSecret)
	own, foreign := common.HexToAddress(signer), common.Address{0x51}
	organization := common.Address{0x0a}
	paidBy := func(at common.Address) []byte { return append(at[:], make([]byte, 32)...) }
	for name, c := range map[string]struct {
		sender    common.Address
		paymaster []byte
		want      bool
	}{
		"a foreign operation":               {foreign, nil, false},
		"with a foreign paymaster":          {foreign, paidBy(common.Address{0x9a}), false},
		"with the signer as paymaster":      {foreign, paidBy(own), true},
		"with the organization's paymaster": {foreign, paidBy(organization), true},
		"the signer's own":                  {own, nil, true},
		"the signer's, sponsored":           {own, paidBy(common.Address{0x9a}), false},
		"the organization's, as sender":     {organization, nil, false}, // by another signature
	} {
		tx, err := ethereum.Chain{}.Parse(sponsoredBy(t, c.sender, c.paymaster))
		testenv.Must(t, err)
		signing := chaintest.MustReady(t, tx, key.ID(), key)
		chains.ResolveAccounts(signing, account(organization))
		if got := slices.Contains(chaintest.Names(signing.Hazards()), ethereum.HazardHighFee); got != c.want {
			t.Errorf("%s: high fee %v, want %v", name, got, c.want)
		}
	}
}

// TestCallsOfOwnAccounts: a standard function at the address of a key of ours is a blind call.
func TestCallsOfOwnAccounts(t *testing.T) {
	key, organization := evmtest.Key(t, signerSecret), common.Address{0x0a, 19: 1}
	data := str("a9059cbb" + strings.Repeat("00", 12) + strings.Repeat("51", 20) + strings.Repeat("00", 31) + "05")
	for at, want := range map[common.Address]bool{common.HexToAddress(signer): true, organization: true, {0x51}: false} {
		raw := chaintest.Unhex(t, typed("02", with(with(with(items2, 8, data), 7, "80"), 6, "94"+hex.EncodeToString(at[:]))...))
		tx, err := ethereum.Chain{}.Parse(raw)
		testenv.Must(t, err)
		signing := chaintest.MustReady(t, tx, key.ID(), key)
		chains.ResolveAccounts(signing, account(organization))
		if got := slices.Contains(chaintest.Names(signing.Hazards()), "ethereum/blind-call"); got != want {
			t.Errorf("at %s: %v", at, signing.Hazards())
		}
	}
}

// account is the only account of an organization.
type account common.Address

func (a account) Controls(address []byte) (none chains.Account, ok bool) {
	return none, bytes.Equal(address, a[:])
}
func (account) WithKey(id string) chains.Account    { return chains.Account{KeyID: id} }
func (account) Registered() []keystore.Registration { return nil }

// TestFeeLimitOfMessages: Limits.MaxFee holds for operations in calldata too.
func TestFeeLimitOfMessages(t *testing.T) {
	key := evmtest.Key(t, signerSecret)
	for most, want := range map[float64]bool{29.9: true, 30: false} {
		tx, err := ethereum.New(ethereum.Limits{MaxFee: most}).Parse(sponsoredBy(t, common.HexToAddress(signer), nil))
		testenv.Must(t, err)
		signing := chaintest.MustReady(t, tx, key.ID(), key)
		if got := fmt.Sprint(signing.Hazards()); strings.Contains(got, ethereum.HazardHighFee) != want {
			t.Errorf("at most %v: %s", most, got)
		}
	}
}
