package policy

import (
	"fmt"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/countersign-dev/countersign/chains"
)

// Bounds of expressions.
const (
	maxExpression = 4096 // bytes
	maxNesting    = 2    // of comprehensions (all, exists, filter)
	maxRecursion  = 48   // of the parser
)

// standardFunctions are the functions of the standard library that expressions have:
// logic, equality, order of integers and times, membership, indexing and size of lists,
// and tests on text. There is no dyn, type, conversion, map, matches, or arithmetic on
// numbers.
var standardFunctions = map[string][]string{
	"!_": nil, "_&&_": nil, "_||_": nil, "_?_:_": nil, "@not_strictly_false": nil,
	"_==_": nil, "_!=_": nil,
	"_<_":        {"less_int64", "less_timestamp"},
	"_<=_":       {"less_equals_int64", "less_equals_timestamp"},
	"_>_":        {"greater_int64", "greater_timestamp"},
	"_>=_":       {"greater_equals_int64", "greater_equals_timestamp"},
	"_+_":        {"add_list"}, // of filter
	"_[_]":       {"index_list"},
	"@in":        {"in_list"},
	"size":       {"size_list", "list_size", "size_string", "string_size"},
	"contains":   {"contains_string"},
	"startsWith": {"starts_with_string"},
	"endsWith":   {"ends_with_string"},
}

func standardLibrary() cel.EnvOption {
	subset := env.NewLibrarySubset().AddIncludedMacros("has", "all", "exists", "filter")
	for _, name := range sortedKeys(standardFunctions) {
		function := &env.Function{Name: name}
		for _, id := range standardFunctions[name] {
			function.Overloads = append(function.Overloads, &env.Overload{ID: id})
		}
		subset.AddIncludedFunctions(function)
	}
	return cel.StdLib(cel.StdLibSubset(subset))
}

// variables are the names that every expression has, besides the lists and assets of its
// file.
func variables() map[string]*types.Type {
	all := map[string]*types.Type{
		"effect": effectType, "effects": types.NewListType(effectType), "key": keyType, "user": userType,
		"credential": credentialType, "time": timeType, "request": requestType, "wallet": types.StringType,
	}
	for name := range words().roots {
		all[name] = words().types[name]
	}
	return all
}

// newEnvironment returns the environment of a file's expressions.
func newEnvironment(lists map[string]*list, assets map[string]*asset) (*cel.Env, error) {
	provider := newProvider()
	options := []cel.EnvOption{
		cel.CustomTypeAdapter(provider), cel.CustomTypeProvider(provider),
		cel.ParserExpressionSizeLimit(maxExpression), cel.ParserRecursionLimit(maxRecursion),
		cel.EnableMacroCallTracking(),
		standardLibrary(),
		cel.ASTValidators(cel.ValidateComprehensionNestingLimit(maxNesting)),
		cel.HomogeneousAggregateLiterals(),
	}
	for name, kind := range variables() {
		options = append(options, cel.Variable(name, kind))
	}
	for name, list := range lists {
		options = append(options, cel.Constant(name, types.NewListType(addressType), list.value),
			cel.Constant(barred+name, types.NewListType(addressType), barList{list.value}))
	}
	for name, asset := range assets {
		options = append(options, cel.Constant(name, assetType, asset))
	}
	env, err := cel.NewCustomEnv(append(options, functions()...)...)
	if err != nil {
		return nil, fmt.Errorf("policy: environment of expressions: %w", err)
	}
	return env, nil
}

// functions are the functions that the standard library does not have.
func functions() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.Function("_<_", cel.Overload("less_amount", pair(amountType), types.BoolType)),
		cel.Function("_<=_", cel.Overload("less_equals_amount", pair(amountType), types.BoolType)),
		cel.Function("_>_", cel.Overload("greater_amount", pair(amountType), types.BoolType)),
		cel.Function("_>=_", cel.Overload("greater_equals_amount", pair(amountType), types.BoolType)),
		cel.Function("_+_", cel.Overload("add_amount", pair(amountType), amountType)),
		literal("address", addressType, func(text string) (ref.Val, error) { return words().readAddress(text) }),
		literal("timestamp", types.TimestampType, parseTimestamp),
		cel.Function("amount", cel.Overload("amount_asset_string", []*types.Type{assetType, types.StringType}, amountType,
			cel.BinaryBinding(func(of, text ref.Val) ref.Val { return orError(amountOf(of, text)) }))),
		cel.Function("within", cel.MemberOverload("time_within_string", []*types.Type{timeType, types.StringType}, types.BoolType,
			cel.BinaryBinding(within))),
		cel.Function("total", cel.MemberOverload("request_total_asset", []*types.Type{requestType, assetType}, amountType,
			cel.BinaryBinding(func(request, of ref.Val) ref.Val { return request.Value().(*evaluation).total(of.(*asset)) }))),
		cel.Function("arg", cel.MemberOverload("effect_arg_string", []*types.Type{effectType, types.StringType}, types.StringType,
			cel.BinaryBinding(func(effect, name ref.Val) ref.Val {
				return effect.Value().(*effectView).argument(string(name.(types.String)))
			})),
			cel.MemberOverload("reading_arg_string", []*types.Type{readingType, types.StringType}, types.StringType,
				cel.BinaryBinding(func(reading, name ref.Val) ref.Val {
					return argument(reading.Value().(*chains.Reading).Args, "effect.reading", string(name.(types.String)))
				}))),
		cel.Function("number", cel.MemberOverload("effect_number_string", []*types.Type{effectType, types.StringType}, types.IntType,
			cel.BinaryBinding(func(effect, name ref.Val) ref.Val {
				return effect.Value().(*effectView).number(string(name.(types.String)))
			}))),
	}
	for name := range words().units {
		options = append(options, literal(name, amountType, func(text string) (ref.Val, error) { return words().newAmount(name, text) }))
	}
	return options
}

func pair(kind *types.Type) []*types.Type { return []*types.Type{kind, kind} }

// literal declares a function of one text, which must be a literal.
func literal(name string, kind *types.Type, parse func(string) (ref.Val, error)) cel.EnvOption {
	return cel.Function(name, cel.Overload(name+"_string", []*types.Type{types.StringType}, kind,
		cel.UnaryBinding(func(text ref.Val) ref.Val { return orError(parse(string(text.(types.String)))) })))
}

func orError(value ref.Val, err error) ref.Val {
	if err != nil {
		return types.WrapErr(err)
	}
	return value
}

func parseTimestamp(text string) (ref.Val, error) {
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, fmt.Errorf("timestamp: %q is not a time such as 2026-11-23T09:00:00Z", shorten(text))
	}
	return types.Timestamp{Time: instant}, nil
}

// amountOf returns an amount of an asset of the file.
func amountOf(of, text ref.Val) (ref.Val, error) {
	asset := of.(*asset)
	if asset.decimals < 0 {
		return nil, fmt.Errorf("amount: the file does not say how many decimals %s has", asset)
	}
	value, err := parseUnits(string(text.(types.String)), asset.decimals)
	if err != nil {
		return nil, fmt.Errorf("amount: %w", err)
	}
	return &amount{value: value, unit: unit{asset: asset.Asset}}, nil
}

// within reports whether the request's time is within the hours of text.
func within(now, text ref.Val) ref.Val {
	hours, err := parseHours(string(text.(types.String)))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(hours.contain(now.Value().(*evaluation).request.Now))
}
