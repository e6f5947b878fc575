package activity

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// marshaled is Encode by encoding/json alone.
func (r *Record) marshaled(t testing.TB) []byte {
	t.Helper()
	request := r.Request
	form := storedRecord{
		Schema: storedSchema, ID: r.ID, Type: request.Type, Status: r.Status,
		Org: request.OrganizationID, Time: request.TimestampMs, Proofs: request.GenerateAppProofs,
		Hash: request.Fingerprint[:], Body: string(request.Body),
		Parameters: [2]int{request.parameters.Start, request.parameters.End},
		Failure:    r.Failure, Votes: r.Votes, Decision: r.Decision, Reading: r.Reading, Did: r.Did, AppProofs: r.AppProofs,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	var err error
	if r.Result != nil {
		if form.Result, err = strictjson.Marshal(r.Result); err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := strictjson.Marshal(&form)
	testenv.Must(t, err)
	return encoded
}

// fill sets everything that can be reached in a value to something random, or leaves it out.
func fill(r *rand.Rand, v reflect.Value, texts []string) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<34), r.Int64N(1e9)).In(time.FixedZone("", r.IntN(20)*900))))
		return
	case *big.Int:
		v.Set(reflect.ValueOf(big.NewInt(r.Int64())))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(`[{"a":"<b>"}]`)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64N(1000))
	case reflect.Slice:
		if n := r.IntN(4); n < 3 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fill(r, v.Index(i), texts)
		}
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), texts)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(r, field, texts)
			}
		}
	}
}

// randomRecord returns a record whose members are all random.
func randomRecord(r *rand.Rand, texts []string) *Record {
	record := &Record{Request: &Request{Type: TypeSignTransaction, TimestampMs: r.Int64N(1 << 41), GenerateAppProofs: r.IntN(2) == 0}}
	for _, part := range []any{&record.Votes, &record.Decision, &record.Did, &record.Reading, &record.Failure, &record.AppProofs,
		&record.ID, &record.CreatedAt, &record.UpdatedAt, &record.Request.OrganizationID} {
		if r.IntN(8) > 0 {
			fill(r, reflect.ValueOf(part).Elem(), texts)
		}
	}
	record.Request.Body = []byte(texts[r.IntN(len(texts))])
	record.Request.parameters.End = r.IntN(len(record.Request.Body) + 1)
	for i := range record.Request.Fingerprint {
		record.Request.Fingerprint[i] = byte(r.Uint32())
	}
	switch record.Status = StatusFailed; r.IntN(3) {
	case 0:
		record.Status, record.Result = StatusCompleted, SignTransactionResult{SignedTransaction: texts[r.IntN(len(texts))]}
	case 1:
		record.Status, record.Result = StatusCompleted, SignRawPayloadResult{R: texts[r.IntN(len(texts))], V: "00"}
	}
	return record
}

// TestEncodeIsMarshal compares the stored form of random records, in which every member is
// there or not, with that of encoding/json: byte by byte unless a text has one of the
// characters that JSON leaves to the writer, and otherwise by what is read from it.
func TestEncodeIsMarshal(t *testing.T) {
	plain := []string{"", "a", "0x5aAe", `"\/<>&`, "line\nbreak\r\t\x01\x1f", "größer 世 😁", strings.Repeat("long ", 300)}
	free := append(plain, "\u2028 \u2029", "\x08\x0c\x7f", "a\xff(")
	for seed := range uint64(3000) {
		exact := randomRecord(rand.New(rand.NewPCG(seed, 1)), plain)
		if got, want := exact.Encode(), exact.marshaled(t); string(got) != string(want) {
			t.Fatalf("seed %d:\n%s\nencoding/json has\n%s", seed, got, want)
		}
		record := randomRecord(rand.New(rand.NewPCG(seed, 2)), free)
		var got, want storedRecord
		if err := json.Unmarshal(record.Encode(), &got); err != nil {
			t.Fatalf("seed %d: %v in %q", seed, err, record.Encode())
		}
		testenv.JSON(t, record.marshaled(t), &want)
		got.Result, want.Result = meaning(t, got.Result), meaning(t, want.Result)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: read from what is stored\n%+v\nand from encoding/json\n%+v", seed, got, want)
		}
	}
}

// meaning returns JSON as encoding/json writes what it reads.
func meaning(t *testing.T, text json.RawMessage) json.RawMessage {
	t.Helper()
	if text == nil {
		return nil
	}
	var value any
	testenv.JSON(t, text, &value)
	again := testenv.Encode(t, value)
	return again
}
