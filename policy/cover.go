package policy

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/store"
)

// cover finds the rules that allow the effects of one request.
type cover struct {
	file       *File
	evaluation *evaluation
	ctx        context.Context
	decision   access.Decision
	counters   map[counter]int // the index of a counter's charge in decision.Charges
	decided    []string        // the rule that decided each effect; empty if none did
}

func newCover(ctx context.Context, f *File, request *access.Authorization) *cover {
	return &cover{file: f, evaluation: newEvaluation(request, len(f.rules)), ctx: ctx, counters: map[counter]int{}, decided: make([]string, len(request.Effects))}
}

// effect finds the rule that decides an effect: the first in file order whose
// condition, hazards and limits hold. After a rule that only its limit kept from
// deciding, only rules that need at least as many approvals are considered.
func (c *cover) effect(effect *effectView) error {
	var missed missed
	for _, r := range c.file.groups.allows[scope{c.evaluation.chain, effect.Kind}] {
		if !r.judges(effect) || !c.evaluation.applies(r) || votes(r.approvals) < missed.votes {
			continue
		}
		if done, err := c.try(r, effect, &missed); done || err != nil {
			return err
		}
	}
	return missed.denial(effect)
}

// try lets a rule decide an effect if all of the rule holds. Otherwise it records the
// reason in missed.
func (c *cover) try(r *rule, effect *effectView, missed *missed) (bool, error) {
	c.evaluation.current = effect
	if r.request {
		c.evaluation.current = nil
	}
	match, err := r.when.holds(c.evaluation)
	switch {
	case err != nil:
		missed.failed(r, err)
		return false, nil
	case !match:
		missed.considered(r)
		return false, nil
	}
	for _, hazard := range c.hazardsOf(effect) {
		if !r.allowsHazard(hazard.Name) {
			missed.hazardous(r, hazard)
			return false, nil
		}
	}
	charges, exceeded, err := c.charges(r, effect)
	var uncountable *uncountableError
	switch {
	case errors.As(err, &uncountable):
		missed.failed(r, err)
		return false, nil
	case err != nil:
		return false, err
	case exceeded != nil:
		missed.exceeded(r, exceeded)
		return false, nil
	}
	c.take(r, effect, charges)
	return true, nil
}

// take records that a rule decided an effect.
func (c *cover) take(r *rule, effect *effectView, charges []store.Charge) {
	c.decided[effect.index] = r.name
	c.addRule(r)
	c.decision.Hazards = append(c.decision.Hazards, c.hazardsOf(effect)...)
	for _, charge := range charges {
		c.charge(charge)
	}
}

// addRule adds a rule and its approvals to the decision, once.
func (c *cover) addRule(r *rule) {
	if !slices.Contains(c.decision.Rules, r.name) {
		c.decision.Rules = append(c.decision.Rules, r.name)
		c.decision.Approvals = append(c.decision.Approvals, r.approvals...)
	}
}

// hazardsOf returns the hazards that point at an effect.
func (c *cover) hazardsOf(effect *effectView) (hazards []chains.Hazard) {
	for _, hazard := range c.evaluation.request.Hazards {
		if index, ok := hazard.Effect(); ok && index == effect.index {
			hazards = append(hazards, hazard)
		}
	}
	return hazards
}

func (r *rule) allowsHazard(name string) bool {
	_, what, _ := strings.Cut(name, "/")
	return slices.Contains(r.hazards, name) || what == blindCall && slices.Contains(r.hazards, blindCall)
}

// transactionHazards allows the hazards that do not point at a covered effect if a rule on
// request lists them. The engine refuses those that it does not allow.
func (c *cover) transactionHazards() {
	e := c.evaluation
	e.current = nil
	for _, hazard := range e.request.Hazards {
		if index, ok := hazard.Effect(); ok && index < len(e.effects) && c.decided[index] != "" {
			continue
		}
		for _, r := range c.file.groups.allows[scope{e.chain, ""}] {
			if !r.allowsHazard(hazard.Name) || !e.applies(r) {
				continue
			}
			if match, err := r.when.holds(e); err == nil && match {
				c.decision.Hazards = append(c.decision.Hazards, hazard)
				c.addRule(r)
				break
			}
		}
	}
}

// votes returns how many votes groups need in total.
func votes(groups []access.Group) int {
	sum := 0
	for i := range groups {
		sum += groups[i].Count
	}
	return sum
}
