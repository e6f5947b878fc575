package bitcoin_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
)

// TestEncodings decodes a PSBT from each encoding.
func TestEncodings(t *testing.T) {
	raw := base(t).Encode()
	for encoding, content := range map[string][]byte{
		"binary": raw, "hex": []byte(hex.EncodeToString(raw)), "base64": []byte(base64.StdEncoding.EncodeToString(raw)),
	} {
		if got, err := bitcoin.Decode(content); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%s: %x, %v", encoding, got, err)
		}
		if encoding == "binary" {
			continue
		}
		if got, err := bitcoin.Decode(append([]byte("\n "), append(content, "\r\n"...)...)); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%s with white space: %x, %v", encoding, got, err)
		}
	}
	for _, content := range []string{"", "cHNidP8BAFIx=", "cHNidP8BA=FI", "7073627", "zz", "psbt"} {
		if raw, err := bitcoin.Decode([]byte(content)); err == nil {
			t.Errorf("%q is read as %x", content, raw)
		}
	}
}
