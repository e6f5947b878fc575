package eip712

import (
	"errors"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// ReadMembers reads one JSON object with exactly the members of types, by the
// rules for values of this package. It is for the formats beside typed data that
// write their values the same way. kind is named in errors, which are
// *chains.ParseError.
func ReadMembers(text []byte, kind string, types map[string]string) (map[string]Value, error) {
	values, err := readMembers(text, types)
	var malformed *chains.ParseError
	if errors.As(err, &malformed) {
		malformed.Chain = kind
	}
	return values, err
}

func readMembers(text []byte, types map[string]string) (map[string]Value, error) {
	root, err := readDocument(text)
	if err != nil {
		return nil, err
	}
	of := newStructType("object", 0)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		spec := types[name]
		member, err := typeTable{}.resolve(spec, name, -1)
		if err != nil {
			return nil, err
		}
		of.members = append(of.members, typedMember{name, spec, member})
	}
	read, err := readStruct(&root, of, "object")
	if err != nil {
		return nil, err
	}
	values := map[string]Value{}
	for i := range read.Members {
		values[read.Members[i].Name] = read.Members[i].Value
	}
	return values, nil
}
