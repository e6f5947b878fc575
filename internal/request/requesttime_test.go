package request_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store/bolt"
)

// TestRequestWindowChanges restarts an engine with other bounds of a request's age: a body that
// was answered is found, whatever the configuration says, and nothing is signed twice.
func TestRequestWindowChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	var directory access.Directory
	var sent countersign.SignedBody
	var first string
	for i, window := range []time.Duration{time.Hour, 30 * time.Minute, 48 * time.Hour, 0} {
		opened, err := bolt.Open(path)
		testenv.Must(t, err)
		f := enginetest.New(t, func(c *countersign.Config) {
			c.Store = opened
			if directory != nil {
				c.Directory = directory
			}
			c.MaxRequestAge, c.MaxRequestSkew, c.AnyRequestTime = window, window/2, window == 0
		})
		if i == 0 {
			directory, sent = f.Config.Directory, f.APIKey.Sign(f.Body(enginetest.Request{}))
		}
		record := enginetest.MustSubmit(t, f.Engine, sent)
		if i == 0 {
			first = record.ID
		}
		signatures := f.Signing.Signatures.Load()
		if record.ID != first || (i == 0) != (signatures > 0) {
			t.Errorf("window %v: activity %s, want %s; %d signatures", window, record.ID, first, signatures)
		}
		testenv.Must(t, f.Engine.Close())
	}
}
