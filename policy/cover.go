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
	stopped    map[stop]string // why a rule whose condition holds did not decide an effect
	whole      []chains.Hazard // of the request: every rule that decides an effect must list them
	prices     []price         // that rules have taken for effects
}

// price is what is received in a payload, as the price of effects that a rule decided.
type price struct {
	payload string
	rule    *rule
}

// stop is a rule and the index of an effect that it did not decide.
type stop struct {
	rule   *rule
	effect int
}

func newCover(ctx context.Context, f *File, request *access.Authorization) *cover {
	c := &cover{file: f, evaluation: newEvaluation(request, len(f.rules)), ctx: ctx, counters: map[counter]int{}, stopped: map[stop]string{}, decided: make([]string, len(request.Effects))}
	for _, hazard := range request.Hazards {
		if !c.ofOneEffect(hazard) {
			c.whole = append(c.whole, hazard)
		}
	}
	return c
}

// ofOneEffect reports whether a hazard belongs to one effect that a rule must decide.
// Any other hazard belongs to the request.
func (c *cover) ofOneEffect(hazard chains.Hazard) bool {
	index, ok := hazard.Effect()
	return ok && index < len(c.evaluation.effects) && c.file.needsCover(c.evaluation, &c.evaluation.effects[index])
}

// effect finds the rule that decides an effect: the first in file order whose
// condition, hazards and limits hold. After a rule that only its limit kept from
// deciding, only rules that need at least as many approvals are considered.
func (c *cover) effect(effect *effectView) error {
	var missed uncovered
	for _, r := range c.file.groups.allows[scope{c.evaluation.chain, effect.Kind}] {
		if !r.covers(effect) || !c.evaluation.applies(r) || !c.evaluation.isOn(r, effect.Payload()) {
			continue
		}
		if votes(r.approvals) < missed.votes {
			c.stopped[stop{r, effect.index}] = "a rule before it was stopped by its limit, and needs more approvals"
			continue
		}
		if done, err := c.try(r, effect, &missed); done || err != nil {
			return err
		}
	}
	return missed.denial(effect)
}

// covers reports whether a rule can allow an effect of its kinds.
func (r *rule) covers(effect *effectView) bool { return effect.By != chains.ByOther || r.others }

// try lets a rule decide an effect if all of the rule holds. Otherwise it records the
// reason in missed.
func (c *cover) try(r *rule, effect *effectView, missed *uncovered) (bool, error) {
	if c.evaluation.about(r, effect); r.request {
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
	if hazard, unlisted := r.unlisted(slices.Concat(c.hazardsOf(effect), c.whole)); unlisted {
		missed.but(r, "does not list "+hazardText(hazard))
		return false, nil
	}
	if why := c.forNothing(r, effect); why != "" {
		missed.but(r, why)
		c.stopped[stop{r, effect.index}] = why
		return false, nil
	}
	charges, exceeded, err := c.charges(r, effect)
	var uncountable *uncountableError
	switch {
	case errors.As(err, &uncountable):
		missed.failed(r, err)
		c.stopped[stop{r, effect.index}] = err.Error()
		return false, nil
	case err != nil:
		return false, err
	case exceeded != nil:
		missed.exceeded(r, exceeded)
		c.stopped[stop{r, effect.index}] = exceeded.Text
		return false, nil
	}
	c.take(r, effect, charges)
	return true, nil
}

// forNothing returns why a rule cannot decide an effect although its condition holds: it pays
// a fee that is for nothing, or the price that it asks for has been paid for another effect.
func (c *cover) forNothing(r *rule, effect *effectView) string {
	if effect.alone && !r.alone {
		return "the request pays a fee and does nothing else, which needs a rule with alone: true"
	}
	for _, paid := range c.prices {
		switch {
		case !r.priced || paid.payload != effect.Payload():
		case paid.rule != r:
			return "what is received is the price of what rule " + paid.rule.name + " allows"
		case !r.bundle:
			return "what is received is the price of another effect: each: 1"
		}
	}
	return ""
}

// take records that a rule decided an effect.
func (c *cover) take(r *rule, effect *effectView, charges []store.Charge) {
	if r.priced {
		c.prices = append(c.prices, price{effect.Payload(), r})
	}
	c.decided[effect.index] = r.name
	if !slices.Contains(c.decision.Rules, r.name) {
		c.decision.Rules = append(c.decision.Rules, r.name)
		c.decision.Approvals = append(c.decision.Approvals, r.approvals...)
	}
	c.decision.Hazards = append(c.decision.Hazards, c.hazardsOf(effect)...)
	for _, charge := range charges {
		c.charge(charge)
	}
}

// hazardsOf returns the hazards of one effect.
func (c *cover) hazardsOf(effect *effectView) (hazards []chains.Hazard) {
	for _, hazard := range c.evaluation.request.Hazards {
		if index, ok := hazard.Effect(); ok && index == effect.index {
			hazards = append(hazards, hazard)
		}
	}
	return hazards
}

// unlisted returns the first of some hazards that a rule does not list.
func (r *rule) unlisted(hazards []chains.Hazard) (hazard chains.Hazard, found bool) {
	index := slices.IndexFunc(hazards, func(hazard chains.Hazard) bool { return !r.allowsHazard(hazard.Name) })
	if index < 0 {
		return hazard, false
	}
	return hazards[index], true
}

func (r *rule) allowsHazard(name string) bool {
	_, what, _ := strings.Cut(name, "/")
	return slices.Contains(r.hazards, name) || what == blindCall && slices.Contains(r.hazards, blindCall)
}

// votes returns how many votes groups need in total.
func votes(groups []access.Group) int {
	sum := 0
	for i := range groups {
		sum += groups[i].Count
	}
	return sum
}
