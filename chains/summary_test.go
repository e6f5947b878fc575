package chains_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// canonical has fields of every type. Its canonical form must not change while the schema
// stays the same: records and proofs contain its digest.
var canonical = chains.Summary{Chain: "ethereum", Fields: []chains.Field{
	chains.Text("text", `<a href="x">&amp;\ é 中 `+"\u2028"),
	chains.AddressField("address", "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"),
	chains.Amount("amount", new(big.Int).Lsh(big.NewInt(1), 200), 18, "ETH").WithNote("unlimited"),
	chains.AmountUint("none", 0, 0, ""),
	chains.Integer("integer", 1<<63),
	chains.BigInteger("big", big.NewInt(-5)),
	chains.Bytes("bytes", []byte{0xde, 0xad}),
	chains.Bytes("no bytes", nil),
	chains.Time("time", time.UnixMilli(1735787045006)),
	chains.Time("whole", time.Unix(1735787045, 0)),
	chains.List("list", chains.List("inner", chains.Text("t", ""))),
	chains.List("nothing"),
}}

const canonicalForm = `{"schema":"countersign.summary/2","tables":11,"chain":"ethereum","effects":[],"fields":[` +
	`{"label":"text","type":"text","value":"<a href=\"x\">&amp;\\ é 中 \u2028"},` +
	`{"label":"address","type":"address","value":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"},` +
	`{"label":"amount","type":"amount","value":"1606938044258990275541962092341162602522202993782792835301376","decimals":18,"symbol":"ETH","note":"unlimited"},` +
	`{"label":"none","type":"amount","value":"0"},` +
	`{"label":"integer","type":"integer","value":"9223372036854775808"},` +
	`{"label":"big","type":"integer","value":"-5"},` +
	`{"label":"bytes","type":"bytes","value":"dead"},` +
	`{"label":"no bytes","type":"bytes"},` +
	`{"label":"time","type":"time","value":"2025-01-02T03:04:05.006Z"},` +
	`{"label":"whole","type":"time","value":"2025-01-02T03:04:05Z"},` +
	`{"label":"list","type":"list","fields":[{"label":"inner","type":"list","fields":[{"label":"t","type":"text"}]}]},` +
	`{"label":"nothing","type":"list"}]}`

func TestSummaryCanonicalForm(t *testing.T) {
	form, err := canonical.MarshalJSON()
	testenv.Must(t, err)
	if string(form) != canonicalForm {
		t.Errorf("\n got %s\nwant %s", form, canonicalForm)
	}
	if canonical.Digest() != sha256.Sum256([]byte(canonicalForm)) {
		t.Error("the digest is not the SHA-256 of the canonical form")
	}
	if !json.Valid(form) {
		t.Error("the canonical form is not JSON")
	}
}

func TestSummaryEmpty(t *testing.T) {
	form, err := chains.Summary{Chain: "x"}.MarshalJSON()
	if want := `{"schema":"countersign.summary/2","tables":11,"chain":"x","effects":[],"fields":[]}`; err != nil || string(form) != want {
		t.Errorf("%s, %v, want %s", form, err, want)
	}
}

// TestBytesBounds: a summary holds the first of long bytes, and the SHA-256 of all.
func TestBytesBounds(t *testing.T) {
	data := bytes.Repeat([]byte{0xab}, chains.MaxSummaryBytes+1)
	whole := chains.Bytes("d", data[:chains.MaxSummaryBytes])
	if whole.Length != 0 || whole.SHA256 != "" || len(whole.Value) != 2*chains.MaxSummaryBytes {
		t.Errorf("%+v", whole)
	}
	digest := sha256.Sum256(data)
	long := chains.Bytes("d", data)
	if long.Length != len(data) || long.SHA256 != hex.EncodeToString(digest[:]) || long.Value != whole.Value {
		t.Errorf("%+v", long)
	}
}

// TestDigestCoversFields: a change of any part of a field changes the digest.
func TestDigestCoversFields(t *testing.T) {
	names := map[[32]byte]string{}
	for name, field := range map[string]chains.Field{
		"plain": {Label: "a", Type: chains.TypeText, Value: "b"}, "label": {Label: "c", Type: chains.TypeText, Value: "b"},
		"type": {Label: "a", Type: chains.TypeAddress, Value: "b"}, "value": {Label: "a", Type: chains.TypeText, Value: "c"},
		"decimals": {Label: "a", Type: chains.TypeText, Value: "b", Decimals: 1}, "symbol": {Label: "a", Type: chains.TypeText, Value: "b", Symbol: "s"},
		"length": {Label: "a", Type: chains.TypeText, Value: "b", Length: 1}, "sha256": {Label: "a", Type: chains.TypeText, Value: "b", SHA256: "s"},
		"note": {Label: "a", Type: chains.TypeText, Value: "b", Note: "s"}, "fields": {Label: "a", Type: chains.TypeText, Value: "b", Fields: []chains.Field{{}}},
	} {
		digest := chains.Summary{Chain: "x", Fields: []chains.Field{field}}.Digest()
		if other, taken := names[digest]; taken {
			t.Errorf("%s and %s have the same digest", name, other)
		}
		names[digest] = name
	}
}

// TestErrors checks the text of errors with and without field and offset.
func TestErrors(t *testing.T) {
	for want, err := range map[string]error{
		"x: field 5 (y) at byte 12: problem": &chains.ParseError{Kind: chains.ErrMalformed, Chain: "x", Field: "field 5 (y)", Offset: 12, Problem: "problem"},
		"x: at byte 0: problem":              &chains.ParseError{Kind: chains.ErrMalformed, Chain: "x", Problem: "problem"},
		"x: field 5 (y): problem":            &chains.ParseError{Kind: chains.ErrUnsupported, Chain: "x", Field: "field 5 (y)", Offset: -1, Problem: "problem"},
		"x: problem":                         &chains.ParseError{Kind: chains.ErrUnsupported, Chain: "x", Offset: -1, Problem: "problem"},
		"x: signWith: problem":               &chains.SignerError{Kind: chains.ErrNotSigner, Chain: "x", Problem: "problem"},
	} {
		if err.Error() != want {
			t.Errorf("%s, want %s", err, want)
		}
	}
}
