package file

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/keystore"
)

// maxRecovery is the maximum number of recovery recipients.
const maxRecovery = 16

// maxIdentitySize has room for maxRecovery post-quantum recipients, of 2 KB each.
const maxIdentitySize = 64 << 10

// identity is the content of identity.age, a file that the age command accepts with -i:
//
//	# created: 2026-01-02T03:04:05Z
//	# public key: age1…
//	# recovery: age1…                  one line for each recovery recipient
//	AGE-SECRET-KEY-1…                or AGE-SECRET-KEY-PQ-1…
//
// The file is encrypted with the passphrase, which age does not allow to be combined with other
// recipients. So the file cannot be created without the passphrase, and all of it can be trusted.
type identity struct {
	key      ageKey
	created  time.Time
	recovery []ageRecipient
}

const (
	createdPrefix  = "# created: "
	recoveryPrefix = "# recovery: "
)

// newIdentity generates an identity of the same kind as the recovery recipients.
func newIdentity(recovery []string, postQuantum bool) (*identity, error) {
	i := &identity{created: time.Now()}
	for _, recipient := range recovery {
		if err := i.addRecovery(recipient); err != nil {
			return nil, err
		}
	}
	for _, recipient := range i.recovery {
		postQuantum = postQuantum || isPostQuantum(recipient)
	}
	var err error
	if postQuantum {
		i.key, err = keyOf(age.GenerateHybridIdentity())
	} else {
		i.key, err = keyOf(age.GenerateX25519Identity())
	}
	if err != nil {
		return nil, err
	}
	return i, i.check()
}

func (i *identity) addRecovery(recipient string) error {
	parsed, err := parseRecipient(recipient)
	if err != nil {
		return fmt.Errorf("recovery recipient %d: %w", len(i.recovery)+1, err)
	}
	if len(i.recovery) == maxRecovery {
		return fmt.Errorf("too many recovery recipients: at most %d are allowed", maxRecovery)
	}
	i.recovery = append(i.recovery, parsed)
	return nil
}

// check refuses recipients of two kinds, as age does: a file encrypted to both is only as
// strong as the weaker.
func (i *identity) check() error {
	for _, recipient := range i.recovery {
		if isPostQuantum(recipient) != isPostQuantum(i.key.recipient) {
			return errMixed
		}
	}
	return nil
}

// encrypt returns the file identity.age for a passphrase.
func (i *identity) encrypt(passphrase []byte, workFactor int) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(string(passphrase))
	if err != nil {
		return nil, err
	}
	recipient.SetWorkFactor(workFactor)
	var file bytes.Buffer
	payload, err := age.Encrypt(&file, recipient)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	text.Grow(maxIdentitySize) // growing later would leave a copy of the secret behind
	text.WriteString(createdPrefix + i.created.UTC().Format(time.RFC3339) + "\n")
	text.WriteString("# public key: " + i.key.recipient.String() + "\n")
	for _, recipient := range i.recovery {
		text.WriteString(recoveryPrefix + recipient.String() + "\n")
	}
	text.WriteString(i.key.secret() + "\n")
	defer keystore.Wipe(text.Bytes())
	_, err = payload.Write(text.Bytes())
	err = errors.Join(err, payload.Close()) // flushes to file
	return file.Bytes(), err
}

// decryptIdentity reads identity.age. It refuses a work factor above the limit before
// doing any work.
func decryptIdentity(file, passphrase []byte, maxWorkFactor int) (*identity, error) {
	unlock, err := age.NewScryptIdentity(string(passphrase))
	if err != nil {
		return nil, err
	}
	unlock.SetMaxWorkFactor(maxWorkFactor)
	payload, err := age.Decrypt(bytes.NewReader(file), unlock)
	switch {
	case errors.Is(err, age.ErrIncorrectIdentity) && bytes.Contains(file, []byte("\n-> scrypt ")):
		return nil, ErrPassphrase
	case err != nil && strings.Contains(err.Error(), "work factor too large"):
		return nil, fmt.Errorf("%w: %w, the limit is %d", ErrWorkFactor, err, maxWorkFactor)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	text, err := io.ReadAll(io.LimitReader(payload, maxIdentitySize))
	defer keystore.Wipe(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return parseIdentity(string(text))
}

// parseIdentity never quotes its input, which may be a secret.
func parseIdentity(text string) (*identity, error) {
	i := &identity{}
	line := 0
	for content := range strings.Lines(text) {
		line++
		if err := i.parseLine(strings.TrimSuffix(content, "\n")); err != nil {
			return nil, fmt.Errorf("%w: line %d of the decrypted text: %w", ErrMalformed, line, err)
		}
	}
	if i.key.identity == nil {
		return nil, fmt.Errorf("%w: the decrypted text has no identity (AGE-SECRET-KEY-1…)", ErrMalformed)
	}
	if err := i.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return i, nil
}

func (i *identity) parseLine(line string) (err error) {
	switch {
	case strings.HasPrefix(line, recoveryPrefix):
		return i.addRecovery(strings.TrimPrefix(line, recoveryPrefix))
	case strings.HasPrefix(line, createdPrefix):
		i.created, err = time.Parse(time.RFC3339, strings.TrimPrefix(line, createdPrefix))
		return err
	case line == "" || strings.HasPrefix(line, "#"):
		return nil
	case i.key.identity != nil:
		return errors.New("a second identity")
	case strings.HasPrefix(line, postQuantumIdentity):
		if i.key, err = keyOf(age.ParseHybridIdentity(line)); err != nil {
			return errors.New("not a post-quantum identity (AGE-SECRET-KEY-PQ-1…)")
		}
		return nil
	}
	if i.key, err = keyOf(age.ParseX25519Identity(line)); err != nil {
		return errors.New("not an X25519 identity (AGE-SECRET-KEY-1…)")
	}
	return nil
}

func (f *folder) deriveKeys() error {
	var keys [3][]byte
	for i, purpose := range []string{"countersign.dev/key-file-mac/v1", "countersign.dev/key-file-wrap/v1",
		registeredPurpose} {
		secret := []byte(f.identity.key.secret())
		key, err := hkdf.Key(sha256.New, secret, nil, purpose, sha256.Size)
		keystore.Wipe(secret)
		if err != nil {
			return err
		}
		defer keystore.Wipe(key)
		keys[i] = key
	}
	block, err := aes.NewCipher(keys[1])
	if err != nil {
		return err
	}
	wrap, err := cipher.NewGCMWithRandomNonce(block) // NIST SP 800-38D allows it for 2^32 files
	if err != nil {
		return err
	}
	recipients := []age.Recipient{f.identity.key.recipient}
	for _, recipient := range f.identity.recovery {
		recipients = append(recipients, recipient)
	}
	f.sealer = &sealer{identity: f.identity.key.identity, recipients: recipients, macKey: keystore.NewSecret(keys[0]),
		wrap: wrap}
	f.registry = &registry{key: keystore.NewSecret(keys[2]), was: map[string]readRegistration{}}
	return nil
}

// ageRecipient is a recipient of key files: X25519 ("age1…"), or ML-KEM-768 with X25519
// ("age1pq1…"), which resists quantum computers.
type ageRecipient interface {
	age.Recipient
	fmt.Stringer
}

// ageKey is an age identity with its recipient.
type ageKey struct {
	identity  age.Identity
	secret    func() string // AGE-SECRET-KEY-1…, or AGE-SECRET-KEY-PQ-1…
	recipient ageRecipient
}

const (
	postQuantumRecipient = "age1pq1"
	postQuantumIdentity  = "AGE-SECRET-KEY-PQ-1"
)

// errMixed: age refuses to encrypt to both kinds.
var errMixed = errors.New("post-quantum recipients (age1pq1…) cannot be mixed with X25519 ones (age1…), including " +
	"the keystore's own identity: a quantum computer would break the weaker kind")

func isPostQuantum(recipient age.Recipient) bool {
	_, ok := recipient.(*age.HybridRecipient)
	return ok
}

// keyOf returns the key that a function of age has made.
func keyOf[R ageRecipient](identity interface {
	age.Identity
	fmt.Stringer
	Recipient() R
}, err error) (ageKey, error) {
	if err != nil {
		return ageKey{}, err
	}
	return ageKey{identity, identity.String, identity.Recipient()}, nil
}

// parseRecipient never quotes its input, which may be an identity by mistake.
func parseRecipient(text string) (ageRecipient, error) {
	if strings.HasPrefix(text, "AGE-SECRET-KEY-") {
		return nil, errors.New("this is an identity, a secret: 'age-keygen -y' prints its recipient")
	}
	if strings.HasPrefix(text, postQuantumRecipient) {
		if recipient, err := age.ParseHybridRecipient(text); err == nil {
			return recipient, nil
		}
		return nil, errors.New("not a post-quantum recipient (age1pq1…): mistyped?")
	}
	recipient, err := age.ParseX25519Recipient(text)
	if err != nil {
		return nil,
			errors.New("mistyped, an SSH key, or a plugin's: only X25519 recipients (age1…) and " +
				"post-quantum ones (age1pq1…) are supported")
	}
	return recipient, nil
}
