package file_test

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
)

// fast has a low work factor, on which no test depends, and waits for a writer on a busy machine, or one
// whose disk takes longer than the default for a file.
var fast = file.Options{WorkFactor: 4, LockWait: testenv.Patience}

var passphrase = []byte("correct horse battery staple")

func TestContract(t *testing.T) {
	keystoretest.Run(t, keystoretest.Backend{
		Open: func(t *testing.T, keys []keystoretest.Key) keystore.Keystore {
			store := create(t)
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

// create returns a new, empty keystore.
func create(t *testing.T) *file.Store {
	t.Helper()
	store, err := file.Create(t.TempDir()+"/keys", passphrase, fast)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}
