package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

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
	config.resolve()
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
