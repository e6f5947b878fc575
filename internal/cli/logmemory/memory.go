// Package logmemory keeps, outside the store, the last head of each log that a node has
// seen committed, and compares the store with it. A store that was put back, emptied or
// replaced by a replica that was behind has forgotten what was answered since: its log does
// not extend what is remembered.
//
// The memory is written after the commit, off the request's path, at most once a second and
// when the node stops. It may be behind the store, and is never ahead of it.
package logmemory

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/translog"
)

// Memory is what a node remembers of each log, by organization.
type Memory map[string]Log

// Log is what a node remembers of one log.
type Log struct {
	Tree     tlog.Tree
	Seen     time.Time // when it last saw this tree
	Conflict *Conflict // nil if the store's log extends the tree
}

// Conflict is one that is marked in the store, with the log that was found there.
type Conflict struct {
	translog.Conflict
	Log      tlog.Tree // the store's
	Accepted time.Time // of the store's log when it was found: an acceptance is later
}

// header is the first line of an encoded memory.
const header = "countersign.memory/1\n"

// Encode returns the only encoding of a memory, sorted by organization:
//
//	countersign.memory/1
//	log ORGANIZATION SIZE ROOT SEEN
//	conflict SIZE ROOT SEEN FOUND SIZE ROOT ACCEPTED
//
// A conflict is that of the log before it: what was remembered, what was found, and the
// acceptance that the store had. Organizations are quoted, roots in base64, and times in
// milliseconds since the epoch.
func (m Memory) Encode() []byte {
	out := []byte(header)
	for _, organization := range slices.Sorted(maps.Keys(m)) {
		state := m[organization]
		out = fmt.Appendf(out, "log %s %s %d\n", strconv.Quote(organization), treeText(state.Tree), milliseconds(state.Seen))
		if c := state.Conflict; c != nil {
			out = fmt.Appendf(out, "conflict %s %d %d %s %d\n", treeText(c.Remembered), milliseconds(c.Seen),
				milliseconds(c.Found), treeText(c.Log), milliseconds(c.Accepted))
		}
	}
	return out
}

func treeText(tree tlog.Tree) string {
	return fmt.Sprintf("%d %s", tree.N, base64.StdEncoding.EncodeToString(tree.Hash[:]))
}

func milliseconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return max(0, at.UnixMilli())
}

var errMemory = errors.New("not a memory: expected " + strings.TrimSpace(header) + " and lines 'log' and 'conflict'")

// Parse parses what Encode returns, and nothing else.
func Parse(in []byte) (Memory, error) {
	rest, ok := bytes.CutPrefix(in, []byte(header))
	if !ok {
		return nil, errMemory
	}
	m := Memory{}
	organization := ""
	for line := range strings.Lines(string(rest)) {
		kind, fields, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		state := m[organization]
		f := &fields
		switch kind {
		case "log":
			quoted, err := strconv.QuotedPrefix(fields)
			if err != nil {
				return nil, errMemory
			}
			if organization, err = strconv.Unquote(quoted); err != nil {
				return nil, errMemory
			}
			*f = strings.TrimPrefix(fields[len(quoted):], " ")
			state = Log{Tree: cutTree(f), Seen: cutTime(f)}
		case "conflict":
			state.Conflict = &Conflict{
				Conflict: translog.Conflict{Remembered: cutTree(f), Seen: cutTime(f), Found: cutTime(f)},
				Log:      cutTree(f), Accepted: cutTime(f),
			}
		}
		m[organization] = state
	}
	if !bytes.Equal(m.Encode(), in) { // whatever was not understood
		return nil, errMemory
	}
	return m, nil
}

// cutTree cuts a size and a root from the beginning of fields. What is wrong is zero.
func cutTree(fields *string) (tree tlog.Tree) {
	tree.N = cutNumber(fields)
	text, rest, _ := strings.Cut(*fields, " ")
	*fields = rest
	root, _ := base64.StdEncoding.Strict().DecodeString(text)
	copy(tree.Hash[:], root)
	return tree
}

func cutTime(fields *string) (at time.Time) {
	if ms := cutNumber(fields); ms > 0 {
		at = time.UnixMilli(ms).UTC()
	}
	return at
}

func cutNumber(fields *string) int64 {
	text, rest, _ := strings.Cut(*fields, " ")
	*fields = rest
	number, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0 // is not encoded as this text
	}
	return int64(number) //nolint:gosec // 63 bits
}

// Known returns the organizations whose log is remembered to have leaves, sorted.
func (m Memory) Known() []string {
	var known []string
	for organization, state := range m {
		if state.Tree.N > 0 {
			known = append(known, organization)
		}
	}
	slices.Sort(known)
	return known
}

// empty is the tree of a log without leaves.
var empty = new(translog.Head).Tree()

// Lost returns the conflict of a log with a store that does not exist. It has no time: the
// same loss is always the same conflict.
func Lost(state Log) *Conflict {
	return &Conflict{Conflict: translog.Conflict{Remembered: state.Tree, Seen: state.Seen}, Log: empty}
}

// Describe says what a conflict is about.
func (c *Conflict) Describe() string {
	seen := "at an unknown time"
	if !c.Seen.IsZero() {
		seen = "at " + c.Seen.Format(time.RFC3339)
	}
	return fmt.Sprintf("%d leaves were seen, last %s, and the store has %d: %s", c.Remembered.N, seen, c.Log.N, c.Missing(c.Log.N))
}

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
