package translog_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/translog"
)

// formats are the parsers, each with valid inputs and a function that parses an input and
// encodes the result.
func formats(t testing.TB) map[string]struct {
	valid [][]byte
	again func([]byte) ([]byte, error)
} {
	k := newStore(t, 7)
	empty := translog.Leaf{}
	leaf, err := empty.Encode()
	testenv.Must(t, err)
	return map[string]struct {
		valid [][]byte
		again func([]byte) ([]byte, error)
	}{
		"leaf": {[][]byte{k.rows[0].Leaf, leaf}, func(in []byte) ([]byte, error) {
			leaf, err := translog.ParseLeaf(in)
			if err != nil {
				return nil, err
			}
			return leaf.Encode()
		}},
		"head": {[][]byte{nil, newStore(t, 4).head.Encode(), k.head.Encode()}, func(in []byte) ([]byte, error) {
			head, err := translog.ParseHead(in)
			if err != nil || len(in) == 0 {
				return nil, err
			}
			return head.Encode(), nil
		}},
		"proof": {[][]byte{newStore(t, 1).prove(t, 0), k.prove(t, 5)}, func(in []byte) ([]byte, error) {
			proof, err := translog.ParseProof(in)
			if err != nil {
				return nil, err
			}
			return proof.Encode(), nil
		}},
		"advance": {[][]byte{k.advance(t, 0).Encode(), k.advance(t, 5).Encode()}, func(in []byte) ([]byte, error) {
			advance, err := translog.ParseAdvance(in)
			if err != nil {
				return nil, err
			}
			return advance.Encode(), nil
		}},
	}
}

// TestOneEncoding: an input that was cut, or in which a byte was changed, removed or
// repeated, is refused or has the meaning that its encoding has.
func TestOneEncoding(t *testing.T) {
	for name, format := range formats(t) {
		for _, valid := range format.valid {
			try := func(in []byte) {
				if out, err := format.again(in); err == nil && !bytes.Equal(in, out) {
					t.Errorf("%s: %q is read as %q", name, in, out)
				}
			}
			if out, err := format.again(valid); err != nil || !bytes.Equal(valid, out) {
				t.Errorf("%s: %q is read as %q: %v", name, valid, out, err)
			}
			for i := range valid {
				try(valid[:i])
				try(append(bytes.Clone(valid[:i]), valid[i+1:]...))
				try(append(bytes.Clone(valid[:i+1]), valid[i:]...))
				for _, change := range []byte{1, 0x20, 0x80, 0xff} {
					changed := bytes.Clone(valid)
					changed[i] ^= change
					try(changed)
				}
			}
		}
	}
}

// TestLeafBounds: each name of a leaf has up to 1,024 bytes.
func TestLeafBounds(t *testing.T) {
	for _, organization := range []int{0, 1, 1023, 1024, 1025, math.MaxUint16, math.MaxUint16 + 1} {
		for _, id := range []int{0, 1, 1023, 1024, 1025, math.MaxUint16, math.MaxUint16 + 1} {
			leaf := translog.Leaf{Organization: strings.Repeat("o", organization), ID: strings.Repeat("i", id), Fingerprint: [32]byte{1}, Record: [32]byte{2}}
			valid := organization <= 1024 && id <= 1024
			_, err := leaf.Encode()
			if want := fmt.Sprintf("the organization has %d bytes and the id %d: a leaf has room for 1024", organization, id); (err == nil) != valid || !valid && !strings.Contains(err.Error(), want) {
				t.Errorf("names of %d and %d bytes: %v", organization, id, err)
			}
			encoded := []byte("countersign.leaf/1")
			for _, name := range []string{leaf.Organization, leaf.ID} {
				encoded = append(binary.BigEndian.AppendUint16(encoded, uint16(len(name))), name...)
			}
			encoded = append(append(encoded, leaf.Fingerprint[:]...), leaf.Record[:]...)
			parsed, err := translog.ParseLeaf(encoded)
			if (err == nil) != valid || valid && parsed != leaf || !valid && parsed != (translog.Leaf{}) {
				t.Errorf("names of %d and %d bytes: parsed as %+v, %v", organization, id, parsed, err)
			}
		}
	}
}

// TestHeadBounds: a head has one hash for each bit of its size, of at most 2^63−1; the bit before says
// that it has moved.
func TestHeadBounds(t *testing.T) {
	for _, size := range []uint64{0, 1, 2, 3, 7, 8, math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
		for extra := -33; extra <= 33; extra++ {
			of := size & math.MaxInt64
			edge := 32*len(strings.ReplaceAll(fmt.Sprintf("%b", of), "0", "")) + extra
			if edge < 0 {
				continue
			}
			encoded := append(binary.BigEndian.AppendUint64(nil, size), make([]byte, edge)...)
			head, err := translog.ParseHead(encoded)
			if valid := extra == 0; (err == nil) != valid || valid && (uint64(head.Size) != of || head.Moved != (of != size) || !bytes.Equal(head.Encode(), encoded)) || !valid && !reflect.DeepEqual(head, translog.Head{}) {
				t.Errorf("size %d with an edge of %d bytes: %+v, %v", size, edge, head, err)
			}
		}
	}
}

// TestHashLines: a proof and an advance have up to 63 hashes of 32 bytes each.
func TestHashLines(t *testing.T) {
	line := func(size int) string { return base64.StdEncoding.EncodeToString(make([]byte, size)) + "\n" }
	for size := 30; size <= 34; size++ {
		for _, count := range []int{1, 2, 62, 63, 64, 65} {
			hashes := line(32)[:0] + strings.Repeat(line(32), count-1) + line(size)
			valid := size == 32 && count <= 63
			proof, err := translog.ParseProof([]byte("c2sp.org/tlog-proof@v1\nextra AAAA\nindex 0\n" + hashes + "\nx"))
			if (err == nil) != valid || valid && len(proof.Hashes) != count {
				t.Errorf("a proof of %d hashes, the last of %d bytes: %v", count, size, err)
			}
			advance, err := translog.ParseAdvance([]byte("old 0\n" + hashes + "\nx"))
			if (err == nil) != valid || valid && len(advance.Proof) != count {
				t.Errorf("an advance of %d hashes, the last of %d bytes: %v", count, size, err)
			}
		}
	}
}

// TestNumbers: sizes and indexes are decimal numbers from 0 to 2^63−1.
func TestNumbers(t *testing.T) {
	for number, valid := range map[string]bool{
		"0": true, "1": true, "10": true, "4611686018427387904": true, "9223372036854775807": true,
		"": false, "-0": false, "-1": false, "+1": false, "01": false, "1.": false, "0x1": false, "1_0": false, " 1": false, "1 ": false,
		"9223372036854775808": false, "18446744073709551615": false, "-9223372036854775808": false,
	} {
		if _, err := translog.ParseProof([]byte("c2sp.org/tlog-proof@v1\nextra AAAA\nindex " + number + "\n\nx")); (err == nil) != valid {
			t.Errorf("index %q: %v", number, err)
		}
		if _, err := translog.ParseAdvance([]byte("old " + number + "\n\nx")); (err == nil) != valid {
			t.Errorf("old %q: %v", number, err)
		}
		signed := signText(t, translog.Origin(organization)+"\n"+number+"\n"+rootText(32)+"\n")
		if opened, err := translog.OpenCheckpoint(signed, key); (err == nil) != valid || valid && fmt.Sprint(opened.Tree.N) != number {
			t.Errorf("size %q: %v", number, err)
		}
	}
}

func rootText(size int) string { return base64.StdEncoding.EncodeToString(make([]byte, size)) }

// textSigner signs any text with the log's key.
type textSigner struct{ note.Verifier }

func (textSigner) Sign(text []byte) ([]byte, error) {
	return ed25519.Sign(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)), text), nil
}

func signText(t testing.TB, text string) []byte {
	t.Helper()
	verifier, err := note.NewVerifier(key)
	testenv.Must(t, err)
	signed, err := note.Sign(&note.Note{Text: text}, textSigner{verifier})
	testenv.Must(t, err)
	return signed
}

// TestCheckpointText: texts that the log's key has signed are refused unless they are a
// checkpoint of this log.
func TestCheckpointText(t *testing.T) {
	origin := translog.Origin(organization)
	if opened, err := translog.OpenCheckpoint(signText(t, origin+"\n7\n"+rootText(32)+"\n"), key); err != nil || opened.Origin != origin || opened.Tree != (tlog.Tree{N: 7}) {
		t.Errorf("%+v, %v", opened, err)
	}
	texts := map[string]string{
		"an extension line":   origin + "\n7\n" + rootText(32) + "\nextension\n",
		"an empty line":       origin + "\n7\n" + rootText(32) + "\n\n",
		"without a root":      origin + "\n7\n",
		"an empty root":       origin + "\n7\n\n",
		"without an origin":   "7\n" + rootText(32) + "\n",
		"an empty origin":     "\n7\n" + rootText(32) + "\n",
		"nothing but a line":  "\n",
		"a root not padded":   origin + "\n7\n" + strings.TrimRight(rootText(32), "=") + "\n",
		"stray bits":          origin + "\n7\n" + strings.TrimRight(rootText(32), "A=") + strings.Repeat("A", 42) + "B=\n",
		"another log's":       translog.Origin("another") + "\n7\n" + rootText(32) + "\n",
		"an origin with more": origin + "/\n7\n" + rootText(32) + "\n",
	}
	for _, size := range []int{0, 1, 31, 33, 64} {
		texts[fmt.Sprintf("a root of %d bytes", size)] = origin + "\n7\n" + rootText(size) + "\n"
	}
	for name, text := range texts {
		if opened, err := translog.OpenCheckpoint(signText(t, text), key); err == nil {
			t.Errorf("%s: %+v", name, opened)
		}
	}
	if _, err := translog.OpenCheckpoint(newStore(t, 1).signed(t), "no key"); err == nil || !strings.Contains(err.Error(), "the log's key") {
		t.Errorf("under no key: %v", err)
	}
}

// TestProofRefused: proofs of leaves that are not in the log of the checkpoint.
func TestProofRefused(t *testing.T) {
	k := newStore(t, 4)
	foreign := translog.NewLeaf("another", "3", [32]byte{1}, record(3))
	encoded, err := foreign.Encode()
	testenv.Must(t, err)
	with := newStore(t, 3)
	with.rows = append(with.rows, with.head.Append(encoded))
	for name, test := range map[string]struct {
		k       *memoryStore
		change  func(*translog.Proof)
		problem string
	}{
		"behind the last":      {k, func(p *translog.Proof) { p.Index = 4 }, "leaf 4 is not in a log of 4"},
		"far behind":           {k, func(p *translog.Proof) { p.Index = math.MaxInt64 }, "is not in a log of 4"},
		"of another index":     {k, func(p *translog.Proof) { p.Index = 2 }, "not in the log that the checkpoint signs"},
		"another leaf":         {k, func(p *translog.Proof) { p.Leaf = k.rows[2].Leaf }, "not in the log that the checkpoint signs"},
		"not a leaf":           {k, func(p *translog.Proof) { p.Leaf = p.Leaf[:40] }, "not a leaf"},
		"one hash less":        {k, func(p *translog.Proof) { p.Hashes = p.Hashes[1:] }, "not in the log that the checkpoint signs"},
		"another organization": {with, func(*translog.Proof) {}, `the leaf is for organization "another", the log is "countersign/` + organization},
		"not a checkpoint":     {k, func(p *translog.Proof) { p.Checkpoint = nil }, "checkpoint"},
	} {
		proof, err := translog.ParseProof(test.k.prove(t, 3))
		testenv.Must(t, err)
		test.change(proof)
		if leaf, err := translog.VerifyProof(proof.Encode(), key); err == nil || !strings.Contains(err.Error(), test.problem) || leaf != (translog.Leaf{}) {
			t.Errorf("%s: %+v, %v, want %s", name, leaf, err, test.problem)
		}
	}
}

// TestVerifierKeys: the hash in a key's text is that of C2SP signed-note, and a cosignature
// verifies as C2SP tlog-cosignature has it.
func TestVerifierKeys(t *testing.T) {
	public := witness.Key.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(append([]byte(witness.Name+"\n\x04"), public...))
	want := fmt.Sprintf("%s+%x+%s", witness.Name, sum[:4], base64.StdEncoding.EncodeToString(append([]byte{4}, public...)))
	if got := witness.VerifierKey(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := note.NewVerifier(key); err != nil {
		t.Error(err)
	}
	cosigned := newStore(t, 5).cosigned(t, nil, 0)
	text, signatures, _ := bytes.Cut(cosigned, []byte("\n\n"))
	text = append(text, '\n')
	signed := maps.Collect(func(yield func(string, []byte) bool) {
		for line := range strings.Lines(string(signatures)) {
			fields := strings.Fields(line)
			raw, err := base64.StdEncoding.DecodeString(fields[2])
			testenv.Must(t, err)
			if !yield(fields[1], raw) {
				return
			}
		}
	})
	raw := signed[witness.Name]
	message := append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", now.Unix()), text...)
	if len(raw) != 4+8+ed25519.SignatureSize || !bytes.Equal(raw[:4], sum[:4]) || binary.BigEndian.Uint64(raw[4:]) != uint64(now.Unix()) || !ed25519.Verify(public, message, raw[12:]) {
		t.Errorf("cosignature %x of %q", raw, cosigned)
	}
}

func TestWitnessRefuses(t *testing.T) {
	k := newStore(t, 10)
	seen := k.cosigned(t, nil, 0)
	hash := []tlog.Hash{{1}}
	other := newStore(t, 0)
	other.add(t, "another", record(0))
	for name, test := range map[string]struct {
		kept    []byte
		advance translog.Advance
		is      error
		problem string
	}{
		"kept is no checkpoint":  {[]byte("x"), *k.advance(t, 10), nil, "the witness's last checkpoint"},
		"from an earlier one":    {seen, translog.Advance{Old: 9, Proof: newStore(t, 12).advance(t, 9).Proof, Checkpoint: newStore(t, 12).signed(t)}, nil, "the proof starts at 9 leaves, the last checkpoint has 10"},
		"from a later one":       {seen, translog.Advance{Old: 11, Proof: newStore(t, 12).advance(t, 11).Proof, Checkpoint: newStore(t, 12).signed(t)}, nil, "the proof starts at 11 leaves, the last checkpoint has 10"},
		"from nothing":           {seen, translog.Advance{Old: 0, Checkpoint: newStore(t, 12).signed(t)}, nil, "the proof starts at 0 leaves, the last checkpoint has 10"},
		"first with a proof":     {nil, translog.Advance{Proof: hash, Checkpoint: k.signed(t)}, translog.ErrFork, ""},
		"the same with a proof":  {seen, translog.Advance{Old: 10, Proof: hash, Checkpoint: k.signed(t)}, translog.ErrFork, ""},
		"longer with none":       {seen, translog.Advance{Old: 10, Checkpoint: newStore(t, 11).signed(t)}, translog.ErrFork, ""},
		"empty with another":     {newStore(t, 0).cosigned(t, nil, 0), translog.Advance{Proof: hash, Checkpoint: newStore(t, 0).signed(t)}, translog.ErrFork, ""},
		"another first leaf":     {newStore(t, 1).cosigned(t, nil, 0), translog.Advance{Old: 1, Checkpoint: other.signed(t)}, translog.ErrFork, ""},
		"no checkpoint in it":    {seen, translog.Advance{Old: 10, Checkpoint: []byte("x")}, nil, "checkpoint"},
		"shorter, by its number": {seen, translog.Advance{Old: 9, Checkpoint: newStore(t, 9).signed(t)}, translog.ErrShorter, ""},
	} {
		cosigned, err := witness.Cosign(test.kept, &test.advance, key, now)
		if err == nil || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.problem) || cosigned != nil {
			t.Errorf("%s: %v, want %v: %s", name, err, test.is, test.problem)
		}
	}
}
