package secret

import (
	"bytes"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Text returns the secret in the content of a file: a PIN, a passphrase, a token, a key in
// PEM. It is the content without a line ending at its end. A file in another encoding than
// UTF-8 is refused, and its content wiped.
func Text(content []byte) ([]byte, error) {
	if err := plaintext.CheckEncoding("it", content); err != nil {
		Wipe(content)
		return nil, err
	}
	if line, found := bytes.CutSuffix(content, []byte("\n")); found {
		content = bytes.TrimSuffix(line, []byte("\r"))
	}
	return content, nil
}
