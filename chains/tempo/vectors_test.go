package tempo_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// vector is a file of testdata, which names its source.
type vector struct {
	Name        string `json:"-"`
	PrivateKey  string `json:"privateKey"`
	Address     string `json:"address"`
	Unsigned    string `json:"unsignedTransaction"`
	Signed      string `json:"signedTransaction"`
	SigningHash string `json:"signingHash"`
}

func vectors(t testing.TB) []vector {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in testdata: %v", err)
	}
	var all []vector
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v := vector{Name: strings.TrimSuffix(filepath.Base(file), ".json")}
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, v)
	}
	return all
}

// keyOf returns a handle to a private key given in hex.
func keyOf(t testing.TB, privateKey string) keystore.Key {
	t.Helper()
	keys := memory.New()
	t.Cleanup(func() { keys.Close() })
	info, err := keys.Add("org", memory.Key{Curve: keystore.CurveSecp256k1, Secret: unhex(t, privateKey)})
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.Find(t.Context(), "org", keystore.ByID(info.ID))
	if err != nil {
		t.Fatal(err)
	}
	return keystore.Verified(key)
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			tx, err := tempo.Chain{}.Parse(unhex(t, v.Unsigned))
			if err != nil {
				t.Fatal(err)
			}
			key := keyOf(t, v.PrivateKey)
			signed, err := tx.Sign(t.Context(), key, v.Address)
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(signed); got != v.Signed {
				t.Errorf("signed\n got %s\nwant %s", got, v.Signed)
			}
			if got := (tempo.Chain{}).Addresses(key.PublicKey())[0].Address; got != v.Address {
				t.Errorf("address %s, want %s", got, v.Address)
			}
		})
	}
}
