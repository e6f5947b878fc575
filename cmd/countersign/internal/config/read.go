package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/goccy/go-yaml"
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
		return nil, located(path, err)
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
		return err
	}
	parsed, err := time.Parse(time.RFC3339, written)
	if err != nil {
		return fmt.Errorf("a time such as 2027-01-01T00:00:00Z is expected, not %q", written)
	}
	*at = parsed
	return nil
}

// located puts the file and the line before an error of the reader.
func located(path string, err error) error {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		return fmt.Errorf("%s:%d: %s", path, at.GetToken().Position.Line, at.GetMessage())
	}
	return fmt.Errorf("%s: %w", path, err)
}

// checkMode refuses a file that has a database's password in it and that others
// can read.
func (c *Config) checkMode(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	dsn, err := url.Parse(c.Store)
	if err != nil || dsn.User == nil {
		return nil
	}
	if _, has := dsn.User.Password(); has && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: the password of the store is in it, and others can read it (mode %04o): run 'chmod 600 %s'",
			c.Path, info.Mode().Perm(), c.Path)
	}
	return nil
}
