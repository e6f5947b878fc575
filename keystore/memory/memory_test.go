package memory_test

import (
	"testing"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/memory"
)

func TestContract(t *testing.T) {
	keystoretest.Run(t, keystoretest.Backend{
		Open: func(t *testing.T, keys []keystoretest.Key) keystore.Keystore {
			store := memory.New()
			for _, key := range keys {
				if _, err := store.Add(key.OrganizationID, memory.Key{
					ID: key.ID, Name: key.Name, Curve: key.Curve, Secret: key.Secret, CreatedAt: key.CreatedAt,
				}); err != nil {
					t.Fatal(err)
				}
			}
			return store
		},
	})
}
