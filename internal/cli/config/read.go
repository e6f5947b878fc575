package config

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/trust"
)

// MaxSize is the maximum length of the file, in bytes.
const MaxSize = 4 << 20

// Read reads a configuration. Errors name the file, the line and the column, and show the
// line with a caret, but for values that may be a password: see [Config.At].
func Read(path string) (*Config, error) {
	file, err := trust.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := trust.ReadAll(file, path, MaxSize)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	config := &Config{Path: path, modified: info.ModTime()}
	if problems := config.decode(text); problems.Failed() {
		return nil, &Error{text: problems.Failure(path, config.source.shown(problems.List)).Error()}
	}
	if err := trust.Authority(file); err != nil {
		return nil, fmt.Errorf("%s: it decides who may sign, and %w", path, err)
	}
	if mode := info.Mode().Perm(); config.hasPassword() && mode&0o077 != 0 {
		return nil, fmt.Errorf("%s: it contains the password of the store, and other users can read it (mode %04o): run 'chmod 600 %[1]s'",
			path, mode)
	}
	dir := filepath.Dir(path)
	config.eachPath(func(path *string, _ string) { *path = within(dir, *path) })
	config.Store = withinURI(dir, "bolt", config.Store)
	config.Keystore = withinURI(dir, "file", config.Keystore)
	config.ProofKey = withinURI(dir, "file", config.ProofKey)
	return config, nil
}

// decode reads one document, strictly, and checks its members if all could be read.
func (c *Config) decode(text []byte) *source.Report {
	problems := new(source.Report)
	c.source.lines = strings.Split(string(text), "\n")
	root, ok := source.Parse(text, MaxSize, "keystore and organizations", problems)
	if !ok {
		return problems
	}
	c.source.places = source.Decode(root, "the file", c)
	if c.Store == "memory" { // "memory:" would need quotes in YAML
		c.Store = MemoryStore
	}
	if !problems.Failed() {
		(&checker{c, problems}).check()
	}
	return problems
}

const schemaName = "countersign.schema.json"

// SchemaLine is the first line of a file that names its JSON Schema to editors.
var SchemaLine = source.SchemaLine(schemaName)

// JSONSchema returns the JSON Schema of the file, for editors. It takes every file that [Read] takes.
func JSONSchema() ([]byte, error) {
	form := source.FormOf(func(root source.Node) { source.Decode(root, "the file", new(Config)) })
	return form.Schema(schemaName, "Countersign configuration")
}

// hasPassword reports whether the URL of a store contains a password, or is malformed and might.
func (c *Config) hasPassword() bool {
	return slices.ContainsFunc(append(slices.Collect(maps.Values(c.Stores)), c.Store), func(uri string) bool {
		dsn, err := url.Parse(uri)
		if err != nil {
			return strings.Contains(uri, "@")
		}
		_, has := dsn.User.Password()
		return has || dsn.Query().Has("password")
	})
}

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
