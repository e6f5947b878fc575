package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
)

// selectorSlice is the one slice that has a name here: the first four bytes of
// the call data.
var selectorSlice = regexp.MustCompile(`\b(eth\.tx|tempo\.tx\.calls\[0\]|tron\.tx\.contract\[0\]|\w+)\.(data|input)\[0\.\.(8|10)\]`)

var (
	otherSlice  = regexp.MustCompile(`\[\d+\.\.\d+\]`)
	placeholder = regexp.MustCompile(`(^|[^'\w])(<[A-Za-z_ ]+>|\$\{[^}]*\})`)
	missingCall = regexp.MustCompile(`\.count\b\s*[^(\s]`)
)

// hostedParser parses without macros, so that they are seen as they are written.
var hostedParser = func() *cel.Env {
	made, err := cel.NewCustomEnv(cel.ParserExpressionSizeLimit(MaxExpression), cel.ParserRecursionLimit(48))
	if err != nil {
		panic("policy: " + err.Error())
	}
	return made
}()

func (t *translation) translate(hosted *HostedPolicy) error {
	if hosted.Consensus != "" {
		if err := t.consensus(hosted.Consensus); err != nil {
			return err
		}
	}
	if strings.TrimSpace(hosted.Condition) == "" {
		if !t.deny {
			t.notes = append(t.notes, "it has no condition: it allows every activity")
		}
		return nil
	}
	root, err := parseHosted(hosted.Condition)
	if err != nil {
		return err
	}
	t.scope = map[string]string{}
	if err := t.condition(root); err != nil {
		return err
	}
	if !t.effects && !t.deny {
		t.notes = append(t.notes, "the policy allowed whole transactions: so does this rule, with everything else that they do")
	}
	if t.chain != "" {
		t.notes = append(t.notes, "it looks at "+t.chain+", and says nothing of other chains")
	}
	return nil
}

// parseHosted parses an expression of the hosted service.
func parseHosted(text string) (ast.Expr, error) {
	switch {
	case placeholder.MatchString(text):
		return nil, errors.New("it has a placeholder that is not filled in")
	case missingCall.MatchString(text):
		return nil, errors.New("count is a function: write count()")
	}
	text = selectorSlice.ReplaceAllString(text, "$1.function_signature")
	if otherSlice.MatchString(text) {
		return nil, errors.New("a slice of raw call data: use effect.to, effect.from and effect.amount of a rule on transfer")
	}
	parsed, issues := hostedParser.Parse(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("it is not an expression: %s", firstLine(issues.Errors()[0].Message))
	}
	return parsed.NativeRep().Expr(), nil
}

// condition translates the clauses that && joins, each by itself.
func (t *translation) condition(e ast.Expr) error {
	if isCall(e, "_&&_") {
		for _, arg := range e.AsCall().Args() {
			if err := t.condition(arg); err != nil {
				return err
			}
		}
		return nil
	}
	if taken, err := t.activity(e); taken || err != nil {
		return err
	}
	if taken, err := t.overTransfers(e); taken || err != nil {
		return err
	}
	made, err := t.piece(e)
	if err != nil {
		return err
	}
	if isCall(e, "_||_") {
		made.text = "(" + made.text + ")"
	}
	if made.text == "true" && !t.deny {
		t.notes = append(t.notes, "it is always true: it allows every activity")
		return nil
	}
	t.when = append(t.when, made.text)
	return nil
}

func isCall(e ast.Expr, name string) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == name
}

// activity takes clauses about the kind of activity, which the rule's scope and
// on say here.
func (t *translation) activity(e ast.Expr) (taken bool, err error) {
	path, text := comparedText(e)
	if !strings.HasPrefix(path, "activity.") {
		if strings.HasPrefix(mentionedPath(e), "activity.") {
			return false, errors.New("it is about activities that have no counterpart here, or about several: rules on request judge all activities; otp is a kind of effect")
		}
		return false, nil
	}
	switch {
	case path == "activity.action" && text == "SIGN",
		path == "activity.kind" && text == "SIGN_TRANSACTION",
		path == "activity.type" && strings.HasPrefix(text, "ACTIVITY_TYPE_SIGN_TRANSACTION"):
		t.notes = append(t.notes, "transactions and messages are judged by the same rules")
		return true, nil
	case path == "activity.params.type" && strings.HasPrefix(text, "TRANSACTION_TYPE_"):
		return true, t.onChain(strings.ToLower(strings.TrimPrefix(text, "TRANSACTION_TYPE_")))
	}
	if path == "activity.type" && strings.HasPrefix(text, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD") {
		return false, errors.New("messages are judged by their effects: allow: message, approve or authority")
	}
	return false, fmt.Errorf("%s %s has no counterpart here", strings.TrimPrefix(path, "activity."), shorten(text))
}

func (t *translation) onChain(chain string) error {
	if t.chain != "" && t.chain != chain {
		return fmt.Errorf("it looks at %s and %s: a rule is about one chain", t.chain, chain)
	}
	t.chain = chain
	return nil
}

// comparedText returns the path and the text of path == 'text'.
func comparedText(e ast.Expr) (path, text string) {
	if !isCall(e, "_==_") {
		return "", ""
	}
	text, ok := textOf(e.AsCall().Args()[1])
	if !ok {
		return "", ""
	}
	return pathOf(e.AsCall().Args()[0]), text
}

// mentionedPath returns a path about activities that an expression has anywhere.
func mentionedPath(e ast.Expr) (found string) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(part ast.Expr) {
		if path := pathOf(part); strings.HasPrefix(path, "activity.") {
			found = path
		}
	}))
	return found
}

// pathOf returns a.b.c of selections, empty for anything else.
func pathOf(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent()
	case ast.SelectKind:
		if base := pathOf(e.AsSelect().Operand()); base != "" {
			return base + "." + e.AsSelect().FieldName()
		}
	}
	return ""
}

// overTransfers turns an allow that says what all transfers are like into a rule
// on transfers. As a rule on the whole transaction it would hold for one without
// any: for a drain by another program.
func (t *translation) overTransfers(e ast.Expr) (taken bool, err error) {
	if t.deny || !isCall(e, "all") || !e.AsCall().IsMemberFunction() {
		return false, nil
	}
	over := map[string]struct{ element, guard, chain string }{
		"solana.tx.transfers":     {"transfer", "effect.asset.native", "solana"},
		"solana.tx.spl_transfers": {"spl", "!effect.asset.native", "solana"},
		"bitcoin.tx.outputs":      {"output effect", "", "bitcoin"},
	}
	list, ok := over[pathOf(e.AsCall().Target())]
	if !ok || len(e.AsCall().Args()) != 2 {
		return false, nil
	}
	if err := t.onChain(list.chain); err != nil {
		return false, err
	}
	variable := e.AsCall().Args()[0].AsIdent()
	t.scope[variable] = list.element
	defer delete(t.scope, variable)
	body, err := t.piece(e.AsCall().Args()[1])
	if err != nil {
		return false, err
	}
	if list.guard != "" {
		t.when = append(t.when, list.guard)
	}
	if isCall(e.AsCall().Args()[1], "_||_") {
		body.text = "(" + body.text + ")"
	}
	t.when = append(t.when, body.text)
	t.effects = true
	t.notes = append(t.notes, "it said what all transfers are like, which holds of a transaction without any: this rule covers transfers, and nothing else")
	return true, nil
}
