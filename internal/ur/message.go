package ur

import (
	"fmt"
	"strings"
)

// Message is a Uniform Resource: CBOR with a type.
type Message struct {
	Type string // lower-case letters, digits and hyphens
	CBOR []byte // without the tag of the type
}

// The types that Countersign takes or makes.
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

	// TypeJSON is a file of JSON that came as BBQr. It is no Uniform Resource.
	TypeJSON = "bbqr-json"
)

// Bounds of what is read.
const (
	// MaxMessage is the longest message in bytes of CBOR.
	MaxMessage = 256 << 10

	// MaxParts is the largest number of fragments of a message.
	MaxParts = 2048

	// MaxText is the longest text of one code: that of the largest QR code.
	MaxText = 4296

	maxType = 64
)

// TypeError says that a message is of a type that is not taken here.
type TypeError struct {
	Seen  string
	Taken []string
	Cure  string // what to do instead; may be empty
}

// Error implements error.
func (e *TypeError) Error() string {
	text := fmt.Sprintf("the code is of type %s; taken here: %s", e.Seen, strings.Join(e.Taken, ", "))
	if e.Cure != "" {
		text += ": " + e.Cure
	}
	return text
}

// String returns the message as a single code, in lower case. A QR code is
// smaller if it is drawn in upper case, which means the same.
func (m Message) String() string {
	return string(appendBytewords([]byte("ur:"+m.Type+"/"), m.CBOR))
}

// scheme begins each text.
const scheme = "ur:"

// text is a text taken apart.
type text struct {
	kind  string
	parts []string // behind the type: the bytewords, or the sequence and those
}

// split takes a text apart, in any case.
func split(code string) (text, error) {
	if len(code) > MaxText {
		return text{}, fmt.Errorf("a code of %d characters: at most %d are expected", len(code), MaxText)
	}
	lower := strings.ToLower(code)
	rest, ok := strings.CutPrefix(lower, scheme)
	if !ok {
		return text{}, ErrNotUR
	}
	fields := strings.Split(rest, "/")
	if len(fields) < 2 || len(fields) > 3 || !validType(fields[0]) {
		return text{}, fmt.Errorf("ur:TYPE/DATA or ur:TYPE/NUMBER-COUNT/DATA is expected, not %q", shorten(code))
	}
	return text{fields[0], fields[1:]}, nil
}

// validType reports whether a type has only letters, digits and hyphens.
func validType(kind string) bool {
	return kind != "" && len(kind) <= maxType && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// shorten cuts a text for an error.
func shorten(code string) string {
	const most = 40
	if len(code) > most {
		return strings.ToValidUTF8(code[:most], "") + "…"
	}
	return code
}
