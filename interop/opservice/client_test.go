package opservice

import (
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum-optimism/optimism/op-service/eth"
	"github.com/ethereum-optimism/optimism/op-service/signer"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto/kzg4844"
	"github.com/ethereum/go-ethereum/log"
	"github.com/holiman/uint256"
)

var quiet = log.NewLogger(slog.NewTextHandler(io.Discard, nil))

// client returns the signer client with the certificate of a name.
func (s *server) client(t *testing.T, name string) (*signer.SignerClient, error) {
	t.Helper()
	client, err := signer.NewSignerClient(quiet, "https://"+s.address, http.Header{}, s.authority.client(t, name))
	if err == nil {
		t.Cleanup(client.Close)
	}
	return client, err
}

// TestSignerClient signs what a batcher and a proposer post, over mutual TLS, with the client
// that they use. The signer is the key's, nothing else in the transaction changes, and the
// same transaction again is answered from its record.
func TestSignerClient(t *testing.T) {
	s := serve(t)
	client, err := s.client(t, "batcher.example")
	if err != nil {
		t.Fatal(err)
	}
	for name, tx := range map[string]*types.Transaction{"EIP-1559": dynamicFee(), "blobs": blobs(t)} {
		signed, err := client.SignTransaction(t.Context(), tx.ChainId(), s.from, tx)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		chain := types.LatestSignerForChainID(tx.ChainId())
		if from, err := types.Sender(chain, signed); err != nil || from != s.from {
			t.Errorf("%s: signed by %v, %v", name, from, err)
		}
		if chain.Hash(signed) != chain.Hash(tx) || (signed.BlobTxSidecar() == nil) != (tx.BlobTxSidecar() == nil) {
			t.Errorf("%s: another transaction was signed", name)
		}
		again, err := client.SignTransaction(t.Context(), tx.ChainId(), s.from, tx)
		if err != nil || again.Hash() != signed.Hash() {
			t.Errorf("%s: again: %v", name, err)
		}
	}
	s.stop(t)
	if listed := s.run(t, "activities", "list", "--config", s.config, "--json"); strings.Count(listed, `"state":"signed"`) != 2 {
		t.Errorf("the records are %s", listed)
	}
}

// TestSignerClientRefused: a certificate of the authority that no user has, and one of another
// authority, are refused; so are the hash of a block payload and another sender.
func TestSignerClientRefused(t *testing.T) {
	s := serve(t)
	if _, err := s.client(t, "other.example"); err == nil {
		t.Error("a certificate that no user has was taken")
	}
	own := s.authority
	s.authority = newAuthority(t)
	s.authority.file = own.file // the client trusts the server's
	if _, err := s.client(t, "batcher.example"); err == nil {
		t.Error("a certificate of another authority was taken")
	}
	s.authority = own
	client, err := s.client(t, "batcher.example")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.SignBlockPayloadV2(t.Context(), &signer.BlockPayloadArgsV2{ChainID: eth.ChainIDFromUInt64(10), PayloadHash: common.Hash{1}}); err == nil {
		t.Error("a hash was signed")
	}
	if _, err := client.SignTransaction(t.Context(), big.NewInt(1), common.Address{1}, dynamicFee()); err == nil || !strings.Contains(err.Error(), "has no key") {
		t.Errorf("another sender: %v", err)
	}
}

// dynamicFee returns what a proposer sends.
func dynamicFee() *types.Transaction {
	to := common.HexToAddress("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7")
	return types.NewTx(&types.DynamicFeeTx{
		ChainID: big.NewInt(1), Nonce: 7, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(2e9), Gas: 100_000, To: &to, Value: big.NewInt(123),
	})
}

// blobs returns what a batcher sends: one blob for an inbox.
func blobs(t *testing.T) *types.Transaction {
	t.Helper()
	var blob kzg4844.Blob
	copy(blob[1:], "a batch")
	commitment, err := kzg4844.BlobToCommitment(&blob)
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := kzg4844.ComputeCellProofs(&blob)
	if err != nil {
		t.Fatal(err)
	}
	sidecar := types.NewBlobTxSidecar(types.BlobSidecarVersion1, []kzg4844.Blob{blob}, []kzg4844.Commitment{commitment}, proofs)
	return types.NewTx(&types.BlobTx{
		ChainID: uint256.NewInt(1), Nonce: 8, GasTipCap: uint256.NewInt(1e9), GasFeeCap: uint256.NewInt(2e9), Gas: 21_000,
		To: common.HexToAddress("0xFF00000000000000000000000000000000000010"), BlobFeeCap: uint256.NewInt(1e9),
		BlobHashes: sidecar.BlobHashes(), Sidecar: sidecar,
	})
}
