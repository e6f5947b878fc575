package chains

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// summarySchema is the version of the canonical form of a summary.
const summarySchema = "countersign.summary/2"

// summaryTables is the version of the tables that decode effects and fields. It is part
// of the canonical form, so that machines that decode differently report a difference in
// version and not in the transaction.
const summaryTables = 11

// MaxSummaryBytes is the length of the longest byte string that a summary holds whole.
// Of a longer one it holds the first MaxSummaryBytes, and the SHA-256 of all bytes.
const MaxSummaryBytes = 256

// Summary describes what a transaction does: its effects, and an ordered tree of
// labeled, typed fields. It is a function of the transaction's bytes alone, and so is
// its digest: the same in an inspection, a policy, a record and a proof.
type Summary struct {
	Chain   string   // such as "ethereum"
	Effects []Effect // what it does; not nil
	Fields  []Field  // the details, in the order to be shown

	// Sent is set if these are transactions that were sent as messages, of which the signatures
	// alone are asked for. It is not part of the canonical form.
	Sent bool
}

// FieldType is the type of a field's value.
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

// Field is one labeled value, or a labeled list of fields. Create fields with the
// functions that are named after the types.
type Field struct {
	Label    string    `json:"label"`
	Type     FieldType `json:"type"`
	Value    string    `json:"value,omitempty"`
	Decimals int       `json:"decimals,omitempty"` // amount: digits after the decimal point
	Symbol   string    `json:"symbol,omitempty"`   // amount: ticker; integer: unit
	Length   int       `json:"length,omitempty"`   // bytes: of all bytes, if the value is cut off
	SHA256   string    `json:"sha256,omitempty"`   // bytes: of all bytes, if the value is cut off
	Note     string    `json:"note,omitempty"`     // what the value means, if that is not obvious: "unlimited"
	Fields   []Field   `json:"fields,omitempty"`   // list

	// Shown is displayed instead of the value, such as the address of a script on one
	// network. It is not part of the canonical form.
	Shown string `json:"-"`

	// Key is the name that policies have for the field, see Field.As. It is not part of the
	// canonical form: labels are for people, and may change.
	Key string `json:"-"`
}

// Text is a field with text. The text may come from the transaction, so a renderer must
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
	return Field{Label: label, Type: TypeAmount, Value: strconv.FormatUint(amount, 10), Decimals: decimals,
		Symbol: symbol}
}

// Integer is a field with a number that is not an amount.
func Integer(label string, value uint64) Field {
	return Field{Label: label, Type: TypeInteger, Value: strconv.FormatUint(value, 10)}
}

// BigInteger is Integer for a number of any size.
func BigInteger(label string, value *big.Int) Field {
	return Field{Label: label, Type: TypeInteger, Value: value.String()}
}

// Bytes is a field with a copy of bytes.
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

// Time is a field with a time, to the millisecond if it has milliseconds.
func Time(label string, value time.Time) Field {
	return Field{Label: label, Type: TypeTime, Value: value.UTC().Format("2006-01-02T15:04:05.999Z07:00")}
}

// LastSecond is the end of the year 9999, the last second since 1970 that RFC 3339 can write.
const LastSecond = 253402300799

// Seconds is Time for seconds since 1970, or a number if RFC 3339 cannot write the time.
func Seconds(label string, seconds *big.Int) Field {
	if seconds.Sign() < 0 || seconds.Cmp(big.NewInt(LastSecond)) > 0 {
		return BigInteger(label, seconds).WithNote("seconds since 1970")
	}
	return Time(label, time.Unix(seconds.Int64(), 0))
}

// List is a field that contains fields.
func List(label string, fields ...Field) Field {
	return Field{Label: label, Type: TypeList, Fields: fields}
}

// WithNote returns the field with a note.
func (f Field) WithNote(note string) Field {
	f.Note = note
	return f
}

// ShownAs returns the field with a text to be displayed instead of its value.
func (f Field) ShownAs(text string) Field {
	f.Shown = text
	return f
}

// MarshalJSON returns the canonical form: members in the order of the structs, without
// empty ones and white space, and with only the escapes that JSON requires.
func (s Summary) MarshalJSON() ([]byte, error) {
	form := struct {
		Schema  string   `json:"schema"`
		Tables  int      `json:"tables"`
		Chain   string   `json:"chain"`
		Effects []Effect `json:"effects"`
		Fields  []Field  `json:"fields"`
	}{summarySchema, summaryTables, s.Chain, s.Effects, s.Fields}
	if form.Fields == nil {
		form.Fields = []Field{}
	}
	if form.Effects == nil {
		form.Effects = []Effect{}
	}
	return strictjson.Marshal(form)
}

// Digest returns the SHA-256 of the canonical form.
func (s Summary) Digest() [32]byte {
	form, err := s.MarshalJSON()
	if err != nil {
		panic("chains: a summary always marshals: " + err.Error())
	}
	return sha256.Sum256(form)
}
