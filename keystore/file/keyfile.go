package file

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// stanzaType names the stanza of ours in the header of a key file. age programs
// pass over stanzas that they do not know.
const stanzaType = "countersign.dev/key/v1"

// Bounds of a key file: what Options.Recovery and the limits of metadata can
// make of it, rounded up.
const (
	maxKeyFileSize = 32 << 10
	maxRecipients  = 64
)

// payloadSize is the secret in lower-case hex and a newline.
const payloadSize = 2*keystore.SecretSize + 1

// sealer writes and reads key files. A key file is an age file:
//
//	age-encryption.org/v1
//	-> X25519 <ephemeral share>              to the keystore's identity
//	<wrapped file key>
//	-> X25519 …                              to each recovery recipient
//	-> countersign.dev/key/v1 <MAC, base64>
//	<metadata, base64>
//	--- <header MAC by age, under the file key>
//	<the secret in hex, encrypted under the file key>
//
// where, with a 16-byte file key that is fresh for each file,
//
//	MAC     = HMAC-SHA-256(MAC key, "countersign.dev/key/v1\n" ‖ file key ‖ metadata)
//	MAC key = HKDF-SHA-256(identity, info "countersign.dev/key-file-mac/v1"), 32 bytes
//
// age's header MAC binds the stanzas to the file key and its payload encryption
// binds the secret to it; ours binds the file key and the metadata to the
// passphrase.
type sealer struct {
	identity   *age.X25519Identity
	recipients []age.Recipient
	macKey     keystore.Secret
}

// mac returns the MAC of a key file.
func (s *sealer) mac(fileKey, metadata []byte) (sum []byte, err error) {
	err = s.macKey.Reveal(func(key []byte) error {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(stanzaType + "\n"))
		mac.Write(fileKey)
		mac.Write(metadata)
		sum = mac.Sum(nil)
		return nil
	})
	return sum, err
}

// seal returns the key file for a key of the organization. It has been read
// back and found to hold the key: a file that nobody can open is money lost.
func (s *sealer) seal(organizationID string, key *software.Key) ([]byte, error) {
	m := newMetadata(organizationID, key.Info())
	encoded, err := m.encode()
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	author := &author{sealer: s, metadata: encoded}
	if err := author.encrypt(&file, key); err != nil {
		return nil, err
	}
	_, again, err := s.open(file.Bytes())
	if err != nil {
		return nil, fmt.Errorf("reading back what was written: %w", err)
	}
	again.Destroy()
	return file.Bytes(), nil
}

// author is the age.Recipient that adds our stanza to a header.
type author struct {
	*sealer
	metadata []byte
}

var _ age.Recipient = (*author)(nil)

// Wrap implements age.Recipient.
func (a *author) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	sum, err := a.mac(fileKey, a.metadata)
	if err != nil {
		return nil, err
	}
	return []*age.Stanza{{
		Type: stanzaType,
		Args: []string{base64.RawStdEncoding.EncodeToString(sum)},
		Body: a.metadata,
	}}, nil
}

func (a *author) encrypt(to io.Writer, key *software.Key) error {
	recipients := slices.Concat(a.recipients, []age.Recipient{a})
	payload, err := age.Encrypt(to, recipients...)
	if err != nil {
		return err
	}
	err = key.RevealSecret(func(secret []byte) error {
		var text [payloadSize]byte
		defer keystore.Wipe(text[:])
		hex.Encode(text[:], secret)
		text[payloadSize-1] = '\n'
		_, err := payload.Write(text[:])
		return err
	})
	return errors.Join(err, payload.Close())
}

// open reads a key file. The caller owns the key.
func (s *sealer) open(file []byte) (metadata, *software.Key, error) {
	reader := &reader{sealer: s}
	defer func() { keystore.Wipe(reader.fileKey) }()
	rest := bytes.NewReader(file)
	payload, err := age.Decrypt(rest, reader)
	if err != nil {
		return metadata{}, nil, reader.explain(err)
	}
	// From here on the MAC has been checked, and the metadata is ours.
	m, info, err := parseMetadata(reader.metadata)
	if err != nil {
		return metadata{}, nil, err
	}
	key, err := readSecret(payload, info)
	return m, key, err
}

// reader is the age.Identity that checks our stanza before it lets age go on.
type reader struct {
	*sealer
	fileKey, metadata []byte
	refusal           error
}

var _ age.Identity = (*reader)(nil)

// Unwrap implements age.Identity.
func (r *reader) Unwrap(stanzas []*age.Stanza) (fileKey []byte, err error) {
	fileKey, r.refusal = r.unwrap(stanzas)
	return fileKey, r.refusal
}

func (r *reader) unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if len(stanzas) > maxRecipients {
		return nil, fmt.Errorf("%w: %d stanzas, at most %d are read", ErrMalformed, len(stanzas), maxRecipients)
	}
	ours, err := onlyStanza(stanzas)
	if err != nil {
		return nil, err
	}
	claimed, err := base64.RawStdEncoding.Strict().DecodeString(ours.Args[0])
	if err != nil {
		return nil, fmt.Errorf("%w: MAC: %w", ErrMalformed, err)
	}
	if r.fileKey, err = r.identity.Unwrap(stanzas); err != nil {
		return nil, fmt.Errorf("%w: not encrypted to this keystore", ErrNotAuthentic)
	}
	sum, err := r.mac(r.fileKey, ours.Body)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(sum, claimed) {
		return nil, fmt.Errorf("%w: the MAC is not this keystore's", ErrNotAuthentic)
	}
	r.metadata = ours.Body
	return r.fileKey, nil
}

func onlyStanza(stanzas []*age.Stanza) (ours *age.Stanza, err error) {
	for _, stanza := range stanzas {
		if stanza.Type != stanzaType {
			continue
		}
		if ours != nil {
			return nil, fmt.Errorf("%w: more than one stanza %s", ErrMalformed, stanzaType)
		}
		ours = stanza
	}
	if ours == nil {
		return nil, fmt.Errorf("%w: no stanza %s: a plain age file, or one of another version", ErrNotAuthentic, stanzaType)
	}
	if len(ours.Args) != 1 {
		return nil, fmt.Errorf("%w: stanza %s has %d arguments, want the MAC", ErrMalformed, stanzaType, len(ours.Args))
	}
	return ours, nil
}

// explain says what an error of age.Decrypt means here.
func (r *reader) explain(err error) error {
	switch {
	case r.refusal != nil:
		return r.refusal
	case r.metadata != nil: // the file key is right, but not for this header
		return fmt.Errorf("%w: altered: %w", ErrNotAuthentic, err)
	}
	return fmt.Errorf("%w: not an age file: %w", ErrMalformed, err)
}

// readSecret reads the payload to its very end.
func readSecret(payload io.Reader, info keystore.KeyInfo) (*software.Key, error) {
	var text [payloadSize + 1]byte // one more than there should be
	defer keystore.Wipe(text[:])
	size := 0
	for size < len(text) {
		n, err := payload.Read(text[size:])
		size += n
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: altered: %w", ErrNotAuthentic, err)
		}
	}
	if size != payloadSize || text[payloadSize-1] != '\n' {
		return nil, fmt.Errorf("%w: the payload is not %d hexadecimal digits and a newline", ErrMalformed, payloadSize-1)
	}
	return parseSecret(info, text[:payloadSize-1])
}

func parseSecret(info keystore.KeyInfo, digits []byte) (*software.Key, error) {
	var secret [keystore.SecretSize]byte
	defer keystore.Wipe(secret[:])
	if _, err := hex.Decode(secret[:], digits); err != nil || bytes.ContainsAny(digits, "ABCDEF") {
		return nil, fmt.Errorf("%w: the payload is not in lower-case hexadecimal digits", ErrMalformed)
	}
	key, err := software.New(info, info.PublicKey.Curve(), secret[:])
	if errors.Is(err, software.ErrOtherPublicKey) {
		return nil, fmt.Errorf("%w: %w", ErrNotAuthentic, err)
	}
	return key, err
}
