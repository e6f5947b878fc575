package corpus

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// encoded makes an entry of one []byte.
func encoded(content []byte) Entry {
	data := fmt.Appendf(nil, "go test fuzz v1\n[]byte(%q)\n", content)
	return Entry{Name(data), data}
}

func TestValues(t *testing.T) {
	got, err := Values([]byte("go test fuzz v1\n[]byte(\"a\\xff\\n\")\nstring(\"b\\\"\")\nuint64(18446744073709551615)\nbyte('\\x07')\nuint8(200)\nbool(true)\nint64(-3)\n"))
	want := []any{[]byte("a\xff\n"), `b"`, uint64(1<<64 - 1), uint8(7), uint8(200), true, int64(-3)}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	for _, text := range []string{
		"", "go test fuzz v2\nbool(true)", "go test fuzz v1\n[]byte(7)", "go test fuzz v1\nfloat64(1)", "go test fuzz v1\nbool(maybe)",
		"go test fuzz v1\nbyte('\\u1234')", "go test fuzz v1\nuint8(256)", "go test fuzz v1\n7", "go test fuzz v1\nstring(\"a\", \"b\")", "go test fuzz v1\nint64(-\"a\")",
	} {
		if got, err := Values([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestArchive(t *testing.T) {
	entries := []Entry{encoded([]byte("b")), encoded([]byte("a")), encoded(nil)}
	first, err := Encode(entries)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(entries)
	second, err := Encode(entries)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the order of the entries makes another archive: %v", err)
	}
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(path, first, 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := Read(path)
	slices.SortFunc(entries, func(a, b Entry) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	if err != nil || !cmp.Equal(read, entries) {
		t.Errorf("%v\n%s", err, cmp.Diff(entries, read))
	}
	archive, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	if err != nil || !archive.File[0].Modified.IsZero() && archive.File[0].Modified.Year() != 1979 {
		t.Errorf("a time is in the archive: %v (%v)", archive.File[0].Modified, err)
	}
	if none, err := Read(filepath.Join(t.TempDir(), "none.zip")); err != nil || len(none) != 0 {
		t.Errorf("an archive that is not there: %v, %v", none, err)
	}
}

func TestPack(t *testing.T) {
	old, small, long := encoded([]byte("old and longer")), encoded([]byte("s")), encoded(make([]byte, MaxEntry))
	unreadable := Entry{"x", []byte("no entry")}
	got := Pack([]Entry{old}, []Entry{long, encoded([]byte("medium")), unreadable, small, old, small})
	want := []Entry{old, small, encoded([]byte("medium"))}
	if !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// Random bytes do not compress: so many do not fit. The archive has the size
// that was reckoned with, and keeps what it had when it is packed again.
func TestPackBound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var found []Entry
	for range 40 {
		content := make([]byte, 10_000)
		for i := range content {
			content[i] = byte(random.Uint32())
		}
		found = append(found, encoded(content))
	}
	kept := Pack(nil, found)
	size := emptyArchive
	for _, entry := range kept {
		size += costOf(entry)
	}
	archive, err := Encode(kept)
	if err != nil || len(archive) > MaxArchive || len(archive) > size || len(kept) == len(found) || len(kept) == 0 {
		t.Fatalf("%d entries make %d bytes, %d were reckoned with: %v", len(kept), len(archive), size, err)
	}
	if again := Pack(kept, []Entry{encoded([]byte("small"))}); !cmp.Equal(again[:len(kept)], kept) {
		t.Error("what was there did not stay")
	}
}

func TestRaw(t *testing.T) {
	for _, values := range [][]any{
		{[]byte("abc")}, {"abc"}, {uint64(7), uint8(9)}, {"a", []byte{}, "c"}, {true, "x", false, int64(-5)}, {[]byte{}, uint64(1)},
		{bytes.Repeat([]byte{1}, 300), "tail"},
	} {
		raw, err := Raw(values)
		if err != nil {
			t.Fatal(err)
		}
		var types []reflect.Type
		for _, value := range values {
			types = append(types, reflect.TypeOf(value))
		}
		var got []any
		for _, value := range FromRaw(types, raw) {
			got = append(got, value.Interface())
		}
		if !cmp.Equal(got, values) {
			t.Errorf("%x\n%s", raw, cmp.Diff(values, got))
		}
	}
	if raw, err := Raw([]any{[]byte("as it is")}); err != nil || string(raw) != "as it is" {
		t.Errorf("one []byte is written %q, %v", raw, err)
	}
	if _, err := Raw([]any{7}); err == nil {
		t.Error("an int is written, whose width depends on the machine")
	}
}

// All bytes are arguments of any types.
func TestFromRawShort(t *testing.T) {
	types := []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[uint64](), reflect.TypeFor[[]byte]()}
	for _, raw := range [][]byte{nil, {0xff}, {9, 'a'}, {1, 'a', 1}, bytes.Repeat([]byte{0xff}, 12)} {
		if got := FromRaw(types, raw); len(got) != len(types) {
			t.Errorf("%x makes %d arguments", raw, len(got))
		}
	}
	if got := FromRaw(types, []byte{9, 'a'}); got[0].String() != "a" || got[1].Uint() != 0 {
		t.Errorf("a length that is too great: %v", got)
	}
}
