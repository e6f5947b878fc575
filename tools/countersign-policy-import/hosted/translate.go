package hosted

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/syntax"
)

// selectorSlice is the one slice that has an equivalent: the first four bytes of the
// call data.
var selectorSlice = plaintext.NewPattern(`\b(eth\.tx|tempo\.tx\.calls\[0\]|tron\.tx\.contract\[0\]|\w+)\.(data|input)\[0\.\.(8|10)\]`)

var (
	otherSlice  = plaintext.NewPattern(`\[\d+\.\.\d+\]`)
	placeholder = plaintext.NewPattern(`(^|[^'\w])(<[A-Za-z_ ]+>|\$\{[^}]*\})`)
	missingCall = plaintext.NewPattern(`\.count\b\s*[^(\s]`)
)

// maxExpression bounds an expression, in characters.
const maxExpression = 4096

// parser has no macros, so that any, all and filter stay calls in the syntax tree.
var parser = sync.OnceValue(func() *cel.Env {
	env, err := cel.NewCustomEnv(cel.ParserExpressionSizeLimit(maxExpression), cel.ParserRecursionLimit(48))
	if err != nil {
		panic("policy/hosted: " + err.Error())
	}
	return env
})

// parse parses an expression of the hosted service.
func parse(text string) (ast.Expr, error) {
	switch {
	case placeholder.MatchString(text):
		return nil, errors.New("it has a placeholder that is not filled in")
	case missingCall.MatchString(text):
		return nil, errors.New("count is a function: write count()")
	}
	text = selectorSlice.Regexp().ReplaceAllString(text, "$1.function_signature")
	if otherSlice.MatchString(text) {
		return nil, errors.New("a slice of raw call data: use effect.to, effect.from and effect.amount of a rule on transfer")
	}
	parsed, issues := parser().Parse(text)
	if issues.Err() != nil {
		message, _, _ := strings.Cut(issues.Errors()[0].Message, "\n")
		return nil, fmt.Errorf("it is not an expression: %s", message)
	}
	return parsed.NativeRep().Expr(), nil
}

func (t *translation) translate(from *source) error {
	if from.Consensus != "" {
		if err := t.consensus(from.Consensus); err != nil {
			return err
		}
	}
	if strings.TrimSpace(from.Condition) == "" {
		if !t.deny {
			t.note("it has no condition: it allows every activity")
		}
		return nil
	}
	root, err := parse(from.Condition)
	if err != nil {
		return err
	}
	if err := t.condition(root); err != nil {
		return err
	}
	if !t.transfers && !t.deny {
		t.note("the policy allowed whole transactions: so does this rule, with everything else that they do")
	}
	if t.chain != "" {
		t.note("it applies to " + t.chain + " only")
	}
	return nil
}

func (t *translation) note(text string) { t.notes = append(t.notes, text) }

// condition translates the clauses that && joins, one by one.
func (t *translation) condition(e ast.Expr) error {
	if syntax.IsCall(e, "_&&_") {
		for _, arg := range e.AsCall().Args() {
			if err := t.condition(arg); err != nil {
				return err
			}
		}
		return nil
	}
	if done, err := t.activity(e); done || err != nil {
		return err
	}
	if done, err := t.overTransfers(e); done || err != nil {
		return err
	}
	clause, err := t.piece(e)
	if err != nil {
		return err
	}
	if clause.text == "true" && !t.deny {
		t.note("it is always true: it allows every activity")
		return nil
	}
	t.when = append(t.when, grouped(e, clause.text, "_||_"))
	return nil
}

// activity translates a clause about the kind of activity. A deny drops it, and so
// applies to every kind; an allow keeps it as a clause on request.type.
func (t *translation) activity(e ast.Expr) (done bool, err error) {
	path, text := comparedText(e)
	switch {
	case !strings.HasPrefix(path, "activity."):
		if mentionsActivity(e) {
			return false,
				errors.New("it is about activities that have no counterpart here, or about several: rules on " +
					"request judge all activities; otp is a kind of effect")
		}
		return false, nil
	case path == "activity.action" && text == "SIGN":
		t.allowOnly("request.type.startsWith('ACTIVITY_TYPE_SIGN_')")
	case path == "activity.kind" && text == "SIGN_TRANSACTION",
		path == "activity.type" && strings.HasPrefix(text, "ACTIVITY_TYPE_SIGN_TRANSACTION"):
		t.allowOnly("request.type.startsWith('ACTIVITY_TYPE_SIGN_TRANSACTION')")
	case path == "activity.params.type" && strings.HasPrefix(text, "TRANSACTION_TYPE_"):
		return true, t.onChain(strings.ToLower(strings.TrimPrefix(text, "TRANSACTION_TYPE_")))
	case path == "activity.type" && strings.HasPrefix(text, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD"):
		return false, errors.New("messages are judged by their effects: allow: message, approve or authority")
	default:
		return false, fmt.Errorf("%s %s has no counterpart here", strings.TrimPrefix(path, "activity."), text)
	}
	return true, nil
}

// allowOnly adds a clause to an allow. A deny without it denies more.
func (t *translation) allowOnly(clause string) {
	if t.deny {
		t.note("it denies activities of all types")
		return
	}
	t.when = append(t.when, clause)
}

// onChain restricts the rule to a chain.
func (t *translation) onChain(chain string) error {
	switch {
	case !slices.Contains(slices.Collect(maps.Values(chainsByRoot)), chain):
		return fmt.Errorf("there is no chain %s here", chain)
	case t.chain != "" && t.chain != chain:
		return fmt.Errorf("it is about %s and %s: a rule applies to one chain", t.chain, chain)
	}
	t.chain = chain
	return nil
}

// comparedText returns the path and the text of path == 'text'.
func comparedText(e ast.Expr) (path, text string) {
	if !syntax.IsCall(e, "_==_") {
		return "", ""
	}
	text, ok := syntax.Text(e.AsCall().Args()[1])
	if !ok {
		return "", ""
	}
	return syntax.Path(e.AsCall().Args()[0]), text
}

// mentionsActivity reports whether any part of an expression is about the activity.
func mentionsActivity(e ast.Expr) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(node ast.Expr) {
		found = found || strings.HasPrefix(syntax.Path(node), "activity.")
	}))
	return found
}

// transferLists are the lists that a rule on transfers replaces.
var transferLists = map[string]struct{ element, guard string }{
	"solana.tx.transfers":     {"transfer", "effect.asset.native"},
	"solana.tx.spl_transfers": {"spl", "!effect.asset.native"},
	"bitcoin.tx.outputs":      {"output", ""},
}

// overTransfers turns an allow that constrains all transfers into a rule on transfers.
// As a rule on the whole request it would also hold for a transaction without any
// transfer, such as a drain by another program.
func (t *translation) overTransfers(e ast.Expr) (done bool, err error) {
	path := syntax.Path(e.AsCall().Target())
	list, ok := transferLists[path]
	if t.deny || !ok || !syntax.IsCall(e, "all") {
		return false, nil
	}
	name, body, err := macroArguments(e.AsCall())
	if err != nil {
		return false, err
	}
	root, _, _ := strings.Cut(path, ".")
	if err := t.onChain(chainsByRoot[root]); err != nil {
		return false, err
	}
	t.scope[name] = variable{element: list.element, effect: true}
	defer delete(t.scope, name)
	clause, err := t.piece(body)
	if err != nil {
		return false, err
	}
	if list.guard != "" {
		t.when = append(t.when, list.guard)
	}
	t.when = append(t.when, grouped(body, clause.text, "_||_"))
	t.transfers = true
	t.note("it constrained all transfers, which a transaction without transfers satisfies: this rule covers transfers and nothing else")
	return true, nil
}
