// Package backup copies a deployment into a directory, and restores it from there.
//
//	backup.json        Manifest: the files of the backup, with hashes; written last
//	countersign.yaml   and the files that it names, under their paths relative to it
//	outside/…          the files that it names outside its directory
//
// A directory without backup.json is an unfinished backup, and cannot be restored.
package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/console"
)

// schema is the version of the manifest's format.
const schema = "countersign.backup/1"

const manifestName = "backup.json"

// Manifest lists the files of a backup.
type Manifest struct {
	Schema  string    `json:"schema"`
	Created time.Time `json:"created"` // before the first file was copied
	Config  string    `json:"config"`  // name of the configuration in the backup
	Files   []File    `json:"files"`
	Moved   []Moved   `json:"moved"`   // paths to replace in the restored configuration
	Missing []string  `json:"missing"` // what a restored server needs in addition
}

// File is one file of a backup.
type File struct {
	Name   string `json:"name"` // in the backup, slash-separated
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Moved is a path in the configuration that Restore replaces: of a file or directory outside
// the configuration's directory, absolute or as the configuration writes it, or of that
// directory itself.
type Moved struct {
	From string `json:"from"`
	Name string `json:"name"` // in the backup; "." for the configuration's directory
}

// Writer writes a backup.
type Writer struct {
	Manifest Manifest
	dir      string // of the configuration
	into     string
}

// NewWriter begins a backup of the deployment of a configuration. The directory into must
// be empty or not exist.
func NewWriter(into, config string, now time.Time) (*Writer, error) {
	if err := console.MakeEmptyDirectory(into); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(config))
	if err != nil {
		return nil, err
	}
	return &Writer{
		Manifest: Manifest{Schema: schema, Created: now.UTC(), Config: filepath.Base(config), Moved: []Moved{}, Missing: []string{}},
		dir:      dir, into: into,
	}, nil
}

// place returns the name in the backup for a file or directory.
func (w *Writer) place(path string) (name string, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if name, err := filepath.Rel(w.dir, path); err == nil && filepath.IsLocal(name) {
		return filepath.ToSlash(name), nil
	}
	name = fmt.Sprintf("outside/%d-%s", len(w.Manifest.Moved)+1, filepath.Base(path))
	w.Manifest.Moved = append(w.Manifest.Moved, Moved{From: path, Name: name})
	return name, nil
}

// Add adds content as the file at path.
func (w *Writer) Add(path string, content io.WriterTo) error {
	name, err := w.place(path)
	if err != nil {
		return err
	}
	return w.add(name, content)
}

func (w *Writer) add(name string, content io.WriterTo) (err error) {
	added := File{Name: name}
	if added.Size, added.SHA256, err = writeFile(filepath.Join(w.into, filepath.FromSlash(name)), content); err != nil {
		return err
	}
	w.Manifest.Files = append(w.Manifest.Files, added)
	return nil
}

// AddFile adds the file at path.
func (w *Writer) AddFile(path string) error {
	name, err := w.place(path)
	if err != nil {
		return err
	}
	return w.addFile(name, path)
}

func (w *Writer) addFile(name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return w.add(name, file)
}

// AddTree adds the regular files in a directory. It skips names that begin with a dot,
// which are files being written.
func (w *Writer) AddTree(dir string) error { return w.AddCopy(dir, dir) }

// AddCopy adds the files of a directory, read from a copy of it.
func (w *Writer) AddCopy(dir, copied string) error {
	root, err := w.place(dir)
	if err != nil {
		return err
	}
	if copied, err = filepath.EvalSymlinks(copied); err != nil { // WalkDir follows no link, also not this one
		return err
	}
	return filepath.WalkDir(copied, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || !entry.Type().IsRegular() {
			return err
		}
		inside, err := filepath.Rel(copied, path)
		if err != nil {
			return err
		}
		return w.addFile(root+"/"+filepath.ToSlash(inside), path)
	})
}

// Close writes the manifest, which completes the backup.
func (w *Writer) Close() error {
	if err := w.addSpellings(); err != nil {
		return err
	}
	content, err := json.MarshalIndent(w.Manifest, "", "  ")
	if err != nil {
		return err
	}
	_, _, err = writeFile(filepath.Join(w.into, manifestName), strings.NewReader(string(content)+"\n"))
	return err
}

// addSpellings adds to Moved the relative paths by which the configuration names files outside its
// directory, and the directory itself if the configuration has absolute paths into it.
func (w *Writer) addSpellings() error {
	content, err := os.ReadFile(filepath.Join(w.into, w.Manifest.Config))
	if err != nil {
		return err
	}
	var spellings []Moved
	for _, moved := range w.Manifest.Moved {
		if relative, err := filepath.Rel(w.dir, moved.From); err == nil && bytes.Contains(content, []byte(relative)) {
			spellings = append(spellings, Moved{From: relative, Name: moved.Name})
		}
	}
	if bytes.Contains(content, []byte(w.dir+string(filepath.Separator))) {
		spellings = append(spellings, Moved{From: w.dir, Name: "."})
	}
	w.Manifest.Moved = append(w.Manifest.Moved, spellings...)
	return nil
}

// writeFile creates a file for its owner alone, syncs it to disk, and returns its size and hash.
func writeFile(path string, content io.WriterTo) (size int64, sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, "", err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	digest := sha256.New()
	if size, err = content.WriteTo(io.MultiWriter(file, digest)); err != nil {
		return 0, "", err
	}
	return size, hex.EncodeToString(digest.Sum(nil)), file.Sync()
}

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
