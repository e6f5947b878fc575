// Package corpus keeps what the fuzzer has found worth keeping: in the encoding
// of the go command, in an archive for each target, and in the form that
// libFuzzer takes.
package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// version is the first line of an entry.
const version = "go test fuzz v1"

// Name is what the go command calls an entry: the first 16 hex digits of its
// SHA-256.
func Name(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}

// Values reads an entry of the go command's fuzz cache, or of testdata/fuzz:
//
//	go test fuzz v1
//	[]byte("…")
//	uint64(7)
//
// The values are []byte, string, bool, uint8, and the other integers that a
// target can take. Other types are an error: no target here has any.
func Values(encoded []byte) ([]any, error) {
	first, rest, _ := strings.Cut(string(encoded), "\n")
	if strings.TrimSuffix(first, "\r") != version {
		return nil, fmt.Errorf("corpus: an entry begins with %q, want %q", first, version)
	}
	var values []any
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		value, err := parseValue(line)
		if err != nil {
			return nil, fmt.Errorf("corpus: %.80s: %w", line, err)
		}
		values = append(values, value)
	}
	return values, nil
}

// parseValue reads one conversion of a literal, such as uint64(7).
func parseValue(line string) (any, error) {
	expression, err := parser.ParseExpr(line)
	if err != nil {
		return nil, err
	}
	call, ok := expression.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil, fmt.Errorf("a conversion of one literal is expected")
	}
	if array, ok := call.Fun.(*ast.ArrayType); ok && array.Len == nil {
		text, err := unquote(call.Args[0])
		return []byte(text), err
	}
	name, ok := call.Fun.(*ast.Ident)
	if !ok {
		return nil, fmt.Errorf("the name of a type is expected")
	}
	return convert(name.Name, call.Args[0])
}

func convert(name string, literal ast.Expr) (any, error) {
	switch name {
	case "string":
		return unquote(literal)
	case "bool":
		word, ok := literal.(*ast.Ident)
		if !ok || word.Name != "true" && word.Name != "false" {
			return nil, fmt.Errorf("true or false is expected")
		}
		return word.Name == "true", nil
	case "byte", "uint8":
		number, err := character(literal)
		return uint8(number), err
	case "uint64":
		return unsigned(literal, 64)
	case "int64":
		return signed(literal)
	}
	return nil, fmt.Errorf("type %s: no target takes it", name)
}

// unquote reads a string literal.
func unquote(literal ast.Expr) (string, error) {
	basic, ok := literal.(*ast.BasicLit)
	if !ok || basic.Kind != token.STRING {
		return "", fmt.Errorf("a string is expected")
	}
	return strconv.Unquote(basic.Value)
}

// character reads the literal of a byte, '\x07' or 7.
func character(literal ast.Expr) (uint64, error) {
	basic, ok := literal.(*ast.BasicLit)
	if !ok || basic.Kind != token.CHAR {
		return unsigned(literal, 8)
	}
	char, _, tail, err := strconv.UnquoteChar(basic.Value[1:], '\'')
	if err != nil || tail != "'" || char > 0xff {
		return 0, fmt.Errorf("a byte is expected, not %s", basic.Value)
	}
	return uint64(char), nil
}

func unsigned(literal ast.Expr, bits int) (uint64, error) {
	basic, ok := literal.(*ast.BasicLit)
	if !ok || basic.Kind != token.INT {
		return 0, fmt.Errorf("an integer is expected")
	}
	return strconv.ParseUint(basic.Value, 0, bits)
}

func signed(literal ast.Expr) (int64, error) {
	sign := ""
	if negative, ok := literal.(*ast.UnaryExpr); ok && negative.Op == token.SUB {
		sign, literal = "-", negative.X
	}
	basic, ok := literal.(*ast.BasicLit)
	if !ok || basic.Kind != token.INT {
		return 0, fmt.Errorf("an integer is expected")
	}
	return strconv.ParseInt(sign+basic.Value, 0, 64)
}
