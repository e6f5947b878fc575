package file

import (
	"bytes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"filippo.io/age"
	"golang.org/x/crypto/chacha20poly1305"

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

// sealer writes and reads key files, and wallet files, which have another stanza type and whose
// secret is a mnemonic or an extended private key (wallet_file.go). A key file is an age file:
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
// The wrapped file key equals the one in the X25519 stanza and is cheaper to unwrap: opening a
// keystore would otherwise spend most of its time on X25519. Stanzas without it are accepted.
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

// readBack checks that a new file can be opened, both by this package and by the age command.
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

// content is the content of a file: a key, or a wallet with its secret.
type content struct {
	organizationID, id string
	key                *software.Key
	disabled           bool // of the key; the accounts of a wallet have their own flags
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

// open reads a key file or a wallet file. The caller destroys the content.
func (s *sealer) open(file []byte) (content, error) {
	return s.openWith(&reader{sealer: s}, file)
}

func (s *sealer) openWith(reader *reader, file []byte) (content, error) {
	defer func() { keystore.Wipe(reader.fileKey) }()
	fileKey, err := age.DecryptHeader(file, reader)
	switch {
	case err == nil: // the MACs have been verified: the header is authentic
	case reader.refusal != nil:
		return content{}, reader.refusal
	case reader.metadata != nil: // the file key is authentic, but the header was altered
		return content{}, fmt.Errorf("%w: altered: %w", ErrNotAuthentic, err)
	default:
		return content{}, fmt.Errorf("%w: not an age file: %w", ErrMalformed, err)
	}
	text, err := openPayload(fileKey, file)
	if err != nil {
		return content{}, err
	}
	defer keystore.Wipe(text)
	if reader.kind == kindWallet {
		return openWalletFile(text, reader.metadata)
	}
	m, info, err := parseMetadata(reader.metadata, metadata.keyInfo)
	if err != nil {
		return content{}, err
	}
	key, err := readSecret(text, info)
	return content{organizationID: m.OrganizationID, id: m.PrivateKeyID, key: key, disabled: m.Disabled}, err
}

// reader is an age.Identity that verifies our stanza before it gives age the file key.
type reader struct {
	*sealer
	asAge             bool // check that the age command can decrypt the file too
	kind              kind
	fileKey, metadata []byte
	refusal           error
}

var _ age.Identity = (*reader)(nil)

func (r *reader) Unwrap(stanzas []*age.Stanza) (fileKey []byte, err error) {
	fileKey, r.refusal = r.unwrap(stanzas)
	return fileKey, r.refusal
}

func (r *reader) unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if len(stanzas) > maxRecipients {
		return nil, fmt.Errorf("%w: %d stanzas, the limit is %d", ErrMalformed, len(stanzas), maxRecipients)
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
		other, err := r.fileKeyOfAge(stanzas)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(other, r.fileKey) {
			return nil, errors.New("the age command could not decrypt it")
		}
	}
	r.kind = kind(ours.Type)
	sum, err := r.mac(r.kind, r.fileKey, ours.Body)
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
		if kind := kind(stanza.Type); kind != kindKey && kind != kindWallet {
			continue
		}
		if ours != nil {
			return nil, fmt.Errorf("%w: two keystore stanzas: %s and %s", ErrMalformed, ours.Type, stanza.Type)
		}
		ours = stanza
	}
	if ours == nil {
		return nil, fmt.Errorf("%w: no stanza %s or %s: a plain age file, or one of another version", ErrNotAuthentic, kindKey, kindWallet)
	}
	if n := len(ours.Args); n != 1 && n != 2 {
		return nil, fmt.Errorf("%w: stanza %s has %d arguments, want the MAC and the wrapped file key", ErrMalformed,
			ours.Type, len(ours.Args))
	}
	return ours, nil
}

// fileKey returns the file key of a header: from the second argument of our stanza or, if
// it has none, from age's own stanza.
func (s *sealer) fileKey(ours *age.Stanza, stanzas []*age.Stanza) ([]byte, error) {
	if len(ours.Args) == 1 {
		return s.fileKeyOfAge(stanzas)
	}
	wrapped, err := base64.RawStdEncoding.Strict().DecodeString(ours.Args[1])
	if err != nil || len(wrapped) != wrappedKeySize {
		return nil, fmt.Errorf("%w: the wrapped file key is not %d bytes in base64", ErrMalformed, wrappedKeySize)
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

// payloadNonceSize is the size of the nonce between an age header and its payload.
const payloadNonceSize = 16

// openPayload decrypts the payload of an age file whose header has been verified. age would
// allocate 64 KiB for the 65 bytes of a key; a payload of this package is a single chunk.
func openPayload(fileKey, file []byte) ([]byte, error) {
	_, rest, _ := bytes.Cut(file, []byte("\n--- ")) // only the last line of a header begins so
	_, rest, _ = bytes.Cut(rest, []byte("\n"))
	if len(rest) < payloadNonceSize {
		return nil, fmt.Errorf("%w: altered: the payload has no nonce", ErrNotAuthentic)
	}
	streamKey, err := hkdf.Key(sha256.New, fileKey, rest[:payloadNonceSize], "payload", chacha20poly1305.KeySize)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(streamKey)
	aead, err := chacha20poly1305.New(streamKey)
	if err != nil {
		return nil, err
	}
	lastChunk := [chacha20poly1305.NonceSize]byte{chacha20poly1305.NonceSize - 1: 1} // number 0, and the flag
	text, err := aead.Open(nil, lastChunk[:], rest[payloadNonceSize:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: altered: %w", ErrNotAuthentic, err)
	}
	return text, nil
}

func readSecret(text []byte, info keystore.KeyInfo) (*software.Key, error) {
	if len(text) != payloadSize || text[payloadSize-1] != '\n' {
		return nil, fmt.Errorf("%w: the payload is not %d hexadecimal digits and a newline", ErrMalformed, payloadSize-1)
	}
	digits := text[:payloadSize-1]
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
