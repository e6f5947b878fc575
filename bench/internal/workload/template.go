package workload

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// template returns the unsigned transaction of a test vector of a chain. Other
// transactions are derived from it by replacing bytes with others of the same length.
func template(chain, file string) func() []byte {
	return sync.OnceValue(func() []byte {
		text, err := os.ReadFile(filepath.Join(testenv.Root(), "chains", chain, "testdata", file))
		if err != nil {
			panic(err)
		}
		var vector struct{ UnsignedTransaction string }
		if err := json.Unmarshal(text, &vector); err != nil {
			panic(err)
		}
		return unhex(vector.UnsignedTransaction)
	})
}

func unhex(text string) []byte {
	raw, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return raw
}

// put returns raw with each occurrence of old replaced by new, which has the same length.
func put(raw, old, new []byte) []byte {
	if len(old) != len(new) || !bytes.Contains(raw, old) {
		panic("workload: the template lacks " + hex.EncodeToString(old))
	}
	return bytes.ReplaceAll(raw, old, new)
}

var (
	tronTransferVector   = template("tron", "trx.json")
	tronTRC20Vector      = template("tron", "trc20.json")
	tempoTransferVector  = template("tempo", "single.json")
	tempoBatchVector     = template("tempo", "batch.json")
	tempoSponsoredVector = template("tempo", "feepayer.json")

	vectorSigner    = unhex("97cc56300c36f60c7fb7c50babc6c5cdf59d5c56")
	vectorRecipient = unhex("08d2b0a37f869ff76bacb5bab3278e26ab7067b7")
	vectorBlock     = unhex("1122334455667788") // ref_block_hash
)

func tronTransfer(number int, signer keystore.PublicKey) []byte {
	return tronFor(tronTransferVector(), number, signer)
}

func tronTRC20(number int, signer keystore.PublicKey) []byte {
	return tronFor(tronTRC20Vector(), number, signer)
}

// tronFor makes the signer the owner and changes the reference block.
func tronFor(raw []byte, number int, signer keystore.PublicKey) []byte {
	owner := signer.KeccakAddress()
	return put(put(raw, vectorSigner, owner[:]), vectorBlock, drawing(number).bytes(8))
}

func tempoTransfer(number int, _ keystore.PublicKey) []byte {
	return put(tempoTransferVector(), vectorRecipient, drawing(number).bytes(20))
}

func tempoBatch(number int, _ keystore.PublicKey) []byte {
	return put(tempoBatchVector(), vectorRecipient, drawing(number).bytes(20))
}

func tempoSponsored(number int, _ keystore.PublicKey) []byte {
	return put(tempoSponsoredVector(), vectorRecipient, drawing(number).bytes(20))
}
