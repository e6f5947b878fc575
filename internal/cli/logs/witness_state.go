package logs

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

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/translog"
)

// witnessState is the folder of a witness, and its state for one log:
//
//	lock                 held by flock(2) while a process uses the folder
//	witness.pem          the key
//	LOG.checkpoint       the last checkpoint, cosigned
//	LOG.checkpoint.next  the next checkpoint, until the history has it
//	LOG.history          one line per checkpoint: size, root in base64, time
//
// A new checkpoint is first written to .next, then its line is appended to the history,
// and then .next is renamed to .checkpoint. If the process is killed in between, the next
// call finishes the update. A checkpoint that is not the last in the history was put back.
type witnessState struct {
	key    ed25519.PrivateKey
	logKey string
	Path   string // of the folder's files for this log, up to LOG
	lock   *os.File
}

const witnessKeyName = "witness.pem"

// OpenWitnessState opens the state of a witness, or creates it.
func OpenWitnessState(ctx context.Context, dir, logKey string) (s *witnessState, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := trust.TryLock(lock)
	if err == nil && !held {
		err = errors.New("in use by another witness")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--state %s: %w", dir, err), lock.Close())
	}
	s = &witnessState{logKey: logKey, lock: lock, Path: filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(logKey))))}
	if s.key, err = openWitnessKey(ctx, filepath.Join(dir, witnessKeyName)); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close unlocks the state.
func (s *witnessState) Close() { _ = s.lock.Close() }

func (s *witnessState) checkpoint() string { return s.Path + ".checkpoint" }
func (s *witnessState) next() string       { return s.checkpoint() + ".next" }
func (s *witnessState) history() string    { return s.Path + ".history" }

// openWitnessKey opens the key of the witness. It creates one if there is none.
func openWitnessKey(ctx context.Context, path string) (ed25519.PrivateKey, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		if err := console.WriteKey(path, key); err != nil {
			return nil, err
		}
	}
	return deployment.ReadEd25519(ctx, path)
}

// kept returns the last checkpoint, cosigned and parsed; nil if there is none. It finishes
// the update of a killed process, and refuses a checkpoint that is not the last in the
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
		return next, read, errors.Join(os.Rename(s.next(), s.checkpoint()), trust.SyncDirectory(s.Path))
	}
	return nil, nil,
		fmt.Errorf("%s has %d leaves, but the history of this witness ends at %d: an earlier state was put back, "+
			"or one of its files is gone; start again in a new folder from a checkpoint that you trust",
			s.checkpoint(), treeOf(seen).N, last.N)
}

// treeOf returns the tree of a checkpoint, which may be nil.
func treeOf(seen *translog.Checkpoint) (tree tlog.Tree) {
	if seen != nil {
		tree = seen.Tree
	}
	return tree
}

// read reads a checkpoint. It returns nil if there is none.
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

// lastSeen returns the tree in the last complete line of the history. A line without a
// newline was cut off: no checkpoint was kept for it.
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
	var root, seen string
	if _, err := fmt.Sscanf(string(line), "%d %s %s\n", &last.N, &root, &seen); err != nil {
		return last, fmt.Errorf("%s: the last line: %w", s.history(), err)
	}
	hash, err := base64.StdEncoding.DecodeString(root)
	if err != nil || len(hash) != tlog.HashSize {
		return last, fmt.Errorf("%s: the last line: the root is not 32 bytes in base64", s.history())
	}
	last.Hash = tlog.Hash(hash)
	return last, nil
}

// keep stores the next checkpoint durably.
func (s *witnessState) keep(cosigned []byte, now time.Time) error {
	seen, err := translog.OpenCheckpoint(cosigned, s.logKey)
	if err != nil {
		return err
	}
	if err := os.Remove(s.next()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := console.WriteNew(s.next(), cosigned); err != nil {
		return err
	}
	if err := trust.SyncDirectory(s.Path); err != nil {
		return err
	}
	line := fmt.Sprintf("%d %s %s\n", seen.Tree.N, base64.StdEncoding.EncodeToString(seen.Tree.Hash[:]), now.UTC().Format(time.RFC3339))
	if err := s.appendHistory(line); err != nil {
		return err
	}
	return errors.Join(os.Rename(s.next(), s.checkpoint()), trust.SyncDirectory(s.Path))
}

// appendHistory writes a line after the last complete one.
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
