package policy

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
)

// Denial is the error of a request that is refused. It wraps [access.ErrDenied] and its cause.
type Denial struct {
	Rule   string // the rule that denies, or whose condition failed; empty if no rule covers an effect
	Effect int    // index of the refused effect; -1 for the whole request
	Text   string
	Cause  error // the error of a condition that failed, or the *[store.LimitError] of a limit that would be exceeded
}

func (d *Denial) Error() string     { return d.Text }
func (d *Denial) RefusedBy() string { return d.Rule }

// Unwrap returns [access.ErrDenied] and the cause.
func (d *Denial) Unwrap() []error {
	if d.Cause == nil {
		return []error{access.ErrDenied}
	}
	return []error{access.ErrDenied, d.Cause}
}

// describe names an effect in a refusal; nil is the request.
func describe(effect *effectView) string {
	if effect == nil {
		return "this request"
	}
	text := fmt.Sprintf("effect %d (%s", effect.index, effect.Kind)
	if !effect.To.IsNone() {
		text += " to " + shorten(effect.To.Shown())
	}
	if effect.Undecoded {
		text += ", not decoded"
	}
	return text + ")"
}

// uncovered collects why rules do not cover an effect.
type uncovered struct {
	names  []string // rules whose condition does not hold, as many as are named and one more
	hazard string   // why a rule whose condition holds does not cover it: a hazard, or what it pays for
	cause  error    // the first error of a condition
	rule   string   // the rule of hazard or cause
	limit  *Denial  // by the first limit that would be exceeded
	votes  int      // how many votes later rules must need, once a limit was exceeded
}

func (m *uncovered) considered(r *rule) {
	if len(m.names) <= maxNamed {
		m.names = append(m.names, r.name)
	}
}

func (m *uncovered) failed(r *rule, err error) {
	m.considered(r)
	if m.cause == nil {
		m.cause, m.rule = err, r.name
	}
}

func (m *uncovered) but(r *rule, why string) {
	if m.hazard == "" {
		m.hazard, m.rule = fmt.Sprintf("rule %s would cover it, but %s", r.name, why), r.name
	}
}

// hazardText names a hazard in a refusal, and what it is of.
func hazardText(hazard chains.Hazard) string {
	whose := "the request's hazard"
	if _, ok := hazard.Effect(); ok {
		whose = "its hazard"
	}
	return fmt.Sprintf("%s %s (%s)", whose, hazard.Name, hazard.Detail)
}

// maxNamed bounds the rules that a refusal names.
const maxNamed = 5

// denial returns the refusal of an effect that no rule covers.
func (m *uncovered) denial(effect *effectView) error {
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
		text += "; conditions that do not hold: " + strings.Join(m.names[:maxNamed], ", ") + " and others"
	case len(m.names) > 0:
		text += "; conditions that do not hold: " + strings.Join(m.names, ", ")
	}
	return &Denial{Rule: m.rule, Effect: effect.index, Text: text, Cause: m.cause}
}
