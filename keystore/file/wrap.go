package file

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"

	"filippo.io/age"
)

const (
	fileKeySize    = 16
	wrappedKeySize = 12 + fileKeySize + 16 // nonce ‖ ciphertext ‖ tag
)

// newWrap returns the AEAD that wraps file keys for this package: AES-256-GCM with a
// random nonce of 12 bytes, which NIST SP 800-38D allows for 2^32 files.
func newWrap(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// fileKey returns the file key of a header: from the second argument of our stanza, or
// of a stanza without one as age does.
func (s *sealer) fileKey(ours *age.Stanza, stanzas []*age.Stanza) ([]byte, error) {
	if len(ours.Args) == 1 {
		return s.fileKeyOfAge(stanzas)
	}
	wrapped, err := base64.RawStdEncoding.Strict().DecodeString(ours.Args[1])
	if err != nil || len(wrapped) != wrappedKeySize {
		return nil, fmt.Errorf("%w: wrapped file key: not %d bytes of base64", ErrMalformed, wrappedKeySize)
	}
	fileKey, err := s.wrap.Open(nil, nil, wrapped, []byte(ours.Type))
	if err != nil {
		return nil, fmt.Errorf("%w: not encrypted to this keystore", ErrNotAuthentic)
	}
	return fileKey, nil
}

// fileKeyOfAge returns the file key from the stanza that is encrypted to the identity.
func (s *sealer) fileKeyOfAge(stanzas []*age.Stanza) ([]byte, error) {
	fileKey, err := s.identity.Unwrap(stanzas)
	if err != nil {
		return nil, fmt.Errorf("%w: not encrypted to this keystore", ErrNotAuthentic)
	}
	return fileKey, nil
}

// errTwoFileKeys is of a file that this package can decrypt and the age command cannot.
var errTwoFileKeys = errors.New("the age command could not decrypt it")

// checkAge returns an error if the two ways to the file key do not lead to one.
func (s *sealer) checkAge(fileKey []byte, stanzas []*age.Stanza) error {
	other, err := s.fileKeyOfAge(stanzas)
	if err != nil {
		return err
	}
	if !bytes.Equal(other, fileKey) {
		return errTwoFileKeys
	}
	return nil
}
