package bolt_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/translog"
)

const records = 400

// wide returns the content of a file whose buckets have branch pages, in a folder, and
// the size of its pages.
func wide(t *testing.T) (path string, content []byte, page int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	for n := range records {
		begun, err := s.Begin(t.Context(), claimOf(recordName(n)), nil)
		testenv.Must(t, err)
		activity := activityOf(recordName(n))
		activity.Data = append(activity.Data, make([]byte, 500)...)
		activity.Leaf, activity.Waiting = []byte("leaf of "+recordName(n)), waits(n)
		activity.Event = &store.Event{ID: recordName(n), At: time.UnixMilli(1), Data: []byte("event of " + recordName(n))}
		testenv.Must(t, s.Complete(t.Context(), *begun.Lease, activity, store.ChangeFunc(func(l store.Ledger) (refusal, err error) {
			return nil, l.Write(entryKey(n), store.Entry{Value: []byte(recordName(n)), KeepUntil: time.Now().Add(time.Hour)})
		})))
	}
	testenv.Must(t, s.Close())
	content = testenv.Read(t, path)
	page = os.Getpagesize()
	end := int(max(binary.NativeEndian.Uint64(content[16+40:]), binary.NativeEndian.Uint64(content[page+16+40:]))) * page
	if err := os.Truncate(path, int64(end)); err != nil { // as a snapshot is
		t.Fatal(err)
	}
	return path, content[:end], page
}

// waits reports whether a record waits.
func waits(n int) bool { return n%10 == 3 }

func recordName(n int) string { return fmt.Sprintf("record %04d", n) }

func entryKey(n int) (key store.Key) {
	key.Kind = store.KindMeter
	binary.BigEndian.PutUint32(key.ID[:], uint32(n)*0x9e3779b9)
	return key
}

// outcome is what becomes of a damaged file.
type outcome struct{ refused, right, wrong int }

func (o outcome) String() string {
	return fmt.Sprintf("%d refused, %d read right, %d silently wrong", o.refused, o.right, o.wrong)
}

// read opens a damaged file and reads all that it should have. Damage may be refused, and
// is then refused from then on; it never crashes the process.
func (o *outcome) read(t *testing.T, path string) {
	t.Helper()
	s, err := bolt.Open(path)
	if err == nil {
		err = readAll(t, s)
		if err != nil && strings.Contains(err.Error(), "is damaged: restore a backup") {
			if again := s.Ping(t.Context()); !errors.Is(again, store.ErrUnavailable) {
				t.Errorf("ready with %v after %v", again, err)
			}
		}
		testenv.Must(t, s.Close())
	}
	switch {
	case err == nil:
		o.right++
	case errors.Is(err, errWrong):
		o.wrong++
	case errors.Is(err, store.ErrUnavailable):
		o.refused++
	default:
		t.Errorf("%v, want ErrUnavailable", err)
	}
}

// errWrong says that something is read that was not written, or not read.
var errWrong = errors.New("silently wrong")

func readAll(t *testing.T, s *bolt.Store) error {
	wrong := false
	for n := range records {
		right, err := readOne(t, s, n)
		if err != nil {
			return err
		}
		wrong = wrong || !right
	}
	err := s.Change(t.Context(), "org", store.ChangeFunc(func(l store.Ledger) (refusal, err error) {
		for n := range records {
			entry, err := l.Read(entryKey(n))
			if err != nil {
				return nil, err
			}
			wrong = wrong || string(entry.Value) != recordName(n)
		}
		return nil, nil
	}))
	if err != nil {
		return err
	}
	if wrong {
		return errWrong
	}
	return readLists(t, s)
}

// readOne reports whether a record is found in each way.
func readOne(t *testing.T, s *bolt.Store, n int) (right bool, err error) {
	name := recordName(n)
	is := func(found *store.Activity) bool {
		return found != nil && found.ID == name && strings.HasPrefix(string(found.Data), "record of "+name+"\x00")
	}
	recorded, err := store.Recorded(t.Context(), s, claimOf(name))
	if err != nil {
		return false, err
	}
	got, err := s.Get(t.Context(), "org", name)
	if recorded != nil && !is(recorded) || err == nil && !is(&got) {
		t.Errorf("%s: read as %q and %q", name, recorded.ID, got.ID)
	}
	right = err == nil && is(recorded) && is(&got)
	if err == nil && waits(n) {
		got, err = s.Find(t.Context(), "org", claimOf(name).Fingerprint)
		right = right && err == nil && is(&got)
	}
	if err == nil {
		var index int64
		index, err = s.LogIndex(t.Context(), "org", name)
		right = right && err == nil && index == int64(n)
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return right, err
}

// readLists reads everything that has many entries: lists, the log and the outbox.
func readLists(t *testing.T, s *bolt.Store) error {
	counted := func(filter store.Filter, want int) error {
		filter.Limit = store.MaxList
		listed, err := s.List(t.Context(), "org", filter)
		if err == nil && len(listed) != want {
			err = errWrong
		}
		return err
	}
	waiting, err := s.Waiting(t.Context())
	if err == nil && len(waiting) != records/10 {
		err = errWrong
	}
	for n := int64(0); n < records && err == nil; n++ {
		var rows []translog.Row
		if rows, err = s.LogRows(t.Context(), "org", []int64{n}); err == nil && string(rows[0].Leaf) != "leaf of "+recordName(int(n)) || errors.Is(err, translog.ErrMissing) {
			err = errWrong
		}
	}
	if err == nil {
		var events []store.Pending
		if events, _, err = s.Events(t.Context(), store.MaxEvents, nil); err == nil && len(events) != records {
			err = errWrong
		}
	}
	if err == nil {
		err = counted(store.Filter{}, records)
	}
	if err == nil {
		err = counted(store.Filter{Statuses: []string{""}}, records)
	}
	if err == nil {
		err = counted(store.Filter{Statuses: []string{"none"}}, 0)
	}
	return err
}

// at damages a file at an offset, reads it, and mends it.
func (o *outcome) at(t *testing.T, path string, offset int, old, damaged []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	testenv.Must(t, err)
	defer file.Close()
	write := func(content []byte) {
		if _, err := file.WriteAt(content, int64(offset)); err != nil {
			t.Fatal(err)
		}
	}
	write(damaged)
	o.read(t, path)
	write(old)
}

// TestFlippedBits flips bits of the pages that lead to others and of the leaves: no flip may
// hide or change what was written.
func TestFlippedBits(t *testing.T) {
	path, content, page := wide(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	byKind := map[string][]int{} // offsets of bytes in use
	for at := 2 * page; at < len(content); at += page {
		kind := map[uint16]string{1: "branch", 2: "leaf", 16: "free"}[binary.NativeEndian.Uint16(content[at+8:])]
		for i := range page {
			if content[at+i] != 0 || i < 16 {
				byKind[kind] = append(byKind[kind], at+i)
			}
		}
	}
	for kind, most := range map[string]int{"branch": 600, "free": 150, "leaf": 500} {
		var o outcome
		for range testenv.Draws(t, testenv.Some(most)) {
			at := byKind[kind][random.IntN(len(byKind[kind]))]
			before, flipped := o.wrong, content[at]^1<<random.IntN(8)
			if leadsBack(content, page, at, flipped) {
				continue
			}
			o.at(t, path, at, content[at:at+1], []byte{flipped})
			if o.wrong > before {
				t.Errorf("%s page %d, byte %d: %02x for %02x is silently wrong", kind, at/page, at%page, flipped, content[at])
			}
		}
		t.Logf("%s: %v", kind, o)
	}
}

// TestFlippedWhileServing flips bits below an open store. What is read is what was written, or an
// error; only that an entry is missing can go unnoticed, until the file is opened again.
func TestFlippedWhileServing(t *testing.T) {
	path, content, page := wide(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 4))
	var o outcome
	for range testenv.Draws(t, testenv.Some(300)) {
		offset := 2*page + random.IntN(len(content)-2*page)
		flipped := content[offset] ^ 1<<random.IntN(8)
		if content[offset] == 0 && offset%page >= 16 || leadsBack(content, page, offset, flipped) {
			continue
		}
		o.below(t, path, offset, content[offset], flipped)
	}
	t.Logf("%v", o)
}

// leadsBack reports whether a flip makes a branch page refer to a branch page. bbolt follows a
// circle without end, which docs/security.md says.
func leadsBack(content []byte, page, offset int, flipped byte) bool {
	kind := func(id uint64) uint16 {
		if id >= uint64(len(content)/page) {
			return 0
		}
		return binary.NativeEndian.Uint16(content[int(id)*page+8:])
	}
	within := offset%page - 16
	if kind(uint64(offset/page)) != 1 || within < 0 || within%16 < 8 {
		return false
	}
	var id [8]byte
	start := offset - within%8
	copy(id[:], content[start:])
	id[offset-start] = flipped
	return kind(binary.NativeEndian.Uint64(id[:])) == 1
}

// below flips a byte of the file of an open store, reads everything, and mends it.
func (o *outcome) below(t *testing.T, path string, offset int, old, flipped byte) {
	t.Helper()
	s, err := bolt.Open(path)
	testenv.Must(t, err)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	testenv.Must(t, err)
	defer file.Close()
	if _, err := file.WriteAt([]byte{flipped}, int64(offset)); err != nil {
		t.Fatal(err)
	}
	switch err := readAll(t, s); {
	case err == nil:
		o.right++
	case errors.Is(err, errWrong):
		o.wrong++
	case errors.Is(err, store.ErrUnavailable):
		o.refused++
	default:
		t.Errorf("byte %d: %v, want ErrUnavailable", offset, err)
	}
	if _, err := file.WriteAt([]byte{old}, int64(offset)); err != nil {
		t.Fatal(err)
	}
	testenv.Must(t, s.Close())
}

// TestFlippedPositions flips the positions of the first and the last entry of each leaf so that
// they lead to another page, which may have what the leaf was before: it may have the entry, too.
func TestFlippedPositions(t *testing.T) {
	path, content, page := wide(t)
	var o outcome
	for at := 2 * page; at < len(content); at += page {
		if binary.NativeEndian.Uint16(content[at+8:]) != 2 {
			continue
		}
		last := int(binary.NativeEndian.Uint16(content[at+10:])) - 1
		for _, element := range []int{0, last} {
			position := at + 16 + 16*element + 4
			for bits := page; bits <= len(content) && element >= 0; bits *= 2 {
				old := content[position : position+4]
				flipped := binary.NativeEndian.AppendUint32(nil, binary.NativeEndian.Uint32(old)^uint32(bits))
				before := o.wrong
				o.at(t, path, position, old, flipped)
				if o.wrong > before {
					t.Errorf("page %d, element %d of %d: %x for %x is silently wrong", at/page, element, last+1, flipped, old)
				}
			}
		}
	}
	t.Logf("%v", o)
}

// TestCutOff refuses what is left of a file, whatever its length.
func TestCutOff(t *testing.T) {
	path, content, page := wide(t)
	random := rand.New(rand.NewPCG(40, 2))
	lengths := []int{1, 100, page, 2 * page, 2*page + 1, len(content) - page, len(content) - 1}
	for range testenv.Some(50) {
		lengths = append(lengths, 1+random.IntN(len(content)-1))
	}
	for _, length := range lengths {
		testenv.Write(t, path, content[:length])
		if _, err := bolt.Open(path); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "state.db is damaged: restore a backup") {
			t.Errorf("%d bytes of %d: opened with %v", length, len(content), err)
		}
	}
}

// TestDamagedPages zeroes pages and exchanges pages.
func TestDamagedPages(t *testing.T) {
	path, content, page := wide(t)
	random := rand.New(rand.NewPCG(40, 3))
	pages := len(content) / page
	var zeroed, swapped outcome
	for range testenv.Some(200) {
		one, other := 2+random.IntN(pages-2), 2+random.IntN(pages-2)
		at := func(n int) []byte { return content[n*page : (n+1)*page] }
		zeroed.at(t, path, one*page, at(one), make([]byte, page))
		swapped.at(t, path, one*page, at(one), at(other))
	}
	t.Logf("zeroed: %v; replaced by another: %v", zeroed, swapped)
	if zeroed.wrong+swapped.wrong > 0 {
		t.Errorf("zeroed: %v; replaced by another: %v", zeroed, swapped)
	}
}

// TestFault takes the file away below its mapping, as a disk that cannot read it
// does: whatever reads or writes says so, and closing ends.
func TestFault(t *testing.T) {
	for name, first := range map[string]func(t *testing.T, s *bolt.Store) error{
		"read": func(t *testing.T, s *bolt.Store) error { return readAll(t, s) },
		"write": func(t *testing.T, s *bolt.Store) error {
			begun, err := s.Begin(t.Context(), claimOf("new"), nil)
			if err != nil {
				return err
			}
			return s.Complete(t.Context(), *begun.Lease, activityOf("new"), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, _, page := wide(t)
			s := open(t, path)
			testenv.Must(t, s.Ping(t.Context()))
			testenv.Must(t, os.Truncate(path, int64(2*page)))
			for _, err := range []error{first(t, s), first(t, s), s.Ping(t.Context())} {
				if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "state.db is damaged: restore a backup") {
					t.Errorf("%v, want that it is damaged", err)
				}
			}
			testenv.Must(t, s.Close())
		})
	}
}

// TestOwnPanic lets a panic pass that is not of the file.
func TestOwnPanic(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	defer func() {
		if recover() == nil {
			t.Error("it was taken for damage")
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	_ = s.Snapshot(t.Context(), nil)
}
