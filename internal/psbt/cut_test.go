package psbt

import (
	"errors"
	"strings"
	"testing"
)

// part is a part of a transaction: where it begins, and how many bytes there must be in
// total before the reader proceeds to the next one. A count needs room for what it
// counts.
type part struct {
	at, need int
	problem  string // that may be reported instead of "bytes wanted"
}

// parts collects a transaction and its parts.
type parts struct {
	raw  []byte
	list []part
}

func (p *parts) add(bytes ...byte) {
	p.list = append(p.list, part{len(p.raw), len(p.raw) + len(bytes), "bytes wanted"})
	p.raw = append(p.raw, bytes...)
}

// count adds a count of parts that take at least least bytes each.
func (p *parts) count(n byte, least int) {
	p.list = append(p.list, part{len(p.raw), len(p.raw) + 1 + int(n)*least, "does not fit"})
	p.raw = append(p.raw, n)
}

func (p *parts) sized(size int) {
	p.add(append([]byte{byte(size)}, make([]byte, size)...)...)
	p.list[len(p.list)-1].problem = "is beyond the end"
}

// transaction returns a transaction of two inputs and two outputs, the first of each
// with a script.
func transaction(scripts, witnesses bool) *parts {
	p := &parts{}
	p.add(2, 0, 0, 0)
	if witnesses {
		p.add(0, 1) // cut off after its first byte, this is a count of inputs
		p.list[1].problem = "transaction without inputs"
	}
	p.count(2, minInput)
	for i := range 2 {
		if scripts {
			p.add(make([]byte, 36)...)
			p.sized(50 * (1 - i))
		} else {
			p.add(make([]byte, 32)...)
			p.add(make([]byte, 4)...)
			p.sized(0)
		}
		p.add(0xff, 0xff, 0xff, 0xff)
	}
	p.count(2, minOutput)
	for i := range 2 {
		p.add(1, 0, 0, 0, 0, 0, 0, 0)
		p.sized(34 * (1 - i))
	}
	if witnesses {
		p.count(2, 1)
		p.sized(71)
		p.sized(33)
		p.count(0, 1)
	}
	p.add(0, 0, 0, 0)
	return p
}

// TestCut cuts transactions off after each byte: the fault is in the first part that is
// not whole.
func TestCut(t *testing.T) {
	unsigned := func(raw []byte) (int, error) {
		record := &Record{Key: []byte{GlobalUnsignedTx}, Value: raw}
		return record.ValueOffset(), new(Packet).readUnsigned(record)
	}
	whole := func(raw []byte) (int, error) {
		_, err := ReadTransaction(raw, 100)
		return 100, err
	}
	for name, test := range map[string]struct {
		of   *parts
		read func(raw []byte) (int, error)
	}{
		"previous":                {transaction(true, false), whole},
		"previous with witnesses": {transaction(true, true), whole},
		"unsigned":                {transaction(false, false), unsigned},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := test.read(test.of.raw); err != nil {
				t.Fatal(err)
			}
			for size := range test.of.raw {
				base, err := test.read(test.of.raw[:size])
				got, ok := errors.AsType[*fault](err)
				want := test.of.cutAt(size)
				if !ok || got.offset != base+want.at || !strings.Contains(got.problem, "bytes wanted") && !strings.Contains(got.problem, want.problem) {
					t.Errorf("%d bytes: %+v, want a fault at byte %d: …%s…", size, err, base+want.at, want.problem)
				}
			}
		})
	}
}

// cutAt returns the first part that is not whole.
func (p *parts) cutAt(size int) part {
	for _, part := range p.list {
		if part.need > size {
			return part
		}
	}
	return part{at: len(p.raw)}
}

// TestCutRecords cuts a map off: the fault is in the record that is not whole.
func TestCutRecords(t *testing.T) {
	raw := []byte{1, 7, 2, 0xaa, 0xbb, 3, 0xfd, 0x00, 0x01, 1, 0xcc, 0}
	starts := []int{0, 2, 5, 9, 11} // key, value, key, value, end
	for size := range raw {
		c := cursor{data: raw[:size]}
		_, err := readMap(&c, &[]Record{})
		got, ok := errors.AsType[*fault](err)
		want := 0
		for _, start := range starts {
			if start <= size {
				want = start
			}
		}
		if !ok || got.offset != want {
			t.Errorf("%d bytes: %+v, want a fault at byte %d", size, err, want)
		}
	}
	c := cursor{data: []byte{2, 0xfd, 0x00, 0, 0}}
	if _, err := readMap(&c, &[]Record{}); err == nil || err.(*fault).offset != 1 {
		t.Errorf("a key whose type is cut off: %+v", err)
	}
}
