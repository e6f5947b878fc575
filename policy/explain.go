package policy

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
	"cel.dev/cel-go/parser"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// Explanation is what a file says of a request, and why.
type Explanation struct {
	Decision  string                   `json:"decision"`       // allow, approvals or deny
	Rule      string                   `json:"rule,omitempty"` // that denies, or that allows the first effect
	Refusal   string                   `json:"refusal,omitempty"`
	Effects   []ExplainedEffect        `json:"effects"`
	Rules     []Answer                 `json:"rules"`
	Approvals []activity.ApprovalGroup `json:"approvals,omitempty"` // with the votes that are missing
	Hazards   []string                 `json:"hazards,omitempty"`   // that no rule allows: refused, unless the configuration allows them
	Charges   []ExplainedCharge        `json:"charges,omitempty"`
	Digest    string                   `json:"digest"`
}

// ExplainedEffect is one effect, and the rule that allows it.
type ExplainedEffect struct {
	Effect  int             `json:"effect"` // index
	Text    string          `json:"text"`
	Rule    string          `json:"rule,omitempty"`   // empty if none does, or none has to
	NoRule  string          `json:"noRule,omitempty"` // why none has to
	Reading *chains.Reading `json:"reading,omitempty"`
}

// ExplainedCharge is a charge as text.
type ExplainedCharge struct {
	Limit   string `json:"limit"`
	Subject string `json:"subject"`
	Amount  string `json:"amount"`
	Max     string `json:"max"`
}

// Answer is what one rule says of one effect, or of the request.
type Answer struct {
	Rule    string  `json:"name"`
	Deny    bool    `json:"deny"`
	Effect  int     `json:"effect"` // index; -1 for the request
	Match   bool    `json:"matched"`
	Because string  `json:"because,omitempty"` // the first clause that did not hold
	Error   string  `json:"error,omitempty"`   // why the clause cannot be decided
	Values  []Value `json:"values,omitempty"`  // that the clause saw
}

// Value is a part of a clause and what it was.
type Value struct {
	Of    string `json:"of"`
	Value string `json:"value"`
}

// Explain decides as Decide does, and says of every rule whether it matched or
// which of its clauses was the first not to hold, with the values that it saw.
func (f *File) Explain(ctx context.Context, asked countersign.Authorization) (*Explanation, error) {
	covering := &cover{file: f, evaluation: newEvaluation(&asked, len(f.rules)), ctx: ctx, pending: map[charged]*big.Int{}, decided: map[int]string{}}
	decision, err := f.decide(covering)
	if err != nil && !errors.Is(err, countersign.ErrDenied) {
		return nil, err
	}
	made := &Explanation{Decision: expectAllow, Approvals: groupsAsked(&asked, decision.Approvals), Digest: f.DigestText()}
	for _, charge := range decision.Charges {
		decimals := f.limits[charge.Limit].asset.decimals
		made.Charges = append(made.Charges, ExplainedCharge{charge.Limit, charge.Subject, unitsText(charge.Amount, decimals), unitsText(charge.Max, decimals)})
	}
	switch {
	case err != nil:
		made.Decision, made.Refusal = expectDeny, err.Error()
	case missingAny(&decision, &asked):
		made.Decision = expectApprovals
	}
	e := newEvaluation(&asked, len(f.rules))
	for _, r := range f.rules {
		made.Rules = append(made.Rules, f.answers(e, r)...)
	}
	f.effects(made, e, covering)
	if err == nil {
		made.Hazards = hazardsLeft(&asked, &decision)
	}
	if err != nil {
		made.Rule = f.denying(err)
	}
	return made, nil
}

// groupsAsked are groups of approvals as a record has them, with what is missing.
func groupsAsked(asked *countersign.Authorization, groups []countersign.Approval) []activity.ApprovalGroup {
	var shown []activity.ApprovalGroup
	for i := range groups {
		group := &groups[i]
		shown = append(shown, activity.ApprovalGroup{
			Rule: group.Rule, Count: group.Count, Tag: group.Tag, Users: group.Users, NotSubmitter: group.NotSubmitter,
			Passkey: group.Passkey, Within: group.Within, Missing: group.Missing(asked.Votes, asked.User.ID, asked.Now),
		})
	}
	return shown
}

// noRule says why no rule is asked about an effect.
func noRule(effect *chains.Effect) string {
	if effect.Change {
		return "change, back to the wallet that pays"
	}
	return "authorized by another signature"
}

// denying returns the deny that a refusal comes from; empty if nothing allows.
func (f *File) denying(err error) string {
	denial, _ := errors.AsType[*Denial](err)
	if denial == nil || !slices.ContainsFunc(f.rules, func(r *rule) bool { return r.deny && r.name == denial.Rule }) {
		return ""
	}
	return denial.Rule
}

// hazardsLeft names the hazards that no deciding rule allows.
func hazardsLeft(asked *countersign.Authorization, decision *countersign.Decision) (left []string) {
	for i := range asked.Hazards {
		if !slices.ContainsFunc(decision.Hazards, func(allowed chains.Hazard) bool { return reflect.DeepEqual(allowed, asked.Hazards[i]) }) {
			left = append(left, asked.Hazards[i].Name)
		}
	}
	return left
}

// effects says of each effect what it is, what descriptors say of it, and by which rule
// it is allowed.
func (f *File) effects(x *Explanation, e *evaluation, covering *cover) {
	x.Effects = make([]ExplainedEffect, len(e.effects))
	for i := range e.effects {
		of := &e.effects[i]
		x.Effects[i] = ExplainedEffect{Effect: i, Text: chains.Sentence(*of.Effect, nil), Rule: covering.decided[i]}
		if !f.needsCover(e, of) {
			x.Effects[i].NoRule = noRule(of.Effect)
		}
		if reading, ok := e.asked.Readings.At(of.Path); ok {
			x.Effects[i].Reading = &reading
		}
		if x.Rule == "" {
			x.Rule = x.Effects[i].Rule
		}
	}
}

// answers asks one rule about everything that it can be asked about.
func (f *File) answers(e *evaluation, r *rule) []Answer {
	base := Answer{Rule: r.name, Deny: r.deny, Effect: -1}
	switch {
	case len(r.on) > 0 && !contains(r.on, e.chain):
		base.Because = "on: " + strings.Join(r.on, ", ")
		return []Answer{base}
	case !r.who.holds(e.asked):
		base.Because = "who"
		base.Values = []Value{{"user", e.asked.User.Name}, {"tags", strings.Join(e.asked.User.Tags, ", ")}}
		return []Answer{base}
	case !r.isKey(e.asked.Keys):
		base.Because = "key: " + strings.Join(r.keys, ", ")
		return []Answer{base}
	}
	if r.request {
		e.current = nil
		return []Answer{r.answer(e, base)}
	}
	var answers []Answer
	for i := range e.effects {
		if !r.isAbout(&e.effects[i]) {
			continue
		}
		e.current, base.Effect = &e.effects[i], i
		answers = append(answers, r.answer(e, base))
	}
	if answers == nil {
		base.Because = kindsText(r.kinds)
		return []Answer{base}
	}
	return answers
}

// isAbout reports whether the rule is asked about an effect.
func (r *rule) isAbout(effect *effectView) bool {
	if !effect.judged() && (!r.others || effect.By != chains.ByOther) {
		return false
	}
	for _, kind := range r.kinds {
		if kind == effect.Kind {
			return true
		}
	}
	return false
}

// answer evaluates the clauses of a condition one by one.
func (r *rule) answer(e *evaluation, answer Answer) Answer {
	if r.when == nil {
		answer.Match = true
		return answer
	}
	for _, clause := range r.when.clauses() {
		held, values, err := clause.see(e)
		if err != nil {
			answer.Error = err.Error()
		}
		if !held {
			answer.Because, answer.Values = clause.source, values
			return answer
		}
	}
	answer.Match = true
	return answer
}

// clauses are the parts of a condition that && joins.
func (x *expression) clauses() []*expression {
	var found []*expression
	var split func(ast.Expr)
	split = func(e ast.Expr) {
		if isCall(e, "_&&_") {
			for _, arg := range e.AsCall().Args() {
				split(arg)
			}
			return
		}
		text, err := parser.Unparse(e, x.parsed.NativeRep().SourceInfo())
		if err != nil {
			text = x.source
		}
		found = append(found, &expression{source: text, env: x.env, cost: x.cost})
	}
	split(x.parsed.NativeRep().Expr())
	return found
}

// see evaluates a clause and returns what its members were.
func (x *expression) see(e *evaluation) (held bool, values []Value, err error) {
	program, err := newProgram(x.env, x.source, true)
	if err != nil {
		return false, nil, err
	}
	value, _, err := program.Eval(e)
	return err == nil && value == types.True, x.members(e), err
}

// maxShownValues bounds what is shown of one clause.
const maxShownValues = 8

// members are the values of the members that a clause names.
func (x *expression) members(e *evaluation) []Value {
	parsed, issues := x.env.Parse(x.source)
	if issues.Err() != nil {
		return nil
	}
	var values []Value
	seen := map[string]bool{}
	native := parsed.NativeRep()
	ast.PreOrderVisit(native.Expr(), ast.NewExprVisitor(func(part ast.Expr) {
		path := pathOf(part)
		if part.Kind() != ast.SelectKind || path == "" || seen[path] || len(values) == maxShownValues {
			return
		}
		for known := range seen {
			if strings.HasPrefix(known, path+".") {
				return
			}
		}
		seen[path] = true
		if text, ok := x.valueOf(path, e); ok {
			values = append(values, Value{path, text})
		}
	}))
	return values
}

// valueOf evaluates a path by itself.
func (x *expression) valueOf(path string, e interpreter.Activation) (string, bool) {
	checked, issues := x.env.Compile(path)
	if issues.Err() != nil {
		return "", false // a variable of a macro
	}
	program, err := x.env.Program(checked)
	if err != nil {
		return "", false
	}
	value, _, err := program.Eval(e)
	if err != nil {
		return err.Error(), true
	}
	return showValue(value), true
}

// showValue writes a value for a person.
func showValue(value ref.Val) string {
	switch of := value.(type) {
	case *amount, *address, *asset:
		return fmt.Sprint(of)
	case types.String:
		return fmt.Sprintf("%q", shorten(string(of)))
	case *object:
		return of.kind.TypeName()
	}
	if sized, ok := value.(interface{ Size() ref.Val }); ok {
		return fmt.Sprintf("a list of %v", sized.Size().Value())
	}
	return shorten(fmt.Sprint(value.Value()))
}
