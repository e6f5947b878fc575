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
	MaxFileBytes = 4 << 20
	maxDepth     = 32
	maxNodes     = 100_000
)

// object is a JSON object; lists are []any, numbers int64.
type object = map[string]any

// parse reads a JSON object strictly: no member twice, no text behind it, UTF-8,
// numbers that are integers up to 2^53, which every reader reads alike.
func parse(file []byte) (object, error) {
	if len(file) > MaxFileBytes {
		return nil, fmt.Errorf("file of %d bytes: at most %d are read", len(file), MaxFileBytes)
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
		return nil, errors.New("a JSON object is expected")
	}
	return root, nil
}

// noSlot is 2^64−1, which Solana's tools write for a slot or an epoch that never comes.
const noSlot = "18446744073709551615"

// readInteger reads a number as an int64, and leaves other values to the library.
// noSlot, which RFC 8785 has no form for, is read as null.
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
		return fmt.Errorf("number %.40s: an integer of at most 2^53 is expected", number)
	}
	*node = integer
	return nil
}

// canonical returns the canonical form of RFC 8785 (JCS) of what parse has read.
func canonical(node any) []byte {
	text, err := json.Marshal(node)
	if err == nil {
		err = (*jsontext.Value)(&text).Canonicalize()
	}
	if err != nil {
		panic("descriptors: a tree that was read has no JSON: " + err.Error())
	}
	return text
}

func sortedNames(members object) []string { return slices.Sorted(maps.Keys(members)) }

// into reads a part of a file into a struct that names every member it may have.
func into(node, target any) error {
	return explain(json.Unmarshal(canonical(node), target,
		json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(readInteger))))
}

// explain says what is wrong with a file, and where, without naming Go's types.
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
	return fmt.Errorf("%.64q: a value of another type than %s is expected", semantic.JSONPointer, semantic.JSONKind)
}

// bigOf reads an integer, decimal or in hex with 0x in front.
func bigOf(text string) (*big.Int, bool) {
	if len(text) > 80 {
		return nil, false
	}
	return new(big.Int).SetString(text, 0)
}
