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

	ends []int // index after each part's last effect in the batch
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
		b.Add(tx, len(tx.Effects()))
	}
	return b, b.CheckEffects()
}

// CheckList refuses a list with too few or too many transactions.
func CheckList(intent activity.SignTransactionsIntent) error {
	if count := len(intent.Transactions); count == 0 || count > activity.MaxTransactions {
		return activity.NewError(activity.ReasonRequestInvalid, FieldTransactions, nil,
			"%s: %d, a list must have 1 to %d", FieldTransactions, count, activity.MaxTransactions)
	}
	return nil
}

// CheckEffects refuses a list that has more than MaxListEffects.
func (b *Batch) CheckEffects() error {
	effects := b.start(len(b.Parts))
	if effects <= MaxListEffects {
		return nil
	}
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

// Add adds a part that has so many effects.
func (b *Batch) Add(part chains.Transaction, effects int) {
	b.ends = append(b.ends, b.start(len(b.Parts))+effects)
	b.Parts = append(b.Parts, part)
}

// start returns the index of a part's first effect in the batch.
func (b *Batch) start(part int) int {
	if part == 0 {
		return 0
	}
	return b.ends[part-1]
}

func (b *Batch) WithTables(reader chains.Reader) (tx chains.Transaction, all chains.Readings) {
	resolved := &Batch{Label: b.Label, Sent: b.Sent}
	for i, part := range b.Parts {
		if user, ok := part.(chains.TableUser); ok {
			var readings chains.Readings
			part, readings = user.WithTables(reader)
			all = append(all, b.Readings(readings, i)...)
		}
		resolved.Add(part, len(part.Effects()))
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

// Shifted returns the hazards of a part with the indexes of their effects in the batch. Hazards of
// the part as a whole are hazards of the batch.
func (b *Batch) Shifted(hazards []chains.Hazard, part int) []chains.Hazard {
	out := make([]chains.Hazard, len(hazards))
	for i, hazard := range hazards {
		out[i] = chains.Hazard{Name: hazard.Name, Detail: hazard.Detail}
		if index, ok := hazard.Effect(); ok && b.start(part)+index < b.ends[part] {
			out[i] = out[i].OnEffect(b.start(part) + index)
		}
	}
	return out
}

// Chain implements chains.Transaction: all parts are of one.
func (b *Batch) Chain() string { return b.Parts[0].Chain() }

func (b *Batch) Summary() chains.Summary {
	summary := chains.Summary{Chain: b.Chain(), Sent: b.Sent}
	for i, part := range b.Parts {
		of := part.Summary()
		summary.Effects = append(summary.Effects, b.Numbered(of.Effects, i)...)
		summary.Fields = append(summary.Fields, chains.List(b.Label(i), of.Fields...))
	}
	return summary
}

// Together returns what all parts have of something, each as place returns it for that part.
func Together[P any, S ~[]T, T any](parts []P, of func(P) S, place func(S, int) S) (all S) {
	for i, part := range parts {
		all = append(all, place(of(part), i)...)
	}
	return all
}

func (b *Batch) Effects() []chains.Effect {
	return Together(b.Parts, chains.Transaction.Effects, b.Numbered)
}

func (b *Batch) Hazards() []chains.Hazard {
	return Together(b.Parts, chains.Transaction.Hazards, b.Shifted)
}

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
