package logmemory

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/countersign-dev/countersign/internal/trust"
)

// maxFile bounds the file: some 50,000 organizations.
const maxFile = 16 << 20

// Read reads a memory. Without a file nothing is remembered.
func Read(path string) (Memory, error) {
	content, err := trust.ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Memory{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("log.memory: %w", err)
	}
	m, err := Parse(content)
	if err != nil {
		return nil,
			fmt.Errorf("log.memory: %s is damaged (%w): move it away, and this node no longer knows how far its logs had come", path, err)
	}
	return m, nil
}

// write replaces a file. A link stays one: what it points to may be on another volume than the store.
func write(path string, content []byte) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	return trust.Replace(path, content)
}

// confirmationPath is the file in which an operator confirms the conflict of an
// organization, beside the memory.
func confirmationPath(path, organization string) string {
	return fmt.Sprintf("%s.accept-%x", path, sha256.Sum256([]byte(organization)))
}

// Confirm confirms the conflict of an organization: the process that has the store open
// accepts it at its next check, if it is still exactly this one.
func Confirm(path, organization string, conflict *Conflict) error {
	return write(confirmationPath(path, organization), []byte(Digest(organization, conflict)+"\n"))
}

// Unconfirmed reports whether no confirmation waits to be taken up.
func Unconfirmed(path, organization string) bool {
	_, err := os.Lstat(confirmationPath(path, organization))
	return errors.Is(err, fs.ErrNotExist)
}

// Confirmed reports whether exactly this conflict was confirmed.
func Confirmed(path, organization string, conflict *Conflict) bool {
	content, err := trust.ReadFile(confirmationPath(path, organization), maxFile)
	return err == nil && string(content) == Digest(organization, conflict)+"\n"
}

func takenUp(path, organization string) error {
	err := os.Remove(confirmationPath(path, organization))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, trust.SyncDirectory(path))
}

// Digest identifies a conflict: an organization, what was remembered, what was found, and
// when. It is short enough to be typed: an operator confirms with it what they were shown.
func Digest(organization string, conflict *Conflict) string {
	alone := Memory{organization: Log{Conflict: conflict}}
	sum := sha256.Sum256(alone.Encode())
	return fmt.Sprintf("%x", sum[:8])
}
