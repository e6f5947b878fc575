package solana

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/gagliardetto/solana-go"
	lookuptable "github.com/gagliardetto/solana-go/programs/address-lookup-table"
	tokenaccount "github.com/gagliardetto/solana-go/programs/associated-token-account"
	computebudget "github.com/gagliardetto/solana-go/programs/compute-budget"
	"github.com/gagliardetto/solana-go/programs/memo"
	"github.com/gagliardetto/solana-go/programs/stake"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"
	"github.com/gagliardetto/solana-go/programs/vote"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// sdkInstruction is what solana-go's decoders return.
type sdkInstruction interface{ Data() ([]byte, error) }

// decoderOf adapts one program's decoder of solana-go.
func decoderOf[I sdkInstruction](decode func([]*sdk.AccountMeta, []byte) (I, error)) func([]*sdk.AccountMeta, []byte) (sdkInstruction, error) {
	return func(accounts []*sdk.AccountMeta, data []byte) (sdkInstruction, error) { return decode(accounts, data) }
}

// encodings says, independently of the package's tables, how the data of each of their
// instructions is encoded: its number, then its arguments. The number of an extension's
// instruction follows a dot.
var encodings = []struct {
	id           [keySize]byte
	decode       func([]*sdk.AccountMeta, []byte) (sdkInstruction, error)
	instructions string
}{
	{systemID, decoderOf(system.DecodeInstruction), `
		0 u64 u64 key; 1 key; 2 u64; 3 key string u64 u64 key; 4; 5 u64; 6 key; 7 key; 8 u64;
		9 key string u64 key; 10 key string key; 11 u64 string key; 12; 13 u64 u64 key`},
	{stakeID, decoderOf(stake.DecodeInstruction), `
		0 key key i64 u64 key; 1 key choice2x4; 2; 3 u64; 4 u64; 5; 6 opt:i64 opt:u64 opt:key; 7;
		8 key choice2x4 string key; 9; 10 choice2x4; 11 choice2x4 string key; 12 opt:i64 opt:u64; 13; 14; 16 u64; 17 u64`},
	{voteID, decoderOf(vote.DecodeInstruction), `
		0 key key key u8; 1 key choice2x4; 3 u64; 4; 5 u8; 7 choice2x4; 10 choice2x4 key string key;
		11 choice2x4 key string; 16 key key bytes48 bytes96 key u16 u16; 17 choice2x1; 18 u16 choice2x1; 19 u64`},
	{lookupTableID, decoderOf(lookuptable.DecodeInstruction), `0 u64 u8; 1; 2 keys; 3; 4`},
	{computeID, decoderOf(computebudget.DecodeInstruction), `0 u32 u32; 1 u32; 2 u32; 3 u64; 4 u32`},
	{tokenAccountID, decoderOf(tokenaccount.DecodeInstruction), `0; 1; 2`},
	{tokenID, decoderOf(token.DecodeInstruction), `
		0 u8 key opt:key; 1; 2 u8; 3 u64; 4 u64; 5; 6 choice4x1 opt:key; 7 u64; 8 u64; 9; 10; 11; 12 u64 u8; 13 u64 u8;
		14 u64 u8; 15 u64 u8; 16 key; 17; 18 key; 19 u8; 20 u8 key opt:key`},
	{token2022ID, nil, `
		0 u8 key opt:key; 1; 2 u8; 3 u64; 4 u64; 5; 6 choice18x1 opt:key; 7 u64; 8 u64; 9; 10; 11; 12 u64 u8; 13 u64 u8;
		14 u64 u8; 15 u64 u8; 16 key; 17; 18 key; 19 u8; 20 u8 key opt:key; 21 u16 u16; 22; 23 u64; 24 rest;
		25 opt:key; 26.0 opt:key opt:key u16 u64; 26.1 u64 u8 u64; 26.2; 26.3 u8; 26.4; 26.5 u16 u64;
		28.0 choice3x1; 28.1 choice3x1; 29 u16; 30.0; 30.1; 31; 32; 33.0 nzkey i16; 33.1 i16; 34.0; 34.1; 35 key;
		36.0 nzkey nzkey; 36.1 nzkey; 38; 39.0 nzkey nzkey; 39.1 nzkey; 40.0 nzkey nzkey; 40.1 nzkey;
		41.0 nzkey nzkey; 41.1 nzkey; 43.0 nzkey f64; 43.1 f64 i64; 44.0 nzkey; 44.1; 44.2; 45 opt:u64;
		27.0 nzkey bool bytes32; 27.1 bool bytes32; 27.2 bytes36 u64 i8; 27.3; 27.4 i8; 27.5 u64 u8; 27.6 u64 u8 bytes36 i8 i8;
		27.7 bytes36 bytes64 bytes64 i8 i8 i8; 27.8 u64 bytes36; 27.9; 27.10; 27.11; 27.12;
		27.13 bytes36 bytes64 bytes64 i8 i8 i8 i8 i8; 27.14; 37.0 nzkey bytes32; 37.1 i8 bytes36; 37.2 u8 i8 bytes36; 37.3; 37.4; 37.5;
		42.0 bytes32 bytes36; 42.1 bytes32 i8; 42.2 bytes36; 42.3 bytes36 bytes64 bytes64 i8 i8 i8;
		42.4 bytes36 bytes64 bytes64 i8 i8 i8; 42.5; 46.0 key; 46.1 u64; 46.2 u64 u8; 46.3 bytes36 bytes64 bytes64 i8 i8 i8`},
	{loaderV3ID, nil, `0; 1 u32 sized; 2 u64; 3; 4; 5; 6 u32; 7; 8; 9 u32`},
	{loaderV4ID, nil, `0 u32 sized; 1 u32 u32 u32; 2 u32; 3; 4; 5; 6`},
}

// The decoder for Token-2022 of solana-go v1.24.0 does not compile (its package and
// zk-elgamal-proof/confidential import each other). The instructions that the program
// shares with SPL Token are compared with that; the others with the values that were
// encoded.

// oursAlone are instructions that solana-go does not decode (SPL Token's newer ones,
// which it has in Token-2022) or decodes further than to bytes (the votes).
var oursAlone = map[[keySize]byte][]uint32{
	tokenID: {21, 22, 23, 24, 38, 45},
	voteID:  {2, 6, 8, 9, 12, 13, 14, 15},
}

// TestDecodesAsSolanaGo encodes each instruction with random values and compares the
// operation and the values in order. What solana-go decoded must encode to the same
// bytes.
func TestDecodesAsSolanaGo(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, of := range encodings {
		p := programs[of.id]
		compared := slices.Clone(oursAlone[of.id])
		for encoding := range strings.SplitSeq(of.instructions, ";") {
			words := strings.Fields(encoding)
			t.Run(p.name+" "+words[0], func(t *testing.T) {
				number, _, _ := strings.Cut(words[0], ".")
				var tag uint32
				fmt.Sscan(number, &tag)
				compared = append(compared, tag)
				for range 40 {
					data, values := buildData(random, p.tagSize, words)
					ours := decodeAll(t, of.id, data)
					if got := ourValues(ours.argumentFields); !slices.Equal(got, values) {
						t.Fatalf("%s %x:\n got %q\nwant %q", ours.operation, data, got, values)
					}
					switch {
					case of.decode != nil && (of.id != systemID || tag != 13): // SIMD-0312
						compareDecoding(t, ours, data, of.decode)
					case of.id == token2022ID && tag <= 20 && words[0] != "6": // it knows fewer authorities
						compareDecoding(t, ours, data, decoderOf(token.DecodeInstruction))
					}
				}
			})
		}
		for tag := range p.layouts {
			if !slices.Contains(compared, tag) {
				t.Errorf("%s: instruction %d is not compared with anything", p.name, tag)
			}
		}
	}
}

// decodeAll decodes an instruction with 14 accounts, which must all be shown.
func decodeAll(t *testing.T, id [keySize]byte, data []byte) *reader {
	t.Helper()
	ours := dataOnly(t, id, data)
	if ours.err != nil {
		t.Fatalf("%v\n%x", ours.err, data)
	}
	if len(ours.accountFields) != 14 {
		t.Errorf("%s: %d of 14 accounts are shown", ours.operation, len(ours.accountFields))
	}
	return ours
}

// dataOnly decodes an instruction with 14 accounts that all fit their places.
func dataOnly(t *testing.T, id [keySize]byte, data []byte) *reader {
	t.Helper()
	return readFirst(instructionFor(t, id, data))
}

func readFirst(tx *Transaction) *reader {
	r := &reader{shown: true}
	tx.decodeInstruction(r, 0)
	return r
}

// instructionFor returns a transaction of one instruction whose 14 accounts all sign and
// have the addresses that the layout requires.
func instructionFor(t *testing.T, id [keySize]byte, data []byte) *Transaction {
	t.Helper()
	tx := instructionWith(t, id, data, 14)
	r := &reader{cursor: cursor{raw: data}}
	found := programs[id].find(&r.cursor)
	if r.err != nil && id != tokenAccountID {
		return tx
	}
	if id == tokenAccountID && len(data) == 0 {
		found = programs[id].layouts[0]
	}
	if found == nil {
		return tx
	}
	index := 0
	for _, place := range found.slots {
		for _, name := range append([]string{place.name}, place.with...) {
			if fixed, ok := fixedAddresses[name]; ok {
				tx.withAccount(index, fixed[len(fixed)-1])
			}
			index++
		}
	}
	return tx
}

// withAccount overwrites an account key.
func (t *Transaction) withAccount(index int, address [keySize]byte) {
	copy(t.raw[t.keysAt+index*keySize:], address[:])
}

func compareDecoding(t *testing.T, ours *reader, data []byte, decode func([]*sdk.AccountMeta, []byte) (sdkInstruction, error)) {
	t.Helper()
	metas := make([]*sdk.AccountMeta, 14)
	for i := range metas {
		metas[i] = sdk.Meta(sdk.PublicKey(bytes.Repeat([]byte{byte(i + 100)}, keySize)))
	}
	theirs, err := decode(metas, data)
	if err != nil {
		t.Fatalf("solana-go: %v\n%x", err, data)
	}
	implementation := reflect.ValueOf(theirs).Elem().FieldByName("Impl")
	if name := implementation.Elem().Type().Elem().Name(); name != ours.operation {
		t.Errorf("it is %s, solana-go says %s", ours.operation, name)
	}
	if got, want := ourValues(ours.argumentFields), theirValues(implementation); !slices.Equal(got, want) {
		t.Errorf("%s %x:\n got %q\nwant %q", ours.operation, data, got, want)
	}
	if strings.HasPrefix(ours.operation, "SetLockup") {
		return // solana-go decodes the bytes of its options, but encodes without them
	}
	if again, err := theirs.Data(); err != nil || !bytes.Equal(again, data) {
		t.Errorf("%s: solana-go encodes %x (%v)\nwhat was         %x", ours.operation, again, err, data)
	}
}

// ourValues returns the values of decoded arguments in order, with names as the numbers
// that they stand for.
func ourValues(fields []chains.Field) (values []string) {
	for _, field := range fields {
		value := field.Value
		switch field.Type {
		case chains.TypeTime:
			when, err := time.Parse(time.RFC3339, value)
			if err != nil {
				panic(err)
			}
			value = fmt.Sprint(when.Unix())
		case chains.TypeText:
			for _, names := range [][]string{authorityTypes, {"Staker", "Withdrawer"}, {"Voter"},
				{"InflationRewards", "BlockRevenue"}, {"Uninitialized", "Initialized", "Frozen"}} {
				if number := slices.Index(names, value); number >= 0 {
					value = fmt.Sprint(number)
				}
			}
		}
		values = append(values, value)
	}
	return values
}

// theirValues lists the values of a struct of solana-go in order.
func theirValues(v reflect.Value) []string {
	switch v.Kind() {
	case reflect.Interface:
		return theirValues(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return []string{"none"}
		}
		return theirValues(v.Elem())
	case reflect.Struct:
		return structValues(v)
	case reflect.Array:
		raw := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(raw), v)
		if len(raw) == keySize {
			return []string{encode58(raw)}
		}
		return []string{hex.EncodeToString(raw)}
	case reflect.Slice:
		var values []string
		for i := range v.Len() {
			values = append(values, theirValues(v.Index(i))...)
		}
		return values
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return []string{fmt.Sprint(v.Uint())}
	case reflect.Int16, reflect.Int64:
		return []string{fmt.Sprint(v.Int())}
	}
	return []string{fmt.Sprint(v.Interface())}
}

func structValues(v reflect.Value) (values []string) {
	if strings.HasSuffix(v.Type().PkgPath(), "associated-token-account") {
		return nil // its fields are accounts
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		switch {
		case field.Name == "AccountMetaSlice", field.Name == "Accounts", field.Name == "Signers", field.Name == "SubInstruction",
			strings.HasPrefix(field.Name, "BLS"): // of a kind of vote authority that is not decoded
		default:
			values = append(values, theirValues(v.Field(i))...)
		}
	}
	return values
}

// instructionWith returns a transaction of one instruction whose accounts are all of the
// keys except the program. They all sign.
func instructionWith(t *testing.T, id [keySize]byte, data []byte, accounts int) *Transaction {
	t.Helper()
	raw := append([]byte{byte(accounts)}, make([]byte, 64*accounts)...)
	raw = append(raw, byte(accounts), 0, 1, byte(accounts+1))
	var indexes []byte
	for i := range accounts {
		raw = append(raw, bytes.Repeat([]byte{byte(i + 100)}, keySize)...)
		indexes = append(indexes, byte(i))
	}
	raw = append(raw, bytes.Repeat([]byte{8}, keySize)...)
	raw = append(raw, bytes.Repeat([]byte{9}, keySize)...)
	raw = append(raw, 1, byte(accounts), byte(accounts))
	raw = append(raw, indexes...)
	if len(data) > 0x7f {
		raw = append(raw, byte(len(data))|0x80, byte(len(data)>>7))
	} else {
		raw = append(raw, byte(len(data)))
	}
	raw = append(raw, data...)
	tx, err := New(Limits{MaxSize: 1 << 16}).Parse(raw)
	testenv.Must(t, err)
	result := tx.(*Transaction)
	result.withAccount(accounts, id) // after parsing, which refuses some instructions of the Compute Budget program
	return result
}

func TestMemoAsSolanaGo(t *testing.T) {
	for _, id := range [][keySize]byte{memoID, memoV1ID} {
		tx := instructionWith(t, id, []byte("héllo"), 2)
		result := readFirst(tx)
		if err := result.err; err != nil || result.operation != "Memo" || len(result.argumentFields) != 1 || result.argumentFields[0].Value != "héllo" || len(result.accountFields) != 2 {
			t.Errorf("got %+v", result)
		}
	}
	theirs, err := memo.DecodeInstruction([]*sdk.AccountMeta{sdk.Meta(sdk.PublicKey{1})}, []byte("héllo"))
	if err != nil || string(theirs.Impl.(*memo.Create).Message) != "héllo" {
		t.Errorf("solana-go: %v, %v", theirs, err)
	}
}
