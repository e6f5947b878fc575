// Package operation defines what the engine does for an activity type: how it prepares the
// activity, and how it carries it out.
//
// Every engine signs transactions. Everything else is an [Operation] that a program passes in
// Config.Operations, so that a program only links the operations that it uses. Package
// messages has those that sign messages, package otp/operations those that issue and redeem
// one-time passwords.
package operation

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// Operation carries out activities of one type. Exactly one of Prepare and Sign is set.
type Operation struct {
	Type activity.Type

	// Hazards are the names of the hazards that its tasks can have, other than those of
	// the chains.
	Hazards []string

	// Prepare checks a request and returns its task. It refuses whatever can be refused
	// without side effects, with an *activity.Error.
	Prepare func(ctx context.Context, request Request) (Task, error)

	// Sign is set for an operation that signs what it reads: the engine finds the keys,
	// judges what the signature does, and signs.
	Sign *Signing

	// NeedsStore is set if its tasks change a ledger: that of the engine's store, which
	// must be the one that the operation uses itself.
	NeedsStore bool
}

// Request is a request to an operation, after its sender was authenticated.
type Request struct {
	Organization *access.Organization
	UserID       string // who sent it
	Credential   string // identifies what the request was stamped with
	Intent       activity.Intent
	Fingerprint  activity.Fingerprint // of the request's body
	Now          func() time.Time     // the engine's clock
}

// Signing reads what an operation signs.
type Signing struct {
	// Read reads an intent strictly. The error is an *activity.Error.
	Read func(intent activity.Intent, now func() time.Time) (chains.Transaction, error)

	// Result returns the result of an intent. signed is what AppendSigned of the
	// transaction returned.
	Result func(intent activity.Intent, signed []byte) (activity.Result, error)
}

// Task is a request that is ready to be carried out.
type Task interface {
	// Hazards are the dangers of the task.
	Hazards() []chains.Hazard

	// Effects returns what the task does, and the keys that sign for it.
	Effects(ctx context.Context) ([]chains.Effect, []access.SigningKey, error)

	// Begin returns the change that is made as the lease is taken, or nil.
	Begin(now time.Time) store.Change

	// Perform carries out the task.
	Perform(ctx context.Context) (Outcome, error)

	// Signs returns what the task signs, nil if it signs nothing.
	Signs() SigningTask
}

// Plain is embedded in tasks that sign nothing: what it implements of Task does nothing.
type Plain struct{}

func (Plain) Hazards() []chains.Hazard { return nil }

func (Plain) Effects(context.Context) ([]chains.Effect, []access.SigningKey, error) {
	return nil, nil, nil
}

func (Plain) Begin(time.Time) store.Change { return nil }
func (Plain) Signs() SigningTask           { return nil }

// SigningTask is what a task signs: the engine's own, of a transaction or of messages.
type SigningTask interface {
	// Chain returns the chain that the signature is for.
	Chain() chains.Chain

	// Summary describes what is signed, from its bytes alone. It is written once.
	Summary() *chains.Summary

	// KeyIDs returns the ids of the keys that will sign, and Addresses one address of each.
	KeyIDs() []string
	Addresses() []string

	// Claimed returns what signing does as the bytes say it, without a look at the keystore.
	Claimed() []chains.Effect

	// Readings returns what descriptors say.
	Readings() chains.Readings

	// Wallets returns the registered wallets that have a part in the transaction.
	Wallets() RegisteredWallets

	// Recorded returns what a record keeps while it waits, and what its voters are shown.
	Recorded(ctx context.Context, names chains.Names) (*activity.Reading, error)

	// Did returns what a record keeps of what was signed.
	Did(ctx context.Context, names chains.Names) *activity.Did
}

// RegisteredWallets are the registered wallets that a transaction spends from or pays to.
type RegisteredWallets struct {
	Used  []activity.RegisteredWallet
	Only  *access.SigningWallet // that every input to be signed is of; nil if there is none
	Mixed bool                  // inputs to be signed are of a registered wallet, or may be, and not all are of one
}

// Outcome is what a task has done.
type Outcome struct {
	Result   activity.Result
	Complete store.Change                                   // made as the activity is recorded, or nil
	Stops    func([]translog.Stop) ([]translog.Stop, error) // see store.Activity
	Release  store.Change                                   // made if it is not, or nil
}
