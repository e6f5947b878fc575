package stamp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/textproto"
	"strings"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/stamp/signer"
)

// Errors of stamps, for errors.Is and for the log. The sender must only learn that the
// stamp is invalid.
var (
	ErrMalformed = errors.New("malformed stamp")
	ErrSignature = errors.New("wrong signature")
	ErrExpired   = errors.New("expired credential")
	ErrMismatch  = errors.New("stamp of another kind than the credential")
)

// The headers of stamps.
const (
	HeaderAPIKey  = signer.HeaderAPIKey
	HeaderPasskey = "X-Stamp-Webauthn"
)

// MaxHeader bounds the value of a stamp's header, in bytes. That of a passkey with the
// largest key has about 2,000.
const MaxHeader = 8 << 10

// Header is a stamp as sent.
type Header = signer.Header

// ID identifies a credential within its organization: by the public key of an API key, or
// the credential id of a passkey.
type ID string

// APIKeyID returns the ID of the API key with this public key.
func APIKeyID(publicKey []byte) ID { return ID(apiKeyPrefix + hex.EncodeToString(publicKey)) }

const apiKeyPrefix = "api-key:" // before the hex of the public key

// PasskeyID returns the ID of the passkey with this credential id.
func PasskeyID(credentialID []byte) ID {
	return ID("passkey:" + base64.RawURLEncoding.EncodeToString(credentialID))
}

// Stamp is a parsed stamp. It is well-formed, but not verified.
type Stamp struct {
	id        ID
	scheme    Scheme
	curve     Curve      // of an API key
	signature []byte     // in the encoding of the scheme
	assertion *assertion // of a passkey
	text      string     // for a passkey the JSON, for an API key the signature's hex
}

// CredentialID returns the credential that the stamp claims to be by.
func (s *Stamp) CredentialID() ID { return s.id }

// Scheme returns the signature scheme.
func (s *Stamp) Scheme() Scheme { return s.scheme }

// SignatureText returns the signature as in a record: hex, or for a passkey the JSON text
// of the stamp.
func (s *Stamp) SignatureText() string { return s.text }

// form is the JSON of a stamp of either kind.
type form struct {
	publicKey, scheme                               []byte // parts of the text
	authenticatorData, clientDataJSON, credentialID string
	signature                                       string
}

// Parse parses a stamp strictly. Its errors wrap [ErrMalformed].
func Parse(header Header) (*Stamp, error) {
	if len(header.Value) > MaxHeader {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrMalformed, len(header.Value), MaxHeader)
	}
	var text []byte
	var err error
	plain := strings.HasPrefix(header.Value, "{")
	if plain {
		text = []byte(header.Value)
	} else if text, err = decodeBase64(header.Value); err != nil {
		return nil, fmt.Errorf("%w: base64url: %w", ErrMalformed, err)
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
		return nil, fmt.Errorf("%w: %s has the stamp of an API key: send it as %s", ErrMalformed, HeaderPasskey,
			HeaderAPIKey)
	case plain:
		return nil, fmt.Errorf("%w: the stamp of an API key is sent in base64url", ErrMalformed)
	}
	return sent.apiKey()
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

func (f *form) apiKey() (*Stamp, error) {
	if f.authenticatorData != "" || f.clientDataJSON != "" {
		return nil, fmt.Errorf("%w: members of a passkey's stamp without its credentialId", ErrMalformed)
	}
	scheme, curve, err := schemeOf(f.scheme)
	if err != nil {
		return nil, err
	}
	if len(f.publicKey) != 2*publicKeySize(curve) || len(bytes.Trim(f.publicKey, lowerHex)) > 0 {
		return nil, fmt.Errorf("%w: publicKey: expected %d lower-case hex digits", ErrMalformed, 2*publicKeySize(curve))
	}
	signature, err := hex.DecodeString(f.signature)
	if err == nil && strings.ToLower(f.signature) != f.signature {
		err = errors.New("upper-case hex digit: expected lower case")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: signature: %w", ErrMalformed, err)
	}
	return &Stamp{
		id: ID(apiKeyPrefix + string(f.publicKey)), scheme: scheme, curve: curve,
		signature: signature, text: f.signature,
	}, nil
}

func (f *form) passkey(text []byte) (*Stamp, error) {
	if len(f.publicKey) > 0 || len(f.scheme) > 0 {
		return nil, fmt.Errorf("%w: members of an API key's stamp together with credentialId", ErrMalformed)
	}
	s := &Stamp{scheme: SchemeWebAuthn, assertion: new(assertion), text: string(text)}
	var credentialID []byte
	for _, member := range []struct {
		name, value string
		into        *[]byte
	}{
		{"authenticatorData", f.authenticatorData, &s.assertion.authenticatorData},
		{"clientDataJson", f.clientDataJSON, &s.assertion.clientDataJSON},
		{"credentialId", f.credentialID, &credentialID},
		{"signature", f.signature, &s.signature},
	} {
		decoded, err := decodeBase64(member.value)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: base64url: %w", ErrMalformed, member.name, err)
		}
		*member.into = decoded
	}
	s.id = PasskeyID(credentialID)
	return s, s.assertion.read()
}

const lowerHex = "0123456789abcdef"

// decodeBase64 decodes base64 in the URL or the standard alphabet, not a mixture, with or
// without padding. Line breaks and stray bits are errors.
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
