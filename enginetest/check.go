package enginetest

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/translog"
)

// MustSubmit submits a request, which must not be refused.
func MustSubmit(t testing.TB, engine *countersign.Engine, sent countersign.SignedBody) *activity.Record {
	t.Helper()
	record, err := engine.Submit(t.Context(), sent)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// Refusal checks that err refuses with a reason, in a message that contains text. It returns
// the refusal.
func Refusal(t testing.TB, err error, reason activity.Reason, text string) *activity.Error {
	t.Helper()
	var refused *activity.Error
	if !errors.As(err, &refused) {
		t.Fatalf("error %v, want %s", err, reason)
	}
	if refused.Reason != reason || refused.Code != reason.Code() || !strings.Contains(refused.Message, text) {
		t.Fatalf("refused with %s: %s\nwant %s: %s (cause: %v)", refused.Reason, refused.Message, reason, text, errors.Unwrap(err))
	}
	return refused
}

// WantSignatures checks how many ECDSA signatures the keystore has created.
func (f *Fixture) WantSignatures(t testing.TB, want int64) {
	t.Helper()
	if got := f.Signing.Signatures.Load(); got != want {
		t.Errorf("%d signatures, want %d", got, want)
	}
}

// WithLog makes an engine keep a log and sign it with the key of a seed.
func WithLog(seed byte) func(*countersign.Config) {
	return func(c *countersign.Config) { c.Log, c.LogSigner = true, LogSigner(seed) }
}

// LogSigner returns the signer of a log that is derived from a seed.
func LogSigner(seed byte) *translog.Signer {
	return translog.NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)))
}
