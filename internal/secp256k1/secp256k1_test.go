package secp256k1

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// edges are secrets and digests at the ends of their ranges.
var edges = []string{
	"0000000000000000000000000000000000000000000000000000000000000001",
	"0000000000000000000000000000000000000000000000000000000000000002",
	"7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", // (n−1)/2
	"7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1",
	"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140", // n−1
}

// draw returns the i-th pair of secret and digest: the edges first, in all pairs.
func draw(i int) (secret, digest [32]byte) {
	if n := len(edges); i < n*n {
		copy(secret[:], unhex(edges[i/n]))
		copy(digest[:], unhex(edges[i%n]))
		return secret, digest
	}
	var seed [8]byte
	binary.BigEndian.PutUint64(seed[:], uint64(i))
	secret = sha256.Sum256(seed[:])
	return secret, sha256.Sum256(secret[:])
}

func unhex(text string) []byte {
	raw, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return raw
}

// cases is how many pairs each comparison draws.
func cases(t *testing.T) int { return testenv.Draws(t, 300) }

// TestECDSAEqualsOthers compares signatures with libsecp256k1 (decred without cgo) and
// decred.
func TestECDSAEqualsOthers(t *testing.T) {
	for i := range cases(t) {
		secret, digest := draw(i)
		checkSigned(t, secret, digest)
	}
}

// checkSigned compares a signature and a public key with those of other libraries.
func checkSigned(t *testing.T, secret, digest [32]byte) {
	t.Helper()
	got := checkECDSA(t, secret, digest)
	var candidates nonces
	candidates.start(&secret, &digest, nil)
	if pure, ok := signWithVoi(&digest, &secret, &candidates.v); !ok || pure != got {
		t.Fatalf("secret %x, digest %x: %x, secp256k1-voi makes %x (%v)", secret, digest, got, pure, ok)
	}
	key, err := crypto.ToECDSA(secret[:])
	testenv.Must(t, err)
	compact := ecdsa.SignCompact(secp256k1.PrivKeyFromBytes(secret[:]), digest[:], false)
	if reduced := bitsToOctets(&digest); reduced == digest && !bytes.Equal(got[:64], compact[1:]) || got[64] != compact[0]-27 {
		t.Fatalf("secret %x, digest %x: %x, decred makes %x", secret, digest, got, compact)
	}
	point, err := PublicKey(secret[:])
	if err != nil || !bytes.Equal(point[:], crypto.FromECDSAPub(&key.PublicKey)) {
		t.Fatalf("secret %x: public key %x (%v)", secret, point, err)
	}
}

// checkECDSA signs, and compares with the library's own signature.
func checkECDSA(t *testing.T, secret, digest [32]byte) [65]byte {
	t.Helper()
	got, err := SignECDSA(digest, secret[:])
	testenv.Must(t, err)
	checkLibrary(t, secret, digest, got)
	return got
}

// TestSchnorrEqualsBtcec compares with btcec: under the key itself, and under its
// output key with and without a merkle root; keys and output keys of either parity.
// btcec verifies the signatures, and both verifications agree on them and on damaged
// copies.
func TestSchnorrEqualsBtcec(t *testing.T) {
	parities := map[byte]int{}
	for i := range cases(t) {
		secret, digest := draw(i)
		private, public := btcec.PrivKeyFromBytes(secret[:])
		compressed := [33]byte(public.SerializeCompressed())
		got, err := SignSchnorr(digest, secret[:], compressed)
		testenv.Must(t, err)
		checkSchnorr(t, private, digest, got, i)
		for _, root := range [][]byte{{}, digest[:]} {
			tweaked := txscript.TweakTaprootPrivKey(*private, root)
			got, err := SignTaproot(digest, secret[:], compressed, root)
			testenv.Must(t, err)
			checkSchnorr(t, tweaked, digest, got, i)
			checkOutput(t, tweaked, [32]byte(compressed[1:]), root)
			parities[tweaked.PubKey().SerializeCompressed()[0]]++
		}
		parities[compressed[0]+2]++
	}
	if len(parities) != 4 {
		t.Errorf("parities %v", parities)
	}
}

func checkOutput(t *testing.T, tweaked *btcec.PrivateKey, internal [32]byte, root []byte) {
	t.Helper()
	want := tweaked.PubKey().SerializeCompressed()
	if got, err := OutputKey(internal, root); err != nil || got != (Output{[32]byte(want[1:]), want[0] == 3}) {
		t.Fatalf("internal key %x, root %x: %+v (%v), btcec makes %x", internal, root, got, err, want)
	}
}

func checkSchnorr(t *testing.T, private *btcec.PrivateKey, digest [32]byte, got [64]byte, i int) {
	t.Helper()
	want, err := schnorr.Sign(private, digest[:], schnorr.CustomNonce([32]byte{}))
	testenv.Must(t, err)
	if !bytes.Equal(got[:], want.Serialize()) {
		t.Fatalf("case %d: %x, btcec makes %x", i, got, want.Serialize())
	}
	x := [32]byte(schnorr.SerializePubKey(private.PubKey()))
	checkVerified(t, x, digest, got)
	got[i%64] ^= 1 << (i % 8)
	checkVerified(t, x, digest, got)
	got[i%64] ^= 1 << (i % 8)
	digest[i%32] ^= 1
	checkVerified(t, x, digest, got)
	x[i%32] ^= 1
	checkVerified(t, x, digest, got)
}

// checkVerified compares both verifications with btcec's.
func checkVerified(t *testing.T, x, digest [32]byte, signature [64]byte) {
	t.Helper()
	want := verifyBtcec(x[:], digest[:], signature[:])
	if got := VerifySchnorr(x, digest, signature); got != want {
		t.Fatalf("key %x, digest %x, signature %x: %v, btcec says %v", x, digest, signature, got, want)
	}
	if got := verifyWithoutRecovery(x, digest, signature); got != want {
		t.Fatalf("key %x, digest %x, signature %x: secp256k1-voi says %v, btcec %v", x, digest, signature, got, want)
	}
}

func verifyBtcec(x, digest, signature []byte) bool {
	public, err := schnorr.ParsePubKey(x)
	if err != nil {
		return false
	}
	parsed, err := schnorr.ParseSignature(signature)
	return err == nil && parsed.Verify(digest, public)
}

// TestBIP340Vectors has the BIP's vectors whose message has 32 bytes, valid and
// invalid.
func TestBIP340Vectors(t *testing.T) {
	file, err := os.Open(testenv.Suite(t, "bitcoin", "bip340.csv"))
	testenv.Must(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	testenv.Must(t, err)
	verdicts := map[bool]int{}
	for _, row := range rows[1:] {
		public, message, signature, verdict := unhex(row[2]), unhex(row[4]), unhex(row[5]), row[6] == "TRUE"
		if len(message) != 32 || len(public) != 32 || len(signature) != 64 {
			continue
		}
		verdicts[verdict]++
		for name, verify := range map[string]func(_, _ [32]byte, _ [64]byte) bool{"VerifySchnorr": VerifySchnorr, "voi": verifyWithoutRecovery} {
			if got := verify([32]byte(public), [32]byte(message), [64]byte(signature)); got != verdict {
				t.Errorf("%s: vector %s (%s): %v, want %v", name, row[0], row[7], got, verdict)
			}
		}
	}
	if verdicts[true] < 5 || verdicts[false] < 10 {
		t.Errorf("%v vectors were run", verdicts)
	}
}

// TestInvalidSecrets: zero, the group order and above are refused everywhere.
func TestInvalidSecrets(t *testing.T) {
	public := [33]byte(unhex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"))
	for _, text := range []string{
		strings.Repeat("00", 32), "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", strings.Repeat("ff", 32),
	} {
		secret := unhex(text)
		if ValidSecret(secret) {
			t.Errorf("%s is valid", text)
		}
		_, ecdsaErr := SignECDSA([32]byte{}, secret)
		_, lowErr := SignLowR([32]byte{}, secret)
		_, schnorrErr := SignSchnorr([32]byte{}, secret, public)
		_, taprootErr := SignTaproot([32]byte{}, secret, public, nil)
		_, publicErr := PublicKey(secret)
		if ecdsaErr == nil || lowErr == nil || schnorrErr == nil || taprootErr == nil || publicErr == nil {
			t.Errorf("%s: %v, %v, %v, %v, %v", text, ecdsaErr, lowErr, schnorrErr, taprootErr, publicErr)
		}
	}
}

// TestNonceOfInvalidSecrets: neither curve library signs with them.
func TestNonceOfInvalidSecrets(t *testing.T) {
	nonce := [32]byte{31: 1}
	for _, secret := range [][32]byte{{}, order} {
		_, ok := signWithNonce(&nonce, &secret, &nonce)
		_, voi := signWithVoi(&nonce, &secret, &nonce)
		if ok || voi {
			t.Errorf("%x signs: %v, %v", secret, ok, voi)
		}
	}
}

// TestSecretIsKept checks that signing does not change the secret.
func TestSecretIsKept(t *testing.T) {
	secret, digest := draw(100)
	_, public := btcec.PrivKeyFromBytes(secret[:])
	before := secret
	if _, err := SignTaproot(digest, secret[:], [33]byte(public.SerializeCompressed()), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := SignECDSA(digest, secret[:]); err != nil || secret != before {
		t.Errorf("secret %x, was %x (%v)", secret, before, err)
	}
}
