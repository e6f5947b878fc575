package interop

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/gethoracle"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// serialized is a transaction serialized by a library, in hex.
type serialized struct{ Unsigned, Signed string }

// TestEthereumLibraries has viem and ethers serialize and sign random transactions of all
// types, and checks that we sign what they serialized to the same bytes.
func TestEthereumLibraries(t *testing.T) {
	peer := startPeer(t, "ethereum.mjs")
	for _, c := range ethereumCases(360) {
		var answer map[string]serialized
		peer.ask(t, map[string]any{"privateKey": hexutil.Encode(crypto.FromECDSA(c.Key)), "tx": ethereumFields(c.Tx)}, &answer)
		for _, library := range []string{"viem", "ethers"} {
			compareEthereum(t, library, &c, answer[library])
		}
	}
}

func compareEthereum(t *testing.T, library string, c *gethoracle.Case, theirs serialized) {
	t.Helper()
	if want := hexutil.Encode(c.Unsigned); theirs.Unsigned != want {
		t.Fatalf("%s serialises, unsigned\n%s\ngo-ethereum\n%s", library, theirs.Unsigned, want)
	}
	keys := memory.New()
	info, err := keys.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: crypto.FromECDSA(c.Key)})
	testenv.Must(t, err)
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys, AllowHazards: []string{countersign.AllHazards}})
	testenv.Must(t, err)
	defer engine.Close()
	result, err := engine.SignTransaction(t.Context(), "org", activity.SignTransactionIntent{
		SignWith: info.ID, Type: activity.TransactionTypeEthereum, UnsignedTransaction: theirs.Unsigned,
	})
	if err != nil {
		t.Fatalf("%s: %s: %v", library, theirs.Unsigned, err)
	}
	if "0x"+result.SignedTransaction != theirs.Signed {
		t.Errorf("%s signs\n%s\nours\n0x%s", library, theirs.Signed, result.SignedTransaction)
	}
}

// ethereumCases generates transactions whose numbers JavaScript can represent.
func ethereumCases(count int) []gethoracle.Case {
	random := rand.New(rand.NewPCG(16, 17))
	var cases []gethoracle.Case
	for len(cases) < count {
		if c := gethoracle.Generate(random, len(cases)%gethoracle.Kinds); safeInJavaScript(c.Tx) {
			cases = append(cases, c)
		}
	}
	return cases
}

// safeInJavaScript reports whether the values that the libraries represent as JavaScript
// numbers are below 2^53.
func safeInJavaScript(tx *types.Transaction) bool {
	const limit = 1<<53 - 1
	safe := tx.Nonce() <= limit && (!tx.Protected() || tx.ChainId().Uint64() <= limit)
	for _, authorization := range tx.SetCodeAuthorizations() {
		safe = safe && authorization.Nonce <= limit
	}
	return safe
}

// ethereumFields returns a transaction with the names of JSON-RPC.
func ethereumFields(tx *types.Transaction) map[string]any {
	fields := map[string]any{
		"type": tx.Type(), "nonce": tx.Nonce(), "gas": new(big.Int).SetUint64(tx.Gas()).String(),
		"value": tx.Value().String(), "data": hexutil.Encode(tx.Data()),
	}
	if tx.Protected() {
		fields["chainId"] = tx.ChainId()
	}
	if tx.To() != nil {
		fields["to"] = strings.ToLower(tx.To().Hex())
	}
	switch tx.Type() {
	case types.LegacyTxType, types.AccessListTxType:
		fields["gasPrice"] = tx.GasPrice().String()
	default:
		fields["maxFeePerGas"], fields["maxPriorityFeePerGas"] = tx.GasFeeCap().String(), tx.GasTipCap().String()
	}
	switch tx.Type() {
	case types.BlobTxType:
		fields["maxFeePerBlobGas"], fields["blobVersionedHashes"] = tx.BlobGasFeeCap().String(), tx.BlobHashes()
	case types.SetCodeTxType:
		fields["authorizationList"] = ethereumAuthorizations(tx.SetCodeAuthorizations())
	}
	if list := tx.AccessList(); len(list) > 0 {
		fields["accessList"] = accessListFields(list)
	}
	return fields
}

func accessListFields(list types.AccessList) []map[string]any {
	var entries []map[string]any
	for _, entry := range list {
		keys := []string{}
		for _, key := range entry.StorageKeys {
			keys = append(keys, key.Hex())
		}
		entries = append(entries, map[string]any{"address": strings.ToLower(entry.Address.Hex()), "storageKeys": keys})
	}
	return entries
}

func ethereumAuthorizations(list []types.SetCodeAuthorization) []map[string]any {
	var tuples []map[string]any
	for _, a := range list {
		r, s := a.R.Bytes32(), a.S.Bytes32()
		tuples = append(tuples, map[string]any{
			"chainId": a.ChainID.Uint64(), "address": strings.ToLower(a.Address.Hex()), "nonce": a.Nonce,
			"yParity": a.V, "r": hexutil.Encode(r[:]), "s": hexutil.Encode(s[:]),
		})
	}
	return tuples
}
