package memory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/memory"
)

func TestContract(t *testing.T) {
	keystoretest.Run(t, keystoretest.Backend{
		Open: func(t *testing.T, keys []keystoretest.Key) keystore.Keystore {
			store := memory.New()
			for _, key := range keys {
				if _, err := store.Add(t.Context(), key.OrganizationID, keystore.NewKey{
					ID: key.ID, Name: key.Name, Curve: key.Curve, Secret: key.Secret, CreatedAt: key.CreatedAt,
				}); err != nil {
					t.Fatal(err)
				}
			}
			return store
		},
	})
}

func add(t *testing.T, store *memory.Store, organizationID string, key keystore.NewKey) keystore.KeyInfo {
	t.Helper()
	info, err := store.Add(t.Context(), organizationID, key)
	testenv.Must(t, err)
	return info
}

func secret(first byte) []byte { return append([]byte{first}, make([]byte, 31)...) }

func TestAddAgain(t *testing.T) {
	store := memory.New()
	defer store.Close()
	first := add(t, store, "org", keystore.NewKey{Name: "first", Curve: keystore.CurveSecp256k1, Secret: secret(1)})
	for name, again := range map[string]keystore.NewKey{
		"the same secret":                 {Curve: keystore.CurveSecp256k1, Secret: secret(1)},
		"the same id":                     {ID: first.ID, Curve: keystore.CurveSecp256k1, Secret: secret(2)},
		"the same id in upper case":       {ID: strings.ToUpper(first.ID), Curve: keystore.CurveEd25519, Secret: secret(2)},
		"the same secret, and another id": {ID: "other", Curve: keystore.CurveSecp256k1, Secret: secret(1)},
	} {
		if info, err := store.Add(t.Context(), "org", again); !errors.Is(err, keystore.ErrKeyExists) || info != first {
			t.Errorf("%s: %v, %v, want ErrKeyExists and %v", name, info, err, first)
		}
	}
	add(t, store, "org", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret(1)})
	add(t, store, "other", keystore.NewKey{ID: first.ID, Curve: keystore.CurveSecp256k1, Secret: secret(1)})
}

// TestSecretIsCopied: the caller may wipe the secret that it passed.
func TestSecretIsCopied(t *testing.T) {
	store := memory.New()
	defer store.Close()
	given := secret(1)
	info := add(t, store, "org", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: given})
	keystore.Wipe(given)
	key, err := store.Find(t.Context(), "org", keystore.ByID(info.ID))
	testenv.Must(t, err)
	if _, err := keystore.Verified(key).(keystore.Ed25519Signer).SignEd25519(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestListingFollowsTime adds keys in random order, and lists them in between.
func TestListingFollowsTime(t *testing.T) {
	store := memory.New()
	defer store.Close()
	for i, name := range []string{"d", "b", "e", "a", "c"} {
		add(t, store, "org", keystore.NewKey{
			Name: name, Curve: keystore.CurveEd25519, Secret: secret(byte(i)),
			CreatedAt: time.Date(2026, 1, int(name[0]), 0, 0, 0, 0, time.UTC),
		})
		var names []string
		for info := range store.Keys(t.Context(), "org") {
			names = append(names, info.Name)
		}
		if len(names) != i+1 || !slices.IsSorted(names) {
			t.Errorf("listed %v", names)
		}
	}
}

// TestTaprootOfLaterKeys looks keys up by taproot before and after adding some.
func TestTaprootOfLaterKeys(t *testing.T) {
	store := memory.New()
	defer store.Close()
	for i := range byte(5) {
		info := add(t, store, "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret(i + 1)})
		at, err := keystore.TaprootLocator(info.PublicKey)
		testenv.Must(t, err)
		if key, err := store.Find(t.Context(), "org", at); err != nil || key.ID() != info.ID {
			t.Errorf("key %d: %v, %v", i, key, err)
		}
	}
}

func TestAddAfterClose(t *testing.T) {
	store := memory.New()
	testenv.Must(t, store.Close())
	if _, err := store.Generate(t.Context(), "org", "", keystore.CurveSecp256k1); !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("Generate: %v, want ErrClosed", err)
	}
}

func Example() {
	keys := memory.New()
	defer keys.Close()
	info, err := keys.Add(context.Background(), "org", keystore.NewKey{
		ID: "hot", Curve: keystore.CurveEd25519, Secret: bytes.Repeat([]byte{1}, 32),
	})
	if err != nil {
		log.Fatal(err)
	}
	key, err := keys.Find(context.Background(), "org", keystore.ByEd25519(info.PublicKey.Ed25519()))
	fmt.Println(key, err)
	// Output: key hot <nil>
}
