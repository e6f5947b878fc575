package evm

import (
	"context"
	"math/big"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/crypto/kzg4844"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// nitroArgs are the arguments that Nitro's data poster sends, as TxToSignTxArgs in
// arbnode/dataposter of OffchainLabs/nitro builds them: gasPrice beside maxFeePerGas, to which
// it is equal, and blob members that are null without blobs.
type nitroArgs struct {
	From                 common.MixedcaseAddress  `json:"from"`
	To                   *common.MixedcaseAddress `json:"to"`
	Gas                  hexutil.Uint64           `json:"gas"`
	GasPrice             *hexutil.Big             `json:"gasPrice"`
	MaxFeePerGas         *hexutil.Big             `json:"maxFeePerGas"`
	MaxPriorityFeePerGas *hexutil.Big             `json:"maxPriorityFeePerGas"`
	Value                hexutil.Big              `json:"value"`
	Nonce                hexutil.Uint64           `json:"nonce"`
	Data                 *hexutil.Bytes           `json:"data,omitempty"`
	Input                *hexutil.Bytes           `json:"input,omitempty"`
	AccessList           *types.AccessList        `json:"accessList,omitempty"`
	ChainID              *hexutil.Big             `json:"chainId,omitempty"`
	BlobFeeCap           *hexutil.Big             `json:"maxFeePerBlobGas"`
	BlobHashes           []common.Hash            `json:"blobVersionedHashes,omitempty"`
	Blobs                []kzg4844.Blob           `json:"blobs"`
	Commitments          []kzg4844.Commitment     `json:"commitments"`
	Proofs               []kzg4844.Proof          `json:"proofs"`
}

func nitroArgsOf(from common.Address, tx *types.Transaction) *nitroArgs {
	to := common.NewMixedcaseAddress(*tx.To())
	data, list := hexutil.Bytes(tx.Data()), tx.AccessList()
	args := &nitroArgs{
		From: common.NewMixedcaseAddress(from), To: &to, Gas: hexutil.Uint64(tx.Gas()),
		GasPrice: (*hexutil.Big)(tx.GasPrice()), MaxFeePerGas: (*hexutil.Big)(tx.GasFeeCap()), MaxPriorityFeePerGas: (*hexutil.Big)(tx.GasTipCap()),
		Value: hexutil.Big(*tx.Value()), Nonce: hexutil.Uint64(tx.Nonce()), Data: &data, AccessList: &list, ChainID: (*hexutil.Big)(tx.ChainId()),
		BlobFeeCap: (*hexutil.Big)(tx.BlobGasFeeCap()), BlobHashes: tx.BlobHashes(),
	}
	if sidecar := tx.BlobTxSidecar(); sidecar != nil {
		args.Blobs, args.Commitments, args.Proofs = sidecar.Blobs, sidecar.Commitments, sidecar.Proofs
	}
	return args
}

// earlier returns the arguments as revisions before the fork's SendTxArgs had blob members
// wrote them: without those that are empty.
func (a *nitroArgs) earlier(t *testing.T) map[string]any {
	t.Helper()
	text := testenv.Encode(t, a)
	var members map[string]any
	testenv.JSON(t, text, &members)
	for name, value := range members {
		if value == nil {
			delete(members, name)
		}
	}
	return members
}

// TestNitroBatchPoster signs what Nitro's batch poster and validator send, and reads the answer
// as they do: it must be the transaction that was asked for, with its sidecar, since Nitro
// broadcasts the answer.
func TestNitroBatchPoster(t *testing.T) {
	key, err := crypto.HexToECDSA(enginetest.Secret)
	testenv.Must(t, err)
	from, inbox := crypto.PubkeyToAddress(key.PublicKey), common.HexToAddress("0x1c479675ad559DC151F6Ec7ed3FbF8ceE79582B6")
	posts := append(common.FromHex("0x3e5aa082"), make([]byte, 5*32)...)
	blob := func(nonce uint64, version byte) *types.BlobTx {
		sidecar := sidecarOf(t, version)
		return &types.BlobTx{ChainID: uint256.NewInt(1), Nonce: nonce, GasTipCap: uint256.NewInt(1e8), GasFeeCap: uint256.NewInt(2e9), Gas: 600000, To: inbox,
			Value: new(uint256.Int), Data: posts, BlobFeeCap: uint256.NewInt(1e9), BlobHashes: sidecar.BlobHashes(), Sidecar: sidecar}
	}
	dynamic := func(nonce uint64, data []byte, list types.AccessList) *types.DynamicFeeTx {
		return &types.DynamicFeeTx{ChainID: big.NewInt(1), Nonce: nonce, GasTipCap: big.NewInt(1e8), GasFeeCap: big.NewInt(2e9), Gas: 600000, To: &inbox,
			Value: new(big.Int), Data: data, AccessList: list}
	}
	_, endpoints := remoteSigner(t, "ethereum/blind-call")
	client, err := rpc.DialContext(t.Context(), endpoints["http"])
	testenv.Must(t, err)
	defer client.Close()
	for name, data := range map[string]types.TxData{
		"calldata":                  dynamic(1, posts, nil),
		"no data":                   dynamic(2, nil, nil),
		"an access list":            dynamic(3, posts, types.AccessList{{Address: inbox, StorageKeys: []common.Hash{{1}}}}),
		"blobs with proofs":         blob(4, types.BlobSidecarVersion0),
		"blobs with cell proofs":    blob(5, types.BlobSidecarVersion1),
		"a validator's, with ether": &types.DynamicFeeTx{ChainID: big.NewInt(1), Nonce: 6, GasTipCap: new(big.Int), GasFeeCap: big.NewInt(1), Gas: 600000, To: &inbox, Value: big.NewInt(1e18), Data: posts},
	} {
		tx := types.NewTx(data)
		args := nitroArgsOf(from, tx)
		for form, sent := range map[string]any{"current": args, "earlier": args.earlier(t)} {
			signed := nitroSigns(t, client, sent)
			if signer := types.LatestSignerForChainID(tx.ChainId()); signer.Hash(signed) != signer.Hash(tx) {
				t.Errorf("%s, %s: another transaction was signed", name, form)
			} else if by, err := signer.Sender(signed); err != nil || by != from {
				t.Errorf("%s, %s: signed by %v, %v", name, form, by, err)
			}
			if !reflect.DeepEqual(signed.BlobTxSidecar(), tx.BlobTxSidecar()) {
				t.Errorf("%s, %s: another sidecar", name, form)
			}
		}
	}
}

// nitroSigns calls the signer and reads the answer as Nitro's externalSigner does.
func nitroSigns(t *testing.T, client *rpc.Client, args any) *types.Transaction {
	t.Helper()
	var data hexutil.Bytes
	testenv.Must(t, client.CallContext(context.Background(), &data, "eth_signTransaction", args))
	signed := new(types.Transaction)
	testenv.Must(t, signed.UnmarshalBinary(data))
	return signed
}
