package policy

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/store"
)

// cover finds the rules that allow the effects of one request.
type cover struct {
	file       *File
	evaluation *evaluation
	ctx        context.Context
	decision   countersign.Decision
	pending    map[charged]*big.Int // what this request charges so far
	decided    map[int]string       // the rule of each effect, for an explanation; nil: not noted
}

// charged identifies a counter of a limit.
type charged struct{ limit, subject string }

// effect finds the rule that decides an effect: the first in file order whose
// clauses, hazards and limits hold. After one that failed by its limit alone,
// only rules that ask for at least as many approvals may follow.
func (c *cover) effect(effect *effectView) error {
	var missed missed
	for _, r := range c.file.groups.allows[scope{c.evaluation.chain, effect.Kind}] {
		if effect.By == chains.ByOther && !r.others || !c.file.applies(c.evaluation, r) || places(r.approvals) < missed.places {
			continue
		}
		taken, err := c.try(r, effect, &missed)
		if err != nil {
			return err
		}
		if taken {
			return nil
		}
	}
	return missed.denial(effect)
}

// try takes a rule for an effect if all of it holds.
func (c *cover) try(r *rule, effect *effectView, missed *missed) (bool, error) {
	c.evaluation.current = effect
	if r.request {
		c.evaluation.current = nil
	}
	held, err := r.when.holds(c.evaluation)
	switch {
	case err != nil:
		missed.failed(r, err)
		return false, nil
	case !held:
		missed.considered(r)
		return false, nil
	}
	if hazard, ok := c.hazardsAllowed(r, effect); !ok {
		missed.hazardous(r, hazard)
		return false, nil
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

// take notes that a rule decided an effect.
func (c *cover) take(r *rule, effect *effectView, charges []store.Charge) {
	if c.decided != nil {
		c.decided[effect.index] = r.name
	}
	if !slices.Contains(c.decision.Rules, r.name) {
		c.decision.Rules = append(c.decision.Rules, r.name)
		c.decision.Approvals = append(c.decision.Approvals, r.approvals...)
	}
	for _, hazard := range c.evaluation.asked.Hazards {
		if index, ok := hazard.Effect(); ok && index == effect.index {
			c.decision.Hazards = append(c.decision.Hazards, hazard)
		}
	}
	for _, charge := range charges {
		c.charge(charge)
	}
}

// hazardsAllowed reports whether a rule lists every hazard of an effect.
func (c *cover) hazardsAllowed(r *rule, effect *effectView) (chains.Hazard, bool) {
	for _, hazard := range c.evaluation.asked.Hazards {
		if index, ok := hazard.Effect(); ok && index == effect.index && !r.allowsHazard(hazard.Name) {
			return hazard, false
		}
	}
	return chains.Hazard{}, true
}

func (r *rule) allowsHazard(name string) bool {
	_, what, _ := strings.Cut(name, "/")
	return slices.Contains(r.hazards, name) || what == blindCall && slices.Contains(r.hazards, blindCall)
}

// transactionHazards allows the hazards that point at no effect that was
// covered, where a rule on request lists them. What it does not allow is left to
// the engine to refuse.
func (c *cover) transactionHazards() {
	for _, hazard := range c.evaluation.asked.Hazards {
		if index, ok := hazard.Effect(); ok && index < len(c.evaluation.effects) && c.evaluation.effects[index].judged() {
			continue
		}
		for _, r := range c.file.groups.allows[scope{c.evaluation.chain, ""}] {
			c.evaluation.current = nil
			if !r.allowsHazard(hazard.Name) || !c.file.applies(c.evaluation, r) {
				continue
			}
			if held, err := r.when.holds(c.evaluation); err == nil && held {
				c.decision.Hazards = append(c.decision.Hazards, hazard)
				if !slices.Contains(c.decision.Rules, r.name) {
					c.decision.Rules = append(c.decision.Rules, r.name)
					c.decision.Approvals = append(c.decision.Approvals, r.approvals...)
				}
				break
			}
		}
	}
}

// places is how many votes groups need in all.
func places(groups []countersign.Approval) int {
	sum := 0
	for i := range groups {
		sum += groups[i].Count
	}
	return sum
}
