package evm

import (
	"bytes"
	"math/big"
	"net"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/accounts/external"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/crypto/kzg4844"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store/memory"
)

// externalToken is the token of the caller.
const externalToken = "0123456789abcdef0123456789abcdef"

// remoteSigner serves an engine over HTTP and over a unix socket, and returns the endpoints.
func remoteSigner(t *testing.T, hazards ...string) (f *enginetest.Fixture, endpoints map[string]string) {
	t.Helper()
	f = enginetest.New(t, func(c *countersign.Config) {
		c.Store, c.AllowHazards = memory.New(0), append(hazards, "ethereum/never-included") // sidecars of version 0
	})
	uid := uint32(0)
	users, err := rpcapi.NewUsers([]rpcapi.User{{OrganizationID: enginetest.Organization, UserID: "user-1", Token: externalToken, UID: &uid}}, nil)
	testenv.Must(t, err)
	handler := rpcapi.New(f.Engine, rpcapi.Options{
		Users: func() *rpcapi.Users { return users }, Directory: f.Config.Directory.(access.Users), Keystore: f.Signing, Host: func(string) bool { return true },
	})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "rpc.sock")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	testenv.Must(t, err)
	served := make(chan error, 1)
	go func() { served <- handler.ServeSocket(t.Context(), listener) }()
	t.Cleanup(func() {
		_ = listener.Close()
		<-served
	})
	return f, map[string]string{"http": "http://geth:" + externalToken + "@" + server.Listener.Addr().String(), "ipc": path}
}

// TestExternalSigner signs with go-ethereum's own client of remote signers, unmodified, over
// both transports: transactions of types 0 to 3, blobs in both forms of sidecar, and text.
// Each is what the key signs locally. The client does not know authorization lists.
func TestExternalSigner(t *testing.T) {
	key, err := crypto.HexToECDSA(enginetest.Secret)
	testenv.Must(t, err)
	from, to := crypto.PubkeyToAddress(key.PublicKey), common.HexToAddress("0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7")
	chain := big.NewInt(1)
	list := types.AccessList{{Address: to, StorageKeys: []common.Hash{{1}}}}
	transactions := []types.TxData{
		&types.LegacyTx{Nonce: 1, GasPrice: big.NewInt(1e9), Gas: 21000, To: &to, Value: big.NewInt(5)},
		&types.AccessListTx{ChainID: chain, Nonce: 2, GasPrice: big.NewInt(1e9), Gas: 40000, To: &to, Value: big.NewInt(5), AccessList: list},
		&types.AccessListTx{ChainID: chain, Nonce: 3, GasPrice: big.NewInt(1e9), Gas: 40000, To: &to, Value: big.NewInt(5)},
		&types.DynamicFeeTx{ChainID: chain, Nonce: 4, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(2e9), Gas: 40000, To: &to, Value: big.NewInt(5), AccessList: list},
		&types.BlobTx{ChainID: uint256.NewInt(1), Nonce: 5, GasTipCap: uint256.NewInt(1e9), GasFeeCap: uint256.NewInt(2e9), Gas: 40000, To: to, BlobFeeCap: uint256.NewInt(7), Sidecar: sidecarOf(t, types.BlobSidecarVersion0)},
		&types.BlobTx{ChainID: uint256.NewInt(1), Nonce: 6, GasTipCap: uint256.NewInt(1e9), GasFeeCap: uint256.NewInt(2e9), Gas: 40000, To: to, BlobFeeCap: uint256.NewInt(7), Sidecar: sidecarOf(t, types.BlobSidecarVersion1)},
	}
	f, endpoints := remoteSigner(t)
	for name, endpoint := range endpoints {
		client, err := external.NewExternalSigner(endpoint)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		account := accounts.Account{Address: from}
		if got := client.Accounts(); len(got) != 1 || got[0].Address != from || !client.Contains(account) {
			t.Errorf("%s: accounts %v", name, got)
		}
		for _, data := range transactions {
			if blob, ok := data.(*types.BlobTx); ok {
				blob.BlobHashes = blob.Sidecar.BlobHashes()
			}
			unsigned := types.NewTx(data)
			want, err := types.SignTx(unsigned, types.LatestSignerForChainID(chain), key)
			testenv.Must(t, err)
			got, err := client.SignTx(account, unsigned, chain)
			if err != nil {
				t.Errorf("%s: type %d: %v", name, unsigned.Type(), err)
				continue
			}
			if !bytes.Equal(marshalled(t, got.WithoutBlobTxSidecar()), marshalled(t, want.WithoutBlobTxSidecar())) { // its JSON has no sidecars
				t.Errorf("%s: type %d is another transaction than the key signs", name, unsigned.Type())
			}
		}
		known := []byte("Approve Portals sign-in") // a template has it
		signature, err := client.SignText(account, known)
		want, _ := crypto.Sign(accounts.TextHash(known), key)
		if err != nil || !bytes.Equal(signature, want) {
			t.Errorf("%s: text: %x, %v", name, signature, err)
		}
		if _, err := client.SignText(account, []byte("hello")); err == nil {
			t.Errorf("%s: signed a text that is not known", name)
		}
		if _, err := client.SignData(account, accounts.MimetypeClique, []byte{1}); err == nil {
			t.Errorf("%s: signed a block's header", name)
		}
	}
	f.WantSignatures(t, int64(len(transactions)+1)) // the second transport is answered from the records
	if _, err := external.NewExternalSigner("http://geth:" + externalToken + "0@" + endpoints["http"][len("http://geth:"+externalToken+"@"):]); err == nil {
		t.Error("another token is taken")
	}
}

// sidecarOf returns a sidecar of one blob.
func sidecarOf(t *testing.T, version byte) *types.BlobTxSidecar {
	t.Helper()
	blob := new(kzg4844.Blob)
	blob[1] = 7
	commitment, err := kzg4844.BlobToCommitment(blob)
	testenv.Must(t, err)
	var proofs []kzg4844.Proof
	if version == types.BlobSidecarVersion1 {
		proofs, err = kzg4844.ComputeCellProofs(blob)
	} else {
		proofs = make([]kzg4844.Proof, 1)
		proofs[0], err = kzg4844.ComputeBlobProof(blob, commitment)
	}
	testenv.Must(t, err)
	return types.NewBlobTxSidecar(version, []kzg4844.Blob{*blob}, []kzg4844.Commitment{commitment}, proofs)
}

func marshalled(t *testing.T, tx *types.Transaction) []byte {
	t.Helper()
	raw, err := tx.MarshalBinary()
	testenv.Must(t, err)
	return raw
}
