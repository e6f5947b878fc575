package chains_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

func TestDecodeHex(t *testing.T) {
	want := []byte{0x02, 0xec, 0xab}
	for _, text := range []string{"02ecab", "02ECAB", "02eCaB", "0x02ecab", "0X02ECAB", "0x02ECab"} {
		if got, err := chains.DecodeHex(text); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %x, %v", text, got, err)
		}
	}
}

func TestDecodeHexRefused(t *testing.T) {
	raw := bytes.Repeat([]byte{0x02, 0xf8, 0x6b, 0x01, 0x80}, 20)
	const (
		empty  = "empty"
		white  = "white space around the hex: remove it"
		base   = "this looks like base64"
		json   = "this looks like JSON"
		cutOff = "odd number of hex digits (%): the text is cut off or a digit is missing"
	)
	for text, want := range map[string]string{
		"":                                     empty,
		"0x":                                   empty,
		"0X":                                   empty,
		"02e":                                  strings.Replace(cutOff, "%", "3", 1),
		"0x02e":                                strings.Replace(cutOff, "%", "3", 1),
		"0":                                    strings.Replace(cutOff, "%", "1", 1),
		" 02ec":                                white,
		"02ec\n":                               white,
		"\t0x02ec":                             white,
		"0x02ec\r\n":                           white,
		`{"type":"0x2"}`:                       json,
		base64.StdEncoding.EncodeToString(raw): base,
		base64.RawURLEncoding.EncodeToString(raw): base,
		"02exab":     "character 'x' at position 3 is not a hex digit",
		"0x02xcab":   "character 'x' at position 4 is not a hex digit", // not the one of 0x
		"0x0x02ecab": "character 'x' at position 3 is not a hex digit",
		"02ecgb":     "character 'g' at position 4 is not a hex digit", // a typing error, not base64
		"02e-ab":     "character '-' at position 3 is not a hex digit",
		"02e ab":     "character ' ' at position 3 is not a hex digit",
		"02eéab":     "character 'é' at position 3 is not a hex digit",
		"02e\x00ab":  `character '\x00' at position 3 is not a hex digit`,
		"02e\xffab":  `character '�' at position 3 is not a hex digit`,
		"\ufeff02ec": `character '\ufeff' at position 0 is not a hex digit`,
		"02,ec":      "character ',' at position 2 is not a hex digit",
		"[2,236]":    "character '[' at position 0 is not a hex digit",
	} {
		got, err := chains.DecodeHex(text)
		if err == nil || err.Error() != want || got != nil {
			t.Errorf("%q\n got %v\nwant %s", text, err, want)
		}
	}
}
