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

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/countersign-dev/countersign/internal/trust"
)

// MaxSize is the maximum length of the file, in bytes.
const MaxSize = 4 << 20

// Read reads a configuration. Errors begin with FILE:LINE where possible. They do not quote
// the line, which may contain a password.
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
	// The decoder does not call unmarshalTime for a null, which would become no time at
	// all: a key meant to expire never would.
	if lineOfNoTime(text) > 0 {
		return noTimeError{"null"}
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return errors.New("the file must be one document: remove everything after ---")
	}
	return nil
}

// unmarshalTime accepts only RFC 3339. The YAML library would turn a malformed time into no
// time at all, and a key meant to expire never would.
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

// noTimeError reports a malformed time.
type noTimeError struct{ written string }

func (e noTimeError) Error() string {
	return fmt.Sprintf("expected a time such as 2027-01-01T00:00:00Z, not %q", strings.TrimSpace(e.written))
}

// located prefixes an error with the file and, if known, the line.
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

// lineOfNoTime returns the line of the first malformed time, or 0. The YAML library does not
// tell unmarshalTime where it is.
func lineOfNoTime(text []byte) int {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return 0
	}
	finder := timeFinder{}
	for _, document := range file.Docs {
		ast.Walk(&finder, document)
	}
	return finder.line
}

// timeFinder finds the line of the first malformed time.
type timeFinder struct{ line int }

// Visit implements ast.Visitor.
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

// checkMode refuses a file that other users can write, and one with a database password that
// other users can read.
func (c *Config) checkMode(file *os.File) error {
	if err := trust.Authority(file); err != nil {
		return fmt.Errorf("%s: it decides who may sign, and %w", c.Path, err)
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if c.hasPassword() && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: it contains the password of the store, and other users can read it (mode %04o): run 'chmod 600 %s'",
			c.Path, info.Mode().Perm(), c.Path)
	}
	return nil
}

// hasPassword reports whether the store's URL contains a password, or is malformed and might.
func (c *Config) hasPassword() bool {
	dsn, err := url.Parse(c.Store)
	if err != nil {
		return strings.Contains(c.Store, "@")
	}
	_, has := dsn.User.Password()
	return has || dsn.Query().Has("password")
}
