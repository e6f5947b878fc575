package wallet

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// read reads vectors from a file in testdata that names their source.
func read(t testing.TB, name string, file any) {
	t.Helper()
	testenv.JSON(t, testenv.Read(t, filepath.Join("testdata", name)), file)
}

func fromSeed(t testing.TB, seed string) *Root {
	t.Helper()
	root, err := FromSeed(testenv.Hex(t, seed))
	testenv.Must(t, err)
	return root
}

// TestWordList compares the digest of the list with that of the published file.
func TestWordList(t *testing.T) {
	const published = "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"
	if digest := sha256.Sum256([]byte(english)); hex.EncodeToString(digest[:]) != published || len(words()) != 2048 {
		t.Errorf("%d words with SHA-256 %x, want 2048 with %s", len(words()), digest, published)
	}
}

func TestBIP39(t *testing.T) {
	var file struct {
		Passphrase string
		Vectors    []struct{ Entropy, Mnemonic, Seed, Master string }
	}
	read(t, "bip39.json", &file)
	if len(file.Vectors) != 24 {
		t.Fatalf("%d vectors, want the 24 of the standard", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		entropy, err := Entropy([]byte(v.Mnemonic))
		if err != nil || hex.EncodeToString(entropy) != v.Entropy {
			t.Errorf("%s: entropy %x, %v", v.Mnemonic, entropy, err)
		}
		words, err := Mnemonic(testenv.Hex(t, v.Entropy))
		if err != nil || string(words) != v.Mnemonic {
			t.Errorf("%s: words %s, %v", v.Entropy, words, err)
		}
		seed, err := Seed([]byte(v.Mnemonic), []byte(file.Passphrase))
		if err != nil || hex.EncodeToString(seed) != v.Seed {
			t.Errorf("%s: seed %x, %v", v.Mnemonic, seed, err)
		}
		root, err := FromMnemonic([]byte(v.Mnemonic), []byte(file.Passphrase))
		testenv.Must(t, err)
		master, err := root.ExtendedKey(nil)
		if err != nil || string(master) != v.Master {
			t.Errorf("%s: master %s, %v", v.Mnemonic, master, err)
		}
	}
}

func TestBIP32(t *testing.T) {
	var file struct {
		Vectors []struct{ Seed, Path, Public, Private string }
	}
	read(t, "bip32.json", &file)
	if len(file.Vectors) != 17 {
		t.Fatalf("%d vectors, want 17", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		path, err := ParsePath(v.Path)
		if err != nil || path.String() != v.Path {
			t.Fatalf("path %s is read as %v, %v", v.Path, path, err)
		}
		root := fromSeed(t, v.Seed)
		node, err := root.nodeAt(path)
		if err != nil || node.String() != v.Private {
			t.Fatalf("%s of %s: %v, %v", v.Path, v.Seed, node, err)
		}
		public, err := node.Neuter()
		if err != nil || public.String() != v.Public {
			t.Errorf("%s of %s: public %v, %v", v.Path, v.Seed, public, err)
		}
		key, err := node.ECPrivKey()
		testenv.Must(t, err)
		secret, err := root.Derive(keystore.CurveSecp256k1, path)
		if err != nil || !bytes.Equal(secret, key.Serialize()) || len(secret) != keystore.SecretSize {
			t.Errorf("%s of %s: secret %x, %v", v.Path, v.Seed, secret, err)
		}
	}
}

func TestSLIP10(t *testing.T) {
	var file struct {
		Vectors []struct{ Seed, Path, Public, Private string }
	}
	read(t, "slip10.json", &file)
	if len(file.Vectors) != 12 {
		t.Fatalf("%d vectors, want 12", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		path, err := ParsePath(v.Path)
		testenv.Must(t, err)
		secret, err := fromSeed(t, v.Seed).Derive(keystore.CurveEd25519, path)
		if err != nil || hex.EncodeToString(secret) != v.Private {
			t.Fatalf("%s of %s: %x, %v", v.Path, v.Seed, secret, err)
		}
		if public := ed25519.NewKeyFromSeed(secret)[32:]; hex.EncodeToString(public) != v.Public {
			t.Errorf("%s of %s: public %x", v.Path, v.Seed, public)
		}
	}
}
