package otpledger

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestMeterEncoding checks that ParseMeter reads what Append wrote, and that a
// truncated, extended or changed encoding is refused or a different meter.
func TestMeterEncoding(t *testing.T) {
	meter := Meter{
		Sent:   []Event{{1, 2, 3}, {4, 5, 6}},
		Failed: []Event{{7, 8, 9}},
		Tried:  []Event{{10, 11, 12}},
		Live:   []LiveCode{{"id", 13, 14}, {"", 15, 16}},
		Until:  17,
	}
	raw := meter.Append(nil)
	got, err := ParseMeter(raw)
	if diff := cmp.Diff(meter, got); diff != "" || err != nil {
		t.Fatalf("%v\n%s", err, diff)
	}
	empty, err := ParseMeter((&Meter{}).Append(nil))
	if diff := cmp.Diff(Meter{}, empty, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Fatalf("%v\n%s", err, diff)
	}
	for i := 1; i < len(raw); i++ {
		if _, err := ParseMeter(raw[:i]); err == nil {
			t.Errorf("truncated to %d bytes: accepted", i)
		}
	}
	if _, err := ParseMeter(append(slices.Clone(raw), 0)); err == nil {
		t.Error("with a trailing byte: accepted")
	}
	for i := range raw {
		for bit := range 8 {
			changed := slices.Clone(raw)
			changed[i] ^= 1 << bit
			if other, err := ParseMeter(changed); err == nil && cmp.Equal(meter, other) {
				t.Errorf("byte %d changed: read as the same meter", i)
			}
		}
	}
	if _, err := ParseMeter([]byte{meterVersion, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}); err == nil {
		t.Error("a count without events: accepted")
	}
	padded := slices.Concat([]byte{meterVersion}, make([]byte, 8), []byte{0x80, 0x00, 0, 0, 0})
	if _, err := ParseMeter(padded); err == nil {
		t.Error("a count with a redundant byte: accepted")
	}
}
