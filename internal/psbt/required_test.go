package psbt_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestMagic changes and cuts off the magic, and has what is mistaken for a PSBT.
func TestMagic(t *testing.T) {
	raw, _, _, _ := encode(smallest('2'), "global", record{[]byte{0xf1}, nil})
	checkProblem := func(raw []byte, problem string) {
		t.Helper()
		_, err := psbt.Read(raw)
		parse, ok := errors.AsType[*chains.ParseError](err)
		if !ok || parse.Kind != chains.ErrMalformed || !strings.HasPrefix(parse.Problem, problem) {
			t.Errorf("%.12x: %v, want %q", raw, err, problem)
		}
	}
	for i := range 5 {
		changed := bytes.Clone(raw)
		changed[i] ^= 1
		checkProblem(changed, "not a PSBT")
		checkProblem(raw[:i], "not a PSBT")
	}
	checkProblem([]byte(base64.StdEncoding.EncodeToString(raw)), "this is the base64 of a PSBT")
	transaction := zeros(10) // the shortest there is
	for version := range byte(5) {
		transaction[0] = version
		if version < 1 || version > 3 {
			checkProblem(transaction, "not a PSBT")
			continue
		}
		checkProblem(transaction, "this looks like a bare transaction")
		checkProblem(transaction[:9], "not a PSBT")
		for i := 1; i < 4; i++ {
			changed := bytes.Clone(transaction)
			changed[i] = 1
			checkProblem(changed, "not a PSBT")
		}
	}
}

// TestVersions has versions that are not supported.
func TestVersions(t *testing.T) {
	for _, version := range []uint32{1, 3, 4, 0x100, 0x102, 0x10002, 0x2000000, 0xffffffff} {
		value := binary.LittleEndian.AppendUint32(nil, version)
		for _, base := range []byte("02") {
			raw, _, _, at := encode(smallest(base), "global", record{[]byte{psbt.GlobalVersion}, value})
			_, err := psbt.Read(raw)
			checkRefusal(t, err, "PSBT_GLOBAL_VERSION", at, chains.ErrUnsupported)
		}
	}
}

// TestRequired removes each required field, in version 2 from the second input or
// output.
func TestRequired(t *testing.T) {
	for _, version := range []byte("02") {
		global, input, output := smallest(version)["global"], smallest(version)["input"], smallest(version)["output"]
		if version == '2' {
			global[1].value, global[2].value = []byte{2}, []byte{2}
		}
		for _, f := range bipFields {
			isField := func(r record) bool { return r.key[0] == f.keyType }
			if !slices.ContainsFunc(smallest(version)[f.in], isField) || f.name == "PSBT_GLOBAL_VERSION" {
				continue
			}
			raw, end := []byte("psbt\xff"), 0
			for i, records := range [][]record{global, input, input, output, output} {
				if i == map[string]int{"global": 0, "input": 2, "output": 4}[f.in] {
					records = slices.DeleteFunc(slices.Clone(records), isField)
					end = len(appendMap(raw, records)) - 1
				}
				raw = appendMap(raw, records)
			}
			_, err := psbt.Read(raw)
			checkRefusal(t, err, in(f.in, 1, f.name), end, chains.ErrMalformed)
		}
	}
}

// TestDuplicates repeats a record, at once and later.
func TestDuplicates(t *testing.T) {
	for _, kind := range []string{"global", "input", "output"} {
		for _, between := range [][]record{nil, {{[]byte{0xf7, 1}, nil}}, {{[]byte{0xf3}, nil}}, {{[]byte{0xf7}, nil}, {[]byte{0xf3, 0}, nil}}} {
			maps := smallest('2')
			repeated := record{[]byte{0xf5, 7}, []byte{1}}
			maps[kind] = slices.Concat(maps[kind], []record{repeated}, between)
			whole := appendMap(nil, maps[kind])
			maps[kind] = append(maps[kind], repeated)
			raw, at, _, _ := encode(maps, kind, record{[]byte{0xf1}, nil})
			first := len(psbt.AppendRecord(nil, []byte{0xf1}, nil))
			_, err := psbt.Read(raw)
			field := map[string]string{"global": "global map", "input": "input 0", "output": "output 0"}[kind]
			checkRefusal(t, err, field, at+first+len(whole)-1, chains.ErrMalformed)
		}
	}
}

// TestInsert inserts records into a sorted map: it must stay sorted. All must find the
// records of a type.
func TestInsert(t *testing.T) {
	maps := smallest('2')
	maps["input"] = maps["input"][:2]
	for i := range byte(4) {
		maps["input"] = append(maps["input"], record{[]byte{0xf0, 2*i + 1}, []byte{i}})
	}
	maps["input"] = append(maps["input"], record{[]byte{0xf1}, nil})
	raw, _, _, _ := encode(maps, "", record{})
	packet, err := psbt.Read(raw)
	testenv.Must(t, err)
	var values []byte
	for record := range packet.Inputs[0].All(0xf0) {
		if values = append(values, record.Value...); len(values) == 3 {
			break
		}
	}
	if !bytes.Equal(values, []byte{0, 1, 2}) {
		t.Errorf("values %x", values)
	}
	for keyType, want := range map[uint64]int{0x0e: 1, 0x0f: 1, 0x10: 0, 0xf0: 4, 0xf1: 1} {
		if got := len(slices.Collect(packet.Inputs[0].All(keyType))); got != want {
			t.Errorf("%d records of type %02x, want %d", got, keyType, want)
		}
	}
	for _, key := range [][]byte{{0x01}, {0x0e, 0}, {0xf0}, {0xf0, 2}, {0xf0, 4}, {0xf0, 7, 0}, {0xf0, 8}, {0xf1, 0}, {0xf2}} {
		at := packet.Inputs[0].InsertAt(key)
		got := psbt.AppendSpliced(nil, raw, []psbt.Insertion{{At: at, Bytes: psbt.AppendRecord(nil, key, nil)}})
		sorted := append(slices.Clone(maps["input"]), record{key, nil})
		slices.SortFunc(sorted, func(a, b record) int { return bytes.Compare(a.key, b.key) })
		want, _, _, _ := encode(map[string][]record{"global": maps["global"], "input": sorted, "output": maps["output"]}, "", record{})
		if !bytes.Equal(got, want) {
			t.Errorf("%x is inserted at byte %d", key, at)
		}
	}
}
