package chains

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strconv"
	"time"
)

// SummarySchema is the version of the canonical form of a summary.
const SummarySchema = "countersign.summary/2"

// SummaryTables is the version of the tables by which effects and fields are
// decoded. It is part of the canonical form, so that two machines that decode
// differently report another version and not a difference in the transaction.
const SummaryTables = 1

// MaxSummaryBytes is the longest byte string that a summary holds whole. Of a
// longer one it holds the first MaxSummaryBytes and the SHA-256 of all.
const MaxSummaryBytes = 256

// Summary is what a transaction does: an ordered tree of labelled, typed
// fields. It is a function of the transaction's bytes alone, and so is its
// digest: the same in an inspection, in a policy, in the record and in a proof.
type Summary struct {
	Chain   string   // such as "ethereum"
	Effects []Effect // what it does; not nil
	Fields  []Field  // the details, in the order to be shown
}

// FieldType says what a field's value is.
type FieldType string

// The types of fields.
const (
	TypeText    FieldType = "text"    // value: UTF-8
	TypeAddress FieldType = "address" // value: in the chain's own form
	TypeAmount  FieldType = "amount"  // value: decimal integer of the smallest unit; decimals and symbol say how to show it
	TypeInteger FieldType = "integer" // value: decimal integer
	TypeBytes   FieldType = "bytes"   // value: lower-case hex, at most MaxSummaryBytes of it; length and sha256 if longer
	TypeTime    FieldType = "time"    // value: RFC 3339 in UTC
	TypeList    FieldType = "list"    // fields
)

// Field is one labelled value, or a labelled list of fields. Use the functions
// of the types' names to make one.
type Field struct {
	Label    string    `json:"label"`
	Type     FieldType `json:"type"`
	Value    string    `json:"value,omitempty"`
	Decimals int       `json:"decimals,omitempty"` // amount: digits behind the point
	Symbol   string    `json:"symbol,omitempty"`   // amount: ticker; integer: unit
	Length   int       `json:"length,omitempty"`   // bytes: of all, if not all are in the value
	SHA256   string    `json:"sha256,omitempty"`   // bytes: of all, if not all are in the value
	Note     string    `json:"note,omitempty"`     // what the value means, where that is not plain: "unlimited"
	Fields   []Field   `json:"fields,omitempty"`   // list

	// Shown is what a person sees in place of the value, such as the address of a
	// script on one network. It is not part of the canonical form.
	Shown string `json:"-"`
}

// Text is a field with text. It may come from the transaction: a renderer must
// not trust it.
func Text(label, value string) Field { return Field{Label: label, Type: TypeText, Value: value} }

// AddressField is a field with an address in the chain's own form.
func AddressField(label, address string) Field {
	return Field{Label: label, Type: TypeAddress, Value: address}
}

// Amount is a field with an amount in the smallest unit, such as wei.
func Amount(label string, amount *big.Int, decimals int, symbol string) Field {
	return Field{Label: label, Type: TypeAmount, Value: amount.String(), Decimals: decimals, Symbol: symbol}
}

// AmountUint is Amount for an amount of 64 bits.
func AmountUint(label string, amount uint64, decimals int, symbol string) Field {
	return Field{Label: label, Type: TypeAmount, Value: strconv.FormatUint(amount, 10), Decimals: decimals, Symbol: symbol}
}

// Integer is a field with a number that is no amount.
func Integer(label string, value uint64) Field {
	return Field{Label: label, Type: TypeInteger, Value: strconv.FormatUint(value, 10)}
}

// BigInteger is Integer for a number of any size.
func BigInteger(label string, value *big.Int) Field {
	return Field{Label: label, Type: TypeInteger, Value: value.String()}
}

// Bytes is a field with bytes. It copies them.
func Bytes(label string, value []byte) Field {
	field := Field{Label: label, Type: TypeBytes}
	if len(value) > MaxSummaryBytes {
		digest := sha256.Sum256(value)
		field.Length, field.SHA256 = len(value), hex.EncodeToString(digest[:])
		value = value[:MaxSummaryBytes]
	}
	field.Value = hex.EncodeToString(value)
	return field
}

// Time is a field with a time, to the millisecond if it has any.
func Time(label string, value time.Time) Field {
	return Field{Label: label, Type: TypeTime, Value: value.UTC().Format("2006-01-02T15:04:05.999Z07:00")}
}

// List is a field with fields of its own.
func List(label string, fields ...Field) Field {
	return Field{Label: label, Type: TypeList, Fields: fields}
}

// WithNote returns the field with a note.
func (f Field) WithNote(note string) Field {
	f.Note = note
	return f
}

// ShownAs returns the field with what a person sees in place of its value.
func (f Field) ShownAs(text string) Field {
	f.Shown = text
	return f
}

// MarshalJSON writes the canonical form: members in the order of the structs,
// empty ones left out, no white space, only the escapes that JSON needs.
func (s Summary) MarshalJSON() ([]byte, error) {
	form := struct {
		Schema  string   `json:"schema"`
		Tables  int      `json:"tables"`
		Chain   string   `json:"chain"`
		Effects []Effect `json:"effects"`
		Fields  []Field  `json:"fields"`
	}{SummarySchema, SummaryTables, s.Chain, s.Effects, s.Fields}
	if form.Fields == nil {
		form.Fields = []Field{}
	}
	if form.Effects == nil {
		form.Effects = []Effect{}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(form); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Digest is the SHA-256 of the canonical form.
func (s Summary) Digest() [32]byte {
	form, err := s.MarshalJSON()
	if err != nil {
		panic("chains: a summary always marshals: " + err.Error())
	}
	return sha256.Sum256(form)
}
