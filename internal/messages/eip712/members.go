package eip712

import (
	"errors"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// ReadMembers reads one JSON object with exactly the given members, by this package's rules for
// values. types maps each name to its type. It is for formats other than typed data that encode
// values the same way. Errors are *chains.ParseError and name kind.
func ReadMembers(text []byte, kind string, types map[string]string) (map[string]chains.TypedValue, error) {
	values, err := readMembers(text, types)
	var malformed *chains.ParseError
	if errors.As(err, &malformed) {
		malformed.Chain = kind
	}
	return values, err
}

func readMembers(text []byte, types map[string]string) (map[string]chains.TypedValue, error) {
	root, err := readDocument(text)
	if err != nil {
		return nil, err
	}
	of := newStructType("object", 0)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		spec := types[name]
		member, err := typeTable{notation: ethereum}.resolve(spec, -1)
		if err != nil {
			return nil, within(err, name)
		}
		of.members = append(of.members, typedMember{name, spec, member})
	}
	read, err := readStruct(root, of)
	if err != nil {
		return nil, within(err, "object")
	}
	values := map[string]chains.TypedValue{}
	for _, member := range read.List {
		values[member.Name] = member
	}
	return values, nil
}
