package policy

import (
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"

	"github.com/countersign-dev/countersign/chains"
)

// maxExpressionCost bounds the cost of evaluating one condition, in CEL's unit, a step of
// about 20 to 50 ns. It leaves room for one loop over the effects of the largest
// transaction, but not for nested loops.
const maxExpressionCost = 100_000

// maxFileCost bounds the cost of evaluating all conditions of a file for each effect of a
// request.
const maxFileCost = 40_000_000

// maxText is an upper bound for the texts that conditions read, in characters.
const maxText = 1024

// sizes estimates the sizes of values. It implements cost.Estimator.
type sizes struct{ *language }

// EstimateSize implements cost.Estimator.
func (s sizes) EstimateSize(element cost.AstNode) *cost.SizeEstimate {
	kind := element.Type()
	switch {
	case kind == nil:
		return nil
	case kind.Kind() == types.ListKind:
		return &cost.SizeEstimate{Min: 0, Max: s.listSize(element.Path())}
	case kind.Kind() == types.StringKind:
		return &cost.SizeEstimate{Min: 0, Max: maxText}
	case kind == amountType || kind == addressType || kind.Kind() == types.StructKind:
		return &cost.SizeEstimate{Min: 1, Max: 1}
	}
	return nil
}

// listSize returns an upper bound for the size of the list at a path.
func (s sizes) listSize(path []string) uint64 {
	if list := s.named(path); list != nil {
		return uint64(len(list.addresses))
	}
	return chains.MaxEffects
}

// named returns the list of the file at a path, or nil.
func (s sizes) named(path []string) *list {
	if len(path) != 1 {
		return nil
	}
	return s.lists[path[0]]
}

// EstimateCallCost implements cost.Estimator.
func (s sizes) EstimateCallCost(function, _ string, _ *cost.AstNode, args []cost.AstNode) *cost.CallEstimate {
	estimate := func(units uint64) *cost.CallEstimate {
		return &cost.CallEstimate{CostEstimate: cost.FixedCostEstimate(units)}
	}
	_, isLiteral := s.literals[function]
	switch {
	case function == "total":
		return estimate(chains.MaxEffects)
	case isLiteral:
		return estimate(4)
	case function == "@in" && len(args) == 2 && args[1].Type().Kind() == types.ListKind:
		if s.named(args[1].Path()) != nil {
			return estimate(4) // one look-up
		}
		if size := args[1].ComputedSize(); size != nil {
			return estimate(size.Max)
		}
		return estimate(s.listSize(args[1].Path()))
	case function == "_==_" || function == "_!=_":
		return estimate(2)
	}
	return nil
}
