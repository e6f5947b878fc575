package logmemory_test

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/cli/logmemory"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/translog"
)

// memories are some with names that a careless format would confuse.
func memories() []logmemory.Memory {
	at := time.Date(2026, time.May, 4, 3, 2, 1, 5e6, time.UTC)
	conflict := &logmemory.Conflict{
		Conflict: translog.Conflict{Remembered: tlog.Tree{N: 9, Hash: tlog.Hash{1}}, Seen: at, Found: at.Add(time.Hour)},
		Log:      tlog.Tree{N: 5, Hash: tlog.Hash{2}}, Accepted: at.Add(-time.Hour),
	}
	return []logmemory.Memory{
		{},
		{"": {}},
		{"one": {Tree: tlog.Tree{N: 3, Hash: tlog.Hash{3}}, Seen: at}},
		{
			"one": {Tree: tlog.Tree{N: math.MaxInt64}}, "two words": {Seen: at}, "line\nlog \"x\" 1": {Tree: tlog.Tree{N: 1}, Conflict: conflict},
			"\xff": {Conflict: &logmemory.Conflict{}}, "ünï": {Seen: at},
		},
	}
}

// TestOneEncoding: a memory is read as it was written, and what was cut off, or in which a
// byte was changed, removed or repeated, is refused or has the meaning of its encoding.
func TestOneEncoding(t *testing.T) {
	for _, memory := range memories() {
		valid := memory.Encode()
		try := func(in []byte) {
			if read, err := logmemory.Parse(in); err == nil && !bytes.Equal(read.Encode(), in) {
				t.Errorf("%q is read as %q", in, read.Encode())
			}
		}
		read, err := logmemory.Parse(valid)
		if err != nil || !bytes.Equal(read.Encode(), valid) || len(read) != len(memory) {
			t.Errorf("%q: %v", valid, err)
		}
		for i := range valid {
			try(valid[:i])
			try(append(bytes.Clone(valid[:i]), valid[i+1:]...))
			try(append(bytes.Clone(valid[:i+1]), valid[i:]...))
			for _, change := range []byte{1, 0x20, 0x80} {
				changed := bytes.Clone(valid)
				changed[i] ^= change
				try(changed)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	root := strings.Repeat("A", 43) + "="
	for name, in := range map[string]string{
		"nothing":             "",
		"another version":     "countersign.memory/2\n",
		"no newline":          "countersign.memory/1\nlog \"x\" 1 " + root + " 5",
		"a negative size":     "countersign.memory/1\nlog \"x\" -1 " + root + " 5\n",
		"too large a size":    "countersign.memory/1\nlog \"x\" 9223372036854775808 " + root + " 5\n",
		"a negative time":     "countersign.memory/1\nlog \"x\" 1 " + root + " -5\n",
		"a short root":        "countersign.memory/1\nlog \"x\" 1 AAAA 5\n",
		"an unquoted name":    "countersign.memory/1\nlog x 1 " + root + " 5\n",
		"twice the same":      "countersign.memory/1\nlog \"x\" 1 " + root + " 5\nlog \"x\" 1 " + root + " 5\n",
		"not sorted":          "countersign.memory/1\nlog \"y\" 1 " + root + " 5\nlog \"x\" 1 " + root + " 5\n",
		"a conflict of none":  "countersign.memory/1\nconflict 1 " + root + " 5 5 1 " + root + " 0\n",
		"an empty line":       "countersign.memory/1\n\n",
		"something else":      "countersign.memory/1\nforget \"x\"\n",
		"more than its lines": "countersign.memory/1\nlog \"x\" 1 " + root + " 5 5\n",
	} {
		if read, err := logmemory.Parse([]byte(in)); err == nil {
			t.Errorf("%s is read as %+v", name, read)
		}
	}
}

// FuzzMemory: what is read has one encoding.
func FuzzMemory(f *testing.F) {
	for _, memory := range memories() {
		f.Add(memory.Encode())
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		read, err := logmemory.Parse(in)
		if err == nil && !bytes.Equal(read.Encode(), in) {
			t.Errorf("%q is read as %q", in, read.Encode())
		}
		for _, one := range read {
			if one.Tree.N < 0 || one.Conflict != nil && one.Conflict.Describe() == "" {
				t.Errorf("%+v", one)
			}
		}
	})
}

// TestReadRefuses: a damaged memory is an error that names the file and the cure, not a
// memory of nothing.
func TestReadRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.memory")
	if read, err := logmemory.Read(path); err != nil || len(read) != 0 {
		t.Errorf("without a file: %v, %v", read, err)
	}
	whole := memories()[3].Encode()
	for _, content := range [][]byte{{}, whole[:len(whole)-1], append(whole, '\n')} {
		testenv.Write(t, path, content)
		if _, err := logmemory.Read(path); err == nil || !strings.Contains(err.Error(), path+" is damaged") || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("%d bytes: %v", len(content), err)
		}
	}
	if _, err := logmemory.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "log.memory") {
		t.Errorf("a directory: %v", err)
	}
}
