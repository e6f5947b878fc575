package policy

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// Where a match refuses, as in a deny, an address of a list stands for every recipient that can
// be computed from it, or from which it can be computed: no one evades the list by another form
// of its address. Elsewhere an address is itself.

// barred begins the name of a list where a match refuses. No file can write it.
const barred = "@"

// barList is a list where a match refuses.
type barList struct{ *addressList }

// Contains implements traits.Container.
func (l barList) Contains(value ref.Val) ref.Val {
	wanted, ok := value.(*address)
	if !ok {
		return types.MaybeNoSuchOverloadErr(value)
	}
	for _, owner := range wanted.owners {
		if l.bars(&address{namespace: wanted.namespace, bytes: string(owner.Address()), mint: wanted.mint}) {
			return types.True
		}
	}
	return types.Bool(l.bars(wanted))
}

// bars reports whether an address is listed in some form.
func (l barList) bars(wanted *address) bool {
	if l.holds(wanted) || l.alike[wanted.key()] {
		return true
	}
	for _, key := range wanted.alike(l.anyChain) {
		if l.set[key] || l.alike[key] {
			return true
		}
	}
	said := words().namespaces[wanted.namespace]
	if wanted.mint == "" || len(l.wallets) == 0 || len(wanted.bytes) != said.AddressSize {
		return false
	}
	return slices.ContainsFunc(said.TokenAccounts(wanted.bytes, wanted.mint), func(account string) bool {
		return l.set[(&address{namespace: wanted.namespace, bytes: account}).key()]
	})
}

// alike returns the keys of the addresses of other forms; with anyChain, those on other chains
// too.
func (a *address) alike(anyChain bool) (keys []string) {
	said := words().namespaces[a.namespace]
	if said.Alike != nil {
		for _, other := range said.Alike([]byte(a.bytes)) {
			keys = append(keys, (&address{namespace: a.namespace, bytes: string(other)}).key())
		}
	}
	if anyChain && said.Account != nil {
		keys = append(keys, "\x00"+string(said.Account([]byte(a.bytes))))
	}
	return keys
}

// barLists rewrites the lists of a condition where a match refuses: in a deny, and under ! in
// an allow. Where that cannot be told, as in a filter, an address is itself.
func barLists(e ast.Expr, bars bool) {
	if e.Kind() == ast.ComprehensionKind {
		barLists(e.AsComprehension().LoopStep(), bars)
		return
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case "_&&_", "_||_":
		barLists(args[0], bars)
		barLists(args[1], bars)
	case "!_":
		barLists(args[0], !bars)
	case "_?_:_":
		barLists(args[1], bars)
		barLists(args[2], bars)
	case "@in":
		if name := args[1].AsIdent(); bars && name != "" {
			args[1].SetKindCase(ast.NewExprFactory().NewIdent(args[1].ID(), barred+name))
		}
	}
}
