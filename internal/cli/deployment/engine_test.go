package deployment_test

import (
	"errors"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

var errClosed = errors.New("the keystore was closed")

// closing is a keystore that says that it was closed.
type closing struct{ keystore.Keystore }

func (closing) Close() error { return errClosed }

// TestEngineFails: if the engine cannot be made over the store that is open, the store and the
// keystore are closed, and the cause is returned.
func TestEngineFails(t *testing.T) {
	loaded := &deployment.Loaded{Configured: &config.Config{Store: config.MemoryStore}, Keys: closing{memory.New()}}
	engine, opened, err := loaded.Engine(t.Context(), false, func(settings *countersign.Config) { settings.Keystore = nil })
	if engine != nil || opened != nil || !errors.Is(err, errClosed) || err.Error() == errClosed.Error() {
		t.Errorf("%v, %v, %v", engine, opened, err)
	}
}
