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

// assertion is the answer of a passkey's authenticator and browser.
type assertion struct {
	authenticatorData []byte
	clientDataJSON    []byte

	kind, challenge, origin string // of clientDataJSON
	framed                  bool   // from a page that another origin has embedded
}

// read parses the client data (WebAuthn, section 5.8.1). Browsers may add members, so
// unknown ones are accepted; duplicate ones are not.
func (a *assertion) read() error {
	if err := strictjson.Check(a.clientDataJSON, "clientDataJson"); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	var members map[string]json.RawMessage // matched byte for byte, unlike a struct's
	if err := json.Unmarshal(a.clientDataJSON, &members); err != nil {
		return fmt.Errorf("%w: clientDataJson: %w", ErrMalformed, err)
	}
	for _, member := range []struct {
		name string
		into *string
	}{{"type", &a.kind}, {"challenge", &a.challenge}, {"origin", &a.origin}} {
		if err := json.Unmarshal(members[member.name], member.into); err != nil || *member.into == "" {
			return fmt.Errorf("%w: clientDataJson: %s: expected a string", ErrMalformed, member.name)
		}
	}
	crossOrigin, topOrigin := members["crossOrigin"], members["topOrigin"]
	a.framed = crossOrigin != nil && string(crossOrigin) != "false" || topOrigin != nil && string(topOrigin) != "null"
	return nil
}

type relyingParty struct {
	idHash  [32]byte
	origins []string // empty: any
}

// passkeyRules are a credential's own rules for its assertions.
type passkeyRules struct {
	verifiedUser bool // the authenticator must have verified the user
	framed       bool // pages that another origin has embedded are accepted
}

func newRelyingParty(id string, origins []string) *relyingParty {
	return &relyingParty{idHash: sha256.Sum256([]byte(id)), origins: slices.Clone(origins)}
}

// verify verifies an assertion (WebAuthn, section 7.2).
func (p *relyingParty) verify(key verifier, rules passkeyRules, sent *Stamp, body []byte) error {
	problem := p.problem(sent.assertion, rules, body)
	clientDataHash := sha256.Sum256(sent.assertion.clientDataJSON)
	message := slices.Concat(sent.assertion.authenticatorData, clientDataHash[:])
	valid := verifyAs(key, passkeyDecoy(sent.signature), SchemeWebAuthn, message, sent.signature)
	switch {
	case problem != "":
		return fmt.Errorf("%w: passkey: %s", ErrSignature, problem)
	case !valid:
		return fmt.Errorf("%w: passkey", ErrSignature)
	}
	return nil
}

// problem returns why the assertion is not valid for this body, apart from its signature;
// empty if it is.
func (p *relyingParty) problem(sent *assertion, rules passkeyRules, body []byte) string {
	digest := sha256.Sum256(body)
	challenge := base64.RawURLEncoding.EncodeToString([]byte(hex.EncodeToString(digest[:])))
	switch {
	case sent.kind != "webauthn.get":
		return fmt.Sprintf("client data of type %.64q", sent.kind)
	case sent.challenge != challenge:
		return "the challenge is for another body"
	case len(p.origins) > 0 && !slices.Contains(p.origins, sent.origin):
		return fmt.Sprintf("origin %.100q is not on the credential's list", sent.origin)
	case sent.framed && !rules.framed:
		return "from a page that another origin has embedded (crossOrigin)"
	}
	return p.authenticatorProblem(sent.authenticatorData, rules)
}

// Flags of the authenticator data.
const (
	flagUserPresent = 0x01
	flagVerified    = 0x04
	flagBackupable  = 0x08
	flagBackedUp    = 0x10
	flagAttested    = 0x40 // attested credential data follows; only at registration
	flagExtensions  = 0x80 // a CBOR map of extensions follows
)

// authenticatorProblem is problem for the authenticator data (WebAuthn, section 6.1):
//
//	rpIdHash (32) ‖ flags (1) ‖ signCount (4) [‖ extensions (CBOR map)]
func (p *relyingParty) authenticatorProblem(data []byte, rules passkeyRules) string {
	const size = 32 + 1 + 4
	if len(data) < size {
		return fmt.Sprintf("authenticator data of %d bytes, want %d", len(data), size)
	}
	flags, rest := data[32], data[size:]
	switch {
	case !bytes.Equal(data[:32], p.idHash[:]):
		return "for another relying party"
	case flags&flagUserPresent == 0:
		return "no user was present"
	case rules.verifiedUser && flags&flagVerified == 0:
		return "the user was not verified, which this credential requires"
	case flags&flagBackedUp != 0 && flags&flagBackupable == 0:
		return "backed up without being eligible for backup"
	case flags&flagAttested != 0:
		return "attested credential data in an assertion"
	case flags&flagExtensions == 0 && len(rest) > 0:
		return fmt.Sprintf("%d bytes follow the authenticator data", len(rest))
	case flags&flagExtensions != 0 && (cbor.Wellformed(rest) != nil || rest[0]>>5 != mapMajorType):
		return "the extensions are not one CBOR map"
	}
	return ""
}
