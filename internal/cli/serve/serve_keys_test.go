package serve

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// TestKeysLeaveAnIdleServer checks that the secret of a key which another process deletes or
// disables is gone from the memory of a server within a minute in which no request comes.
func TestKeysLeaveAnIdleServer(t *testing.T) {
	// Not parallel: a process that another test starts holds the keystore's lock until it runs its own
	// program, and in a bubble a second of waiting for it is over at once.
	for name, remove := range map[string]func(*file.Store, context.Context, string, string) error{
		"deleted": (*file.Store).Delete, "disabled": (*file.Store).Disable,
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "keys")
			other, err := file.Create(dir, []byte("passphrase"), file.Options{WorkFactor: 4})
			testenv.Must(t, err)
			defer other.Close()
			info, err := other.Generate(t.Context(), "org", "hot", keystore.CurveSecp256k1)
			testenv.Must(t, err)
			served, err := file.Open(t.Context(), dir, []byte("passphrase"), file.Options{})
			testenv.Must(t, err)
			defer served.Close()
			key, err := served.Find(t.Context(), "org", keystore.ByID(info.ID))
			testenv.Must(t, err)
			signer, err := keystore.AsECDSA(key)
			testenv.Must(t, err)
			synctest.Test(t, func(t *testing.T) {
				server := Server{log: slog.New(slog.DiscardHandler), keys: served}
				server.followKeys(t.Context())
				defer server.close()
				time.Sleep(time.Minute)
				if _, err := signer.SignECDSA(t.Context(), [32]byte{1}); err != nil {
					t.Errorf("before the key is %s: %v", name, err)
				}
				testenv.Must(t, remove(other, t.Context(), "org", info.ID))
				time.Sleep(time.Minute - 1)
				// The key was found before: without its secret it cannot sign.
				if _, err := signer.SignECDSA(t.Context(), [32]byte{1}); !errors.Is(err, keystore.ErrWithdrawn) {
					t.Errorf("a minute after the key was %s: %v", name, err)
				}
			})
		})
	}
}
