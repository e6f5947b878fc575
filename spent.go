package countersign

import (
	"context"
	"math/big"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// spent returns the reader of what limits have counted of all requests but one,
// which may have been charged by a process that died.
func (e *Engine) spent(but store.Fingerprint) SpentReader { return spentReader{e, but} }

// spentSoFar is what limits have counted of all requests, nil if no store counts.
func (e *Engine) spentSoFar() SpentReader {
	if e.config.Store == nil {
		return nil
	}
	return e.spent(store.Fingerprint{})
}

// spentReader reads the ledger.
type spentReader struct {
	engine *Engine
	but    store.Fingerprint
}

// Spent implements SpentReader.
func (r spentReader) Spent(ctx context.Context, organizationID, limit, subject string, window time.Duration) (sum *big.Int, frees time.Time, err error) {
	charge := store.Charge{Limit: limit, Subject: subject, Window: window}
	err = r.engine.config.Store.Change(ctx, organizationID, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		sum, frees, err = store.SpentByOthers(ledger, r.but, charge, r.engine.config.Now())
		return nil, err
	}))
	return sum, frees, err
}
