package peers

import (
	"crypto/ecdsa"
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/accounts/keystore"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// goEthereum signs a struct with types.SignTx and encodes it with MarshalBinary. It does not
// read bytes.
func goEthereum(t testing.TB, _ *workload.Workload) peer {
	signer := types.LatestSignerForChainID(workload.EthereumChainID)
	transactions := ethereumTransactions()
	keys := secp256k1Keys(t, workload.Keys)
	return goPeer(func(i int) string {
		i %= workload.Keys
		return marshal(t)(types.SignTx(transactions[i], signer, keys[i]))
	})
}

// unsignedDynamicFee is what an unsigned EIP-1559 transaction has after its type byte.
type unsignedDynamicFee struct {
	ChainID    *big.Int
	Nonce      uint64
	GasTipCap  *big.Int
	GasFeeCap  *big.Int
	Gas        uint64
	To         *common.Address `rlp:"nil"`
	Value      *big.Int
	Data       []byte
	AccessList types.AccessList
}

// goEthereumFromBytes reads what the engine reads, hex of the unsigned transaction, with
// go-ethereum's rlp, signs it and encodes it in hex. It derives no effects and no hazards.
func goEthereumFromBytes(t testing.TB, w *workload.Workload) peer {
	signer := types.LatestSignerForChainID(workload.EthereumChainID)
	keys := secp256k1Keys(t, workload.Keys)
	return goPeer(func(i int) string {
		i %= workload.Keys
		raw := testenv.Hex(t, w.Requests[i].UnsignedTransaction)
		var read unsignedDynamicFee
		testenv.Must(t, rlp.DecodeBytes(raw[1:], &read))
		return marshal(t)(types.SignTx(types.NewTx(&types.DynamicFeeTx{
			ChainID: read.ChainID, Nonce: read.Nonce, GasTipCap: read.GasTipCap, GasFeeCap: read.GasFeeCap, Gas: read.Gas,
			To: read.To, Value: read.Value, Data: read.Data, AccessList: read.AccessList,
		}), signer, keys[i]))
	})
}

// keystoreKeys is the number of keys in go-ethereum's keystore, where adding and unlocking
// a key is slow.
const keystoreKeys = 50

// goEthereumKeystore signs with go-ethereum's keystore, whose keys are unlocked.
func goEthereumKeystore(t testing.TB, _ *workload.Workload) peer {
	store := keystore.NewKeyStore(t.TempDir(), 2, 1)
	owners := make([]accounts.Account, keystoreKeys)
	for i, key := range secp256k1Keys(t, keystoreKeys) {
		owner, err := store.ImportECDSA(key, "passphrase")
		testenv.Must(t, err, store.Unlock(owner, "passphrase"))
		owners[i] = owner
	}
	transactions := ethereumTransactions()
	return goPeer(func(i int) string {
		i %= keystoreKeys
		return marshal(t)(store.SignTx(owners[i], transactions[i], workload.EthereumChainID))
	})
}

// secp256k1Keys returns the first keys of a workload.
func secp256k1Keys(t testing.TB, count int) []*ecdsa.PrivateKey {
	t.Helper()
	keys := make([]*ecdsa.PrivateKey, count)
	for i := range keys {
		key, err := crypto.ToECDSA(workload.Secret(i))
		testenv.Must(t, err)
		keys[i] = key
	}
	return keys
}

func ethereumTransactions() []*types.Transaction {
	transactions := make([]*types.Transaction, workload.Keys)
	for i := range transactions {
		transactions[i] = types.NewTx(workload.DynamicFeeTransfer(i))
	}
	return transactions
}

func marshal(t testing.TB) func(*types.Transaction, error) string {
	return func(signed *types.Transaction, err error) string {
		testenv.Must(t, err)
		raw, err := signed.MarshalBinary()
		testenv.Must(t, err)
		return hex.EncodeToString(raw)
	}
}

// solanaGo reads, signs and writes a transaction with solana-go.
func solanaGo(t testing.TB, w *workload.Workload) peer {
	keys := make([]sdk.PrivateKey, workload.Keys)
	for i := range keys {
		public := w.Public[i].Ed25519()
		keys[i] = append(workload.Secret(i), public[:]...)
	}
	return goPeer(func(i int) string {
		i %= workload.Keys
		raw := testenv.Hex(t, w.Requests[i].UnsignedTransaction)
		tx, err := sdk.TransactionFromBytes(raw)
		testenv.Must(t, err)
		tx.Signatures = nil
		if _, err := tx.Sign(func(sdk.PublicKey) *sdk.PrivateKey { return &keys[i] }); err != nil {
			t.Fatal(err)
		}
		signed, err := tx.MarshalBinary()
		testenv.Must(t, err)
		return hex.EncodeToString(signed)
	})
}
