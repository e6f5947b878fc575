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

// SignatureHeader is the header that has the signature of the body.
const SignatureHeader = "X-Countersign-Signature"

// MaxAge is how old a signature may be: an older one may be a replay.
const MaxAge = 5 * time.Minute

const minSecret = 32

// ErrSignature says that the body does not come from who has the secret, or
// that it is old.
var ErrSignature = errors.New("webhook: the signature is not valid")

// Verify checks the signature of a request, for the endpoint: header is the
// value of SignatureHeader, body the bytes as they came.
func Verify(header string, body, secret []byte, now time.Time) error {
	stamp, rest, _ := strings.Cut(header, ",")
	seconds, isTime := strings.CutPrefix(stamp, "t=")
	if !isTime || rest == "" || len(secret) < minSecret {
		return ErrSignature
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || !hmac.Equal([]byte(header), []byte(sign(secret, seconds, body))) {
		return ErrSignature
	}
	if age := now.Sub(time.Unix(at, 0)); age > MaxAge || age < -MaxAge {
		return ErrSignature
	}
	return nil
}

// sign makes the value of the header.
func sign(secret []byte, seconds string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(seconds))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
