package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/store"
)

// cover finds the rules that allow the effects of one request.
type cover struct {
	judge      *judge
	evaluation *evaluation
	decision   access.Decision
	ledger     ledger
	whoAndKey  []verdict       // by index of the rule
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

func (j *judge) cover(ctx context.Context, request *access.Authorization) *cover {
	e := newEvaluation(j, request)
	c := &cover{
		judge: j, evaluation: e, ledger: ledger{evaluation: e, ctx: ctx}, whoAndKey: make([]verdict, len(j.rules)),
		decided: make([]string, len(request.Effects)),
	}
	for _, hazard := range request.Hazards {
		// A hazard belongs to the request unless it is of one effect that a rule must decide.
		if index, ok := hazard.Effect(); !ok || index >= len(e.effects) || !c.needsCover(&e.effects[index]) {
			c.whole = append(c.whole, hazard)
		}
	}
	return c
}

// decide decides about the request, without the file's digest. A request is allowed if no deny
// matches, at least one effect is by our authorization, and each of those is covered by an allow
// whose condition holds for it, and that lists the hazards of the effect and of the request. Change
// needs no allow, unless there is nothing else; a fee with nothing else needs one that says so.
func (c *cover) decide() (access.Decision, error) {
	e := c.evaluation
	if _, known := c.judge.words.chains[e.chain]; !known && e.chain != "" && len(c.judge.rules) > 0 {
		return access.Decision{}, &Denial{Effect: -1, Text: fmt.Sprintf("a policy file cannot judge the chain %s: "+
			"it was read for %s", e.chain, strings.Join(c.judge.words.names(), ", "))}
	}
	if err := c.deny(); err != nil {
		return access.Decision{}, err
	}
	covered := 0
	for i := range e.effects {
		effect := &e.effects[i]
		if !c.needsCover(effect) {
			continue
		}
		covered++
		if err := c.effect(effect); err != nil {
			return access.Decision{}, err
		}
	}
	if covered == 0 {
		return access.Decision{}, &Denial{
			Effect: -1, Text: "no effect of this request is by its signature: there is nothing that a rule could allow",
		}
	}
	c.decision.Hazards, c.decision.Charges = append(c.decision.Hazards, c.whole...), c.ledger.pending
	return c.decision, nil
}

// deny evaluates every deny that can apply. It returns the refusal of the first that
// matches, or whose condition fails.
func (c *cover) deny() error {
	e := c.evaluation
	for _, r := range c.judge.denies[scope{e.chain, ""}] {
		// For the request, and for each payload if there are several.
		for _, payload := range append([]string{""}, e.payloads()...) {
			if err := c.denies(r, nil, payload); err != nil {
				return err
			}
		}
	}
	for i := range e.effects {
		effect := &e.effects[i]
		for _, r := range c.judge.denies[scope{e.chain, effect.Kind}] {
			if !r.judges(effect) {
				continue
			}
			if err := c.denies(r, effect, effect.Payload()); err != nil {
				return err
			}
		}
	}
	return nil
}

// denies evaluates a deny for an effect, or for the request, or a payload of it, if effect is nil.
func (c *cover) denies(r *rule, effect *effectView, payload string) error {
	if !c.applies(r) || !r.isOn(c.evaluation, payload) {
		return nil
	}
	if err := c.tooCostly(); err != nil {
		return err
	}
	c.evaluation.bind(effect, payload, r.hidesReceived())
	match, err := r.when.holds(c.evaluation)
	denial := &Denial{Rule: r.name, Effect: indexOf(effect), Cause: err}
	switch {
	case err != nil:
		denial.Text = fmt.Sprintf("rule %s could not be decided for %s, which denies: %v",
			r.name, describe(effect), err)
	case match:
		denial.Text = fmt.Sprintf("rule %s denies %s", r.name, describe(effect))
	default:
		return nil
	}
	return denial
}

// needsCover reports whether an allow must cover the effect: if it is by our authorization and not
// change, or if it is by another signature and an allow of its kind has others.
func (c *cover) needsCover(effect *effectView) bool {
	judges := func(r *rule) bool { return r.judges(effect) }
	return effect.judged() || effect.Kind.NeedsCover() &&
		slices.ContainsFunc(c.judge.allows[scope{c.evaluation.chain, effect.Kind}], judges)
}

// verdict is whether who and key of a rule match.
type verdict uint8

const (
	undecided verdict = iota
	matches
	differs
)

// applies reports whether the request is of the rule's kind, and the user, the credential and
// the keys match its who and key.
func (c *cover) applies(r *rule) bool {
	cached, request := &c.whoAndKey[r.index], c.evaluation.request
	if *cached == undecided {
		*cached = differs
		if r.isOf(request) && r.who.holds(request) && r.coversKeys(request.Keys) {
			*cached = matches
		}
	}
	return *cached == matches
}

// effect finds the rule that decides an effect: the first in file order whose
// condition, hazards and limits hold. After a rule that only its limit kept from
// deciding, only rules that need at least as many approvals are considered.
func (c *cover) effect(effect *effectView) error {
	var missed uncovered
	for _, r := range c.judge.allows[scope{c.evaluation.chain, effect.Kind}] {
		if effect.By == chains.ByOther && !r.others || !c.applies(r) || !r.isOn(c.evaluation, effect.Payload()) {
			continue
		}
		if votes(r.approvals) < missed.votes {
			c.stop(r, effect, "a rule before it was stopped by its limit, and needs more approvals")
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
func (c *cover) try(r *rule, effect *effectView, missed *uncovered) (bool, error) {
	if err := c.tooCostly(); err != nil {
		return false, err
	}
	about := effect
	if r.request {
		about = nil
	}
	c.evaluation.bind(about, effect.Payload(), r.hidesReceived())
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
		c.stop(r, effect, why)
		return false, nil
	}
	charges, exceeded, err := c.ledger.charges(r, effect)
	var uncountable *uncountableError
	switch {
	case errors.As(err, &uncountable):
		missed.failed(r, err)
		c.stop(r, effect, err.Error())
		return false, nil
	case err != nil:
		return false, err
	case exceeded != nil:
		missed.limit = cmp.Or(missed.limit, exceeded)
		missed.votes = max(missed.votes, votes(r.approvals))
		c.stop(r, effect, exceeded.Text)
		return false, nil
	}
	c.take(r, effect, charges)
	return true, nil
}

// tooCostly refuses a request whose judgement has taken too many steps. It is no error of a
// condition, after which another rule might allow.
func (c *cover) tooCostly() error {
	if c.evaluation.steps <= maxSteps {
		return nil
	}
	return &Denial{Effect: -1, Text: fmt.Sprintf("to judge %d effects by this file takes more than %d steps: ask for "+
		"fewer at once, or ask simpler conditions", len(c.evaluation.effects), maxSteps)}
}

// stop records why a rule whose condition holds did not decide an effect.
func (c *cover) stop(r *rule, effect *effectView, why string) {
	if c.stopped == nil {
		c.stopped = map[stop]string{}
	}
	c.stopped[stop{r, effect.index}] = why
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
		c.ledger.add(charge)
	}
}

func (c *cover) hazardsOf(effect *effectView) (hazards []chains.Hazard) {
	for _, hazard := range c.evaluation.request.Hazards {
		if index, ok := hazard.Effect(); ok && index == effect.index {
			hazards = append(hazards, hazard)
		}
	}
	return hazards
}

// judge decides requests by rules, which it has by scope, in file order, so that only those that
// can apply are evaluated. It is immutable.
type judge struct {
	words          *vocabulary
	rules          []*rule
	denies, allows map[scope][]*rule
	answers        int        // of clauses, the most that are kept for one request
	prices         *priceList // nil if there are none
}

// scope is a chain (empty for requests without a transaction) and a kind of effect
// (empty for the request as a whole).
type scope struct {
	chain string
	kind  chains.Kind
}

func newJudge(words *vocabulary, rules []*rule) *judge {
	j := &judge{words, rules, map[scope][]*rule{}, map[scope][]*rule{}, maxAnswers, nil}
	for _, chain := range append(words.names(), "") {
		for _, r := range rules {
			if len(r.on) > 0 && !slices.Contains(r.on, chain) {
				continue
			}
			group := j.allows
			if r.deny {
				group = j.denies
			}
			for _, kind := range r.scopeKinds() {
				group[scope{chain, kind}] = append(group[scope{chain, kind}], r)
			}
		}
	}
	return j
}

func missingAny(decision *access.Decision, request *access.Authorization) bool {
	missing := access.Missing(decision.Approvals, request.Votes, request.User.ID, request.Now)
	return slices.ContainsFunc(missing, func(votes int) bool { return votes > 0 })
}
