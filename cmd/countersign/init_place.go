package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// stagingName is the folder in which init makes everything, within the directory that
// it fills: a directory may be a volume, over which no other can be renamed.
const stagingName = ".countersign-init"

// answerName is written into the staging folder last: where it is, everything is.
// It holds what init prints, with paths relative to the directory.
const answerName = "answer.json"

// rename is os.Rename; tests end the process there, as it were.
var rename = os.Rename

// fillAtOnce fills a directory by the steps, which make one file or folder each, as one
// change: if the process is killed, the next call with the same directory either starts
// again, if nothing has been moved to its place yet, or finishes, and then sets made to
// what the first call was to print.
func fillAtOnce[Made any](dir string, made *Made, steps func(at func(name string) string) []func() error) error {
	staging := filepath.Join(dir, stagingName)
	answer, err := os.ReadFile(filepath.Join(staging, answerName)) //nolint:gosec // named by the user
	if err == nil {
		if err := json.Unmarshal(answer, made); err != nil {
			return fmt.Errorf("%s: what an interrupted init left is damaged: remove it", staging)
		}
		return moveUp(staging, dir)
	}
	if err := makeEmptyDirectory(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(staging); err != nil { // nothing in it was ever in use
		return err
	}
	if err := os.Mkdir(staging, 0o700); err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(staging, name) }
	all := append(steps(at), func() error { return writeNew(at("."+answerName), jsonLine(made)) },
		func() error { return rename(at("."+answerName), at(answerName)) })
	for _, step := range all {
		if err := step(); err != nil {
			return errors.Join(err, os.RemoveAll(staging))
		}
	}
	return moveUp(staging, dir)
}

// moveUp moves all to its place, but the answer, which goes with the staging folder.
func moveUp(staging, dir string) error {
	entries, err := os.ReadDir(staging)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == answerName {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, entry.Name())); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already, and was not made by init: move it away", filepath.Join(dir, entry.Name()))
		}
		if err := rename(filepath.Join(staging, entry.Name()), filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(staging, answerName)); err != nil {
		return err
	}
	return os.Remove(staging)
}

// makeEmptyDirectory makes the directory for its owner alone, or takes an empty
// one, or one in which init was interrupted.
func makeEmptyDirectory(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != stagingName {
			return fmt.Errorf("%s is not empty (it has %q): name a directory that is empty or not there", dir, entry.Name())
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) //nolint:gosec // a directory: its owner enters it
}
