package keystore

import "github.com/countersign-dev/countersign/internal/secret"

// SecretBytes is a secret to be passed to a keystore. A []byte can be assigned to it. The creator
// of the slice owns it, and should [Wipe] it when the keystore has copied it. It prints, logs and
// marshals as "[redacted]", except with a verb of fmt that does not fit, such as %p, for which fmt
// calls no method. The keystore's [Secret] stays hidden even then.
type SecretBytes = secret.Bytes
