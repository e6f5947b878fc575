package ethereum_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestDelegations checks which authorizations of the signer count as delegations in a
// transaction for mainnet: those that the network does not skip (EIP-7702, "Behavior").
func TestDelegations(t *testing.T) {
	key, err := crypto.HexToECDSA(signerSecret)
	testenv.Must(t, err)
	valid := types.SetCodeAuthorization{ChainID: *uint256.NewInt(1), Address: common.Address{0xba}, Nonce: 8}
	for name, test := range map[string]struct {
		change func(*types.SetCodeAuthorization)
		want   []chains.Kind
		hazard bool
	}{
		"for this chain":        {func(*types.SetCodeAuthorization) {}, []chains.Kind{chains.KindAuthority}, true},
		"for every chain":       {func(a *types.SetCodeAuthorization) { a.ChainID.Clear() }, []chains.Kind{chains.KindAuthority}, true},
		"the largest nonce":     {func(a *types.SetCodeAuthorization) { a.Nonce = math.MaxUint64 - 1 }, []chains.Kind{chains.KindAuthority}, true},
		"that ends one":         {func(a *types.SetCodeAuthorization) { a.Address = common.Address{} }, []chains.Kind{chains.KindRevoke}, false},
		"for another chain":     {func(a *types.SetCodeAuthorization) { a.ChainID.SetUint64(10) }, nil, false},
		"for chain 2^64 + 1":    {func(a *types.SetCodeAuthorization) { a.ChainID.Lsh(uint256.NewInt(1), 64).AddUint64(&a.ChainID, 1) }, nil, false},
		"a nonce that is spent": {func(a *types.SetCodeAuthorization) { a.Nonce = math.MaxUint64 }, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			unsigned := valid
			test.change(&unsigned)
			authorization, err := types.SignSetCode(key, unsigned)
			testenv.Must(t, err)
			kinds, hazard := delegationsOf(t, authorization)
			if !slices.Equal(kinds, test.want) || hazard != test.hazard {
				t.Errorf("effects %v, hazard %v, want %v and %v", kinds, hazard, test.want, test.hazard)
			}
			authorization.R.Clear()
			if kinds, hazard := delegationsOf(t, authorization); kinds != nil || hazard {
				t.Errorf("without a signature: effects %v, hazard %v", kinds, hazard)
			}
		})
	}
}

// delegationsOf returns the kinds of the effects of an authorization in a transaction of
// the signer, and whether it has the hazard of a delegation.
func delegationsOf(t *testing.T, authorization types.SetCodeAuthorization) (kinds []chains.Kind, hazard bool) {
	t.Helper()
	effects, hazards := readDelegation(t, authorization)
	for i := range effects {
		kinds = append(kinds, effects[i].Kind)
	}
	return kinds, slices.Contains(hazards, ethereum.HazardDelegation)
}

// readDelegation returns the effects of an authorization in a transaction of the signer, and
// the names of the transaction's hazards.
func readDelegation(t *testing.T, authorization types.SetCodeAuthorization) (effects []chains.Effect, hazards []string) {
	t.Helper()
	tuple, err := rlp.EncodeToBytes(&authorization)
	testenv.Must(t, err)
	raw := typed("04", with(with(items4, 8, "80"), 10, list(hex.EncodeToString(tuple)))...)
	tx, err := ethereum.Chain{}.Parse(chaintest.Unhex(t, raw))
	testenv.Must(t, err)
	signing := chaintest.MustReady(t, tx, "", evmtest.Key(t, signerSecret))
	for _, effect := range signing.Effects() {
		if effect.Path == "authorization 1" {
			effects = append(effects, effect)
		}
	}
	return effects, chaintest.Names(signing.Hazards())
}

// TestDelegationIsOneAct draws authorizations, and compares what they do in a transaction and
// as a message: the same effect, by the signature that is asked for.
func TestDelegationIsOneAct(t *testing.T) {
	key, err := crypto.HexToECDSA(signerSecret)
	testenv.Must(t, err)
	random := rand.New(rand.NewPCG(42, 2))
	for range 1000 {
		unsigned := types.SetCodeAuthorization{ChainID: *uint256.NewInt(random.Uint64N(2)), Nonce: random.Uint64N(math.MaxUint64)}
		if random.IntN(4) > 0 {
			unsigned.Address = common.Address{byte(random.Uint32()), 19: byte(random.Uint32())}
		}
		authorization, err := types.SignSetCode(key, unsigned)
		testenv.Must(t, err)
		called, names := readDelegation(t, authorization)
		text := fmt.Appendf(nil, `{"address":"%s","chainId":%d,"nonce":"%d"}`, unsigned.Address.Hex(), unsigned.ChainID.Uint64(), unsigned.Nonce)
		message, err := ethereum.Chain{}.ReadMessage(chains.Message{Form: chains.MessageAuthorization, Bytes: text})
		testenv.Must(t, err)
		signing := chaintest.MustReady(t, message, "", evmtest.Key(t, signerSecret))
		effects := signing.Effects()
		for _, list := range [][]chains.Effect{called, effects} {
			list[0].By, list[0].OtherSigner, list[0].Function, list[0].Args, list[0].Path = "", chains.Party{}, "", nil, ""
		}
		if len(called) != 1 || len(effects) != 1 || fmt.Sprint(called) != fmt.Sprint(effects) {
			t.Fatalf("%+v:\n%+v\nas a message\n%+v", unsigned, called, effects)
		}
		for _, name := range chaintest.Names(signing.Hazards()) {
			if !slices.Contains(names, name) {
				t.Fatalf("%+v: %s is a hazard of the message, and %v of the transaction", unsigned, name, names)
			}
		}
		if want := unsigned.Address != (common.Address{}); want != slices.Contains(chaintest.Names(signing.Hazards()), ethereum.HazardDelegation) {
			t.Fatalf("%+v: %v", unsigned, signing.Hazards())
		}
	}
}
