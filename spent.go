package countersign

import (
	"context"
	"math/big"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// spent returns the reader of what limits have counted.
func (e *Engine) spent() SpentReader { return spentReader{e} }

// spentSoFar is spent, nil if no store counts.
func (e *Engine) spentSoFar() SpentReader {
	if e.config.Store == nil {
		return nil
	}
	return e.spent()
}

// spentReader reads the ledger.
type spentReader struct{ engine *Engine }

// Spent implements SpentReader.
func (r spentReader) Spent(ctx context.Context, organizationID, limit, subject string, window time.Duration) (sum *big.Int, frees time.Time, err error) {
	charge := store.Charge{Limit: limit, Subject: subject, Window: window}
	err = r.engine.config.Store.Change(ctx, organizationID, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		sum, frees, err = store.Spent(ledger, charge, r.engine.config.Now())
		return nil, err
	}))
	return sum, frees, err
}
