package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
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

// IsDenied reports whether an error of Decide is a refusal.
func IsDenied(err error) bool { return errors.Is(err, countersign.ErrDenied) }

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

func indexOf(effect *effectView) int {
	if effect == nil {
		return -1
	}
	return effect.index
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
