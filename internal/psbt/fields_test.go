package psbt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
)

// lengths says which lengths are accepted.
type lengths func(n int) bool

func only(accepted ...int) lengths { return func(n int) bool { return slices.Contains(accepted, n) } }
func from(least, most int) lengths { return func(n int) bool { return n >= least && n <= most } }
func steps(first, step int) lengths {
	return func(n int) bool { return n >= first && (n-first)%step == 0 }
}

// least is the smallest length that is accepted.
func (l lengths) least() int {
	n := 0
	for !l(n) {
		n++
	}
	return n
}

var (
	none   = only(0)
	either = from(0, 1<<20)
)

// The fills return n bytes that a field accepts if it accepts this length.

func zeros(n int) []byte { return make([]byte, n) }

// begin returns a fill that begins with the given bytes.
func begin(first ...byte) func(n int) []byte {
	return func(n int) []byte {
		out := make([]byte, n)
		copy(out, first)
		return out
	}
}

// keys fills with compressed keys, or one uncompressed key.
func keys(n int) []byte {
	out := make([]byte, n)
	for i := 0; i < n; i += 33 {
		out[i] = byte(2 + i/33%2)
	}
	if n == 65 {
		out[0] = 4
	}
	return out
}

// prefixed returns a fill of head, the length of the rest, and the rest.
func prefixed(head ...byte) func(n int) []byte {
	return func(n int) []byte {
		out := zeros(n)
		copy(out, head)
		if n > len(head) && n-len(head)-1 < 0xfd {
			out[len(head)] = byte(n - len(head) - 1)
		}
		return out
	}
}

// witnessOf fills with one item.
func witnessOf(n int) []byte {
	if n < 2 {
		return zeros(n)
	}
	return prefixed(1)(n)
}

// field is what a BIP says of a field.
type field struct {
	in       string // "global", "input" or "output"
	keyType  byte
	name     string
	versions string // in which it may be
	key      lengths
	keyFill  func(n int) []byte
	value    lengths // nil: tested elsewhere
	fill     func(n int) []byte
}

var bipFields = []field{
	{"global", 0x00, "PSBT_GLOBAL_UNSIGNED_TX", "0", none, zeros, nil, nil},
	{"global", 0x01, "PSBT_GLOBAL_XPUB", "02", only(78), zeros, steps(4, 4), zeros},
	{"global", 0x02, "PSBT_GLOBAL_TX_VERSION", "2", none, zeros, only(4), zeros},
	{"global", 0x03, "PSBT_GLOBAL_FALLBACK_LOCKTIME", "2", none, zeros, only(4), zeros},
	{"global", 0x04, "PSBT_GLOBAL_INPUT_COUNT", "2", none, zeros, only(1), begin(1)},
	{"global", 0x05, "PSBT_GLOBAL_OUTPUT_COUNT", "2", none, zeros, only(1), begin(1)},
	{"global", 0x06, "PSBT_GLOBAL_TX_MODIFIABLE", "2", none, zeros, only(1), zeros},
	{"global", 0x09, "PSBT_GLOBAL_GENERIC_SIGNED_MESSAGE", "02", none, zeros, either, zeros},
	{"global", 0xfb, "PSBT_GLOBAL_VERSION", "0", none, zeros, only(4), zeros},
	{"global", 0xfb, "PSBT_GLOBAL_VERSION", "2", none, zeros, only(4), begin(2)},
	{"global", 0xfc, "PSBT_GLOBAL_PROPRIETARY", "02", from(2, 1<<20), zeros, either, zeros},

	{"input", 0x00, "PSBT_IN_NON_WITNESS_UTXO", "02", none, zeros, nil, nil},
	{"input", 0x01, "PSBT_IN_WITNESS_UTXO", "02", none, zeros, from(9, 200), prefixed(1, 0, 0, 0, 0, 0, 0, 0)},
	{"input", 0x02, "PSBT_IN_PARTIAL_SIG", "02", only(33, 65), keys, from(9, 73), zeros},
	{"input", 0x03, "PSBT_IN_SIGHASH_TYPE", "02", none, zeros, only(4), zeros},
	{"input", 0x04, "PSBT_IN_REDEEM_SCRIPT", "02", none, zeros, either, zeros},
	{"input", 0x05, "PSBT_IN_WITNESS_SCRIPT", "02", none, zeros, either, zeros},
	{"input", 0x06, "PSBT_IN_BIP32_DERIVATION", "02", only(33, 65), keys, steps(4, 4), zeros},
	{"input", 0x07, "PSBT_IN_FINAL_SCRIPTSIG", "02", none, zeros, either, zeros},
	{"input", 0x08, "PSBT_IN_FINAL_SCRIPTWITNESS", "02", none, zeros, from(1, 200), witnessOf},
	{"input", 0x09, "PSBT_IN_POR_COMMITMENT", "02", none, zeros, either, zeros},
	{"input", 0x0a, "PSBT_IN_RIPEMD160", "02", only(20), zeros, either, zeros},
	{"input", 0x0b, "PSBT_IN_SHA256", "02", only(32), zeros, either, zeros},
	{"input", 0x0c, "PSBT_IN_HASH160", "02", only(20), zeros, either, zeros},
	{"input", 0x0d, "PSBT_IN_HASH256", "02", only(32), zeros, either, zeros},
	{"input", 0x0e, "PSBT_IN_PREVIOUS_TXID", "2", none, zeros, only(32), zeros},
	{"input", 0x0f, "PSBT_IN_OUTPUT_INDEX", "2", none, zeros, only(4), zeros},
	{"input", 0x10, "PSBT_IN_SEQUENCE", "2", none, zeros, only(4), zeros},
	{"input", 0x11, "PSBT_IN_REQUIRED_TIME_LOCKTIME", "2", none, zeros, only(4), begin(0x00, 0x65, 0xcd, 0x1d)},
	{"input", 0x12, "PSBT_IN_REQUIRED_HEIGHT_LOCKTIME", "2", none, zeros, only(4), begin(1)},
	{"input", 0x13, "PSBT_IN_TAP_KEY_SIG", "02", none, zeros, only(64, 65), zeros},
	{"input", 0x14, "PSBT_IN_TAP_SCRIPT_SIG", "02", only(64), zeros, only(64, 65), zeros},
	{"input", 0x15, "PSBT_IN_TAP_LEAF_SCRIPT", "02", steps(33, 32), zeros, from(1, 1<<20), zeros},
	{"input", 0x16, "PSBT_IN_TAP_BIP32_DERIVATION", "02", only(32), zeros, steps(5, 4), zeros},
	{"input", 0x17, "PSBT_IN_TAP_INTERNAL_KEY", "02", none, zeros, only(32), zeros},
	{"input", 0x18, "PSBT_IN_TAP_MERKLE_ROOT", "02", none, zeros, only(32), zeros},
	{"input", 0x1a, "PSBT_IN_MUSIG2_PARTICIPANT_PUBKEYS", "02", only(33), keys, steps(33, 33), keys},
	{"input", 0x1b, "PSBT_IN_MUSIG2_PUB_NONCE", "02", only(66, 98), keys, only(66), zeros},
	{"input", 0x1c, "PSBT_IN_MUSIG2_PARTIAL_SIG", "02", only(66, 98), keys, only(32), zeros},
	{"input", 0xfc, "PSBT_IN_PROPRIETARY", "02", from(2, 1<<20), zeros, either, zeros},

	{"output", 0x00, "PSBT_OUT_REDEEM_SCRIPT", "02", none, zeros, either, zeros},
	{"output", 0x01, "PSBT_OUT_WITNESS_SCRIPT", "02", none, zeros, either, zeros},
	{"output", 0x02, "PSBT_OUT_BIP32_DERIVATION", "02", only(33, 65), keys, steps(4, 4), zeros},
	{"output", 0x03, "PSBT_OUT_AMOUNT", "2", none, zeros, only(8), zeros},
	{"output", 0x04, "PSBT_OUT_SCRIPT", "2", none, zeros, either, zeros},
	{"output", 0x05, "PSBT_OUT_TAP_INTERNAL_KEY", "02", none, zeros, only(32), zeros},
	{"output", 0x06, "PSBT_OUT_TAP_TREE", "02", none, zeros, from(3, 200), prefixed(0, 0xc0)},
	{"output", 0x07, "PSBT_OUT_TAP_BIP32_DERIVATION", "02", only(32), zeros, steps(5, 4), zeros},
	{"output", 0x08, "PSBT_OUT_MUSIG2_PARTICIPANT_PUBKEYS", "02", only(33), keys, steps(33, 33), keys},
	{"output", 0x35, "PSBT_OUT_DNSSEC_PROOF", "02", none, zeros, either, zeros},
	{"output", 0xfc, "PSBT_OUT_PROPRIETARY", "02", from(2, 1<<20), zeros, either, zeros},
}

// silentFields are those of BIP-375 and BIP-376, which are refused.
var silentFields = map[string]map[uint64]string{
	"global": {0x07: "PSBT_GLOBAL_SP_ECDH_SHARE", 0x08: "PSBT_GLOBAL_SP_DLEQ"},
	"input": {
		0x1d: "PSBT_IN_SP_ECDH_SHARE", 0x1e: "PSBT_IN_SP_DLEQ",
		0x1f: "PSBT_IN_SP_SPEND_BIP32_DERIVATION", 0x20: "PSBT_IN_SP_TWEAK",
	},
	"output": {0x09: "PSBT_OUT_SP_V0_INFO", 0x0a: "PSBT_OUT_SP_V0_LABEL"},
}

type record struct{ key, value []byte }

// smallest returns the maps of a PSBT with one input and one output and only the
// required fields. In version 2, an unknown field gives the counts room for maps that
// are too short.
func smallest(version byte) map[string][]record {
	if version == '0' {
		unsigned := slices.Concat([]byte{2, 0, 0, 0, 1}, zeros(36), []byte{0, 0, 0, 0, 0, 1}, zeros(9), zeros(4))
		return map[string][]record{"global": {{[]byte{0}, unsigned}}}
	}
	return map[string][]record{
		"global": {{[]byte{0x02}, []byte{2, 0, 0, 0}}, {[]byte{0x04}, []byte{1}}, {[]byte{0x05}, []byte{1}}, {[]byte{0xfb}, []byte{2, 0, 0, 0}}},
		"input":  {{[]byte{0x0e}, zeros(32)}, {[]byte{0x0f}, zeros(4)}},
		"output": {{[]byte{0x03}, zeros(8)}, {[]byte{0x04}, nil}, {[]byte{0xf0}, zeros(100)}},
	}
}

// encode encodes the maps, with a record in one of them in the place of those of its
// type. It returns the offsets of the record, its key and its value.
func encode(maps map[string][]record, to string, added record) (raw []byte, at, key, value int) {
	raw = []byte("psbt\xff")
	for _, name := range []string{"global", "input", "output"} {
		records := maps[name]
		if name == to {
			records = slices.DeleteFunc(slices.Clone(records), func(r record) bool { return r.key[0] == added.key[0] })
			at = len(raw)
			raw = psbt.AppendRecord(raw, added.key, added.value)
			value = len(raw) - len(added.value)
			key = value - psbt.CompactSizeLen(uint64(len(added.value))) - len(added.key)
		}
		raw = appendMap(raw, records)
	}
	return raw, at, key, value
}

func appendMap(raw []byte, records []record) []byte {
	for _, r := range records {
		raw = psbt.AppendRecord(raw, r.key, r.value)
	}
	return append(raw, 0)
}

// TestFields probes each field of the BIPs with keys and values of all lengths, in both
// versions. A refusal names the field and the offset of what is wrong.
func TestFields(t *testing.T) {
	for _, version := range []byte("02") {
		for _, f := range bipFields {
			if f.keyType == psbt.GlobalVersion && f.in == "global" && f.versions != string(version) {
				continue // it would be the other version
			}
			f.probe(t, version)
		}
	}
}

func (f field) probe(t *testing.T, version byte) {
	maps := smallest(version)
	check := func(key, value []byte, accepted bool, wrong func(key, value int) int) {
		t.Helper()
		raw, at, keyAt, valueAt := encode(maps, f.in, record{append([]byte{f.keyType}, key...), value})
		_, err := psbt.Read(raw)
		switch {
		case !strings.Contains(f.versions, string(version)):
			checkRefusal(t, err, in(f.in, 0, f.name), at, chains.ErrMalformed)
		case !accepted:
			checkRefusal(t, err, in(f.in, 0, f.name), wrong(keyAt+1, valueAt), chains.ErrMalformed)
		case err != nil:
			t.Errorf("version %c, %s: key data %x, value %x: %v", version, f.name, key, value, err)
		}
	}
	key, value := f.keyFill(f.key.least()), []byte{}
	if f.value != nil {
		value = f.fill(f.value.least())
	}
	for n := range 141 {
		if f.value != nil || !f.key(n) {
			check(f.keyFill(n), value, f.key(n), func(key, _ int) int { return key })
		}
		if f.value != nil {
			check(key, f.fill(n), f.value(n), func(_, value int) int { return value })
		}
	}
}

// TestControlBlock has the longest merkle path and one that is longer.
func TestControlBlock(t *testing.T) {
	const field = "input 0 PSBT_IN_TAP_LEAF_SCRIPT"
	for _, steps := range []int{128, 129} {
		key := append([]byte{psbt.InTapLeafScript}, zeros(33+32*steps)...)
		raw, _, keyAt, _ := encode(smallest('2'), "input", record{key, []byte{0xc0}})
		if _, err := psbt.Read(raw); steps == 129 {
			checkRefusal(t, err, field, keyAt+1, chains.ErrMalformed)
			continue
		} else if err != nil {
			t.Error(err)
		}
		raw, _, _, valueAt := encode(smallest('2'), "input", record{key, nil})
		_, err := psbt.Read(raw)
		checkRefusal(t, err, field, valueAt, chains.ErrMalformed)
	}
}

// TestOtherFields has every field that is unknown, which is accepted, or of silent
// payments, which is not.
func TestOtherFields(t *testing.T) {
	for _, version := range []byte("02") {
		maps := smallest(version)
		for _, kind := range []string{"global", "input", "output"} {
			for keyType := range uint64(0x102) {
				if slices.ContainsFunc(bipFields, func(f field) bool { return f.in == kind && uint64(f.keyType) == keyType }) {
					continue
				}
				for _, size := range []int{0, 1, 33, 66} {
					key := append(psbt.AppendCompactSize(nil, keyType), zeros(size%4)...)
					raw, at, _, _ := encode(maps, kind, record{key, zeros(size)})
					_, err := psbt.Read(raw)
					if name := silentFields[kind][keyType]; name != "" {
						checkRefusal(t, err, in(kind, 0, name), at, chains.ErrUnsupported)
					} else if err != nil {
						t.Errorf("version %c, field %02x of the %s map: %v", version, keyType, kind, err)
					}
				}
			}
		}
	}
}

// in names a field of a map as a refusal does.
func in(kind string, index int, name string) string {
	if kind == "global" {
		return name
	}
	return fmt.Sprintf("%s %d %s", kind, index, name)
}

func checkRefusal(t *testing.T, err error, field string, offset int, kind error) {
	t.Helper()
	parse, ok := errors.AsType[*chains.ParseError](err)
	if !ok || parse.Kind != kind || parse.Field != field || parse.Offset != offset {
		t.Errorf("%v, want a refusal of %s at byte %d", err, field, offset)
	}
}
