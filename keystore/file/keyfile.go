package file

import (
	"bytes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// kind is the kind of a file, which is also the type of our stanza in its header. age
// programs ignore stanzas of unknown types.
type kind string

const (
	kindKey    kind = "countersign.dev/key/v1"
	kindWallet kind = "countersign.dev/wallet/v1"
)

// Bounds of a file: the maximum that maxRecovery, MaxAccounts and the limits of the
// metadata allow, rounded up.
const (
	maxKeyFileSize = 256 << 10
	maxRecipients  = 64
)

// payloadSize is the secret in lower-case hex and a newline.
const payloadSize = 2*keystore.SecretSize + 1

// sealer writes and reads key files, and wallet files, which have another stanza type and
// whose secret is a mnemonic or an extended private key (wallet_file.go). A key file is an
// age file:
//
//	age-encryption.org/v1
//	-> X25519 <ephemeral share>              to the keystore's identity
//	<wrapped file key>
//	-> X25519 …                              to each recovery recipient; mlkem768x25519
//	                                         instead of X25519 in a post-quantum keystore
//	-> countersign.dev/key/v1 <MAC, base64> <wrapped file key, base64>
//	<metadata, base64>
//	--- <header MAC by age, under the file key>
//	<the secret in hex, encrypted under the file key>
//
// where, with a fresh 16-byte file key for each file,
//
//	MAC     = HMAC-SHA-256(MAC key, "countersign.dev/key/v1\n" ‖ file key ‖ metadata)
//	MAC key = HKDF-SHA-256(identity, info "countersign.dev/key-file-mac/v1"), 32 bytes
//
//	wrapped file key = nonce ‖ AES-256-GCM(wrap key, nonce, file key, AD "countersign.dev/key/v1")
//	wrap key         = HKDF-SHA-256(identity, info "countersign.dev/key-file-wrap/v1"), 32 bytes
//
// The wrapped file key equals the one in the X25519 stanza and is cheaper to unwrap:
// opening a keystore would otherwise spend most of its time on X25519. Stanzas without it
// are accepted.
//
// age's header MAC binds the stanzas to the file key, and its payload encryption binds the
// secret to it. Our MAC binds the file key and the metadata to the passphrase.
type sealer struct {
	identity   age.Identity
	recipients []age.Recipient
	macKey     keystore.Secret
	wrap       cipher.AEAD
}

func (s *sealer) mac(kind kind, fileKey, metadata []byte) (sum []byte, err error) {
	err = s.macKey.Reveal(func(key []byte) error {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(kind + "\n"))
		mac.Write(fileKey)
		mac.Write(metadata)
		sum = mac.Sum(nil)
		return nil
	})
	return sum, err
}

// seal returns the key file for a key with metadata m. It reads the file back and checks
// that it holds the key: a file that cannot be opened is money lost.
func (s *sealer) seal(m metadata, key *software.Key) ([]byte, error) {
	encoded, err := strictjson.Marshal(m)
	if err != nil {
		return nil, err
	}
	var file []byte
	if err := key.RevealSecret(func(secret []byte) (err error) {
		var text [payloadSize]byte
		defer keystore.Wipe(text[:])
		hex.Encode(text[:], secret)
		text[payloadSize-1] = '\n'
		file, err = s.encrypt(kindKey, encoded, text[:])
		return err
	}); err != nil {
		return nil, err
	}
	return file, s.readBack(file)
}

// readBack checks that a new file can be opened, both by this package and by the age
// command.
func (s *sealer) readBack(file []byte) error {
	content, err := s.openWith(&reader{sealer: s, asAge: true}, file)
	if err != nil {
		return fmt.Errorf("reading the new file back: %w", err)
	}
	content.destroy()
	return nil
}

// encrypt returns a file of the given kind.
func (s *sealer) encrypt(kind kind, metadata, text []byte) ([]byte, error) {
	var file bytes.Buffer
	author := &author{sealer: s, kind: kind, metadata: metadata}
	recipients := slices.Concat(s.recipients, []age.Recipient{author})
	payload, err := age.Encrypt(&file, recipients...)
	if err != nil {
		return nil, err
	}
	if _, err := payload.Write(text); err != nil {
		return nil, err
	}
	if err := payload.Close(); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// author is the age.Recipient that adds our stanza to a header.
type author struct {
	*sealer
	kind     kind
	metadata []byte
}

var _ age.RecipientWithLabels = (*author)(nil)

// WrapWithLabels implements age.RecipientWithLabels. It returns age's label of post-quantum
// recipients if the file has those: our stanza uses 256-bit symmetric keys and is no weaker.
func (a *author) WrapWithLabels(fileKey []byte) (stanzas []*age.Stanza, labels []string, err error) {
	if isPostQuantum(a.recipients[0]) {
		labels = []string{"postquantum"}
	}
	stanzas, err = a.Wrap(fileKey)
	return stanzas, labels, err
}

func (a *author) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	sum, err := a.mac(a.kind, fileKey, a.metadata)
	if err != nil {
		return nil, err
	}
	wrapped := a.wrap.Seal(nil, nil, fileKey, []byte(a.kind))
	return []*age.Stanza{{
		Type: string(a.kind),
		Args: []string{base64.RawStdEncoding.EncodeToString(sum), base64.RawStdEncoding.EncodeToString(wrapped)},
		Body: a.metadata,
	}}, nil
}

const (
	fileKeySize    = 16
	wrappedKeySize = 12 + fileKeySize + 16 // nonce ‖ ciphertext ‖ tag
)
