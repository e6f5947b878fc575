package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/syntax"
	"github.com/countersign-dev/countersign/store"
)

// Explanation is a decision with its reasons.
type Explanation struct {
	Decision  string            `json:"decision"`       // allow, approvals or deny
	Rule      string            `json:"rule,omitempty"` // that denies, or that allows the first effect
	Refusal   string            `json:"refusal,omitempty"`
	Effects   []ExplainedEffect `json:"effects"`
	Rules     []Answer          `json:"rules"`
	Approvals []access.Group    `json:"approvals,omitempty"` // with the number of missing votes
	Charges   []Charge          `json:"charges,omitempty"`
	Digest    string            `json:"digest"`
	Prices    string            `json:"prices,omitempty"` // of limits in a currency: see [File.PricesText]
}

// ExplainedEffect is an effect and the rule that allows it.
type ExplainedEffect struct {
	Effect  int             `json:"effect"` // index
	Text    string          `json:"text"`
	Rule    string          `json:"rule,omitempty"`   // empty if no rule allows it, or none is needed
	NoRule  string          `json:"noRule,omitempty"` // why none is needed
	Reading *chains.Reading `json:"reading,omitempty"`
}

// Charge is a charge of a limit. Amounts are decimal numbers of its asset.
type Charge struct {
	Limit   string `json:"limit"`
	Subject string `json:"subject"`
	Amount  string `json:"amount"`
	Spent   string `json:"spent,omitempty"` // with this charge; in a replay only
	Max     string `json:"max"`

	// Nonce is set if the limit says replaces: nonce: "KEY NETWORK NONCE". Of the transactions
	// that it is of, only the largest charge counts.
	Nonce string `json:"nonce,omitempty"`
}

// Answer is the result of one rule for one effect, or for the request.
type Answer struct {
	Rule    string  `json:"name"`
	Deny    bool    `json:"deny"`
	Effect  int     `json:"effect"` // index; -1 for the request
	Match   bool    `json:"matched"`
	Decides bool    `json:"decides,omitempty"` // of an allow that matched: it decided the effect
	Stopped string  `json:"stopped,omitempty"` // why an allow that matched did not: its limit
	Because string  `json:"because,omitempty"` // the first clause that did not hold, or an unlisted hazard
	Error   string  `json:"error,omitempty"`   // why the clause could not be decided
	Values  []Value `json:"values,omitempty"`  // of the members in the clause
}

// Value is a member in a clause and its value.
type Value struct {
	Of    string `json:"of"`
	Value string `json:"value"`
}

// Explain decides as [File.Decide] does. For every rule it reports whether the rule matched
// or which clause was the first not to hold, with the values that the clause saw.
func (f *File) Explain(ctx context.Context, request access.Authorization) (*Explanation, error) {
	return f.ExplainNamed(ctx, request, nil)
}

// ExplainNamed is [File.Explain] with names of tokens and parties. An asset that they do not
// know has its name in the file.
func (f *File) ExplainNamed(
	ctx context.Context, request access.Authorization, names chains.Names,
) (*Explanation, error) {
	c := f.cover(ctx, &request)
	decision, err := c.decide()
	if err != nil && !errors.Is(err, access.ErrDenied) {
		return nil, err
	}
	x := &Explanation{Decision: expectAllow, Digest: f.DigestText(), Prices: f.PricesText()}
	x.Approvals = slices.Clone(decision.Approvals)
	for i, missing := range access.Missing(x.Approvals, request.Votes, request.User.ID, request.Now) {
		x.Approvals[i].Missing = missing
	}
	for _, charge := range decision.Charges {
		x.Charges = append(x.Charges, f.chargeText(charge))
	}
	if c.tooCostly() == nil {
		for _, r := range f.rules {
			x.Rules = append(x.Rules, c.answers(r)...)
		}
	}
	x.addEffects(c, fileNames{f, names})
	switch {
	case err != nil:
		x.Decision, x.Refusal, x.Rule = expectDeny, err.Error(), "" // unless it is a deny that refuses
		denial, isDenial := errors.AsType[*Denial](err)
		denies := func(r *rule) bool { return r.deny && r.name == denial.Rule }
		if isDenial && slices.ContainsFunc(f.rules, denies) {
			x.Rule = denial.Rule
		}
		return x, nil
	case missingAny(&decision, &request):
		x.Decision = expectApprovals
	}
	return x, nil
}

// chargeText returns a charge with its amounts as decimal numbers.
func (f *File) chargeText(charge store.Charge) Charge {
	asset := f.limits[charge.Limit].asset
	return Charge{
		Limit: charge.Limit, Subject: charge.Subject, Nonce: charge.Slot,
		Amount: asset.decimal(charge.Amount), Max: asset.decimal(charge.Max),
	}
}

// addEffects adds the effects with their descriptors' readings and the rules that allow
// them.
func (x *Explanation) addEffects(c *cover, names chains.Names) {
	e := c.evaluation
	x.Effects = make([]ExplainedEffect, len(e.effects))
	for i := range e.effects {
		effect := &e.effects[i]
		x.Effects[i] = ExplainedEffect{Effect: i, Text: chains.Sentence(*effect.Effect, names), Rule: c.decided[i]}
		switch {
		case c.needsCover(effect), c.decided[i] != "":
		case effect.Change:
			x.Effects[i].NoRule = "change, back to the wallet that pays"
		default:
			x.Effects[i].NoRule = "authorized by another signature"
		}
		if reading, ok := e.request.Readings.Of(effect.Effect); ok {
			x.Effects[i].Reading = &reading
		}
		x.Rule = cmp.Or(x.Rule, x.Effects[i].Rule)
	}
}

// answers evaluates a rule for the request or for each effect that it is about.
func (c *cover) answers(r *rule) []Answer {
	e := c.evaluation
	answer := Answer{Rule: r.name, Deny: r.deny, Effect: -1}
	switch {
	case len(r.on) > 0 && !slices.Contains(r.on, e.chain):
		answer.Because = "on: " + strings.Join(r.on, ", ")
		return []Answer{answer}
	case !r.isOf(e.request):
		answer.Because = "of: " + r.of
		return []Answer{answer}
	case !r.who.holds(e.request):
		answer.Because = "who"
		answer.Values = []Value{{"user", e.request.User.Name}, {"tags", strings.Join(e.request.User.Tags, ", ")}}
		return []Answer{answer}
	case !r.coversKeys(e.request.Keys):
		answer.Because = "key: " + strings.Join(r.keys, ", ")
		return []Answer{answer}
	}
	var answers []Answer
	if r.request { // for the request, and for each payload if there are several
		for _, name := range append([]string{""}, e.payloads()...) {
			e.bind(nil, name, r.hidesReceived())
			answers = append(answers, c.answer(r, answer))
		}
		return answers
	}
	for i := range e.effects {
		effect := &e.effects[i]
		if r.judges(effect) && slices.Contains(r.kinds, effect.Kind) {
			e.bind(effect, effect.Payload(), r.hidesReceived())
			answer.Effect = i
			answers = append(answers, c.answer(r, answer))
		}
	}
	if answers == nil {
		answer.Because = kindsText(r.kinds)
		return []Answer{answer}
	}
	return answers
}

// answer evaluates the clauses of the condition one by one, then the hazards that an
// allow must list, and completes the answer.
func (c *cover) answer(r *rule, answer Answer) Answer {
	e := c.evaluation
	if !r.isOn(e, e.payload) {
		answer.Because = "chains: " + cmp.Or(strings.Join(r.networks, ", "), "none")
		return answer
	}
	for _, clause := range r.when.parts() {
		holds, err := clause.holds(e)
		if err != nil {
			answer.Error = err.Error()
		}
		if !holds {
			answer.Because, answer.Values = clause.source, clause.members(e)
			return answer
		}
	}
	if r.deny {
		answer.Match = true
		return answer
	}
	hazards := c.whole
	if e.current != nil {
		hazards = slices.Concat(c.hazardsOf(e.current), hazards)
	}
	if hazard, unlisted := r.unlisted(hazards); unlisted {
		answer.Because = "hazards: it does not list " + hazardText(hazard)
		return answer
	}
	answer.Match = true
	first, end := 0, len(c.decided) // all effects for a rule on the request
	if e.current != nil {
		first, end = e.current.index, e.current.index+1
	}
	for effect := first; effect < end; effect++ {
		answer.Decides = answer.Decides || c.decided[effect] == r.name
		answer.Stopped = cmp.Or(answer.Stopped, c.stopped[stop{r, effect}])
	}
	return answer
}

const maxShownValues = 8

func (c *clause) members(e *evaluation) []Value {
	parsed, issues := c.in.env.Parse(c.source)
	if issues.Err() != nil {
		return nil
	}
	var values []Value
	seen := map[string]bool{}
	ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(node ast.Expr) {
		path := syntax.Path(node)
		if node.Kind() != ast.SelectKind || path == "" || seen[path] || len(values) == maxShownValues {
			return
		}
		for longer := range seen {
			if strings.HasPrefix(longer, path+".") {
				return
			}
		}
		seen[path] = true
		if text, ok := c.valueOf(path, e); ok {
			values = append(values, Value{path, text})
		}
	}))
	return values
}

func (c *clause) valueOf(path string, e interpreter.Activation) (string, bool) {
	checked, issues := c.in.env.Compile(path)
	if issues.Err() != nil {
		return "", false // a variable of a macro
	}
	program, err := c.in.env.Program(checked)
	if err != nil {
		return "", false
	}
	value, _, err := program.Eval(e)
	if err != nil {
		text, ok := strings.CutPrefix(err.Error(), path+" is ")
		if !ok {
			text = "undecided: " + text
		}
		return text, true
	}
	return showValue(value), true
}

func showValue(value ref.Val) string {
	switch v := value.(type) {
	case *amount, *address, *asset:
		return fmt.Sprint(v)
	case types.String:
		return fmt.Sprintf("%q", shorten(string(v)))
	case *object:
		return v.kind.TypeName()
	}
	if sized, ok := value.(interface{ Size() ref.Val }); ok {
		return fmt.Sprintf("a list of %v", sized.Size().Value())
	}
	return shorten(fmt.Sprint(value.Value()))
}

// fileNames are names for display, with those that a file gives to assets.
type fileNames struct {
	file  *File
	other chains.Names // may be nil
}

func (n fileNames) Token(of chains.Asset) (symbol string, decimals int, ok bool) {
	if n.other != nil {
		if symbol, decimals, ok = n.other.Token(of); ok {
			return symbol, decimals, ok
		}
	}
	for _, named := range n.file.assets {
		if named.decimals >= 0 && named.Asset.Equal(of) {
			return named.name, named.decimals, true
		}
	}
	return "", 0, false
}

func (n fileNames) Label(party chains.Party) string {
	if n.other == nil {
		return ""
	}
	return n.other.Label(party)
}
