package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/translog"
)

// witnessState is the folder of a witness, and what it has kept of one log:
//
//	lock                 who holds flock(2) on it has the folder
//	witness.pem          the key
//	LOG.checkpoint       the last checkpoint, cosigned
//	LOG.checkpoint.next  the next one, until the history has it
//	LOG.history          a line for each checkpoint: size, root in base64, time
//
// The next checkpoint is written, then its line in the history, and then it takes the
// place of the last one: a process that is killed on the way is finished by the next. A
// checkpoint that is not the last of the history was put back.
type witnessState struct {
	key    ed25519.PrivateKey
	logKey string
	path   string // of the checkpoint, without what comes after LOG
	lock   *os.File
}

const witnessKeyName = "witness.pem"

func openWitnessState(ctx context.Context, dir, logKey string) (s *witnessState, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryFlock(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("--state %s: another witness uses it: %w", dir, err), lock.Close())
	}
	s = &witnessState{logKey: logKey, lock: lock, path: filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(logKey))))}
	if s.key, err = openWitnessKey(ctx, filepath.Join(dir, witnessKeyName)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *witnessState) close() { _ = s.lock.Close() }

func (s *witnessState) checkpoint() string { return s.path + ".checkpoint" }
func (s *witnessState) next() string       { return s.checkpoint() + ".next" }
func (s *witnessState) history() string    { return s.path + ".history" }

// openWitnessKey opens the key of the witness, and makes it if it is not there.
func openWitnessKey(ctx context.Context, path string) (ed25519.PrivateKey, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		if err := writeKey(path, key); err != nil {
			return nil, err
		}
	}
	return readEd25519(ctx, path)
}

// kept returns the last checkpoint, cosigned and read; nil if there is none. It
// finishes what a killed process began, and refuses what is not the last of the
// history.
func (s *witnessState) kept() ([]byte, *translog.Checkpoint, error) {
	last, err := s.lastSeen()
	if err != nil {
		return nil, nil, err
	}
	kept, seen, err := s.read(s.checkpoint())
	if err != nil {
		return nil, nil, err
	}
	if treeOf(seen) == last {
		return kept, seen, nil
	}
	if next, read, err := s.read(s.next()); err == nil && read != nil && treeOf(read) == last {
		return next, read, errors.Join(os.Rename(s.next(), s.checkpoint()), syncDirectory(s.path))
	}
	return nil, nil, fmt.Errorf("%s has %d leaves, and the history of this witness ends at %d: an earlier state was put back, or one of its files is gone; go on in a new folder from a checkpoint that you trust", s.checkpoint(), treeOf(seen).N, last.N)
}

// treeOf is the tree of a checkpoint that may be missing.
func treeOf(seen *translog.Checkpoint) (tree tlog.Tree) {
	if seen != nil {
		tree = seen.Tree
	}
	return tree
}

// read reads a checkpoint; nil if it is not there.
func (s *witnessState) read(path string) ([]byte, *translog.Checkpoint, error) {
	signed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	seen, err := translog.OpenCheckpoint(signed, s.logKey)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return signed, seen, nil
}

// lastSeen returns the tree in the last line of the history. A line without an end was
// not written whole: nothing was kept for it.
func (s *witnessState) lastSeen() (last tlog.Tree, err error) {
	history, err := os.ReadFile(s.history())
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	history = history[:bytes.LastIndexByte(history, '\n')+1]
	if err != nil || len(history) == 0 {
		return last, err
	}
	line := history[bytes.LastIndexByte(history[:len(history)-1], '\n')+1:]
	var root, at string
	if _, err := fmt.Sscanf(string(line), "%d %s %s\n", &last.N, &root, &at); err != nil {
		return last, fmt.Errorf("%s: the last line: %w", s.history(), err)
	}
	hash, err := base64.StdEncoding.DecodeString(root)
	if err != nil || len(hash) != tlog.HashSize {
		return last, fmt.Errorf("%s: the last line: the root is not 32 bytes in base64", s.history())
	}
	last.Hash = tlog.Hash(hash)
	return last, nil
}

// keep keeps the next checkpoint, safely on disk.
func (s *witnessState) keep(cosigned []byte, now time.Time) error {
	seen, err := translog.OpenCheckpoint(cosigned, s.logKey)
	if err != nil {
		return err
	}
	if err := os.Remove(s.next()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeNew(s.next(), cosigned); err != nil {
		return err
	}
	if err := syncDirectory(s.path); err != nil {
		return err
	}
	line := fmt.Sprintf("%d %s %s\n", seen.Tree.N, base64.StdEncoding.EncodeToString(seen.Tree.Hash[:]), now.UTC().Format(time.RFC3339))
	if err := s.appendHistory(line); err != nil {
		return err
	}
	return errors.Join(os.Rename(s.next(), s.checkpoint()), syncDirectory(s.path))
}

// appendHistory adds a line, after the last one that is whole.
func (s *witnessState) appendHistory(line string) (err error) {
	file, err := os.OpenFile(s.history(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	written, err := os.ReadFile(s.history())
	if err != nil {
		return err
	}
	if _, err := file.WriteAt([]byte(line), int64(bytes.LastIndexByte(written, '\n')+1)); err != nil {
		return err
	}
	return file.Sync()
}

// syncDirectory has the names in the folder of a path written to disk.
func syncDirectory(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
