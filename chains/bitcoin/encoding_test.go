package bitcoin_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
)

// TestEncodings decodes a PSBT from each encoding, and encodes it again.
func TestEncodings(t *testing.T) {
	raw := base(t).Encode()
	for _, encoding := range []bitcoin.Encoding{bitcoin.Hex, bitcoin.Base64, bitcoin.Binary} {
		content := encoding.Encode(raw)
		got, was, err := bitcoin.Decode(content)
		if err != nil || was != encoding || !bytes.Equal(got, raw) {
			t.Errorf("%v: read as %v: %x, %v", encoding, was, got, err)
		}
		if encoding == bitcoin.Binary {
			continue
		}
		if got, _, err := bitcoin.Decode(append([]byte("\n "), append(content, "\r\n"...)...)); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%v with white space: %x, %v", encoding, got, err)
		}
	}
	for _, content := range []string{"", "cHNidP8BAFIx=", "cHNidP8BA=FI", "7073627", "zz", "psbt"} {
		if raw, was, err := bitcoin.Decode([]byte(content)); err == nil {
			t.Errorf("%q is read as %v: %x", content, was, raw)
		}
	}
}
