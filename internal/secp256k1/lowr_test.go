package secp256k1

import (
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestLowREqualsCore compares with Bitcoin Core's algorithm over decred's nonces.
func TestLowREqualsCore(t *testing.T) {
	attempts := 0
	for i := range cases(t) {
		secret, digest := draw(i)
		attempts += checkLowR(t, secret, digest)
	}
	if average := float64(attempts) / float64(cases(t)); average < 1.5 || average > 2.5 {
		t.Errorf("%g attempts on average, want 2", average)
	}
}

// checkLowR returns the number of attempts.
func checkLowR(t *testing.T, secret, digest [32]byte) int {
	t.Helper()
	got, err := SignLowR(digest, secret[:])
	testenv.Must(t, err)
	reduced := bitsToOctets(&digest)
	for counter := range uint32(1000) {
		var additional []byte
		if counter > 0 {
			additional = append([]byte{byte(counter), byte(counter >> 8)}, make([]byte, 30)...)
		}
		nonce := secp256k1.NonceRFC6979(secret[:], reduced[:], additional, nil, 0).Bytes()
		want, ok := signWithNonce(&digest, &secret, &nonce)
		if ok && want[0] >= 0x80 {
			continue
		}
		if !ok || got != want {
			t.Fatalf("secret %x, digest %x: %x, want %x", secret, digest, got, want)
		}
		return int(counter) + 1
	}
	t.Fatalf("secret %x, digest %x: no low r", secret, digest)
	return 0
}

// TestLowRVectors has the ECDSA signatures of Jade's PSBT fixtures.
func TestLowRVectors(t *testing.T) {
	var file struct {
		Vectors []struct{ Fixture, Secret, Digest, Signature string }
	}
	testenv.JSON(t, testenv.Read(t, "testdata/jade.json"), &file)
	ground := 0
	for _, v := range file.Vectors {
		secret, digest := unhex(v.Secret), [32]byte(unhex(v.Digest))
		checkDER(t, v.Fixture, secret, digest, v.Signature)
		if plain, err := SignECDSA(digest, secret); err != nil || plain[0] >= 0x80 {
			ground++
		}
	}
	if len(file.Vectors) < 30 || ground < 10 {
		t.Errorf("%d vectors, of which %d are ground", len(file.Vectors), ground)
	}
}

// TestCoreVectors has the deterministic signatures of Bitcoin Core's key_tests.cpp.
func TestCoreVectors(t *testing.T) {
	digest := [32]byte(chainhash.DoubleHashB([]byte("Very deterministic message")))
	for wif, want := range map[string]string{
		"5HxWvvfubhXpYYpS3tJkw6fq9jE9j18THftkZjHHfmFiWtmAbrj": "304402205dbbddda71772d95ce91cd2d14b592cfbc1dd0aabd6a394b6c2d377bbe59d31d022014ddda21494a4e221f0824f0b8b924c43fa43c0ad57dccdaa11f81a6bd4582f6",
		"5KC4ejrDjv152FGwP386VD1i2NYc5KkfSMyv1nGy1VGDxGHqVY3": "3044022052d8a32079c11e79db95af63bb9600c5b04f21a9ca33dc129c2bfa8ac9dc1cd5022061d8ae5e0f6c1a16bde3719c64c2fd70e404b6428ab9a69566962e8771b5944d",
	} {
		decoded, err := btcutil.DecodeWIF(wif)
		testenv.Must(t, err)
		checkDER(t, wif, decoded.PrivKey.Serialize(), digest, want)
	}
}

func checkDER(t *testing.T, name string, secret []byte, digest [32]byte, der string) {
	t.Helper()
	parsed, err := ecdsa.ParseDERSignature(unhex(der))
	testenv.Must(t, err)
	scalarR, scalarS := parsed.R(), parsed.S()
	r, s := scalarR.Bytes(), scalarS.Bytes()
	if got, err := SignLowR(digest, secret); err != nil || [32]byte(got[:32]) != r || [32]byte(got[32:64]) != s {
		t.Errorf("%s: %x (%v), want %s", name, got, err, der)
	}
}
