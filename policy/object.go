package policy

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/source"
)

// opaque is embedded in values of expressions that convert to no other type.
type opaque struct{}

var errOpaque = errors.New("policy: this value has no other form")

func (opaque) ConvertToNative(reflect.Type) (any, error) { return nil, errOpaque }

func (opaque) ConvertToType(ref.Type) ref.Val { return types.WrapErr(errOpaque) }

// Types of the objects in expressions.
var (
	effectType     = types.NewObjectType("effect")
	assetType      = types.NewObjectType("asset")
	keyType        = types.NewObjectType("key")
	userType       = types.NewObjectType("user")
	credentialType = types.NewObjectType("credential")
	readingType    = types.NewObjectType("reading")
	timeType       = types.NewObjectType("time")
	requestType    = types.NewObjectType("request")
)

// object is a value with members: an effect, a key, a user, the transaction of a chain.
// Its members are read through tables of fields, not by reflection.
type object struct {
	opaque
	kind *types.Type
	of   any // what the getters of the kind's fields take
}

func newObject(kind *types.Type, of any) *object { return &object{kind: kind, of: of} }

// Equal implements ref.Val. Objects cannot be compared as a whole.
func (o *object) Equal(ref.Val) ref.Val {
	return types.NewErr("a value of type %s is compared member by member", o.kind.TypeName())
}

func (o *object) Type() ref.Type { return o.kind }

func (o *object) Value() any { return o.of }

// field is one member of an object. The getter returns an error if the member is absent
// or unknown; has() tests for that.
type field struct {
	kind   *types.Type
	get    func(of any) (ref.Val, error)
	always bool // it is never absent or unknown
}

// member returns a field that can be absent or unknown.
func member[T any](kind *types.Type, get func(of T) (ref.Val, error)) field {
	return field{kind: kind, get: func(of any) (ref.Val, error) { return get(of.(T)) }}
}

// plain returns a field that is always present.
func plain[T any](kind *types.Type, get func(of T) ref.Val) field {
	return field{kind, func(of any) (ref.Val, error) { return get(of.(T)), nil }, true}
}

// absent is the error of a member that does not exist.
func absent(what string) error { return fmt.Errorf("%s is absent: test has(%s) first", what, what) }

// unknown is the error of a member whose value the bytes do not determine.
func unknown(what string) error { return fmt.Errorf("%s is unknown: test has(%s) first", what, what) }

func newList(values []ref.Val) traits.Lister {
	return types.NewRefValList(types.DefaultTypeAdapter, values)
}

func hexText(value []byte) string { return "0x" + hex.EncodeToString(value) }

// presentText returns a text member that is absent if it is empty.
func presentText[T any](name string, get func(T) string) field {
	return member(types.StringType, func(of T) (ref.Val, error) {
		if get(of) == "" {
			return nil, absent(name)
		}
		return types.String(get(of)), nil
	})
}

// oneOf reads one of some values. Any other one is a problem, which a format says of it.
func oneOf(n source.Node, what, problem string, known []string) string {
	text, isKnown := n.OneOf(what, known...)
	if !isKnown {
		n.Fail("%s", source.Meant(fmt.Sprintf(problem, shorten(text)), text, known))
	}
	return text
}

// isOnly reads a member that has one value. why follows what is said of any other one.
func isOnly(n source.Node, what, value, why string) bool {
	_, is := n.OneOf(what, value)
	if !is {
		n.Fail("%s: only %s is supported%s", what, value, why)
	}
	return is
}

// shorten quotes as many bytes of a request's text as errors quote of a file's.
func shorten(text string) string { return plaintext.Shorten(text, source.MaxQuoted) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
