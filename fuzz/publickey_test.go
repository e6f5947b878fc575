package fuzz

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
	"github.com/countersign-dev/countersign/stamp"
)

// FuzzPublicKey checks that an accepted point is the same point to btcec and is
// written back unchanged, and that API keys accept the same points.
func FuzzPublicKey(f *testing.F) {
	secp256k1, edwards := keyformatSeeds(f)
	f.Add(secp256k1.PublicKey.Bytes())
	f.Add(edwards.PublicKey.Bytes())
	point, err := btcec.ParsePubKey(secp256k1.PublicKey.Bytes())
	testenv.Must(f, err)
	f.Add(point.SerializeUncompressed())
	f.Fuzz(func(t *testing.T, encoded []byte) {
		ours, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, encoded)
		theirs, theirErr := btcec.ParsePubKey(encoded)
		hybrid := len(encoded) == 65 && encoded[0] != 4 // which SEC 1 has and none of ours takes
		if (err == nil) != (theirErr == nil && !hybrid) {
			t.Fatalf("%x: ours says %v, btcec %v", encoded, err, theirErr)
		}
		if err == nil && !bytes.Equal(ours.Bytes(), theirs.SerializeCompressed()) {
			t.Fatalf("%x is read as %x", encoded, ours.Bytes())
		}
		if _, keyErr := stamp.NewAPIKey(stamp.CurveSecp256k1, encoded); (keyErr == nil) != (err == nil && len(encoded) == 33) {
			t.Fatalf("%x: as an API key %v", encoded, keyErr)
		}
		if pub, err := keystore.ParsePublicKey(keystore.CurveEd25519, encoded); err == nil && !bytes.Equal(pub.Bytes(), encoded) {
			t.Fatalf("%x is read as %x", encoded, pub.Bytes())
		} else if err == nil && ed25519.Verify(encoded, nil, make([]byte, ed25519.SignatureSize)) {
			t.Fatalf("%x takes a signature of nothing", encoded)
		}
	})
}

// FuzzKeyformatHex checks that an accepted key has 32 bytes and is written back with
// the same digits.
func FuzzKeyformatHex(f *testing.F) {
	key, _ := keyformatSeeds(f)
	f.Add(key.Hex())
	f.Add(append([]byte("0x"), bytes.ToUpper(key.Hex())...))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
			key, err := keyformat.ParseHex(curve, text)
			if err != nil {
				continue
			}
			digits := bytes.TrimPrefix(bytes.ToLower(bytes.TrimSpace(text)), []byte("0x"))
			if len(key.Secret) != keystore.SecretSize || !bytes.Equal(bytes.TrimSpace(key.Hex()), digits) {
				t.Errorf("%q is read as %x", text, key.Secret)
			}
		}
	})
}

// FuzzEthereumCalldata shows transactions with arbitrary calldata and checks that
// different calldata is shown differently.
func FuzzEthereumCalldata(f *testing.F) {
	transfer := append([]byte{0xa9, 0x05, 0x9c, 0xbb}, make([]byte, 64)...)
	multicall := append([]byte{0xac, 0x96, 0x50, 0xd8, 31: 0}, make([]byte, 96)...)
	f.Add(transfer, uint64(5))
	f.Add(append(transfer, 0xaa), uint64(70))
	f.Add(multicall, uint64(36))
	f.Fuzz(func(t *testing.T, data []byte, at uint64) {
		tx, err := ethereum.Chain{}.Parse(withCalldata(t, data))
		testenv.Must(t, err)
		digest := tx.Summary().Digest()
		if len(data) == 0 {
			return
		}
		changed := bytes.Clone(data)
		changed[at%uint64(len(data))] ^= 1
		other, err := ethereum.Chain{}.Parse(withCalldata(t, changed))
		testenv.Must(t, err)
		if other.Summary().Digest() == digest {
			t.Errorf("%x and %x are shown alike", data, changed)
		}
	})
}
