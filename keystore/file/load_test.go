package file

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestTransientReadError: a file that could not be read, for a reason other than its content,
// is read again although neither it nor its directory has changed.
func TestTransientReadError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	writer, err := Create(dir, []byte("passphrase"), Options{WorkFactor: 4})
	testenv.Must(t, err)
	defer writer.Close()
	reader, err := Open(t.Context(), dir, []byte("passphrase"), Options{})
	testenv.Must(t, err)
	defer reader.Close()
	info, err := writer.Generate(t.Context(), "org", "", keystore.CurveEd25519)
	testenv.Must(t, err)
	longAgo := time.Now().Add(-time.Hour)
	testenv.Must(t, os.Chtimes(filepath.Join(dir, "keys"), longAgo, longAgo))
	reader.setAside(loaded{name: info.ID + keySuffix, err: syscall.EMFILE})
	if _, err := reader.Find(t.Context(), "org", keystore.ByID(info.ID)); err != nil {
		t.Errorf("after the transient error: %v", err)
	}
}
