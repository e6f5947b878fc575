// Package backup copies a deployment into a directory, and back out of it.
//
//	backup.json        Manifest: what is in the backup, with hashes; written last
//	countersign.yaml   and the files it names, under their paths relative to it
//	outside/…          those that it names elsewhere
//
// A directory without backup.json is not a backup: it was not finished.
package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Schema is the version of the format.
const Schema = "countersign.backup/1"

// ManifestName is the manifest's file.
const ManifestName = "backup.json"

// Manifest says what is in a backup.
type Manifest struct {
	Schema  string    `json:"schema"`
	Created time.Time `json:"created"` // before anything was copied
	Config  string    `json:"config"`  // the configuration's name in the backup
	Files   []File    `json:"files"`
	Moved   []Moved   `json:"moved"`   // what was not beside the configuration
	Missing []string  `json:"missing"` // what a restored server needs besides
}

// File is one file of a backup.
type File struct {
	Name   string `json:"name"` // in the backup, with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Moved is a file or directory that was elsewhere.
type Moved struct {
	From string `json:"from"` // the absolute path
	Name string `json:"name"` // in the backup
}

// Writer makes a backup.
type Writer struct {
	Manifest Manifest
	dir      string // of the configuration
	into     string
}

// NewWriter begins a backup of the deployment of a configuration in a directory
// that is not there yet, or empty.
func NewWriter(into, config string, now time.Time) (*Writer, error) {
	if err := MakeEmpty(into); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(config))
	if err != nil {
		return nil, err
	}
	return &Writer{
		Manifest: Manifest{Schema: Schema, Created: now.UTC(), Config: filepath.Base(config), Moved: []Moved{}, Missing: []string{}},
		dir:      dir, into: into,
	}, nil
}

// MakeEmpty makes a directory for its owner alone, or takes one that is empty.
func MakeEmpty(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty (it has %q): name a directory that is empty or not there", dir, entries[0].Name())
	}
	return nil
}

// place returns the name in the backup of a file or directory.
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

// Add adds a file as it would be read from path.
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

// AddFile adds a file of the disk.
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
	return w.add(name, Reader{file})
}

// AddTree adds the regular files in a directory, those of writers at work left
// out: their names begin with a dot.
func (w *Writer) AddTree(dir string) error { return w.AddCopy(dir, dir) }

// AddCopy adds the files of a directory from a copy of it.
func (w *Writer) AddCopy(dir, copied string) error {
	root, err := w.place(dir)
	if err != nil {
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

// Close writes the manifest: from then on it is a backup.
func (w *Writer) Close() error {
	content, err := json.MarshalIndent(w.Manifest, "", "  ")
	if err != nil {
		return err
	}
	_, _, err = writeFile(filepath.Join(w.into, ManifestName), Reader{strings.NewReader(string(content) + "\n")})
	return err
}

// Reader is a reader as an io.WriterTo.
type Reader struct{ io.Reader }

// WriteTo implements io.WriterTo.
func (r Reader) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, r.Reader) }

// writeFile writes a new file for its owner alone, safely on disk, and returns
// its size and hash.
func writeFile(path string, content io.WriterTo) (size int64, sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, "", err
	}
	made, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	digest := sha256.New()
	if size, err = content.WriteTo(io.MultiWriter(made, digest)); err != nil {
		return 0, "", err
	}
	return size, hex.EncodeToString(digest.Sum(nil)), made.Sync()
}
