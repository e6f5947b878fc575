package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/countersign-dev/countersign/internal/cli/console"
)

func read(dir string) (*Manifest, error) {
	content, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a backup, or was not finished: it has no %s", dir, manifestName)
	}
	if err != nil {
		return nil, err
	}
	var manifest Manifest
	if err := json.Unmarshal(content, &manifest); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	if manifest.Schema != schema {
		return nil, fmt.Errorf("%s: unknown schema %q: this version reads %q", manifestName, manifest.Schema, schema)
	}
	for _, file := range append(manifest.Files, File{Name: manifest.Config}) {
		if !filepath.IsLocal(filepath.FromSlash(file.Name)) {
			return nil, fmt.Errorf("%s: %q is not a path inside the backup", manifestName, file.Name)
		}
	}
	return &manifest, nil
}

// Restore copies a backup into a directory, which must be empty or not exist, and checks
// every file. If the configuration names a file outside its directory, the restored one
// names the copy. Restore returns the path of the restored configuration.
func Restore(from, into string) (*Manifest, string, error) {
	manifest, err := read(from)
	if err != nil {
		return nil, "", err
	}
	if into, err = filepath.Abs(into); err != nil {
		return nil, "", err
	}
	if err := console.MakeEmptyDirectory(into); err != nil {
		return nil, "", err
	}
	for i := range manifest.Files {
		if err := manifest.Files[i].restore(from, into); err != nil {
			return nil, "", err
		}
	}
	config := filepath.Join(into, manifest.Config)
	return manifest, config, manifest.rewrite(config, into)
}

func (f *File) restore(from, into string) error {
	source, err := os.Open(filepath.Join(from, filepath.FromSlash(f.Name)))
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	size, sum, err := writeFile(filepath.Join(into, filepath.FromSlash(f.Name)), source)
	if err != nil {
		return err
	}
	if size != f.Size || sum != f.SHA256 {
		return fmt.Errorf("%s was changed after the backup: it has %d bytes and the SHA-256 %s", f.Name, size, sum)
	}
	return nil
}

// rewrite replaces the moved paths in the restored configuration by those of the copies, the
// longest ones first.
func (m *Manifest) rewrite(config, into string) error {
	content, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	moved := slices.SortedFunc(slices.Values(m.Moved), func(a, b Moved) int { return len(b.From) - len(a.From) })
	changed := content
	for _, m := range moved {
		to := []byte(filepath.Join(into, filepath.FromSlash(m.Name)))
		// The path, and a character before and after it, but not inside a longer name.
		whole := regexp.MustCompile(`(?m)(^|[\s:="'\[,])` + regexp.QuoteMeta(m.From) + `([\s/"'\],}]|$)`)
		changed = whole.ReplaceAllFunc(changed, func(match []byte) []byte {
			return bytes.Replace(match, []byte(m.From), to, 1)
		})
	}
	if bytes.Equal(changed, content) {
		return nil
	}
	return os.WriteFile(config, changed, 0o600)
}
