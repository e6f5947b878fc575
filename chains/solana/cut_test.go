package solana_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
)

// span is a field of a transaction and its offset.
type span struct {
	field  string
	offset int
}

// spans lists the fields of a shape in order.
type spans struct {
	list []span
	end  int
}

func (s *spans) add(field string, size int) {
	if size > 0 {
		s.list = append(s.list, span{field, s.end})
	}
	s.end += size
}

// counted adds a count of one byte and the items that it counts.
func (s *spans) counted(field string, count, size int) {
	s.add(field, 1)
	s.add(field, count*size)
}

// at returns the field that a byte belongs to.
func (s *spans) at(offset int) (found span) {
	for _, next := range s.list {
		if next.offset <= offset {
			found = next
		}
	}
	return found
}

func (s *spans) header() {
	s.add("header.num_required_signatures", 1)
	s.add("header.num_readonly_signed_accounts", 1)
	s.add("header.num_readonly_unsigned_accounts", 1)
}

// spansOf lays out a legacy or v0 transaction.
func spansOf(of shape) *spans {
	s := &spans{}
	s.counted("signatures", len(of.slots), 64)
	s.add("version", 1)
	if s.header(); of.version == solana.Legacy {
		s.list = append(s.list[:3], s.list[4:]...) // a legacy message has no version: its first byte is read as one
		for i := 3; i < len(s.list); i++ {
			s.list[i].offset--
		}
		s.end--
	}
	s.counted("account_keys", len(of.keys), 32)
	s.add("recent_blockhash", 32)
	s.add("instructions", 1)
	for i, in := range of.instructions {
		name := fmt.Sprintf("instructions[%d].", i)
		s.add(name+"program_id_index", 1)
		s.counted(name+"accounts", len(in.accounts), 1)
		s.counted(name+"data", len(in.data), 1)
	}
	if of.version == solana.Legacy {
		return s
	}
	s.add("address_table_lookups", 1)
	for i, l := range of.lookups {
		name := fmt.Sprintf("address_table_lookups[%d].", i)
		s.add(name+"account_key", 32)
		s.counted(name+"writable_indexes", len(l.writable), 1)
		s.counted(name+"readonly_indexes", len(l.readonly), 1)
	}
	return s
}

// spansOfV1 lays out a v1 transaction whose mask has every bit.
func spansOfV1(of shape) *spans {
	s := &spans{}
	s.add("version", 1)
	s.header()
	s.add("config.mask", 4)
	s.add("lifetime_specifier", 32)
	s.add("instructions", 2)
	s.add("account_keys", 32*len(of.keys))
	s.add("config.priority_fee", 8)
	s.add("config.compute_unit_limit", 4)
	s.add("config.loaded_accounts_data_size_limit", 4)
	s.add("config.heap_size", 4)
	s.add("instructions", 4*len(of.instructions))
	for i, in := range of.instructions {
		s.add(fmt.Sprintf("instructions[%d].accounts", i), len(in.accounts))
		s.add(fmt.Sprintf("instructions[%d].data", i), len(in.data))
	}
	s.add("signatures", 64*len(of.slots))
	return s
}

// TestCut truncates each kind of transaction after each of its bytes: the error names
// the field that is incomplete, and its offset.
func TestCut(t *testing.T) {
	legacy, v0, v1 := simple(solana.Legacy, 2), simple(solana.Version0, 2), simple(solana.Version1, 2)
	v0.lookups = []table{{account(5), []byte{1, 2}, []byte{3}}, {account(6), nil, []byte{4}}}
	v1.mask = 0b11111
	v1.values = []byte{1, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x0d, 3, 0, 0, 0, 1, 0, 0, 0x80, 0, 0}
	for name, test := range map[string]struct {
		raw []byte
		of  *spans
	}{
		"legacy": {legacy.bytes(), spansOf(legacy)},
		"v0":     {v0.bytes(), spansOf(v0)},
		"v1":     {v1.bytes(), spansOfV1(v1)},
	} {
		t.Run(name, func(t *testing.T) {
			parse(t, test.raw)
			if test.of.end != len(test.raw) {
				t.Fatalf("laid out %d bytes of %d", test.of.end, len(test.raw))
			}
			for size := 1; size < len(test.raw); size++ {
				_, err := solana.New(solana.Limits{}).Parse(test.raw[:size])
				got, ok := errors.AsType[*chains.ParseError](err)
				want := test.of.at(size)
				cutOff := ok && (strings.Contains(got.Problem, "cut off") || strings.Contains(got.Problem, "a message alone"))
				if !cutOff || got.Field != want.field || got.Offset != want.offset {
					t.Errorf("%d bytes: %v, want %s at byte %d", size, err, want.field, want.offset)
				}
			}
		})
	}
}

// TestMoreKeysThanIndexes has more keys than an index of one byte can reach, within a
// raised size limit.
func TestMoreKeysThanIndexes(t *testing.T) {
	s := simple(solana.Legacy, 1)
	s.keys = append(s.keys, accounts(300)...)
	raw := s.bytes()
	_, err := solana.New(solana.Limits{MaxSize: len(raw)}).Parse(raw)
	if got, ok := errors.AsType[*chains.ParseError](err); !ok || got.Field != "account_keys" || got.Problem != "303 keys, of at most 64" {
		t.Errorf("%v, want it refused for its 303 keys", err)
	}
}

// TestNoInstructions: a transaction that only pays its fee has a summary.
func TestNoInstructions(t *testing.T) {
	s := simple(solana.Version0, 1)
	s.instructions = nil
	if tx := parse(t, s.bytes()); len(tx.Summary().Fields) == 0 {
		t.Error("no summary")
	}
}
