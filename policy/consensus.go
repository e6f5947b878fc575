package policy

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// consensus turns who must approve into groups of approvals. A submission is a
// vote there and here: an approver who submits has approved.
func (t *translation) consensus(text string) error {
	root, err := parseHosted(text)
	if err != nil {
		return fmt.Errorf("consensus: %w", err)
	}
	return t.consensusClause(root)
}

func (t *translation) consensusClause(e ast.Expr) error {
	if isCall(e, "_&&_") {
		for _, arg := range e.AsCall().Args() {
			if err := t.consensusClause(arg); err != nil {
				return err
			}
		}
		return nil
	}
	if t.deny {
		return errors.New("a deny by who approves: use who in the rule")
	}
	if e.Kind() == ast.LiteralKind && e.AsLiteral() == types.True {
		return nil
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
	t.approvals = append(t.approvals, group)
	return nil
}

// credentialClause reads credentials.any(c, c.public_key == '…').
func credentialClause(e ast.Expr) (string, bool) {
	variable, body, ok := anyOf(e, "credentials")
	if !ok {
		return "", false
	}
	path, text := comparedText(body)
	return "{credential: " + yamlText(text) + "}", path == variable+".public_key"
}

// anyOf reads list.any(x, body).
func anyOf(e ast.Expr, list string) (variable string, body ast.Expr, ok bool) {
	if !isCall(e, "any") || !e.AsCall().IsMemberFunction() || pathOf(e.AsCall().Target()) != list || len(e.AsCall().Args()) != 2 {
		return "", nil, false
	}
	return identOf(e.AsCall().Args()[0]), e.AsCall().Args()[1], true
}

// approverGroup reads one clause about approvers as a group.
func approverGroup(e ast.Expr) (string, error) {
	if variable, body, ok := anyOf(e, "approvers"); ok {
		who, err := approver(variable, body)
		return "{count: 1, " + who + "}", err
	}
	for operator, more := range map[string]int{"_>=_": 0, "_>_": 1} {
		if !isCall(e, operator) {
			continue
		}
		count, ok := e.AsCall().Args()[1].AsLiteral().(types.Int)
		if !ok || !isCall(e.AsCall().Args()[0], "count") {
			break
		}
		return countedGroup(e.AsCall().Args()[0].AsCall().Target(), int(count)+more)
	}
	return "", errors.New("consensus: only approvers.any, approvers.count() and approvers.filter(…).count() are carried over")
}

// countedGroup reads approvers.count() >= n and approvers.filter(…).count() >= n.
func countedGroup(of ast.Expr, count int) (string, error) {
	if pathOf(of) == "approvers" {
		return fmt.Sprintf("{count: %d}", count), nil
	}
	if !isCall(of, "filter") || pathOf(of.AsCall().Target()) != "approvers" || len(of.AsCall().Args()) != 2 {
		return "", errors.New("consensus: only approvers are counted here")
	}
	who, err := approver(identOf(of.AsCall().Args()[0]), of.AsCall().Args()[1])
	return fmt.Sprintf("{count: %d, %s}", count, who), err
}

// approver reads user.id == '…' and user.tags.contains('…').
func approver(variable string, body ast.Expr) (string, error) {
	if path, text := comparedText(body); path == variable+".id" {
		return "users: [" + yamlText(text) + "]", nil
	}
	if isCall(body, "contains") && pathOf(body.AsCall().Target()) == variable+".tags" {
		if text, ok := textOf(body.AsCall().Args()[0]); ok {
			return "tag: " + yamlText(text), nil
		}
	}
	return "", errors.New("consensus: approvers are known by one id or one tag: " + strings.TrimSpace("write a group for each"))
}
