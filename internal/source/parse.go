package source

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// ParseYAML is [Parse] for a policy file.
func ParseYAML(content []byte, report *Report) (Node, bool) {
	return Parse(content, MaxFileBytes, "schema and rules", report)
}

// Parse parses content of at most limit bytes as a single YAML document. It refuses
// everything beyond plain data (anchors, aliases, tags, merge keys, several documents),
// and input that could make the YAML library slow. needs says what a file consists of.
func Parse(content []byte, limit int, needs string, report *Report) (Node, bool) {
	if !readable(content, limit, report) {
		return Node{}, false
	}
	file, err := parser.ParseBytes(content, 0)
	if err != nil {
		report.addSyntax(content, err)
		return Node{}, false
	}
	if len(file.Docs) == 0 || len(file.Docs) == 1 && file.Docs[0].Body == nil {
		report.Add(Place{1, 1}, "", "the file is empty: it needs at least %s", needs)
		return Node{}, false
	}
	if len(file.Docs) > 1 {
		place := Place{1, 1}
		if second := file.Docs[1]; second.Start != nil {
			place = tokenPlace(second.Start)
		}
		report.Add(place, "", "expected one YAML document, found %d: remove everything after ---", len(file.Docs))
		return Node{}, false
	}
	root := Node{Node: file.Docs[0].Body, report: report}
	return root, root.checkPlain(0)
}

func readable(content []byte, limit int, report *Report) bool {
	refuse := func(offset int, message string, args ...any) bool {
		before := content[:offset]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		place := Place{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(line) + 1}
		report.Add(place, "", message, args...)
		return false
	}
	if len(content) > limit {
		return refuse(0, "%d bytes, a file has at most %d", len(content), limit)
	}
	if err := plaintext.CheckEncoding("the file", content); err != nil {
		return refuse(0, "%v", err)
	}
	if offset := invalidUTF8(content); offset >= 0 {
		return refuse(offset, "not UTF-8: save the file as UTF-8")
	}
	if offset := strayControl(content); offset >= 0 && content[offset] == '\t' {
		return refuse(offset, "a tab: indent with spaces")
	} else if offset >= 0 {
		return refuse(offset, "the control character %U: remove it", content[offset])
	}
	if depth := nesting(content); depth > maxYAMLDepth {
		return refuse(0, "nested more than %d deep", maxYAMLDepth)
	}
	return true
}

// invalidUTF8 returns the index of the first byte that is not UTF-8, or -1.
func invalidUTF8(content []byte) int {
	for offset := 0; offset < len(content); {
		r, size := utf8.DecodeRune(content[offset:])
		if r == utf8.RuneError && size == 1 {
			return offset
		}
		offset += size
	}
	return -1
}

// strayControl returns the index of the first control character, or -1. A tab in a comment is none.
func strayControl(content []byte) int {
	comment := false
	for offset, letter := range content {
		switch {
		case letter == '\n':
			comment = false
		case letter == '#':
			comment = true
		case letter == '\t' && comment, letter == '\r':
		case letter < ' ':
			return offset
		}
	}
	return -1
}

// nesting returns an upper bound for the nesting of flow collections, and of sequences
// and explicit keys that open on one line. It does not parse the YAML.
func nesting(content []byte) int {
	depth, deepest := 0, 0
	for line := range strings.Lines(string(content)) {
		opened := strings.TrimLeft(line, " ")
		deepest = max(deepest, (len(opened)-len(strings.TrimLeft(opened, "-?: ")))/2)
		for _, letter := range []byte(line) {
			switch letter {
			case '[', '{':
				depth++
				deepest = max(deepest, depth)
			case ']', '}':
				depth = max(0, depth-1)
			}
		}
	}
	return deepest
}

var givenTwice = regexp.MustCompile(`^mapping key "(.*)" already defined at \[(\d+):`)

// addSyntax adds an error of the YAML library with its place.
func (r *Report) addSyntax(content []byte, err error) {
	var syntax yaml.Error
	if !errors.As(err, &syntax) || syntax.GetToken() == nil {
		r.Add(Place{1, 1}, "", "not YAML: %v", err)
		return
	}
	message, _, _ := strings.Cut(syntax.GetMessage(), "\n")
	if twice := givenTwice.FindStringSubmatch(message); twice != nil {
		message = fmt.Sprintf("%s is given twice, first in line %s", quoted(twice[1]), twice[2])
	}
	place := tokenPlace(syntax.GetToken())
	r.Add(place, "", "%s%s%s", message, cure(message), strangeSpace(content, place.Line))
}

// strangeSpace says where a line has a character that looks like a space, or like nothing, and
// is none in YAML.
func strangeSpace(content []byte, line int) string {
	lines := strings.Split(string(content), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	for column, r := range []rune(lines[line-1]) {
		if r != ' ' && unicode.In(r, unicode.Zs, unicode.Cf) {
			return fmt.Sprintf("; column %d has %U, which looks like a space or like nothing: remove it", column+1, r)
		}
	}
	return ""
}

// cure returns what to do about a message of the YAML library, which names the rule of the
// grammar that is broken, and not the mistake that breaks it.
func cure(message string) string {
	has := func(part string) bool { return strings.Contains(message, part) }
	switch {
	case has("not allowed in this context"), has("unexpected key name"), has("non-map value"):
		return ": check the indentation, and that quotes before it are closed: members of one mapping begin in one " +
			"column, and a name ends with a colon and a space"
	case has("could not find end character of"), has("sequence end token"), has("map end token"),
		has("must be specified"):
		return ": check that quotes and brackets are closed"
	case has("cannot start any token"):
		return ": put the value in quotes"
	}
	return ""
}
