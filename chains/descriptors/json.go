package descriptors

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a file.
const (
	maxFileBytes = 4 << 20
	maxDepth     = 32
	maxNodes     = 100_000
)

// object is a JSON object; lists are []any, numbers int64.
type object = map[string]any

// parse parses a JSON object strictly: no duplicate members, no trailing text, UTF-8 only,
// and only integers up to 2^53, which every parser represents exactly.
func parse(file []byte) (object, error) {
	if len(file) > maxFileBytes {
		return nil, fmt.Errorf("file of %d bytes, of at most %d", len(file), maxFileBytes)
	}
	left := maxNodes
	bounded := json.UnmarshalFromFunc(func(decoder *jsontext.Decoder, node *any) error {
		if left--; left < 0 || decoder.StackDepth() > maxDepth {
			return fmt.Errorf("more than %d values, or deeper than %d", maxNodes, maxDepth)
		}
		return readInteger(decoder, node)
	})
	var root object
	if err := json.Unmarshal(file, &root, json.WithUnmarshalers(bounded)); err != nil {
		return nil, explain(err)
	}
	if root == nil {
		return nil, errors.New("not a JSON object")
	}
	return root, nil
}

// noSlot is 2^64−1, which Solana's tools write for a slot or an epoch that is never reached.
const noSlot = "18446744073709551615"

// readInteger decodes a number as an int64, and leaves other values to the library. noSlot,
// which RFC 8785 cannot represent, becomes null.
func readInteger(decoder *jsontext.Decoder, node *any) error {
	if decoder.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	number, err := decoder.ReadValue()
	if err != nil {
		return err
	}
	if string(number) == noSlot {
		*node = nil
		return nil
	}
	var integer int64
	if json.Unmarshal(number, &integer) != nil || integer > 1<<53 || integer < -1<<53 || string(number) == "-0" {
		return fmt.Errorf("number %.40s: must be an integer of at most 2^53", number)
	}
	*node = integer
	return nil
}

// canonical returns the canonical form (RFC 8785) of what parse returned.
func canonical(node any) []byte {
	text, err := json.Marshal(node)
	if err == nil {
		err = (*jsontext.Value)(&text).Canonicalize()
	}
	if err != nil {
		panic("descriptors: a parsed file always marshals: " + err.Error())
	}
	return text
}

func sortedNames(members object) []string { return slices.Sorted(maps.Keys(members)) }

// into decodes a part of a file into a struct that has every member that is allowed.
func into(node, target any) error {
	return explain(json.Unmarshal(canonical(node), target,
		json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(readInteger))))
}

// explain describes what is wrong with a file, and where, without naming Go types.
func explain(err error) error {
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Errorf("member %.64q appears twice", syntactic.JSONPointer.LastToken())
		}
		return syntactic
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("unknown member %.64q", semantic.JSONPointer)
	case semantic.Err != nil:
		return fmt.Errorf("%.64q: %w", semantic.JSONPointer, semantic.Err)
	}
	return fmt.Errorf("%.64q: a %s is not allowed", semantic.JSONPointer, semantic.JSONKind)
}

// bigOf parses an integer in decimal, or in hex with 0x.
func bigOf(text string) (*big.Int, bool) {
	if len(text) > 80 {
		return nil, false
	}
	return new(big.Int).SetString(text, 0)
}
