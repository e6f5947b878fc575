package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxSize is how long the file may be, in bytes.
const MaxSize = 4 << 20

// Read reads the file. An error in it is told as FILE:LINE: what is wrong,
// without repeating the line: there may be a password in it.
func Read(path string) (*Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s: longer than %d bytes", path, MaxSize)
	}
	config := &Config{Path: path}
	if err := decode(text, config); err != nil {
		return nil, located(path, text, err)
	}
	if err := config.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := config.checkMode(file); err != nil {
		return nil, err
	}
	config.resolve()
	return config, nil
}

// decode reads one document, strictly.
func decode(text []byte, config *Config) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.DisallowUnknownField(), yaml.CustomUnmarshaler(unmarshalTime))
	err := decoder.Decode(config)
	if errors.Is(err, io.EOF) {
		return errors.New("empty")
	}
	if err != nil {
		return err
	}
	// A time that is null is not asked for as one, and would be none: a key
	// that was to expire never would.
	if lineOfNoTime(text) > 0 {
		return noTimeError{"null"}
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return errors.New("one document is expected: remove what follows ---")
	}
	return nil
}

// unmarshalTime reads RFC 3339 only. The reader's own takes what it does not
// understand as no time at all, and a key that was to expire never would.
func unmarshalTime(at *time.Time, text []byte) error {
	var written string
	if err := yaml.Unmarshal(text, &written); err != nil {
		return noTimeError{string(text)}
	}
	parsed, err := time.Parse(time.RFC3339, written)
	if err != nil || parsed.IsZero() {
		return noTimeError{written}
	}
	*at = parsed
	return nil
}

// noTimeError says that what is written is no time.
type noTimeError struct{ written string }

func (e noTimeError) Error() string {
	return fmt.Sprintf("a time such as 2027-01-01T00:00:00Z is expected, not %q", strings.TrimSpace(e.written))
}

// located puts the file and the line before an error of the reader.
func located(path string, text []byte, err error) error {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		return fmt.Errorf("%s:%d: %s", path, at.GetToken().Position.Line, at.GetMessage())
	}
	if _, isTime := errors.AsType[noTimeError](err); isTime {
		if line := lineOfNoTime(text); line > 0 {
			return fmt.Errorf("%s:%d: expiresAt: %w", path, line, err)
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// lineOfNoTime finds the first time that is none, as the reader does not say where
// it was when it asked for one.
func lineOfNoTime(text []byte) int {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return 0
	}
	found := timeFinder{}
	for _, document := range file.Docs {
		ast.Walk(&found, document)
	}
	return found.line
}

// timeFinder looks at every member that is a time.
type timeFinder struct{ line int } // of the first that is none

func (f *timeFinder) Visit(node ast.Node) ast.Visitor {
	member, ok := node.(*ast.MappingValueNode)
	if !ok || f.line > 0 || member.Key.String() != "expiresAt" {
		return f
	}
	if unmarshalTime(new(time.Time), []byte(member.Value.String())) != nil {
		f.line = member.Key.GetToken().Position.Line
	}
	return f
}

// checkMode refuses a file that others can write, or that has a database's password in it and that others
// can read.
func (c *Config) checkMode(file *os.File) error {
	if err := trust.Authority(file); err != nil {
		return fmt.Errorf("%s: it says who may sign, and %w", c.Path, err)
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if c.hasPassword() && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: the password of the store is in it, and others can read it (mode %04o): run 'chmod 600 %s'",
			c.Path, info.Mode().Perm(), c.Path)
	}
	return nil
}

// hasPassword reports whether the store's URL has a password in it, or looks
// like one that is broken.
func (c *Config) hasPassword() bool {
	dsn, err := url.Parse(c.Store)
	if err != nil {
		return strings.Contains(c.Store, "@")
	}
	_, has := dsn.User.Password()
	return has || dsn.Query().Has("password")
}
