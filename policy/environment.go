package policy

import (
	"errors"
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

// language is what the conditions of a file are written in: with the words of its chains, and its
// lists and assets.
type language struct {
	words    *vocabulary
	lists    map[string]*list
	assets   map[string]*asset
	literals map[string]literalFunction
	members  map[*types.Type]map[string]field // of all objects
	clauses  map[clauseKey]*clause
	compared []string   // members of effects that clauses compare
	prices   *priceList // nil without a price file
	env      *cel.Env   // once all lists and assets are read: see complete
}

// variables are the names that every expression has, besides the lists and assets of its
// file.
func (l *language) variables() map[string]*types.Type {
	all := map[string]*types.Type{
		"effect": effectType, "effects": types.NewListType(effectType), "key": keyType, "user": userType,
		"credential": credentialType, "time": timeType, "request": requestType, "wallet": types.StringType,
	}
	for name, root := range l.words.roots {
		all[name] = root.kind
	}
	return all
}

// complete makes the environment of the expressions, with the lists and assets.
func (l *language) complete() (err error) {
	kinds := map[string]*types.Type{amountType.TypeName(): amountType, addressType.TypeName(): addressType}
	for kind := range l.members {
		kinds[kind.TypeName()] = kind
	}
	provider := &provider{types.DefaultTypeAdapter, kinds, l.members}
	options := []cel.EnvOption{
		cel.CustomTypeAdapter(provider), cel.CustomTypeProvider(provider),
		cel.ParserExpressionSizeLimit(maxExpression), cel.ParserRecursionLimit(maxRecursion),
		cel.EnableMacroCallTracking(),
		standardLibrary(),
		cel.ASTValidators(cel.ValidateComprehensionNestingLimit(maxNesting)),
		cel.HomogeneousAggregateLiterals(),
	}
	for name, kind := range l.variables() {
		options = append(options, cel.Variable(name, kind))
	}
	for name, list := range l.lists {
		options = append(options, cel.Constant(name, types.NewListType(addressType), list.value))
	}
	for name, asset := range l.assets {
		options = append(options, cel.Constant(name, assetType, asset))
	}
	if l.env, err = cel.NewCustomEnv(append(options, l.functions()...)...); err != nil {
		return fmt.Errorf("policy: environment of expressions: %w", err)
	}
	return nil
}

// functions are the functions that the standard library does not have.
func (l *language) functions() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.Function("_<_", cel.Overload("less_amount", pair(amountType), types.BoolType)),
		cel.Function("_<=_", cel.Overload("less_equals_amount", pair(amountType), types.BoolType)),
		cel.Function("_>_", cel.Overload("greater_amount", pair(amountType), types.BoolType)),
		cel.Function("_>=_", cel.Overload("greater_equals_amount", pair(amountType), types.BoolType)),
		barred("_==_"), barred("_!=_"),
		cel.Function("_+_", cel.Overload("add_amount", pair(amountType), amountType)),
		literal("address", addressType, func(text string) (ref.Val, error) { return l.words.readAddress(text) }),
		literal("timestamp", types.TimestampType, parseTimestamp),
		literal("value", amountType, parseValue),
		cel.Function("amount", cel.Overload("amount_asset_string",
			[]*types.Type{assetType, types.StringType}, amountType, cel.BinaryBinding(func(of, text ref.Val) ref.Val {
				return orError(amountOf(of, text))
			}))),
		cel.Function("total", cel.MemberOverload("request_total_asset",
			[]*types.Type{requestType, assetType}, amountType, cel.BinaryBinding(func(of, a ref.Val) ref.Val {
				return of.Value().(*evaluation).total(a.(*asset))
			}))),
		cel.Function("within", ofText("time_within_string", timeType, types.BoolType, within)),
		cel.Function("arg", ofText("effect_arg_string", effectType, types.StringType, (*effectView).argument),
			ofText("reading_arg_string", readingType, types.StringType, argumentOf)),
		cel.Function("number", ofText("effect_number_string", effectType, types.IntType, (*effectView).number)),
	}
	for name := range l.words.units {
		amount := func(text string) (ref.Val, error) { return l.words.newAmount(name, text) }
		options = append(options, literal(name, amountType, amount))
	}
	return options
}

// argumentOf returns an argument of what a descriptor reads.
func argumentOf(reading *chains.Reading, name string) ref.Val {
	return argument(reading.Args, "effect.reading", name)
}

// ofText declares a function of an object and a text.
func ofText[T any](id string, of, result *types.Type, get func(of T, text string) ref.Val) cel.FunctionOpt {
	binding := func(object, text ref.Val) ref.Val { return get(object.Value().(T), string(text.(types.String))) }
	return cel.MemberOverload(id, []*types.Type{of, types.StringType}, result, cel.BinaryBinding(binding))
}

// barred declares what == or != of addresses is where a match refuses: either stands for the other.
func barred(operator string) cel.EnvOption {
	compare := cel.BinaryBinding(func(a, b ref.Val) ref.Val {
		x, y := a.(*address), b.(*address)
		list := func(of address) barList { return barList{newAddressList([]*address{&of}, x.anyChain || y.anyChain)} }
		alike := list(*x).Contains(y) == types.True || list(*y).Contains(x) == types.True
		return types.Bool(alike == (operator == "_==_"))
	})
	return cel.Function("@is"+operator, cel.Overload("@is"+operator, pair(addressType), types.BoolType, compare))
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
func within(e *evaluation, text string) ref.Val {
	hours, err := parseHours(text)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(hours.contain(e.request.Now))
}

// literalFunction is a function whose last argument must be a literal, which is checked
// when the file is loaded.
type literalFunction struct {
	example string
	check   func(text string) error // nil: any text
}

func literalFunctions(v *vocabulary) map[string]literalFunction {
	functions := map[string]literalFunction{
		"address":   {"address('0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af')", failure(v.readAddress)},
		"timestamp": {"timestamp('2026-11-23T09:00:00Z')", failure(parseTimestamp)},
		"value":     {"value('1000')", failure(parseValue)},
		"within":    {"time.within('Mo-Fr 08:00-18:00 Europe/Berlin')", failure(parseHours)},
		"amount":    {"amount(usdc, '1.50')", nil}, // see constructor
		"arg":       {"effect.arg('value')", nil},
		"number":    {"effect.number('commission')", nil},
	}
	for name := range v.units {
		amount := func(text string) (*amount, error) { return v.newAmount(name, text) }
		functions[name] = literalFunction{name + "('1')", failure(amount)}
	}
	return functions
}

// failure returns a function that parses a text and returns only the error.
func failure[T any](parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		_, err := parse(text)
		return err
	}
}

// provider has the types and fields that expressions can name. It implements
// types.Provider and types.Adapter.
type provider struct {
	types.Adapter
	kinds   map[string]*types.Type
	members map[*types.Type]map[string]field
}

func (p *provider) NativeToValue(value any) ref.Val {
	if converted, ok := value.(ref.Val); ok {
		return converted
	}
	return p.Adapter.NativeToValue(value)
}

// EnumValue implements types.Provider. There are no enums.
func (*provider) EnumValue(name string) ref.Val { return types.NewErr("unknown enum %q", name) }

// FindIdent implements types.Provider. Types are not values.
func (*provider) FindIdent(string) (ref.Val, bool) { return nil, false }

func (p *provider) FindStructType(name string) (*types.Type, bool) {
	kind, ok := p.kinds[name]
	if !ok {
		return nil, false
	}
	return types.NewTypeTypeWithParam(kind), true
}

func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	kind, ok := p.kinds[name]
	return sortedKeys(p.members[kind]), ok
}

func (p *provider) FindStructFieldType(kind, name string) (*types.FieldType, bool) {
	field, ok := p.members[p.kinds[kind]][name]
	return &types.FieldType{
		Type: field.kind,
		IsSet: func(of any) bool {
			_, err := field.get(of)
			return err == nil || errors.As(err, new(unpriced))
		},
		GetFrom: func(of any) (any, error) { return field.get(of) },
	}, ok
}

// NewValue implements types.Provider. Expressions cannot create objects.
func (*provider) NewValue(kind string, _ map[string]ref.Val) ref.Val {
	return types.NewErr("an expression cannot create a value of type %q", kind)
}
