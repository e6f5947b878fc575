package file

import (
	"bytes"
	"crypto/cipher"
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

// kind names what a file holds: the type of the stanza of ours in its header. age
// programs pass over stanzas that they do not know.
type kind string

const (
	kindKey    kind = "countersign.dev/key/v1"
	kindWallet kind = "countersign.dev/wallet/v1"
)

// Bounds of a file: what Options.Recovery, MaxAccounts and the limits of
// metadata can make of it, rounded up.
const (
	maxKeyFileSize = 256 << 10
	maxRecipients  = 64
)

// payloadSize is the secret in lower-case hex and a newline.
const payloadSize = 2*keystore.SecretSize + 1

// sealer writes and reads key files, and wallet files, whose stanza is another
// and whose secret is a mnemonic or an extended private key (wallet_file.go). A key file is an age file:
//
//	age-encryption.org/v1
//	-> X25519 <ephemeral share>              to the keystore's identity
//	<wrapped file key>
//	-> X25519 …                              to each recovery recipient; mlkem768x25519
//	                                         in place of all of these, if they are post-quantum
//	-> countersign.dev/key/v1 <MAC, base64> <wrapped file key, base64>
//	<metadata, base64>
//	--- <header MAC by age, under the file key>
//	<the secret in hex, encrypted under the file key>
//
// where, with a 16-byte file key that is fresh for each file,
//
//	MAC     = HMAC-SHA-256(MAC key, "countersign.dev/key/v1\n" ‖ file key ‖ metadata)
//	MAC key = HKDF-SHA-256(identity, info "countersign.dev/key-file-mac/v1"), 32 bytes
//
//	wrapped file key = nonce ‖ AES-256-GCM(wrap key, nonce, file key, AD "countersign.dev/key/v1")
//	wrap key         = HKDF-SHA-256(identity, info "countersign.dev/key-file-wrap/v1"), 32 bytes
//
// The wrapped file key is the one of the X25519 stanza, for less: opening a keystore
// would spend most of its time on X25519. A stanza without it is read too.
//
// age's header MAC binds the stanzas to the file key and its payload encryption
// binds the secret to it; ours binds the file key and the metadata to the
// passphrase.
type sealer struct {
	identity   age.Identity
	recipients []age.Recipient
	macKey     keystore.Secret
	wrap       cipher.AEAD
}

// mac returns the MAC of a file.
func (s *sealer) mac(holds kind, fileKey, metadata []byte) (sum []byte, err error) {
	err = s.macKey.Reveal(func(key []byte) error {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(holds + "\n"))
		mac.Write(fileKey)
		mac.Write(metadata)
		sum = mac.Sum(nil)
		return nil
	})
	return sum, err
}

// seal returns the key file for a key, of which m is said. It has been read
// back and found to hold the key: a file that cannot be opened is money lost.
func (s *sealer) seal(m metadata, key *software.Key) ([]byte, error) {
	encoded, err := m.encode()
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
	again, err := s.readBack(file)
	if err != nil {
		return nil, err
	}
	again.destroy()
	return file, nil
}

// readBack opens a file that was just made, both as this package does and as the age
// command would. The caller destroys what it holds.
func (s *sealer) readBack(file []byte) (content, error) {
	held, err := s.openAs(&reader{sealer: s, asAge: true}, file)
	if err != nil {
		return content{}, fmt.Errorf("reading back what was written: %w", err)
	}
	return held, nil
}

// encrypt makes a file of this kind.
func (s *sealer) encrypt(holds kind, metadata, text []byte) ([]byte, error) {
	var file bytes.Buffer
	author := &author{sealer: s, holds: holds, metadata: metadata}
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
	holds    kind
	metadata []byte
}

var _ age.RecipientWithLabels = (*author)(nil)

// WrapWithLabels implements age.RecipientWithLabels, with the label that age gives to
// post-quantum recipients if the file has those: our stanza is under symmetric keys of 256
// bits, and no weaker.
func (a *author) WrapWithLabels(fileKey []byte) (stanzas []*age.Stanza, labels []string, err error) {
	if isPostQuantum(a.recipients[0]) {
		labels = []string{"postquantum"}
	}
	stanzas, err = a.Wrap(fileKey)
	return stanzas, labels, err
}

// Wrap implements age.Recipient.
func (a *author) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	sum, err := a.mac(a.holds, fileKey, a.metadata)
	if err != nil {
		return nil, err
	}
	wrapped := a.wrap.Seal(nil, nil, fileKey, []byte(a.holds))
	return []*age.Stanza{{
		Type: string(a.holds),
		Args: []string{base64.RawStdEncoding.EncodeToString(sum), base64.RawStdEncoding.EncodeToString(wrapped)},
		Body: a.metadata,
	}}, nil
}

// content is what a file holds: a key, or a wallet with its secret.
type content struct {
	organizationID, id string
	key                *software.Key
	disabled           bool // the key is out of use; of a wallet its accounts say so
	wallet             *openWallet
}

func (c content) destroy() {
	if c.key != nil {
		c.key.Destroy()
	}
	if c.wallet != nil {
		c.wallet.destroy()
	}
}

// open reads a key file or a wallet file. The caller destroys what it holds.
func (s *sealer) open(file []byte) (content, error) {
	return s.openAs(&reader{sealer: s}, file)
}

func (s *sealer) openAs(reader *reader, file []byte) (content, error) {
	defer func() { keystore.Wipe(reader.fileKey) }()
	rest := bytes.NewReader(file)
	payload, err := age.Decrypt(rest, reader)
	if err != nil {
		return content{}, reader.explain(err)
	}
	// From here on the MAC has been checked, and the metadata is ours.
	if reader.holds == kindWallet {
		return openWalletFile(payload, reader.metadata)
	}
	m, info, err := parseMetadata(reader.metadata)
	if err != nil {
		return content{}, err
	}
	key, err := readSecret(payload, info)
	return content{organizationID: m.OrganizationID, id: m.PrivateKeyID, key: key, disabled: m.Disabled}, err
}

// reader is the age.Identity that checks our stanza before it lets age go on.
type reader struct {
	*sealer
	asAge             bool // the age command has to be able to decrypt it too
	holds             kind
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
	if r.fileKey, err = r.sealer.fileKey(ours, stanzas); err != nil {
		return nil, err
	}
	if r.asAge {
		if err := r.checkAge(r.fileKey, stanzas); err != nil {
			return nil, err
		}
	}
	r.holds = kind(ours.Type)
	sum, err := r.mac(r.holds, r.fileKey, ours.Body)
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
		if holds := kind(stanza.Type); holds != kindKey && holds != kindWallet {
			continue
		}
		if ours != nil {
			return nil, fmt.Errorf("%w: more than one stanza of ours: %s and %s", ErrMalformed, ours.Type, stanza.Type)
		}
		ours = stanza
	}
	if ours == nil {
		return nil, fmt.Errorf("%w: no stanza %s or %s: a plain age file, or one of another version", ErrNotAuthentic, kindKey, kindWallet)
	}
	if n := len(ours.Args); n != 1 && n != 2 {
		return nil, fmt.Errorf("%w: stanza %s has %d arguments, want the MAC and the wrapped file key", ErrMalformed, ours.Type, len(ours.Args))
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

// readPayload reads a payload to its very end, or until text is full.
func readPayload(payload io.Reader, text []byte) (size int, err error) {
	for size < len(text) {
		n, err := payload.Read(text[size:])
		size += n
		if err == io.EOF {
			break
		}
		if err != nil {
			return size, fmt.Errorf("%w: altered: %w", ErrNotAuthentic, err)
		}
	}
	return size, nil
}

func readSecret(payload io.Reader, info keystore.KeyInfo) (*software.Key, error) {
	var text [payloadSize + 1]byte // one more than there should be
	defer keystore.Wipe(text[:])
	size, err := readPayload(payload, text[:])
	if err != nil {
		return nil, err
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
