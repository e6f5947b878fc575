package policy

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
)

var (
	_ countersign.Decider = (*File)(nil)
	_ countersign.Policy  = (*File)(nil)
)

// verdict is whether a rule's clauses hold, once they have been asked.
type verdict uint8

const (
	notAsked verdict = iota
	holds
	doesNot
)

// Authorize implements countersign.Policy: nil only for what needs nothing
// further, for who asks cannot charge limits or wait for approvals.
func (f *File) Authorize(ctx context.Context, asked countersign.Authorization) error {
	decision, err := f.Decide(ctx, asked)
	switch {
	case err != nil:
		return err
	case len(decision.Charges) > 0:
		return &Denial{Rule: decision.Rules[0], Effect: -1, Text: "this needs a limit charged, which needs the engine's store"}
	case len(decision.Approvals) > 0 && missingAny(&decision, &asked):
		return &Denial{Rule: decision.Approvals[0].Rule, Effect: -1, Text: "this needs approvals"}
	}
	return nil
}

func missingAny(decision *countersign.Decision, asked *countersign.Authorization) bool {
	return slices.ContainsFunc(decision.Approvals, func(group countersign.Approval) bool {
		return group.Missing(asked.Votes, asked.User.ID, asked.Now) > 0
	})
}

// Decide implements countersign.Decider. A request is allowed if no deny holds,
// there is at least one effect by our authorization, and every one of them is
// covered by an allow whose condition holds for it.
func (f *File) Decide(ctx context.Context, asked countersign.Authorization) (countersign.Decision, error) {
	covering := &cover{file: f, evaluation: newEvaluation(&asked, len(f.rules)), ctx: ctx, pending: map[charged]*big.Int{}}
	return f.decide(covering)
}

func (f *File) decide(covering *cover) (countersign.Decision, error) {
	e := covering.evaluation
	if err := f.denied(e); err != nil {
		return countersign.Decision{}, err
	}
	covered := 0
	for i := range e.effects {
		if !f.needsCover(e, &e.effects[i]) {
			continue
		}
		covered++
		if err := covering.effect(&e.effects[i]); err != nil {
			return countersign.Decision{}, err
		}
	}
	if covered == 0 {
		return countersign.Decision{}, &Denial{Effect: -1, Text: "no effect of this request is by its signature: there is nothing that a rule could allow"}
	}
	covering.transactionHazards()
	covering.decision.Digest = f.digest
	return covering.decision, nil
}

// applies reports whether who asks and the keys that sign are the rule's.
func (f *File) applies(e *evaluation, r *rule) bool {
	if e.applies[r.index] == notAsked {
		e.applies[r.index] = doesNot
		if r.who.holds(e.asked) && r.isKey(e.asked.Keys) {
			e.applies[r.index] = holds
		}
	}
	return e.applies[r.index] == holds
}

// denied asks every deny that can apply. A condition that fails denies.
func (f *File) denied(e *evaluation) error {
	for _, r := range f.groups.denies[scope{e.chain, ""}] {
		if err := f.asks(e, r, nil); err != nil {
			return err
		}
	}
	for i := range e.effects {
		effect := &e.effects[i]
		for _, r := range f.groups.denies[scope{e.chain, effect.Kind}] {
			if !effect.judged() && (!r.others || effect.By != chains.ByOther) {
				continue
			}
			if err := f.asks(e, r, effect); err != nil {
				return err
			}
		}
	}
	return nil
}

// asks asks one deny about the request or about an effect.
func (f *File) asks(e *evaluation, r *rule, effect *effectView) error {
	if !f.applies(e, r) {
		return nil
	}
	e.current = effect
	held, err := r.when.holds(e)
	switch index := indexOf(effect); {
	case err != nil:
		return &Denial{Rule: r.name, Effect: index, Cause: err, Text: fmt.Sprintf("rule %s could not be decided for %s, which denies: %v", r.name, describe(effect), err)}
	case held:
		return &Denial{Rule: r.name, Effect: index, Text: fmt.Sprintf("rule %s denies %s", r.name, describe(effect))}
	}
	return nil
}

// needsCover reports whether an allow must cover the effect: all by our
// authorization but change, and those by others where an allow asks for them.
func (f *File) needsCover(e *evaluation, effect *effectView) bool {
	if effect.judged() {
		return true
	}
	return effect.By == chains.ByOther && slices.ContainsFunc(f.groups.allows[scope{e.chain, effect.Kind}], func(r *rule) bool { return r.others })
}
