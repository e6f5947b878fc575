// Package events delivers the events of a server's outbox to an endpoint, signed as Standard
// Webhooks 1.0.0 says (https://www.standardwebhooks.com), and keeps the latest for 'countersign
// events tail'.
//
// An event is in the outbox of the store before its activity is answered, and leaves it when
// the endpoint has taken it with a 2xx status: it is delivered at least once. Events about one
// activity arrive in order. While the endpoint fails, there is one growing pause for all
// events; an endpoint that cannot be reached delays and refuses no request.
package events

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Sizes of a secret, in bytes (Standard Webhooks, "Signature scheme").
const (
	minSecret = 24
	maxSecret = 64
)

// secretPrefix marks a symmetric secret.
const secretPrefix = "whsec_"

// Secrets sign deliveries. There are two while one is being replaced: a receiver accepts an
// event if one of the signatures is right.
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
		if n < minSecret || n > maxSecret {
			return nil, fmt.Errorf("a secret of %d bytes: expected %d to %d", n, minSecret, maxSecret)
		}
		secrets = append(secrets, secret[:n])
	}
	if len(secrets) == 0 || len(secrets) > 2 {
		return nil, fmt.Errorf("%d secrets: expected one, or two while one is being replaced", len(secrets))
	}
	return secrets, nil
}

// Sign returns the header webhook-signature: for each secret, "v1," and the base64 of
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
