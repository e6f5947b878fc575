package config

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/source"
)

// written is the text that a configuration was read from.
type written struct {
	lines  []string
	places source.Places
}

// Error is an error about a configuration, at its place in the file.
type Error struct {
	text  string
	cause error // nil for one of the file itself
}

// Error implements error. It formats each problem as file:line:column: message, with the
// line and a caret.
func (e *Error) Error() string { return e.text }

// Unwrap returns what is wrong with the thing that the member names.
func (e *Error) Unwrap() error { return e.cause }

// At returns an error about the member at a path, such as otp.email.smtp.tls, with its
// place in the file. The text of err names the member.
func (c *Config) At(path string, err error) error {
	return &Error{c.render(path, err.Error(), false), err}
}

// AtPath returns an error at the member that it begins with, such as rpc.users[0].
func (c *Config) AtPath(err error) error { return c.At(pathOf(err), err) }

func (c *Config) render(path, message string, warning bool) string {
	place := c.source.places.Of(path)
	first, rest, _ := strings.Cut(message, "\n")
	problem := source.Problem{Line: place.Line, Column: place.Column, Message: first, Warning: warning}
	text := source.Render(c.Path, c.source.shown([]source.Problem{problem}), &problem)
	if rest != "" {
		text += "\n" + rest
	}
	return text
}

// shown returns the lines that problems show, without what may be a secret.
func (s *written) shown(problems []source.Problem) []string {
	shown := make([]string, len(s.lines))
	for _, problem := range problems {
		if index := problem.Line - 1; index >= 0 && index < len(shown) {
			shown[index] = masked(s.lines[index])
		}
	}
	return shown
}

var (
	memberName = regexp.MustCompile(`["']?([\w-]+)["']?\s*:(?:\s+|$)`)

	// secretWords are words that may hold a password wherever they stand.
	secretWords = regexp.MustCompile(`(?i)\S*(?:://\S*[@?]|pkcs11:|password=|secret=|token=|pin-value)\S*`)
)

// safeMembers are the members whose values hold no secret. That of an unknown member may,
// because secrets are in files of their own: "passphrase: …" is such a mistake.
var safeMembers = sync.OnceValue(func() map[string]bool {
	safe := map[string]bool{}
	for _, name := range source.Members(Config{}) {
		safe[name] = name != "store" && name != "stores" && name != "url"
	}
	return safe
})

// masked returns a line with points in place of what may be a secret. The characters that
// remain keep their columns.
func masked(line string) string {
	members := memberName.FindAllStringSubmatchIndex(line, -1)
	if content := strings.TrimSpace(line); members == nil && content != "" && !strings.ContainsRune("-[{]}#", rune(content[0])) {
		return points(line) // of a text that began on a line before
	}
	for _, span := range members {
		if !safeMembers()[line[span[2]:span[3]]] {
			line = line[:span[1]] + points(line[span[1]:])
			break
		}
	}
	return secretWords.ReplaceAllStringFunc(line, points)
}

func points(text string) string { return strings.Repeat("·", utf8.RuneCountInString(text)) }
