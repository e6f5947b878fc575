package solana_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
)

// Offsets in the transactions that simple(…, 1) returns.
const (
	messageAt = 1 + 64                // legacy and v0, one slot
	v0Header  = messageAt + 1         // after the version
	v0Keys    = v0Header + 3 + 1      // after their count
	v0Hash    = v0Keys + 3*32         // three keys
	v0Program = v0Hash + 32 + 1       // of instruction 0
	v0Lookups = v0Program + 4 + 1 + 4 // two accounts, four bytes of data
	v1Keys    = 1 + 3 + 4 + 32 + 2
	v1Config  = v1Keys + 3*32
)

var refusals = []struct {
	name    string
	version solana.Version
	breakIt func(*shape)
	field   string
	offset  int
	problem string
}{
	{"no signers", solana.Version0, func(s *shape) { s.slots, s.header = nil, [3]byte{0, 0, 1} },
		"header.num_required_signatures", v0Header - 64, "no signers"},
	{"no signers in v1", solana.Version1, func(s *shape) { s.slots, s.header = nil, [3]byte{0, 0, 1} },
		"header.num_required_signatures", 1, "no signers"},
	{"more slots than signers", solana.Version0, func(s *shape) { s.slots = make([][64]byte, 2) },
		"signatures", 0, "2 slots, and header.num_required_signatures at byte 130 asks for 1"},
	{"fewer slots than signers", solana.Version0, func(s *shape) { s.header[0] = 2 },
		"signatures", 0, "1 slots"},
	{"more signers than keys", solana.Version0, func(s *shape) { s.header = [3]byte{4, 0, 0} },
		"header.num_required_signatures", v0Header, "4 signers, and 3 account keys"},
	{"more signers than keys in v1", solana.Version1, func(s *shape) { s.header = [3]byte{4, 0, 0} },
		"header.num_required_signatures", 1, "4 signers, and 3 account keys"},
	{"more accounts than keys", solana.Version0, func(s *shape) { s.header[2] = 3 },
		"header.num_readonly_unsigned_accounts", v0Header + 2, "1 signers and 3 read-only accounts, and 3 account keys"},
	{"all signers read-only", solana.Version0, func(s *shape) { s.header[1] = 1 },
		"header.num_readonly_signed_accounts", v0Header + 1, "must be writable"},
	{"all signers read-only in v1", solana.Version1, func(s *shape) { s.header[1] = 1 },
		"header.num_readonly_signed_accounts", 2, "must be writable"},
	{"duplicate keys", solana.Version0, func(s *shape) { s.keys[2] = s.keys[0] },
		"account_keys[2]", v0Keys + 64, "the same as account_keys[0]"},
	{"duplicate keys in legacy", solana.Legacy, func(s *shape) { s.keys[2] = s.keys[1] },
		"account_keys[2]", v0Keys - 1 + 64, "the same as account_keys[1]"},
	{"duplicate keys in v1", solana.Version1, func(s *shape) { s.keys[1] = s.keys[0] },
		"account_keys[1]", v1Keys + 32, "the same as account_keys[0]"},
	{"the fee payer as program", solana.Version0, func(s *shape) { s.instructions[0].program = 0 },
		"instructions[0].program_id_index", v0Program, "the fee payer cannot be the program"},
	{"a program out of range", solana.Version0, func(s *shape) { s.instructions[0].program = 3 },
		"instructions[0].program_id_index", v0Program, "is 3, and there are 3 accounts"},
	{"a program from a lookup table", solana.Version0, func(s *shape) {
		s.lookups = []table{{key: account(7), writable: []byte{1}}}
		s.instructions[0].program = 3
	}, "instructions[0].program_id_index", v0Program, "comes from a lookup table"},
	{"an account out of range", solana.Version0, func(s *shape) { s.instructions[0].accounts[1] = 3 },
		"instructions[0].accounts[1]", v0Program + 3, "is 3, and there are 3 accounts"},
	{"an account behind the lookups", solana.Version0, func(s *shape) {
		s.lookups = []table{{key: account(7), writable: []byte{1}}}
		s.instructions[0].accounts[1] = 4
	}, "instructions[0].accounts[1]", v0Program + 3, "is 4, and there are 4 accounts"},
	{"an account out of range in v1", solana.Version1, func(s *shape) { s.instructions[0].accounts[1] = 3 },
		"instructions[0].accounts[1]", v1Config + 8 + 4 + 1, "is 3, and there are 3 accounts"},
	{"an empty lookup", solana.Version0, func(s *shape) { s.lookups = []table{{key: account(7)}} },
		"address_table_lookups[0].writable_indexes", v0Lookups + 1 + 32, "loads no accounts"},
	{"a table twice", solana.Version0, func(s *shape) {
		s.lookups = []table{{key: account(7), writable: []byte{1}}, {key: account(7), writable: []byte{2}}}
	}, "address_table_lookups[1].account_key", v0Lookups + 1 + 35, "the same table as that of address_table_lookups[0]"},
	{"an entry twice", solana.Version0, func(s *shape) { s.lookups = []table{{key: account(7), writable: []byte{5, 5}}} },
		"address_table_lookups[0].writable_indexes[1]", v0Lookups + 1 + 34, "loads 5 of the table a second time"},
	{"an entry writable and read-only", solana.Version0, func(s *shape) {
		s.lookups = []table{{key: account(7), writable: []byte{5}, readonly: []byte{6, 5}}}
	}, "address_table_lookups[0].readonly_indexes[1]", v0Lookups + 1 + 36, "loads 5 of the table a second time"},
	{"over 64 accounts", solana.Version0, func(s *shape) {
		s.lookups = []table{{key: account(7), writable: upTo(254)}}
	}, "address_table_lookups", v0Lookups, "3 keys and 254 loaded accounts, of at most 64"},
	{"an unknown mask bit", solana.Version1, func(s *shape) { s.mask |= 1 << 5 },
		"config.mask", 4, "bit 5 is not known"},
	{"the highest mask bit", solana.Version1, func(s *shape) { s.mask |= 1 << 31 },
		"config.mask", 4, "bit 31 is not known"},
	{"half a priority fee", solana.Version1, func(s *shape) { s.mask |= 0b01 },
		"config.mask", 4, "both or none"},
	{"the other half", solana.Version1, func(s *shape) { s.mask |= 0b10 },
		"config.mask", 4, "both or none"},
	{"a heap that is not whole KiB", solana.Version1, func(s *shape) { s.mask, s.values = 0b10000, []byte{1, 0x80, 0, 0} },
		"config.heap_size", v1Config, "is 32769"},
	{"a heap too small", solana.Version1, func(s *shape) { s.mask, s.values = 0b10000, []byte{0, 0x7c, 0, 0} },
		"config.heap_size", v1Config, "is 31744"},
	{"a heap too large", solana.Version1, func(s *shape) { s.mask, s.values = 0b10000, []byte{0, 4, 4, 0} },
		"config.heap_size", v1Config, "is 263168"},
	{"13 signers in v1", solana.Version1, func(s *shape) { *s = simple(solana.Version1, 13) },
		"header.num_required_signatures", 1, "13 signers, of at most 12"},
	{"65 addresses in v1", solana.Version1, func(s *shape) { s.keys = append(s.keys, accounts(62)...) },
		"account_keys", v1Keys - 1, "65 keys, of at most 64"},
	{"65 instructions in v1", solana.Version1, func(s *shape) { s.instructions = make([]part, 65) },
		"instructions", v1Keys - 2, "65 instructions, of at most 64"},
	{"over 1,232 bytes", solana.Version0, func(s *shape) { s.instructions[0].data = make([]byte, 1100) },
		"", 1232, "of at most 1232"},
	{"over 4,096 bytes", solana.Version1, func(s *shape) { s.instructions[0].data = make([]byte, 4000) },
		"", 4096, "of at most 4096"},
	{"a foreign signature that does not verify", solana.Version0, func(s *shape) { s.slots[0] = [64]byte{1} },
		"signatures[0]", 1, "is not a valid signature"},
	{"a foreign signature that does not verify, in v1", solana.Version1, func(s *shape) { s.slots[0] = [64]byte{63: 1} },
		"signatures[0]", v1Config + 8 + 4 + 2 + 4, "is not a valid signature"},
}

func upTo(n int) (out []byte) {
	for i := range n {
		out = append(out, byte(i))
	}
	return out
}

func accounts(n int) (out [][32]byte) {
	for i := range n {
		out = append(out, account(1000+i))
	}
	return out
}

func TestRefused(t *testing.T) {
	for _, test := range refusals {
		t.Run(test.name, func(t *testing.T) {
			s := simple(test.version, 1)
			parse(t, s.bytes())
			test.breakIt(&s)
			wantParseError(t, s.bytes(), chains.ErrMalformed, test.field, test.offset, test.problem)
		})
	}
}

func wantParseError(t *testing.T, raw []byte, kind error, field string, offset int, problem string) {
	t.Helper()
	_, err := solana.New(solana.Limits{}).Parse(raw)
	var parse *chains.ParseError
	if !errors.As(err, &parse) {
		t.Fatalf("got %v, want a ParseError", err)
	}
	if !errors.Is(err, kind) || parse.Chain != "solana" || parse.Field != field || parse.Offset != offset || !strings.Contains(parse.Problem, problem) {
		t.Errorf("got %v (%v)\nwant %s at byte %d: …%s…", err, parse.Kind, field, offset, problem)
	}
}

// TestRefusedBytes has encodings that a shape cannot express.
func TestRefusedBytes(t *testing.T) {
	legacy, v0, v1 := simple(solana.Legacy, 1).bytes(), simple(solana.Version0, 1).bytes(), simple(solana.Version1, 1).bytes()
	patched := func(raw []byte, at, drop int, put ...byte) []byte {
		return bytes.Join([][]byte{raw[:at], put, raw[at+drop:]}, nil)
	}
	tests := []struct {
		name    string
		raw     []byte
		kind    error
		field   string
		offset  int
		problem string
	}{
		{"nothing", nil, chains.ErrMalformed, "", 0, "empty"},
		{"trailing byte in legacy", append(bytes.Clone(legacy), 0), chains.ErrMalformed, "", len(legacy), "1 bytes are left over"},
		{"trailing byte in v0", append(bytes.Clone(v0), 0), chains.ErrMalformed, "", len(v0), "1 bytes are left over"},
		{"trailing byte in v1", append(bytes.Clone(v1), 0), chains.ErrMalformed, "", len(v1), "1 bytes are left over"},
		{"a long count of signatures", patched(v0, 0, 1, 0x80, 0), chains.ErrMalformed, "signatures", 0, "not in its shortest form"},
		{"a long count of keys", patched(v0, v0Keys-1, 1, 0x83, 0), chains.ErrMalformed, "account_keys", v0Keys - 1, "compact-u16 3 is not in its shortest form"},
		{"a longer count of keys", patched(v0, v0Keys-1, 1, 0x83, 0x80, 0), chains.ErrMalformed, "account_keys", v0Keys - 1, "not in its shortest form"},
		{"a count over 65,535", patched(v0, v0Keys-1, 1, 0x83, 0x80, 4), chains.ErrMalformed, "account_keys", v0Keys - 1, "over 65535"},
		{"a count of four bytes", patched(v0, v0Keys-1, 1, 0x83, 0x80, 0x80, 1), chains.ErrMalformed, "account_keys", v0Keys - 1, "longer than 3 bytes"},
		{"a long count of accounts", patched(v0, v0Program+1, 1, 0x82, 0), chains.ErrMalformed, "instructions[0].accounts", v0Program + 1, "not in its shortest form"},
		{"a long length of data", patched(v0, v0Program+4, 1, 0x84, 0), chains.ErrMalformed, "instructions[0].data", v0Program + 4, "not in its shortest form"},
		{"a long count of lookups", patched(v0, v0Lookups, 1, 0x80, 0), chains.ErrMalformed, "address_table_lookups", v0Lookups, "not in its shortest form"},
		{"data cut off", v0[:v0Program+6], chains.ErrMalformed, "instructions[0].data", v0Program + 5, "4 bytes are needed, 1 are left"},
		{"no lookups in v0", v0[:v0Lookups], chains.ErrMalformed, "address_table_lookups", v0Lookups, "cut off"},
		{"version 2", patched(v0, messageAt, 1, 0x82), chains.ErrUnsupported, "version", messageAt, "version 2 is not supported"},
		{"version 127", patched(v0, messageAt, 1, 0xff), chains.ErrUnsupported, "version", messageAt, "version 127 is not supported"},
		{"version 2 in front", patched(v1, 0, 1, 0x82), chains.ErrUnsupported, "version", 0, "version 2 is not supported"},
		{"version 127 in front", patched(v1, 0, 1, 0xff), chains.ErrUnsupported, "version", 0, "version 127 is not supported"},
		{"v1 behind signatures", patched(v0, messageAt, 1, 0x81), chains.ErrMalformed, "version", messageAt, "it comes first"},
		{"a legacy message alone", simple(solana.Legacy, 1).message(), chains.ErrMalformed, "signatures", 0, "put the count of signatures, 1,"},
		{"a v0 message alone", simple(solana.Version0, 1).message(), chains.ErrMalformed, "signatures", 0, "put the count of signatures, 1,"},
		{"a v1 message alone", simple(solana.Version1, 1).message(), chains.ErrMalformed, "signatures", len(v1) - 64, "append 1 zeroed slots"},
		{"a slot short in v1", v1[:len(v1)-1], chains.ErrMalformed, "signatures", len(v1) - 64, "64 bytes are needed, 63 are left"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantParseError(t, test.raw, test.kind, test.field, test.offset, test.problem)
		})
	}
}

// TestEveryVersionByte: only two of the 128 prefixes are versions.
func TestEveryVersionByte(t *testing.T) {
	for prefix := 0x80; prefix <= 0xff; prefix++ {
		raw := simple(solana.Version0, 1).bytes()
		raw[messageAt] = byte(prefix)
		_, err := solana.New(solana.Limits{}).Parse(raw)
		switch {
		case prefix == 0x80 && err != nil:
			t.Error(err)
		case prefix > 0x81 && !errors.Is(err, chains.ErrUnsupported):
			t.Errorf("version %d: %v", prefix&0x7f, err)
		}
	}
}

// TestSmallOrderSignature: with a public key of small order, an attacker can create a
// "signature" that lenient verification accepts. The network's verification is strict.
func TestSmallOrderSignature(t *testing.T) {
	s := simple(solana.Version0, 2)
	s.keys[1] = [32]byte{1}     // the neutral element
	s.slots[1] = [64]byte{0: 1} // R the neutral element, S zero
	wantParseError(t, s.bytes(), chains.ErrMalformed, "signatures[1]", 65, "is not a valid signature")
}

func TestLimits(t *testing.T) {
	s := simple(solana.Version0, 1)
	s.instructions[0].data = make([]byte, 2000)
	raw := s.bytes()
	if _, err := solana.New(solana.Limits{MaxSize: len(raw)}).Parse(raw); err != nil {
		t.Error(err)
	}
	for _, limit := range []int{0, 1, len(raw) - 1} {
		_, err := solana.New(solana.Limits{MaxSize: limit, MaxSizeV1: 1 << 20}).Parse(raw)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the transaction has %d bytes, of at most", len(raw))) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	v1 := simple(solana.Version1, 1).bytes()
	if _, err := solana.New(solana.Limits{MaxSizeV1: len(v1) - 1}).Parse(v1); err == nil {
		t.Error("the limit of v1 is ignored")
	}
	if _, err := (solana.Chain{}).Parse(v1); err != nil {
		t.Errorf("the zero Chain: %v", err)
	}
}

// TestComputeBudget has instructions of the Compute Budget program at and beyond the
// bounds that every node checks before it executes anything.
func TestComputeBudget(t *testing.T) {
	for name, test := range map[string]struct {
		data []string // of the instructions, in hex
		want string   // of the last one; empty if the transaction is accepted
	}{
		"one of each, out of order":  {[]string{"03" + "0100000000000000", "04" + "01000000", "02" + "00000000", "01" + "00800000"}, ""},
		"empty":                      {[]string{""}, "is empty"},
		"instruction 0":              {[]string{"00" + "0000000000000000"}, "is instruction 0 of the Compute Budget program, which does not exist"},
		"instruction 5":              {[]string{"05" + "0000000000000000"}, "is instruction 5 of the Compute Budget program, which does not exist"},
		"instruction 255":            {[]string{"ff" + "0000000000000000"}, "is instruction 255 of the Compute Budget program, which does not exist"},
		"a price of 7 bytes":         {[]string{"03" + "01000000000000"}, "has 8 bytes, and instruction 3 of the Compute Budget program needs 9"},
		"a limit of 3 bytes":         {[]string{"02" + "010000"}, "has 4 bytes, and instruction 2 of the Compute Budget program needs 5"},
		"bytes behind a limit":       {[]string{"02" + "01000000" + "ff"}, ""},
		"a second limit":             {[]string{"02" + "01000000", "03" + "0000000000000000", "02" + "01000000"}, "repeats instruction 2 of the Compute Budget program"},
		"the least heap":             {[]string{"01" + "00800000"}, ""},
		"a KiB less":                 {[]string{"01" + "007c0000"}, "asks for a heap of 31744 bytes: it must be a multiple of 1024 from 32768 to 262144"},
		"the largest heap":           {[]string{"01" + "00000400"}, ""},
		"a KiB more":                 {[]string{"01" + "00040400"}, "asks for a heap of 263168 bytes: it must be a multiple of 1024 from 32768 to 262144"},
		"a byte more than the least": {[]string{"01" + "01800000"}, "asks for a heap of 32769 bytes: it must be a multiple of 1024 from 32768 to 262144"},
		"no loaded data":             {[]string{"04" + "00000000"}, "sets a loaded accounts data size limit of 0"},
	} {
		t.Run(name, func(t *testing.T) {
			var calls []instructionCall
			for _, data := range test.data {
				calls = append(calls, call(sdk.ComputeBudget, nil, chaintest.Unhex(t, data)))
			}
			_, err := solana.Chain{}.Parse(scene(solana.Version0, 1, nil, calls...))
			refused, ok := errors.AsType[*chains.ParseError](err)
			switch {
			case test.want == "":
				if err != nil {
					t.Error(err)
				}
			case !ok || !errors.Is(err, chains.ErrMalformed):
				t.Errorf("%v, want %s", err, test.want)
			case refused.Field != fmt.Sprintf("instructions[%d].data", len(calls)-1) || refused.Problem != test.want+": every node refuses it":
				t.Errorf("%s: %s, want %s", refused.Field, refused.Problem, test.want)
			}
		})
	}
}
