package intents

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// Batch is what several transactions or messages of one chain say together: those of one request,
// each of which can be used without the others.
type Batch struct {
	Parts []chains.Transaction
	Label func(part int) string // begins the paths of a part's effects
	Sent  bool                  // see chains.Summary

	starts []int // index of each part's first effect in the batch, then the number of all
}

var (
	_ chains.Transaction = (*Batch)(nil)
	_ chains.TableUser   = (*Batch)(nil)
	_ chains.Caller      = (*Batch)(nil)
)

// MaxListEffects is how many effects the transactions of a list have at most.
const MaxListEffects = 10_000

// ReadList reads a list of transactions. The error is an *activity.Error.
func (t Table) ReadList(intent activity.SignTransactionsIntent) (*Batch, error) {
	if err := CheckList(intent); err != nil {
		return nil, err
	}
	b := &Batch{Label: chains.TransactionLabel}
	for i := range intent.Transactions {
		tx, err := t.Read(intent.Type, intent.Transactions[i].UnsignedTransaction)
		if err != nil {
			return nil, InList(i, err)
		}
		b.Parts = append(b.Parts, tx)
	}
	if effects := b.Starts()[len(b.Parts)]; effects > MaxListEffects {
		return nil, TooManyEffects(effects)
	}
	return b, nil
}

// CheckList refuses a list with too few or too many transactions.
func CheckList(intent activity.SignTransactionsIntent) error {
	if count := len(intent.Transactions); count == 0 || count > activity.MaxTransactions {
		return activity.NewError(activity.ReasonRequestInvalid, FieldTransactions, nil,
			"%s: %d, a list must have 1 to %d", FieldTransactions, count, activity.MaxTransactions)
	}
	return nil
}

// TooManyEffects refuses a list that has more than MaxListEffects.
func TooManyEffects(effects int) error {
	return activity.NewError(activity.ReasonRequestInvalid, FieldTransactions, nil,
		"%s have %d effects, at most %d are allowed: send several lists", FieldTransactions, effects, MaxListEffects)
}

// InList returns an error about one transaction of a list with its place in the list, if it is an
// *activity.Error.
func InList(index int, err error) error {
	refused, ok := errors.AsType[*activity.Error](err)
	if !ok {
		return err
	}
	place := fmt.Sprintf("%s[%d]", FieldTransactions, index)
	field := place
	if refused.Field != "" {
		field += "." + refused.Field
	}
	placed := activity.NewError(refused.Reason, field, err, "%s: %s", place, refused.Message)
	placed.RetryAfter = refused.RetryAfter
	return placed
}

// Starts returns the index of each part's first effect in the batch, then the number of all.
func (b *Batch) Starts() []int {
	if b.starts == nil {
		b.starts = []int{0}
		for i, part := range b.Parts {
			b.starts = append(b.starts, b.starts[i]+len(part.Effects()))
		}
	}
	return b.starts
}

// WithTables implements chains.TableUser.
func (b *Batch) WithTables(reader chains.Reader) (chains.Transaction, chains.Readings) {
	return b.Resolved(reader)
}

// Resolved is WithTables.
func (b *Batch) Resolved(reader chains.Reader) (resolved *Batch, all chains.Readings) {
	resolved = &Batch{Parts: slices.Clone(b.Parts), Label: b.Label, Sent: b.Sent}
	for i, part := range b.Parts {
		if user, ok := part.(chains.TableUser); ok {
			tx, readings := user.WithTables(reader)
			resolved.Parts[i] = tx
			all = append(all, b.Readings(readings, i)...)
		}
	}
	return resolved, all
}

// Readings returns the readings of a part with its label in front of their paths.
func (b *Batch) Readings(readings chains.Readings, part int) chains.Readings {
	readings = slices.Clone(readings)
	for i := range readings {
		readings[i].Path = b.Label(part) + "/" + readings[i].Path
	}
	return readings
}

// Numbered returns the effects of a part with its label in front of their paths.
func (b *Batch) Numbered(effects []chains.Effect, part int) []chains.Effect {
	effects = slices.Clone(effects)
	for i := range effects {
		effects[i].Path = b.Label(part) + "/" + effects[i].Path
	}
	return effects
}

// Shifted returns the hazards of a part, which has so many effects from start on, with the indexes
// of their effects shifted to those of the batch. Hazards of the part as a whole are hazards of
// the batch.
func Shifted(hazards []chains.Hazard, start, effects int) []chains.Hazard {
	out := make([]chains.Hazard, len(hazards))
	for i, hazard := range hazards {
		out[i] = chains.Hazard{Name: hazard.Name, Detail: hazard.Detail}
		if index, ok := hazard.Effect(); ok && index < effects {
			out[i] = out[i].OnEffect(start + index)
		}
	}
	return out
}

// Shifted returns the hazards of a part with the indexes of their effects in the batch.
func (b *Batch) Shifted(hazards []chains.Hazard, part int) []chains.Hazard {
	starts := b.Starts()
	return Shifted(hazards, starts[part], starts[part+1]-starts[part])
}

// Chain implements chains.Transaction: all parts are of one.
func (b *Batch) Chain() string { return b.Parts[0].Chain() }

// Summary implements chains.Transaction.
func (b *Batch) Summary() chains.Summary {
	summary := chains.Summary{Chain: b.Chain(), Sent: b.Sent}
	for i, part := range b.Parts {
		of := part.Summary()
		summary.Effects = append(summary.Effects, b.Numbered(of.Effects, i)...)
		summary.Fields = append(summary.Fields, chains.List(b.Label(i), of.Fields...))
	}
	return summary
}

// Effects implements chains.Transaction.
func (b *Batch) Effects() (effects []chains.Effect) {
	for i, part := range b.Parts {
		effects = append(effects, b.Numbered(part.Effects(), i)...)
	}
	return effects
}

// Hazards implements chains.Transaction.
func (b *Batch) Hazards() (hazards []chains.Hazard) {
	for i, part := range b.Parts {
		hazards = append(hazards, b.Shifted(part.Hazards(), i)...)
	}
	return hazards
}

// Calls implements chains.Caller.
func (b *Batch) Calls() (calls []chains.Call) {
	for i, part := range b.Parts {
		caller, ok := part.(chains.Caller)
		if !ok {
			continue
		}
		for _, call := range caller.Calls() {
			call.Path = b.Label(i) + "/" + call.Path
			calls = append(calls, call)
		}
	}
	return calls[:min(len(calls), chains.MaxEffects)]
}

// Request implements chains.Transaction: nothing signs all transactions of a list.
func (b *Batch) Request(string) (chains.Request, error) {
	return nil, &chains.SignerError{Kind: chains.ErrSignWith, Chain: b.Chain(),
		Problem: "each transaction of a list names its own key"}
}
