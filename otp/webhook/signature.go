package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The headers of a request (Standard Webhooks 1.0.0). The id is the same in each attempt; the time
// and the signatures are the attempt's.
const (
	IDHeader        = "webhook-id"
	TimestampHeader = "webhook-timestamp" // seconds since the epoch
	SignatureHeader = "webhook-signature"
)

// MaxAge bounds how far the time of a signature may be from now: an older one may be a replay.
const MaxAge = 5 * time.Minute

// Sizes of a secret, in bytes (Standard Webhooks, "Signature scheme").
const (
	minSecret = 24
	maxSecret = 64
)

// secretPrefix marks a symmetric secret.
const secretPrefix = "whsec_"

// ErrSignature means that no signature is one of the body, the id and the time under one of the
// secrets, or that the time is too far from now.
var ErrSignature = errors.New("webhook: the signature is not valid")

// Secrets sign requests: one, or two while one is being replaced. A receiver takes a request if one
// of the signatures is right.
type Secrets [][]byte

// ParseSecrets reads one secret or two, one to a line: whsec_ and base64 of 24 to 64 bytes. Its
// errors do not quote them.
func ParseSecrets(content []byte) (secrets Secrets, err error) {
	for line := range bytes.Lines(content) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		encoded, ok := bytes.CutPrefix(line, []byte(secretPrefix))
		if !ok {
			return nil, errors.New("expected whsec_ and base64: write one with 'echo \"whsec_$(openssl rand -base64 32)\"'")
		}
		secret := make([]byte, base64.StdEncoding.DecodedLen(len(encoded)))
		n, err := base64.StdEncoding.Strict().Decode(secret, encoded)
		if err != nil {
			return nil, errors.New("what follows whsec_ is no base64")
		}
		secrets = append(secrets, secret[:n])
	}
	if err := secrets.check(); err != nil {
		return nil, err
	}
	return secrets, nil
}

// check refuses secrets that Standard Webhooks does not allow.
func (s Secrets) check() error {
	if len(s) == 0 || len(s) > 2 {
		return fmt.Errorf("%d secrets: expected one, or two while one is being replaced", len(s))
	}
	for _, secret := range s {
		if len(secret) < minSecret || len(secret) > maxSecret {
			return fmt.Errorf("a secret of %d bytes: expected %d to %d", len(secret), minSecret, maxSecret)
		}
	}
	return nil
}

// Sign returns the SignatureHeader: for each secret, "v1," and the base64 of
// HMAC-SHA-256 over id ‖ "." ‖ seconds since the epoch ‖ "." ‖ body; separated by spaces.
func (s Secrets) Sign(id string, at time.Time, body []byte) string {
	var signatures []string
	for _, secret := range s {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(signatures, " ")
}

// Verify checks the signature of a request at the endpoint, by its headers and its body, unchanged.
func (s Secrets) Verify(header http.Header, body []byte, now time.Time) error {
	unix, err := strconv.ParseInt(header.Get(TimestampHeader), 10, 64)
	if err != nil || s.check() != nil {
		return ErrSignature
	}
	at := time.Unix(unix, 0)
	if age := now.Sub(at); age > MaxAge || age < -MaxAge {
		return ErrSignature
	}
	sent := strings.Fields(header.Get(SignatureHeader))
	for _, signature := range strings.Fields(s.Sign(header.Get(IDHeader), at, body)) {
		if slices.ContainsFunc(sent, func(s string) bool { return hmac.Equal([]byte(s), []byte(signature)) }) {
			return nil
		}
	}
	return ErrSignature
}
