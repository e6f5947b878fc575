package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/syntax"
)

// String formats the explanation for people.
func (x *Explanation) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s", x.Decision)
	if x.Rule != "" {
		fmt.Fprintf(&out, " by %s", strings.Join(x.deciding(), ", "))
	}
	out.WriteByte('\n')
	if x.Refusal != "" {
		fmt.Fprintf(&out, "  %s\n", syntax.Printable(x.Refusal))
	}
	for i := range x.Effects {
		x.Effects[i].write(&out)
	}
	for _, c := range x.Charges {
		fmt.Fprintf(&out, "  charges %s of %s to limit %s, for %s", c.Amount, c.Max, c.Limit, c.Subject)
		if c.Nonce != "" {
			nonce := c.Nonce[strings.LastIndexByte(c.Nonce, ' ')+1:]
			fmt.Fprintf(&out, "; of the transactions with nonce %s of this key, only the largest counts", nonce)
		}
		out.WriteByte('\n')
	}
	if x.Prices != "" {
		fmt.Fprintf(&out, "  prices in %s\n", x.Prices)
	}
	for i := range x.Approvals {
		group := &x.Approvals[i]
		many := "s"
		if group.Count == 1 {
			many = ""
		}
		fmt.Fprintf(&out, "  needs %d approval%s by rule %s, %d missing\n", group.Count, many, group.Rule,
			group.Missing)
	}
	for i := range x.Rules {
		x.Rules[i].write(&out)
	}
	return out.String()
}

// deciding returns the rules that decided, each once.
func (x *Explanation) deciding() []string {
	names := []string{x.Rule}
	if x.Refusal != "" {
		return names
	}
	for i := range x.Effects {
		if rule := x.Effects[i].Rule; rule != "" && !slices.Contains(names, rule) {
			names = append(names, rule)
		}
	}
	return names
}

func (x *ExplainedEffect) write(out *strings.Builder) {
	fmt.Fprintf(out, "effect %d: %s\n", x.Effect, syntax.Printable(x.Text))
	if x.Reading != nil {
		fmt.Fprintf(out, "    %s\n", syntax.Printable(readingText(x.Reading)))
	}
	switch {
	case x.Rule != "":
		fmt.Fprintf(out, "    allowed by %s\n", x.Rule)
	case x.NoRule != "":
		fmt.Fprintf(out, "    needs no rule: %s\n", x.NoRule)
	}
}

// readingText describes a descriptor's reading of a call.
func readingText(reading *chains.Reading) string {
	if reading.Function == "" {
		return fmt.Sprintf("not read: %s", shorten(reading.Problem))
	}
	parts := []string{fmt.Sprintf("read with %s: %q of %q, %s",
		shorten(reading.Source), shorten(reading.Intent), shorten(reading.Owner), shorten(reading.Function))}
	for _, arg := range reading.Args {
		parts = append(parts, fmt.Sprintf("%s %q", shorten(arg.Name), shorten(arg.Value)))
	}
	if !reading.Complete {
		parts = append(parts, "incomplete: "+shorten(reading.Problem))
	}
	return strings.Join(parts, ", ")
}

func (a *Answer) write(out *strings.Builder) {
	verb, about := "allow", "the request"
	if a.Deny {
		verb = "deny"
	}
	if a.Effect >= 0 {
		about = fmt.Sprintf("effect %d", a.Effect)
	}
	switch {
	case a.Stopped != "":
		fmt.Fprintf(out, "%s (%s), %s: matches, but %s\n", a.Rule, verb, about, syntax.Printable(a.Stopped))
	case a.Match:
		fmt.Fprintf(out, "%s (%s), %s: matches\n", a.Rule, verb, about)
	case a.Error != "":
		fmt.Fprintf(out, "%s (%s), %s: cannot be decided: %s: %s\n", a.Rule, verb, about, a.Because, a.Error)
	default:
		fmt.Fprintf(out, "%s (%s), %s: does not match: %s\n", a.Rule, verb, about, syntax.Printable(a.Because))
	}
	for _, value := range a.Values {
		fmt.Fprintf(out, "    %s is %s\n", value.Of, syntax.Printable(value.Value))
	}
}
