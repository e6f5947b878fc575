// Package secret has what everything that handles secret bytes shares, for packages that
// must not link a keystore.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Size is the length in bytes of the secret of a key, on every curve.
const Size = 32

// Redacted is what a secret prints, logs and marshals as.
const Redacted = "[redacted]"

// Wipe overwrites a secret.
func Wipe(secret []byte) { clear(secret) }

// Bytes is a secret in a slice that its creator owns and wipes. It prints, logs and marshals as
// Redacted, except with a verb of fmt that does not fit, such as %p, for which fmt calls no method.
type Bytes []byte

func (Bytes) String() string   { return Redacted }
func (Bytes) GoString() string { return Redacted }

// Format writes Redacted for every verb.
func (Bytes) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, Redacted) }
func (Bytes) LogValue() slog.Value           { return slog.StringValue(Redacted) }

// MarshalText returns Redacted; encoding/json and encoding/xml use it.
func (Bytes) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// GobEncode returns Redacted.
func (Bytes) GobEncode() ([]byte, error) { return []byte(Redacted), nil }
