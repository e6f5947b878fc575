package signing

import (
	"context"
	"errors"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/keystore"
)

// offline is a keystore that cannot look for keys.
type offline struct {
	keystore.Keystore
	asked int
}

var errOffline = errors.New("offline")

func (o *offline) Find(context.Context, string, keystore.Locator) (keystore.Key, error) {
	o.asked++
	return nil, errOffline
}

// TestAccountsFail: an error of the keystore is not an answer, and is the last one.
func TestAccountsFail(t *testing.T) {
	keys := new(offline)
	found := &accounts{keys: keys, chain: ethereum.Chain{}, ctx: t.Context()}
	for _, address := range [][]byte{make([]byte, 20), {19: 1}} {
		if account, ok := found.Controls(address); ok || account != (chains.Account{}) {
			t.Errorf("%x: %+v", address, account)
		}
	}
	if !errors.Is(found.err, errOffline) || keys.asked != 1 {
		t.Errorf("%v after %d questions", found.err, keys.asked)
	}
}
