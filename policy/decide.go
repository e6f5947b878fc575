package policy

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/store"
)

var (
	_ countersign.Decider = (*File)(nil)
	_ countersign.Policy  = (*File)(nil)
)

// Denial is why a request is refused. It wraps countersign.ErrDenied.
type Denial struct {
	Rule   string // that denies, or whose condition failed; empty if no rule covers an effect
	Effect int    // index of the effect; -1 if the whole request is refused
	Text   string
	Cause  error // of a condition that failed
}

// Error implements error.
func (d *Denial) Error() string { return d.Text }

// Unwrap returns countersign.ErrDenied.
func (d *Denial) Unwrap() error { return countersign.ErrDenied }

// verdict is whether a rule's clauses hold, once they have been asked.
type verdict uint8

const (
	notAsked verdict = iota
	holds
	doesNot
)

// groups are the rules by the chain and the kind of effect that they are about,
// in file order, so that a request asks only those that can apply.
type groups struct {
	denies, allows map[scope][]*rule
}

// scope is a chain (empty: no transaction of a chain) and a kind of effect
// (empty: the request).
type scope struct {
	chain string
	kind  chains.Kind
}

func newGroups(rules []*rule) groups {
	made := groups{denies: map[scope][]*rule{}, allows: map[scope][]*rule{}}
	for _, chain := range append(chainNames(), "") {
		for _, r := range rules {
			if len(r.on) > 0 && !slices.Contains(r.on, chain) {
				continue
			}
			made.add(chain, r)
		}
	}
	return made
}

func (g *groups) add(chain string, r *rule) {
	if r.deny {
		for _, kind := range r.scopes() {
			g.denies[scope{chain, kind}] = append(g.denies[scope{chain, kind}], r)
		}
		return
	}
	kinds := r.kinds
	if r.request {
		kinds = append(chains.Kinds(), "")
	}
	for _, kind := range kinds {
		g.allows[scope{chain, kind}] = append(g.allows[scope{chain, kind}], r)
	}
}

// scopes are the kinds that a deny is asked about; the empty one is the request.
func (r *rule) scopes() []chains.Kind {
	if r.request {
		return []chains.Kind{""}
	}
	return r.kinds
}

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
	e := newEvaluation(&asked, len(f.rules))
	if err := f.denied(e); err != nil {
		return countersign.Decision{}, err
	}
	covering := &cover{file: f, evaluation: e, ctx: ctx, pending: map[charged]*big.Int{}}
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
	if err := covering.transactionHazards(); err != nil {
		return countersign.Decision{}, err
	}
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

func indexOf(effect *effectView) int {
	if effect == nil {
		return -1
	}
	return effect.index
}

// describe names an effect in a refusal.
func describe(effect *effectView) string {
	if effect == nil {
		return "this request"
	}
	text := fmt.Sprintf("effect %d (%s", effect.index, effect.Kind)
	if !effect.To.IsNone() {
		text += " to " + shorten(effect.To.String())
	}
	if effect.Undecoded {
		text += ", not decoded"
	}
	return text + ")"
}

// needsCover reports whether an allow must cover the effect: all by our
// authorization but change, and those by others where an allow asks for them.
func (f *File) needsCover(e *evaluation, effect *effectView) bool {
	if effect.judged() {
		return true
	}
	return effect.By == chains.ByOther && slices.ContainsFunc(f.groups.allows[scope{e.chain, effect.Kind}], func(r *rule) bool { return r.others })
}

// cover finds the rules that allow the effects of one request.
type cover struct {
	file       *File
	evaluation *evaluation
	ctx        context.Context
	decision   countersign.Decision
	pending    map[charged]*big.Int // what this request charges so far
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

// charge adds a charge to those of the request; one counter is charged once.
func (c *cover) charge(charge store.Charge) {
	key := charged{charge.Limit, charge.Subject}
	if c.pending[key] == nil {
		c.pending[key] = new(big.Int)
		c.decision.Charges = append(c.decision.Charges, charge)
	}
	c.pending[key].Add(c.pending[key], charge.Amount)
	for i := range c.decision.Charges {
		if one := &c.decision.Charges[i]; one.Limit == charge.Limit && one.Subject == charge.Subject {
			one.Amount = new(big.Int).Set(c.pending[key])
		}
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
func (c *cover) transactionHazards() error {
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
	return nil
}

// places is how many votes groups need in all.
func places(groups []countersign.Approval) int {
	sum := 0
	for i := range groups {
		sum += groups[i].Count
	}
	return sum
}

// missed is why the rules that were asked do not cover an effect.
type missed struct {
	names  []string // of rules whose condition does not hold
	hazard string
	limit  *countersign.LimitExceeded
	cause  error
	rule   string // of cause, or of hazard
	places int    // approvals that rules need which follow a limit
}

func (m *missed) considered(r *rule) { m.names = append(m.names, r.name) }

func (m *missed) failed(r *rule, err error) {
	m.considered(r)
	if m.cause == nil {
		m.cause, m.rule = err, r.name
	}
}

func (m *missed) hazardous(r *rule, hazard chains.Hazard) {
	if m.hazard == "" {
		m.hazard, m.rule = fmt.Sprintf("rule %s would cover it, but does not list its hazard %s (%s)", r.name, hazard.Name, hazard.Detail), r.name
	}
}

func (m *missed) exceeded(r *rule, exceeded *countersign.LimitExceeded) {
	if m.limit == nil {
		m.limit = exceeded
	}
	m.places = max(m.places, places(r.approvals))
}

// maxNamed is how many rules a refusal names.
const maxNamed = 5

// denial is the refusal of an effect that nothing covers.
func (m *missed) denial(effect *effectView) error {
	if m.limit != nil {
		return m.limit
	}
	text := describe(effect) + " is not covered by any rule"
	switch {
	case m.hazard != "":
		text = describe(effect) + " is not covered: " + m.hazard
	case m.cause != nil:
		text += fmt.Sprintf("; rule %s could not be decided: %v", m.rule, m.cause)
	case len(m.names) > maxNamed:
		text += "; the conditions do not hold of " + strings.Join(m.names[:maxNamed], ", ") + " and others"
	case len(m.names) > 0:
		text += "; the condition does not hold of " + strings.Join(m.names, ", ")
	}
	return &Denial{Rule: m.rule, Effect: effect.index, Text: text, Cause: m.cause}
}

// charges are what a rule's limits count for an effect, or the limit that it
// would exceed.
func (c *cover) charges(r *rule, effect *effectView) ([]store.Charge, *countersign.LimitExceeded, error) {
	var charges []store.Charge
	for _, limit := range r.limits {
		subject, over, why := c.countable(limit, effect)
		switch text := fmt.Sprintf("limit %s of rule %s cannot count %s: %s", limit.name, r.name, describe(effect), why); {
		case over:
			return nil, &countersign.LimitExceeded{Limit: limit.name, Rule: r.name, Text: text}, nil
		case why != "":
			return nil, nil, &uncountableError{text}
		}
		charge := store.Charge{Limit: limit.name, Subject: subject, Amount: effect.Amount.Value, Max: limit.max, Window: limit.window}
		exceeded, err := c.exceeds(r, limit, charge)
		if exceeded != nil || err != nil {
			return nil, exceeded, err
		}
		charges = append(charges, charge)
	}
	return charges, nil, nil
}

// uncountableError says that a limit does not count an effect, so that its rule
// does not cover it.
type uncountableError struct{ text string }

// Error implements error.
func (e *uncountableError) Error() string { return e.text }

// countable returns what a limit is counted for, or why it cannot count an
// effect; over, if the effect is of its asset, without a bound.
func (c *cover) countable(limit *limit, effect *effectView) (subject string, over bool, why string) {
	switch {
	case !effect.counted():
		return "", false, "it has no amount that is spent"
	case effect.Asset.IsUnknown():
		return "", false, "its asset is unknown"
	case !effect.Asset.Equal(limit.asset.Asset):
		return "", false, "it is of " + assetText(effect.Asset)
	case effect.Amount.IsUnknown():
		return "", true, "its amount is not bounded"
	}
	if subject = c.subject(limit.per, effect); subject == "" {
		return "", false, "it has no single " + limit.per
	}
	return subject, false, ""
}

// subject is the value that a limit is counted for; empty if there is no single one.
func (c *cover) subject(per string, effect *effectView) string {
	asked := c.evaluation.asked
	switch per {
	case "user":
		return asked.User.ID
	case "credential":
		if asked.Credential != nil {
			return string(asked.Credential.ID())
		}
	case "to":
		if to := effect.To.Address(); to != nil {
			return hexText(to)
		}
	case "organization":
		return "organization"
	case "key":
		return single(asked.Keys, func(key *countersign.SigningKey) string { return key.ID })
	case "wallet":
		return single(asked.Keys, func(key *countersign.SigningKey) string {
			if key.WalletID == "" {
				return key.ID // a key of no wallet is one of its own
			}
			return key.WalletID
		})
	}
	return ""
}

func single(keys []countersign.SigningKey, of func(*countersign.SigningKey) string) string {
	found := ""
	for i := range keys {
		if found != "" && of(&keys[i]) != found {
			return ""
		}
		found = of(&keys[i])
	}
	return found
}

// exceeds compares a charge with what has been spent and what this request
// charges besides.
func (c *cover) exceeds(r *rule, limit *limit, charge store.Charge) (*countersign.LimitExceeded, error) {
	spent, frees, err := c.spent(charge)
	if err != nil {
		return nil, err
	}
	before := new(big.Int).Set(spent)
	if pending := c.pending[charged{charge.Limit, charge.Subject}]; pending != nil {
		before.Add(before, pending)
	}
	if new(big.Int).Add(before, charge.Amount).Cmp(limit.max) <= 0 {
		return nil, nil
	}
	left := new(big.Int).Sub(limit.max, before)
	if left.Sign() < 0 {
		left.SetInt64(0)
	}
	exceeded := &countersign.LimitExceeded{Limit: limit.name, Rule: r.name, Left: left, Frees: frees}
	exceeded.Text = fmt.Sprintf("limit %s of rule %s: %s is asked for, %s of %s is left within %v",
		limit.name, r.name, unitsText(charge.Amount, limit.asset.decimals), unitsText(left, limit.asset.decimals), unitsText(limit.max, limit.asset.decimals), limit.window)
	return exceeded, nil
}

func (c *cover) spent(charge store.Charge) (*big.Int, time.Time, error) {
	if c.evaluation.asked.Spent == nil {
		return new(big.Int), time.Time{}, nil
	}
	organization := ""
	if c.evaluation.asked.Organization != nil {
		organization = c.evaluation.asked.Organization.ID
	}
	sum, frees, err := c.evaluation.asked.Spent.Spent(c.ctx, organization, charge.Limit, charge.Subject, charge.Window)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("policy: limit %s cannot be read: %w", charge.Limit, err)
	}
	return sum, frees, nil
}

// unitsText writes smallest units as a decimal number.
func unitsText(value *big.Int, decimals int) string {
	text := value.String()
	if decimals <= 0 {
		return text
	}
	text = strings.Repeat("0", max(0, decimals+1-len(text))) + text
	whole, fraction := text[:len(text)-decimals], strings.TrimRight(text[len(text)-decimals:], "0")
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// IsDenied reports whether an error of Decide is a refusal.
func IsDenied(err error) bool { return errors.Is(err, countersign.ErrDenied) }
