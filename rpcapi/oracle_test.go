package rpcapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/rpcapi"
)

// compare checks that what is encoded of an object is the transaction that go-ethereum reads
// in it. It reports whether it was encoded. We are stricter: go-ethereum takes objects
// without nonce, gas, chain or fees, prefers input to data and maxFeePerGas to gasPrice,
// takes a wrong checksum, unknown and repeated members, names in another case, and the
// creation of a contract without code.
func compare(t *testing.T, text []byte) bool {
	t.Helper()
	unsigned, err := rpcapi.Encode(text)
	if err != nil {
		return false
	}
	var args apitypes.SendTxArgs
	if err := json.Unmarshal(text, &args); err != nil {
		t.Fatalf("go-ethereum refuses %s: %v", text, err)
	}
	if len(args.Blobs) > 0 {
		return true // TestSidecar has these
	}
	tx, err := ofGoEthereum(text, &args)
	if err != nil {
		t.Fatalf("go-ethereum refuses %s: %v", text, err)
	}
	if want := types.LatestSignerForChainID((*big.Int)(args.ChainID)).Hash(tx); crypto.Keccak256Hash(unsigned) != want {
		t.Fatalf("%s\nis encoded as %x", text, unsigned)
	}
	return true
}

// ofGoEthereum returns the transaction of an object. SendTxArgs has no authorizations, which are
// read as go-ethereum's transactions have them.
func ofGoEthereum(text []byte, args *apitypes.SendTxArgs) (*types.Transaction, error) {
	var more struct{ AuthorizationList []types.SetCodeAuthorization }
	if err := json.Unmarshal(text, &more); err != nil {
		return nil, err
	}
	if more.AuthorizationList == nil {
		return args.ToTransaction()
	}
	asDynamic, err := args.ToTransaction()
	if err != nil {
		return nil, err
	}
	u := uint256.MustFromBig
	return types.NewTx(&types.SetCodeTx{
		ChainID: u(asDynamic.ChainId()), Nonce: asDynamic.Nonce(), GasTipCap: u(asDynamic.GasTipCap()), GasFeeCap: u(asDynamic.GasFeeCap()), Gas: asDynamic.Gas(),
		To: *asDynamic.To(), Value: u(asDynamic.Value()), Data: asDynamic.Data(), AccessList: asDynamic.AccessList(), AuthList: more.AuthorizationList,
	}), nil
}

// FuzzObject compares the reading of transaction objects with go-ethereum's.
func FuzzObject(f *testing.F) {
	f.Add([]byte(ordinary))
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f.Add([]byte(drawObject(random)))
	}
	f.Fuzz(func(t *testing.T, text []byte) { compare(t, text) })
}

// drawObject draws an object, most often a whole one.
func drawObject(random *rand.Rand) string {
	quantity := func(bits uint) string {
		digits := make([]byte, 32)
		for i := range digits {
			digits[i] = byte(random.Uint32())
		}
		value := new(big.Int).SetBytes(digits)
		return fmt.Sprintf("0x%x", value.Rsh(value, 256-uint(random.IntN(int(bits)+1))))
	}
	address := func() string {
		return common.BigToAddress(new(big.Int).SetUint64(random.Uint64())).Hex()
	}
	tip := random.Uint32()
	members := map[string]string{
		"from": address(), "to": address(), "gas": quantity(64), "value": quantity(256), "nonce": quantity(64), "chainId": fmt.Sprintf("0x%x", 1+random.Uint64()>>(1+random.IntN(63))),
		[]string{"data", "input"}[random.IntN(2)]: "0x" + strings.Repeat("a1", random.IntN(80)),
	}
	kind := random.IntN(5)
	if kind < 2 {
		members["gasPrice"] = quantity(128)
	} else {
		members["maxPriorityFeePerGas"], members["maxFeePerGas"] = fmt.Sprintf("0x%x", tip), fmt.Sprintf("0x%x", uint64(tip)+uint64(random.Uint32()))
	}
	switch random.IntN(12) {
	case 0:
		for name := range members {
			delete(members, name)
			break
		}
	case 1:
		members["gasPrice"] = members["maxFeePerGas"]
	}
	var text []string
	for name, value := range members {
		text = append(text, fmt.Sprintf("%q:%q", name, value))
	}
	if kind > 0 && random.IntN(2) == 0 || kind == 1 {
		text = append(text, fmt.Sprintf(`"accessList":[{"address":%q,"storageKeys":["0x%064x"]}]`, address(), random.Uint64()))
	}
	if kind == 3 {
		text = append(text, fmt.Sprintf(`"maxFeePerBlobGas":%q,"blobVersionedHashes":["0x01%062x"]`, quantity(128), random.Uint64()))
	}
	if kind == 4 {
		tuple := func() string {
			return fmt.Sprintf(`{"chainId":%q,"address":%q,"nonce":%q,"yParity":"0x%x","r":%q,"s":%q}`,
				quantity(256), address(), quantity(64), random.IntN(2), quantity(256), quantity(256))
		}
		text = append(text, `"authorizationList":[`+strings.Join([]string{tuple(), tuple()}[:1+random.IntN(2)], ",")+"]")
	}
	return "{" + strings.Join(text, ",") + "}"
}

// TestOmittedMembers: an object without a member, or without two, is refused, or is what go-ethereum
// reads in it, for the same sender and chain, with the same nonce and gas: none of these is guessed.
func TestOmittedMembers(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 14))
	encoded := 0
	for range 200 {
		var all map[string]json.RawMessage
		if text := drawObject(random); json.Unmarshal([]byte(text), &all) != nil || !compare(t, []byte(text)) {
			continue
		}
		for one := range all {
			for two := range all {
				left := maps.Clone(all)
				delete(left, one)
				delete(left, two)
				text := testenv.Encode(t, left)
				if !compare(t, text) {
					continue
				}
				encoded++
				for _, kept := range []string{"from", "chainId", "nonce", "gas"} {
					if left[kept] == nil {
						t.Errorf("%s is encoded without %s", text, kept)
					}
				}
			}
		}
	}
	if encoded < 500 {
		t.Errorf("%d objects are encoded: the test shows nothing", encoded)
	}
}
