package sign_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/qrcode"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
)

// TestCodesFitTheWindow: for messages and windows of many sizes, code and caption fit into
// the window, or the refusal says to enlarge the window or to use --qr-png.
func TestCodesFitTheWindow(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	drawn, refused := 0, 0
	for _, length := range []int{40, 300, 843, 5447, 60_000, ur.MaxMessage} {
		for _, kind := range []string{ur.TypeRequest, ur.TypePSBT} {
			message := ur.Message{Type: kind, CBOR: bytes.Repeat([]byte{0x5a}, length)}
			for columns := 0; columns <= 200; columns += 13 {
				for rows := 0; rows <= 100; rows += 7 {
					encoder, err := new(console.QRFlags).Encoder(message, columns, rows-console.CaptionRows)
					if err != nil {
						refused++
						if !strings.Contains(err.Error(), "enlarge") || !strings.Contains(err.Error(), "--qr-png DIR") {
							t.Fatalf("%d×%d: %v", columns, rows, err)
						}
						continue
					}
					drawn++
					fitsWindow(t, encoder, columns, rows)
				}
			}
		}
	}
	if drawn < 500 || refused < 100 {
		t.Errorf("%d were drawn and %d refused", drawn, refused)
	}
}

// fitsWindow draws the first code and checks that it fits.
func fitsWindow(t *testing.T, encoder *ur.Encoder, columns, rows int) {
	t.Helper()
	code, err := qrcode.New(strings.ToUpper(encoder.Next()))
	testenv.Must(t, err)
	lines := code.Lines()
	if len(lines)+console.CaptionRows > rows {
		t.Errorf("%d×%d: the code has %d lines", columns, rows, len(lines))
	}
	cells := strings.NewReplacer("\x1b[38;5;231;48;5;16m", "", "\x1b[0m", "").Replace(lines[0])
	if width := utf8.RuneCountInString(cells); width > columns {
		t.Errorf("%d×%d: the code is %d wide", columns, rows, width)
	}
	if text := console.Caption(encoder, columns); len(text) > columns {
		t.Errorf("%d×%d: the caption wraps: %q", columns, rows, text)
	}
}

// blobRequest returns a transaction in the network form of EIP-4844.
func blobRequest(t *testing.T) string {
	t.Helper()
	raw, err := rlp.EncodeToBytes([]any{[]any{uint(1)}, [][]byte{make([]byte, 1<<17)}, [][]byte{}, [][]byte{}})
	testenv.Must(t, err)
	return hex.EncodeToString(append([]byte{types.BlobTxType}, raw...))
}

// TestRefuseBlobs: a transaction with its blobs is refused, with the cure, before any file
// is written.
func TestRefuseBlobs(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	s.Must(nil, "init", "online")
	unsigned := blobRequest(t)
	for _, flag := range [][]string{{"--qr"}, {"--qr-png", "codes"}} {
		args := append([]string{"request", "--type", "ethereum", "--sign-with", clitest.Address, "--api-key", "online/api-key.json", "--body", "body.json"}, flag...)
		_, stderr, status := s.Run([]byte(unsigned), args...)
		for _, want := range []string{"QR codes, which carry at most 262144", "(EIP-4844) without its blobs"} {
			if status == console.ExitSuccess || !strings.Contains(string(stderr), want) {
				t.Fatalf("%q: exit status %d: %s", flag, status, stderr)
			}
		}
		for _, name := range []string{"body.json", "codes"} {
			if _, err := os.Stat(filepath.Join(s.Dir, name)); err == nil {
				t.Errorf("%s was written", name)
			}
		}
	}
	body := fmt.Sprintf(`{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","parameters":{"unsignedTransaction":"%s"}}`, unsigned)
	if _, stderr, status := s.Run([]byte(body), "stamp", "--api-key", "online/api-key.json", "--qr-png", "codes"); status == console.ExitSuccess || !strings.Contains(string(stderr), "without its blobs") {
		t.Errorf("stamp: exit status %d: %s", status, stderr)
	}
	large := ur.Answer{Fingerprint: make([]byte, 32), Signed: append([]byte{2}, make([]byte, ur.MaxMessage)...)}.Message()
	if err := console.FitsCodes(large); err == nil || !strings.Contains(err.Error(), "transfer it as a file") {
		t.Errorf("a large answer: %v", err)
	}
}
