package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
)

var (
	_ access.Decider = (*File)(nil)
	_ access.Policy  = (*File)(nil)
)

// Authorize implements [access.Policy]. Its callers can neither charge limits nor
// wait for approvals, so it denies requests that need either.
func (f *File) Authorize(ctx context.Context, request access.Authorization) error {
	decision, err := f.Decide(ctx, request)
	switch {
	case err != nil:
		return err
	case len(decision.Charges) > 0:
		return &Denial{Rule: decision.Rules[0], Effect: -1, Text: "this charges a limit, which needs the engine's store"}
	case len(decision.Approvals) > 0 && missingAny(&decision, &request):
		return &Denial{Rule: decision.Approvals[0].Rule, Effect: -1, Text: "this needs approvals"}
	}
	return nil
}

// missingAny reports whether votes are missing.
func missingAny(decision *access.Decision, request *access.Authorization) bool {
	missing := access.Missing(decision.Approvals, request.Votes, request.User.ID, request.Now)
	return slices.ContainsFunc(missing, func(votes int) bool { return votes > 0 })
}

// Decide implements [access.Decider]. A request is allowed if no deny matches, at
// least one effect is by our authorization, and each of those is covered by an allow
// whose condition holds for it, and that lists the hazards of the effect and of the
// request. Change needs no allow, unless there is nothing else; a fee with nothing else needs
// one that says so.
func (f *File) Decide(ctx context.Context, request access.Authorization) (access.Decision, error) {
	return newCover(ctx, f, &request).decide()
}

func (c *cover) decide() (access.Decision, error) {
	f, e := c.file, c.evaluation
	if _, known := words().chains[e.chain]; !known && e.chain != "" {
		return access.Decision{}, &Denial{Effect: -1, Text: fmt.Sprintf(
			"a policy file cannot judge the chain %s: it knows %s; for another one, implement access.Policy", e.chain, strings.Join(words().names(), ", "))}
	}
	if err := f.deny(e); err != nil {
		return access.Decision{}, err
	}
	covered, err := c.all(func(effect *effectView) bool { return f.needsCover(e, effect) })
	if err != nil {
		return access.Decision{}, err
	}
	if covered == 0 {
		return access.Decision{}, &Denial{Effect: -1, Text: "no effect of this request is by its signature: there is nothing that a rule could allow"}
	}
	c.decision.Hazards = append(c.decision.Hazards, c.whole...)
	c.decision.Digest = f.digest
	return c.decision, nil
}

// all finds a rule for each effect that needs one, and returns how many there are.
func (c *cover) all(needs func(*effectView) bool) (covered int, err error) {
	for i := range c.evaluation.effects {
		if effect := &c.evaluation.effects[i]; needs(effect) {
			covered++
			if err := c.effect(effect); err != nil {
				return covered, err
			}
		}
	}
	return covered, nil
}

// deny evaluates every deny that can apply. It returns the refusal of the first that
// matches, or whose condition fails.
func (f *File) deny(e *evaluation) error {
	for _, r := range f.groups.denies[scope{e.chain, ""}] {
		if err := r.deniesRequest(e); err != nil {
			return err
		}
	}
	for i := range e.effects {
		effect := &e.effects[i]
		for _, r := range f.groups.denies[scope{e.chain, effect.Kind}] {
			if !r.judges(effect) {
				continue
			}
			if err := r.denies(e, effect, effect.Payload()); err != nil {
				return err
			}
		}
	}
	return nil
}

// deniesRequest evaluates a deny for the request, and for each payload if there are several.
func (r *rule) deniesRequest(e *evaluation) error {
	for _, name := range append([]string{""}, e.payloads()...) {
		if err := r.denies(e, nil, name); err != nil {
			return err
		}
	}
	return nil
}

// denies evaluates a deny for an effect, or for the request, or a payload of it, if effect is nil.
func (r *rule) denies(e *evaluation, effect *effectView, payload string) error {
	if !e.applies(r) || !e.isOn(r, payload) {
		return nil
	}
	e.bind(r, effect, payload)
	match, err := r.when.holds(e)
	switch index := indexOf(effect); {
	case err != nil:
		return &Denial{Rule: r.name, Effect: index, Cause: err, Text: fmt.Sprintf("rule %s could not be decided for %s, which denies: %v", r.name, describe(effect), err)}
	case match:
		return &Denial{Rule: r.name, Effect: index, Text: fmt.Sprintf("rule %s denies %s", r.name, describe(effect))}
	}
	return nil
}

// judges reports whether a rule is about an effect of its kinds: those by our
// authorization except change and, with others, those by other signatures. A deny is about
// what is received too, and about what others take of what our signature put there.
func (r *rule) judges(effect *effectView) bool {
	return effect.judged() || r.deny && (effect.Reached || !effect.Kind.NeedsCover()) || r.others && effect.By == chains.ByOther
}

// needsCover reports whether an allow must cover the effect: if it is by our
// authorization and not change, or if it is by another signature and an allow of its
// kind has others.
func (f *File) needsCover(e *evaluation, effect *effectView) bool {
	return effect.judged() || effect.Kind.NeedsCover() && slices.ContainsFunc(f.groups.allows[scope{e.chain, effect.Kind}], func(r *rule) bool { return r.judges(effect) })
}
