package signing

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
)

// Task is what an intent wants signed: a *Prepared, or a *List.
type Task interface {
	operation.Task
	operation.SigningTask

	// OwnEffects returns what signing does, as the organization's keys show it.
	OwnEffects(ctx context.Context) ([]chains.Effect, error)

	// Signers returns the keys that will sign, as a policy sees them.
	Signers(ctx context.Context) ([]access.SigningKey, error)

	// SignerView returns what depends on the signing keys.
	SignerView(ctx context.Context) ([]chains.Field, error)
}

// List is a list of transactions that are signed together, all or none. They are sent one by one
// by anyone who holds them: each is prepared, and has to be judged, alone.
type List struct {
	Parts  []*Prepared
	batch  intents.Batch
	used   map[string]int // the transaction that uses up what only one can
	cached *chains.Summary
}

var _ Task = (*List)(nil)

func (r *Preparer) prepareList(ctx context.Context, organizationID string, intent activity.SignTransactionsIntent,
) (Task, error) {
	if err := intents.CheckList(intent); err != nil {
		return nil, err
	}
	l := &List{batch: intents.Batch{Label: chains.TransactionLabel}, used: map[string]int{}}
	for i := range intent.Transactions {
		part, err := r.prepare(ctx, organizationID, intent.At(i))
		if err == nil {
			err = l.add(ctx, part)
		}
		if err != nil {
			return nil, intents.InList(i, err)
		}
		if err := l.batch.CheckEffects(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// add adds a transaction, unless it excludes an earlier one or is of a registered wallet.
func (l *List) add(ctx context.Context, part *Prepared) error {
	index := len(l.Parts)
	if wallets := part.Wallets(); wallets.Only != nil || wallets.Mixed {
		name := "of an unknown name"
		if len(wallets.Used) > 0 {
			name = wallets.Used[0].Name
		}
		return activity.NewError(activity.ReasonRequestInvalid, intents.FieldTransaction, nil,
			"it spends from the registered wallet %s, or may do so: send it in a request of its own", name)
	}
	if exclusive, ok := part.tx.(chains.Exclusive); ok {
		for _, name := range exclusive.UsesUp("key " + strings.Join(part.KeyIDs(), ", ")) {
			if earlier, twice := l.used[name]; twice {
				return activity.NewError(activity.ReasonRequestInvalid, intents.FieldTransaction, nil,
					"it uses %s, as %s[%d] does: at most one of the two can be executed", name,
					intents.FieldTransactions, earlier)
			}
			l.used[name] = index
		}
	}
	effects, err := part.OwnEffects(ctx)
	l.Parts = append(l.Parts, part)
	l.batch.Add(part.tx, len(effects))
	return err
}

func (l *List) Chain() chains.Chain { return l.Parts[0].Chain() }

// Summary implements operation.SigningTask: it has all transactions, in their order.
func (l *List) Summary() *chains.Summary {
	if l.cached == nil {
		summary := l.batch.Summary()
		l.cached = &summary
	}
	return l.cached
}

// keys calls a function with each key once, and with the first transaction that it signs.
func (l *List) keys(each func(part *Prepared, id string)) {
	seen := map[string]bool{}
	for _, part := range l.Parts {
		for _, id := range part.KeyIDs() {
			if !seen[id] {
				seen[id] = true
				each(part, id)
			}
		}
	}
}

func (l *List) KeyIDs() (ids []string) {
	l.keys(func(_ *Prepared, id string) { ids = append(ids, id) })
	return ids
}

func (l *List) Addresses() (addresses []string) {
	l.keys(func(part *Prepared, id string) { addresses = append(addresses, part.addresses([]string{id})...) })
	return addresses
}

func (l *List) Signers(ctx context.Context) (keys []access.SigningKey, err error) {
	l.keys(func(part *Prepared, id string) {
		signers, failed := part.Signers(ctx)
		if failed != nil {
			err = failed
		}
		keys = append(keys, slices.DeleteFunc(signers, func(key access.SigningKey) bool { return key.ID != id })...)
	})
	return keys, err
}

func (l *List) SignerView(ctx context.Context) (fields []chains.Field, err error) {
	for i, part := range l.Parts {
		view, err := part.SignerView(ctx)
		if err != nil {
			return nil, err
		}
		fields = append(fields, chains.List(l.batch.Label(i), view...))
	}
	return fields, nil
}

func (l *List) Claimed() []chains.Effect {
	return intents.Together(l.Parts, (*Prepared).Claimed, l.batch.Numbered)
}

// OwnEffects implements Task: what each transaction does alone.
func (l *List) OwnEffects(ctx context.Context) (effects []chains.Effect, err error) {
	for i, part := range l.Parts {
		own, err := part.OwnEffects(ctx)
		if err != nil {
			return nil, err
		}
		effects = append(effects, l.batch.Numbered(own, i)...)
	}
	return effects, nil
}

func (l *List) Effects(ctx context.Context) ([]chains.Effect, []access.SigningKey, error) {
	return effects(ctx, l)
}

func (l *List) Hazards() []chains.Hazard {
	return intents.Together(l.Parts, (*Prepared).Hazards, l.batch.Shifted)
}

func (l *List) Readings() chains.Readings {
	return intents.Together(l.Parts, (*Prepared).Readings, l.batch.Readings)
}

// Wallets implements operation.SigningTask: those that are paid to.
func (l *List) Wallets() (wallets operation.RegisteredWallets) {
	for _, part := range l.Parts {
		for _, used := range part.wallets.Used {
			if !slices.Contains(wallets.Used, used) {
				wallets.Used = append(wallets.Used, used)
			}
		}
	}
	return wallets
}

func (l *List) Recorded(ctx context.Context, book chains.Names) (*activity.Reading, error) {
	return recorded(ctx, l, book)
}

func (l *List) Did(ctx context.Context, book chains.Names) *activity.Did { return did(ctx, l, book) }
func (l *List) Signs() operation.SigningTask                             { return l }
func (l *List) Begin(time.Time) store.Change                             { return nil }

// Perform implements operation.Task. Whatever ends it, the signatures that were made are
// overwritten here: only a whole list is returned.
func (l *List) Perform(ctx context.Context) (operation.Outcome, error) {
	made := make([][]byte, 0, len(l.Parts))
	defer func() {
		for _, signed := range made {
			clear(signed)
		}
	}()
	for i, part := range l.Parts {
		var signed []byte
		err := ctx.Err()
		if err == nil {
			signed, err = part.signing.AppendSigned(ctx, nil)
		}
		if err != nil {
			return operation.Outcome{}, intents.InList(i, refuse.Key(err))
		}
		made = append(made, signed)
	}
	result := activity.SignTransactionsResult{SignedTransactions: make([]string, len(made))}
	for i, signed := range made {
		result.SignedTransactions[i] = hex.EncodeToString(signed)
	}
	return operation.Outcome{Result: result}, nil
}
