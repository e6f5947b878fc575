// Package storetest tests a store against the contract of package store. Every store of
// this project runs it, and yours should.
//
//	func TestContract(t *testing.T) {
//		storetest.Run(t, storetest.Harness{
//			Open: func(t testing.TB) store.Store { return mystore.New() },
//		})
//	}
package storetest

import (
	"testing"
)

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	t.Run("lists", func(t *testing.T) { runLists(t, h) })
	t.Run("leases", func(t *testing.T) { runLeases(t, h) })
	t.Run("together", func(t *testing.T) { runTogether(t, h) })
	t.Run("crowd", func(t *testing.T) { runCrowd(t, h) })
	t.Run("changes", func(t *testing.T) { runChanges(t, h) })
	t.Run("ledger", func(t *testing.T) { runLedger(t, h) })
	t.Run("one-time passwords", func(t *testing.T) { runOTP(t, h) })
	t.Run("outbox", func(t *testing.T) { runOutbox(t, h) })
	t.Run("log", func(t *testing.T) { runLog(t, h) })
	t.Run("charges", func(t *testing.T) { runCharges(t, h) })
	t.Run("sweep", func(t *testing.T) { runSweep(t, h) })
	t.Run("model", func(t *testing.T) { runModel(t, h) })
	t.Run("close", func(t *testing.T) { runClose(t, h) })
	if h.Reopen != nil {
		t.Run("reopen", func(t *testing.T) { runReopen(t, h) })
	}
	if h.Nodes != nil {
		t.Run("nodes", func(t *testing.T) { runNodes(t, h) })
	}
}
