package hosted

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

	"github.com/countersign-dev/countersign/internal/syntax"
)

// consensus translates who must approve into groups of approvals, in which the submission counts
// as the submitter's vote, as it does there.
func (t *translation) consensus(text string) error {
	root, err := parse(text)
	if err != nil {
		return fmt.Errorf("consensus: %w", err)
	}
	return t.consensusClause(root)
}

func (t *translation) consensusClause(e ast.Expr) error {
	if syntax.IsCall(e, "_&&_") {
		for _, arg := range e.AsCall().Args() {
			if err := t.consensusClause(arg); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case e.AsLiteral() == types.True:
		return nil
	case t.deny:
		return errors.New("a deny by who approves: use who in the rule")
	}
	if who, ok := credentialClause(e); ok {
		if t.who != "" {
			return errors.New("two clauses about credentials")
		}
		t.who = who
		return nil
	}
	group, err := approverGroup(e)
	if err != nil {
		return err
	}
	t.approvals = append(t.approvals, strings.TrimSuffix(group, "}")+", submitter: counts}")
	return nil
}

// credentialClause reads credentials.any(c, c.public_key == '…').
func credentialClause(e ast.Expr) (string, bool) {
	variable, body, ok := listCall(e, "any", "credentials")
	if !ok {
		return "", false
	}
	path, text := comparedText(body)
	return "{credential: " + yamlText(text) + "}", path == variable+".public_key"
}

// listCall reads list.function(x, body).
func listCall(e ast.Expr, function, list string) (variable string, body ast.Expr, ok bool) {
	call := e.AsCall()
	if call.FunctionName() != function || syntax.Path(call.Target()) != list || len(call.Args()) != 2 {
		return "", nil, false
	}
	return call.Args()[0].AsIdent(), call.Args()[1], true
}

// approverGroup reads one clause about approvers as a group.
func approverGroup(e ast.Expr) (string, error) {
	if variable, body, ok := listCall(e, "any", "approvers"); ok {
		who, err := approver(variable, body)
		return "{count: 1, " + who + "}", err
	}
	for operator, more := range map[string]int{"_>=_": 0, "_>_": 1} {
		if !syntax.IsCall(e, operator) {
			continue
		}
		counted, least := e.AsCall().Args()[0], e.AsCall().Args()[1]
		if count, ok := least.AsLiteral().(types.Int); ok && syntax.IsCall(counted, "count") {
			return countedGroup(counted.AsCall().Target(), int(count)+more)
		}
	}
	return "", errors.New("consensus: only approvers.any, approvers.count() and approvers.filter(…).count() are carried over")
}

// countedGroup reads approvers.count() >= n and approvers.filter(…).count() >= n.
func countedGroup(of ast.Expr, count int) (string, error) {
	if syntax.Path(of) == "approvers" {
		return fmt.Sprintf("{count: %d}", count), nil
	}
	variable, body, ok := listCall(of, "filter", "approvers")
	if !ok {
		return "", errors.New("consensus: only approvers are counted here")
	}
	who, err := approver(variable, body)
	return fmt.Sprintf("{count: %d, %s}", count, who), err
}

// approver reads user.id == '…' and user.tags.contains('…').
func approver(variable string, body ast.Expr) (string, error) {
	if path, text := comparedText(body); path == variable+".id" {
		return "users: [" + yamlText(text) + "]", nil
	}
	call := body.AsCall()
	if call.FunctionName() == "contains" && syntax.Path(call.Target()) == variable+".tags" && len(call.Args()) == 1 {
		if text, ok := syntax.Text(call.Args()[0]); ok {
			return "tag: " + yamlText(text), nil
		}
	}
	return "", errors.New("consensus: approvers are known by one id or one tag: write a group for each")
}
