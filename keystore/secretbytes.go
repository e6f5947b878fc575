package keystore

import (
	"fmt"
	"io"
	"log/slog"
)

// SecretBytes is a secret to be passed to a keystore. A []byte can be assigned to it. The creator
// of the slice owns it, and should [Wipe] it when the keystore has copied it. It prints, logs and
// marshals as "[redacted]", except with a verb of fmt that does not fit, such as %p, for which fmt
// calls no method. The keystore's [Secret] stays hidden even then.
type SecretBytes []byte

// String returns "[redacted]".
func (SecretBytes) String() string { return redacted }

// GoString returns "[redacted]".
func (SecretBytes) GoString() string { return redacted }

// Format writes "[redacted]" for every verb.
func (SecretBytes) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, redacted) }

// LogValue returns "[redacted]".
func (SecretBytes) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns "[redacted]"; encoding/json and encoding/xml use it.
func (SecretBytes) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// GobEncode returns "[redacted]".
func (SecretBytes) GobEncode() ([]byte, error) { return []byte(redacted), nil }
