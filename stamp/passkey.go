package stamp

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// assertion is what a passkey's authenticator and browser answered.
type assertion struct {
	authenticatorData []byte
	clientDataJSON    []byte

	kind, challenge, origin string // of clientDataJSON
}

// read reads the client data (WebAuthn, section 5.8.1). Browsers may add
// members to it, so that unknown ones are taken; one that appears twice is not.
func (a *assertion) read() error {
	if err := strictjson.Check(a.clientDataJSON, "clientDataJson"); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	var members map[string]json.RawMessage // matched byte for byte, unlike a struct's
	if err := json.Unmarshal(a.clientDataJSON, &members); err != nil {
		return fmt.Errorf("%w: clientDataJson: %w", ErrMalformed, err)
	}
	for name, into := range map[string]*string{"type": &a.kind, "challenge": &a.challenge, "origin": &a.origin} {
		if err := json.Unmarshal(members[name], into); err != nil || *into == "" {
			return fmt.Errorf("%w: clientDataJson: %s: a string is expected", ErrMalformed, name)
		}
	}
	return nil
}

// relyingParty is whom a passkey was made for.
type relyingParty struct {
	idHash  [32]byte
	origins []string // empty: any
}

func newRelyingParty(id string, origins []string) *relyingParty {
	return &relyingParty{idHash: sha256.Sum256([]byte(id)), origins: slices.Clone(origins)}
}

// verify checks an assertion (WebAuthn, section 7.2).
func (p *relyingParty) verify(key verifier, sent *Stamp, body []byte) error {
	problem := p.problem(sent.assertion, body)
	clientDataHash := sha256.Sum256(sent.assertion.clientDataJSON)
	message := slices.Concat(sent.assertion.authenticatorData, clientDataHash[:])
	valid := key.verify(SchemeWebAuthn, message, sent.signature)
	switch {
	case problem != "":
		return fmt.Errorf("%w: passkey: %s", ErrSignature, problem)
	case !valid:
		return fmt.Errorf("%w: passkey", ErrSignature)
	}
	return nil
}

// problem says what of the assertion is not as it has to be for this body, ""
// if nothing.
func (p *relyingParty) problem(sent *assertion, body []byte) string {
	digest := sha256.Sum256(body)
	challenge := base64.RawURLEncoding.EncodeToString([]byte(hex.EncodeToString(digest[:])))
	switch {
	case sent.kind != "webauthn.get":
		return fmt.Sprintf("client data of type %.64q", sent.kind)
	case sent.challenge != challenge:
		return "the challenge is not that of this body"
	case len(p.origins) > 0 && !slices.Contains(p.origins, sent.origin):
		return fmt.Sprintf("origin %.255q is not on the credential's list", sent.origin)
	}
	return p.authenticatorProblem(sent.authenticatorData)
}

// Flags of the authenticator data.
const (
	flagUserPresent = 0x01
	flagAttested    = 0x40 // attested credential data follows: only when a passkey is made
	flagExtensions  = 0x80 // a CBOR map of extensions follows
)

// authenticatorProblem looks at the authenticator data (WebAuthn, section 6.1):
//
//	rpIdHash (32) ‖ flags (1) ‖ signCount (4) [‖ extensions (CBOR map)]
func (p *relyingParty) authenticatorProblem(data []byte) string {
	const size = 32 + 1 + 4
	if len(data) < size {
		return fmt.Sprintf("authenticator data of %d bytes, want %d", len(data), size)
	}
	flags, rest := data[32], data[size:]
	const mapMajorType = 5
	switch {
	case !bytes.Equal(data[:32], p.idHash[:]):
		return "made for another relying party"
	case flags&flagUserPresent == 0:
		return "no user was present"
	case flags&flagAttested != 0:
		return "attested credential data in an assertion"
	case flags&flagExtensions == 0 && len(rest) > 0:
		return fmt.Sprintf("%d bytes follow the authenticator data", len(rest))
	case flags&flagExtensions != 0 && (cbor.Wellformed(rest) != nil || rest[0]>>5 != mapMajorType):
		return "the extensions are not one CBOR map"
	}
	return ""
}
