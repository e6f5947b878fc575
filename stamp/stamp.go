package stamp

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/textproto"
	"strings"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// What is wrong with a stamp, for errors.Is and for the log. Who sent it is
// told no more than that it is invalid.
var (
	ErrMalformed = errors.New("malformed stamp")
	ErrSignature = errors.New("wrong signature")
	ErrExpired   = errors.New("expired credential")
	ErrMismatch  = errors.New("stamp of another kind than the credential")
)

// The headers that hold a stamp.
const (
	HeaderAPIKey  = "X-Stamp"
	HeaderPasskey = "X-Stamp-Webauthn"
)

// MaxHeader is how long a stamp's header may be, in bytes. A passkey's with
// the largest key takes about 2,000.
const MaxHeader = 8 << 10

// Header is a stamp as it was sent.
type Header struct {
	Name  string `json:"header"` // X-Stamp or X-Stamp-Webauthn, in any case
	Value string `json:"value"`
}

// ID identifies a credential within its organization: by its public key, or by
// its credential id if it is a passkey.
type ID string

// APIKeyID returns the ID of the API key with this public key.
func APIKeyID(publicKey []byte) ID { return ID("api-key:" + hex.EncodeToString(publicKey)) }

// PasskeyID returns the ID of the passkey with this credential id.
func PasskeyID(credentialID []byte) ID {
	return ID("passkey:" + base64.RawURLEncoding.EncodeToString(credentialID))
}

// Stamp is a stamp that was read: well-formed, but not verified.
type Stamp struct {
	id        ID
	scheme    Scheme
	curve     Curve      // of an API key
	signature []byte     // as the scheme has it
	assertion *assertion // of a passkey
	text      string     // the JSON, of a passkey; the signature's hex, of an API key
}

// CredentialID says which credential the stamp claims to be of.
func (s *Stamp) CredentialID() ID { return s.id }

// Scheme says how it was made.
func (s *Stamp) Scheme() Scheme { return s.scheme }

// SignatureText returns the signature as a record keeps it: hex, or the JSON
// text of a passkey's stamp.
func (s *Stamp) SignatureText() string { return s.text }

// form is the JSON of a stamp of either kind.
type form struct {
	publicKey, scheme                               string
	authenticatorData, clientDataJSON, credentialID string
	signature                                       string
}

// Parse reads a stamp strictly. Its error is an ErrMalformed.
func Parse(header Header) (*Stamp, error) {
	if len(header.Value) > MaxHeader {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are possible", ErrMalformed, len(header.Value), MaxHeader)
	}
	text, plain, err := headerText(header.Value)
	if err != nil {
		return nil, err
	}
	var sent form
	if err := sent.read(text); err != nil {
		return nil, err
	}
	passkey := sent.credentialID != ""
	switch name := textproto.CanonicalMIMEHeaderKey(header.Name); {
	case name != HeaderAPIKey && name != HeaderPasskey:
		return nil, fmt.Errorf("%w: header %.64q: use %s or %s", ErrMalformed, header.Name, HeaderAPIKey, HeaderPasskey)
	case passkey:
		return sent.passkey(text)
	case name == HeaderPasskey:
		return nil, fmt.Errorf("%w: %s holds the stamp of an API key: send it as %s", ErrMalformed, HeaderPasskey, HeaderAPIKey)
	case plain:
		return nil, fmt.Errorf("%w: the stamp of an API key is sent in base64url", ErrMalformed)
	}
	return sent.apiKey()
}

// headerText returns the JSON of a header that holds it plain or in base64.
func headerText(value string) (text []byte, plain bool, err error) {
	if strings.HasPrefix(value, "{") {
		return []byte(value), true, nil
	}
	text, err = decodeBase64(value)
	if err != nil {
		return nil, false, fmt.Errorf("%w: base64url: %w", ErrMalformed, err)
	}
	return text, false, nil
}

func (f *form) read(text []byte) error {
	err := strictjson.Read(text, "stamp",
		strictjson.Optional("publicKey", &f.publicKey),
		strictjson.Optional("scheme", &f.scheme),
		strictjson.Optional("authenticatorData", &f.authenticatorData),
		strictjson.Optional("clientDataJson", &f.clientDataJSON),
		strictjson.Optional("credentialId", &f.credentialID),
		strictjson.Required("signature", &f.signature),
	)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// apiKey reads the stamp of an API key.
func (f *form) apiKey() (*Stamp, error) {
	if f.authenticatorData != "" || f.clientDataJSON != "" {
		return nil, fmt.Errorf("%w: members of a passkey's stamp without its credentialId", ErrMalformed)
	}
	curve, err := Scheme(f.scheme).curve()
	if err != nil {
		return nil, err
	}
	publicKey, err := decodeHex(f.publicKey)
	if err != nil || len(publicKey) != curve.publicKeySize() {
		return nil, fmt.Errorf("%w: publicKey: %d lower-case hex digits are expected", ErrMalformed, 2*curve.publicKeySize())
	}
	signature, err := decodeHex(f.signature)
	if err != nil {
		return nil, fmt.Errorf("%w: signature: %w", ErrMalformed, err)
	}
	return &Stamp{
		id: APIKeyID(publicKey), scheme: Scheme(f.scheme), curve: curve,
		signature: signature, text: f.signature,
	}, nil
}

// passkey reads the stamp of a passkey.
func (f *form) passkey(text []byte) (*Stamp, error) {
	if f.publicKey != "" || f.scheme != "" {
		return nil, fmt.Errorf("%w: members of an API key's stamp beside credentialId", ErrMalformed)
	}
	made := &Stamp{scheme: SchemeWebAuthn, assertion: new(assertion), text: string(text)}
	var credentialID []byte
	for _, member := range []struct {
		name, value string
		into        *[]byte
	}{
		{"authenticatorData", f.authenticatorData, &made.assertion.authenticatorData},
		{"clientDataJson", f.clientDataJSON, &made.assertion.clientDataJSON},
		{"credentialId", f.credentialID, &credentialID},
		{"signature", f.signature, &made.signature},
	} {
		decoded, err := decodeBase64(member.value)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: base64url: %w", ErrMalformed, member.name, err)
		}
		*member.into = decoded
	}
	made.id = PasskeyID(credentialID)
	return made, made.assertion.read()
}

// decodeHex decodes lower-case hex.
func decodeHex(text string) ([]byte, error) {
	raw, err := hex.DecodeString(text)
	if err == nil && strings.ToLower(text) != text {
		err = errors.New("upper-case hex digit: lower case is expected")
	}
	return raw, err
}

// decodeBase64 decodes base64url or the standard alphabet, not a mixture,
// padded or not, without line breaks and stray bits.
func decodeBase64(text string) ([]byte, error) {
	if text == "" {
		return nil, errors.New("missing")
	}
	if strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("line break")
	}
	encoding := base64.RawURLEncoding
	if strings.ContainsAny(text, "+/") {
		encoding = base64.RawStdEncoding
	}
	if strings.HasSuffix(text, "=") {
		encoding = encoding.WithPadding(base64.StdPadding)
	}
	return encoding.Strict().DecodeString(text)
}
