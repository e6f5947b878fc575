package software

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// Signatures on secp256k1 with the nonce of RFC 6979, over the SHA-256 of the
// message; low S. They are widely known: the tests of many Bitcoin libraries
// (Trezor, CoreBitcoin, haskoin, btcec) have them.
var rfc6979 = []struct{ secret, message, signature string }{
	{
		"0000000000000000000000000000000000000000000000000000000000000001", "Satoshi Nakamoto",
		"934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d82442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5",
	},
	{
		"0000000000000000000000000000000000000000000000000000000000000001",
		"All those moments will be lost in time, like tears in rain. Time to die...",
		"8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21",
	},
	{
		"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140", "Satoshi Nakamoto",
		"fd567d121db66e382991534ada77a6bd3106f0a1098c231e47993447cd6af2d06b39cd0eb1bc8603e159ef5c20a5c8ad685a45b06ce9bebed3f153d10d93bed5",
	},
	{
		"f8b8af8ce3c7cca5e300d33939540c10d45ce001b8f252bfbc57ba0342904181", "Alan Turing",
		"7063ae83e7f62bbb171798131b4a0564b956930092b33b07b395615d9ec7e15c58dfcc1e00a35e1572f366ffe34ba0fc47db1e7189759b9fb233c5b05ab388ea",
	},
	{
		"e91671c46231f833a6406ccbea0e3e392c76c167bac1cb013f6f1013980455c2",
		"There is a computer disease that anybody who works with computers knows about. It's a very serious disease and it interferes completely with the work. The trouble with computers is that you 'play' with them!",
		"b552edd27580141f3b2a5463048cb7cd3e047b97c9f98076c32dbdf85a68718b279fa72dd19bfae05577e06c7c0c1900c371fcd5893f7e1d56a37d30174671f6",
	},
}

func TestECDSAVectors(t *testing.T) {
	for _, vector := range rfc6979 {
		key := mustNew(t, keystore.CurveSecp256k1, testenv.Hex(t, vector.secret)).Handle()
		digest := sha256.Sum256([]byte(vector.message))
		signature, err := key.(keystore.ECDSASigner).SignECDSA(t.Context(), digest)
		testenv.Must(t, err)
		if got := hex.EncodeToString(signature[:64]); got != vector.signature {
			t.Errorf("%s: signature %s, want %s", vector.message, got, vector.signature)
		}
		if err := keystore.VerifyECDSA(key.PublicKey(), digest, signature); err != nil {
			t.Errorf("%s: %v", vector.message, err)
		}
	}
}

// TestBIP340Vectors signs the vectors of BIP-340 whose auxiliary data are zeros and whose message is
// a digest.
func TestBIP340Vectors(t *testing.T) {
	file, err := os.Open(testenv.Suite(t, "bitcoin", "bip340.csv"))
	testenv.Must(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	testenv.Must(t, err)
	signed := 0
	for _, row := range rows[1:] {
		secret, public, aux, message, want := row[1], row[2], row[3], row[4], row[5]
		if secret == "" || len(message) != 64 || strings.Trim(aux, "0") != "" {
			continue
		}
		signed++
		key := mustNew(t, keystore.CurveSecp256k1, testenv.Hex(t, secret)).Handle()
		x := key.PublicKey().XOnly()
		if got := strings.ToUpper(hex.EncodeToString(x[:])); got != public {
			t.Errorf("vector %s: public key %s, want %s", row[0], got, public)
		}
		signature := signSchnorr(t, key, [32]byte(testenv.Hex(t, message)), keystore.ScriptPath())
		if got := strings.ToUpper(hex.EncodeToString(signature)); got != want {
			t.Errorf("vector %s: signature %s, want %s", row[0], got, want)
		}
	}
	if signed == 0 {
		t.Error("no vector was signed")
	}
}

func signSchnorr(t *testing.T, key keystore.Key, digest [32]byte, tweak keystore.TaprootTweak) []byte {
	t.Helper()
	signer, err := keystore.AsSchnorr(keystore.Verified(key))
	testenv.Must(t, err)
	signature, err := signer.SignSchnorr(t.Context(), digest, tweak)
	testenv.Must(t, err)
	return signature[:]
}

// bip341 has the parts of BIP-341's wallet test vectors that the tests use.
type bip341 struct {
	ScriptPubKey []struct {
		Given        struct{ InternalPubkey string }
		Intermediary struct {
			MerkleRoot    *string
			TweakedPubkey string
		}
	}
	KeyPathSpending []struct {
		InputSpending []struct {
			Given struct {
				InternalPrivkey string
				MerkleRoot      *string
			}
			Intermediary struct{ InternalPubkey, SigHash string }
			Expected     struct{ Witness []string }
		}
	}
}

func readBIP341(t *testing.T) (vectors bip341) {
	t.Helper()
	testenv.JSON(t, testenv.Read(t, testenv.Suite(t, "bitcoin", "bip341_wallet.json")), &vectors)
	return vectors
}

func tweak(t *testing.T, merkleRoot *string) keystore.TaprootTweak {
	t.Helper()
	if merkleRoot == nil {
		return keystore.KeyPath()
	}
	return keystore.KeyPathWithRoot([32]byte(testenv.Hex(t, *merkleRoot)))
}

func TestBIP341OutputKeys(t *testing.T) {
	vectors := readBIP341(t).ScriptPubKey
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	for i, vector := range vectors {
		pub, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, testenv.Hex(t, "02"+vector.Given.InternalPubkey))
		testenv.Must(t, err)
		outputKey, err := tweak(t, vector.Intermediary.MerkleRoot).OutputKey(pub)
		if got := hex.EncodeToString(outputKey[:]); err != nil || got != vector.Intermediary.TweakedPubkey {
			t.Errorf("vector %d: output key %s, %v, want %s", i, got, err, vector.Intermediary.TweakedPubkey)
		}
	}
}

func TestBIP341Signatures(t *testing.T) {
	signed := 0
	for _, transaction := range readBIP341(t).KeyPathSpending {
		for i, input := range transaction.InputSpending {
			signed++
			key := mustNew(t, keystore.CurveSecp256k1, testenv.Hex(t, input.Given.InternalPrivkey)).Handle()
			x := key.PublicKey().XOnly()
			if got := hex.EncodeToString(x[:]); got != input.Intermediary.InternalPubkey {
				t.Errorf("input %d: internal key %s, want %s", i, got, input.Intermediary.InternalPubkey)
			}
			signature := signSchnorr(t, key, [32]byte(testenv.Hex(t, input.Intermediary.SigHash)), tweak(t, input.Given.MerkleRoot))
			if got := hex.EncodeToString(signature); !strings.HasPrefix(input.Expected.Witness[0], got) {
				t.Errorf("input %d: signature %s, want %s and perhaps a sighash type", i, got, input.Expected.Witness[0])
			}
		}
	}
	if signed == 0 {
		t.Error("no vector was signed")
	}
}
