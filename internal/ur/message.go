package ur

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Message is a Uniform Resource: CBOR with a type.
type Message struct {
	Type string // lower-case letters, digits and hyphens
	CBOR []byte // without the tag of the type
}

// The types that Countersign reads or writes.
const (
	TypeRequest = "x-countersign-request"
	TypeVote    = "x-countersign-vote"
	TypeAnswer  = "x-countersign-activity"

	TypePSBT       = "psbt"        // BCR-2020-006, tag 40310
	TypeCryptoPSBT = "crypto-psbt" // its name before 2023, tag 310

	TypeEthSignRequest  = "eth-sign-request"
	TypeEthSignature    = "eth-signature"
	TypeSolSignRequest  = "sol-sign-request"
	TypeSolSignature    = "sol-signature"
	TypeTronSignRequest = "tron-sign-request"
	TypeTronSignature   = "tron-signature"

	// TypeJSON is JSON that was sent as BBQr. It is not a Uniform Resource.
	TypeJSON = "bbqr-json"
)

// Bounds of the input.
const (
	// MaxMessage is the longest message in bytes of CBOR.
	MaxMessage = 256 << 10

	// MaxParts is the largest number of fragments of a message.
	MaxParts = 2048

	// MaxText is the longest text of one code: that of the largest QR code.
	MaxText = 4296

	maxType = 64
)

// TypeError means that a message has a type that is not accepted here.
type TypeError struct {
	Seen  string
	Taken []string
	Cure  string // what to do instead; may be empty
}

func (e *TypeError) Error() string {
	text := fmt.Sprintf("the code is of type %s; taken here: %s", e.Seen, strings.Join(e.Taken, ", "))
	if e.Cure != "" {
		text += ": " + e.Cure
	}
	return text
}

// String returns the message as a single code, in lower case. Upper case means the same
// and makes a smaller QR code.
func (m Message) String() string {
	return string(appendBytewords([]byte("ur:"+m.Type+"/"), m.CBOR))
}

// scheme is the prefix of every code.
const scheme = "ur:"

// text is a parsed code.
type text struct {
	kind  string
	parts []string // bytewords, or sequence and bytewords
}

// split parses a code, in upper or lower case.
func split(code string) (text, error) {
	if len(code) > MaxText {
		return text{}, fmt.Errorf("a code of %d characters: expected at most %d", len(code), MaxText)
	}
	lower := strings.ToLower(code)
	rest, ok := strings.CutPrefix(lower, scheme)
	if !ok {
		return text{}, ErrNotUR
	}
	fields := strings.Split(rest, "/")
	if len(fields) < 2 || len(fields) > 3 || !validType(fields[0]) {
		return text{}, fmt.Errorf("expected ur:TYPE/DATA or ur:TYPE/NUMBER-COUNT/DATA, not %q", shorten(code))
	}
	return text{fields[0], fields[1:]}, nil
}

// validType reports whether a type has only lower-case letters, digits and hyphens.
func validType(kind string) bool {
	return kind != "" && len(kind) <= maxType && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// shorten truncates a code for an error.
func shorten(code string) string { return plaintext.Shorten(code, 40) }
