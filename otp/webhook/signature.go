package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// SignatureHeader is the header with the signature of the body.
const SignatureHeader = "X-Countersign-Signature"

// MaxAge bounds how far the time of a signature may be from now: an older one may be
// a replay.
const MaxAge = 5 * time.Minute

const minSecret = 32

// ErrSignature means that the signature does not match the body and the secret, or
// is too old.
var ErrSignature = errors.New("webhook: the signature is not valid")

// Verify checks the signature of a request at the endpoint: header is the value of
// SignatureHeader, body the request body, unchanged.
func Verify(header string, body, secret []byte, now time.Time) error {
	stamp, rest, _ := strings.Cut(header, ",")
	seconds, isTime := strings.CutPrefix(stamp, "t=")
	if !isTime || rest == "" || len(secret) < minSecret {
		return ErrSignature
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || !hmac.Equal([]byte(header), []byte(sign(secret, seconds, body))) {
		return ErrSignature
	}
	if age := now.Sub(time.Unix(unix, 0)); age > MaxAge || age < -MaxAge {
		return ErrSignature
	}
	return nil
}

// sign returns the value of SignatureHeader.
func sign(secret []byte, seconds string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(seconds))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
