package keystore

import (
	"fmt"
	"io"
	"log/slog"
)

// SecretBytes are the bytes of a secret on their way into a keystore. A []byte
// can be assigned to it. Who made the slice owns it, and should [Wipe] it when
// the keystore has taken it over. However it is printed, logged or marshalled,
// it shows "[redacted]", unless fmt is given a verb that does not fit, as in
// Printf("%p", key), when it asks no method. What is kept is a [Secret], which
// stays hidden even then.
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
