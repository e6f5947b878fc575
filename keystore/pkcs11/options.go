package pkcs11

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/secret"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/keystore"
)

// DefaultSessions is the default number of sessions. Each can make one signature at a time.
const DefaultSessions = 4

// rescanInterval is the minimum time between two scans of the token for keys that other
// processes have created. Look-ups of unknown keys and listings cause scans.
const rescanInterval = time.Second

// Options supplements the URI. The zero value is sufficient for a URI with a pin-source.
type Options struct {
	// PIN is the user's PIN, instead of a file. It is copied; the caller still owns it.
	PIN keystore.SecretBytes

	// PINFile is the path of a file with the PIN, instead of the URI's pin-source. Only its
	// owner may be able to read it.
	PINFile string

	// Organization gives the whole token to one organization, like the URI's attribute
	// countersign-organization.
	Organization string

	// Sessions is the maximum number of sessions in use, like countersign-sessions. If both
	// are 0, it is DefaultSessions.
	Sessions int

	// OnDemand makes Open read no keys. A key is read when it is first looked up by an id
	// that is a UUID; a look-up by address reads all keys. It is for short-lived programs
	// that use one key of many.
	OnDemand bool

	// Logger receives each skipped or extractable key once, when a scan first finds it. nil
	// discards them.
	Logger *slog.Logger

	// PublicKeys has the public keys, by key id, of private keys without a public object on
	// the token. The private key must prove them before they are used.
	PublicKeys map[string]keystore.PublicKey
}

// closeTimeout is how long Close waits for operations in progress: a token that hangs must
// not keep the program from exiting.
const closeTimeout = 5 * time.Second

// ErrPIN says that the token refused the PIN, or the PIN was not tried because the token reports that
// another wrong one may lock it. The PIN is not tried again.
var ErrPIN = errors.New("pkcs11: login refused")

// settings combines the URI and the options.
type settings struct {
	uri          URI
	organization string
	sessions     int
	onDemand     bool
	logger       *slog.Logger
	closeTimeout time.Duration
	publicKeys   map[keystore.Locator]keystore.PublicKey
}

func settle(text string, options Options) (settings, error) {
	uri, err := Check(text)
	if err != nil {
		return settings{}, err
	}
	s := settings{uri: uri, organization: uri.Organization, sessions: uri.Sessions, onDemand: options.OnDemand, closeTimeout: closeTimeout}
	switch {
	case s.organization != "" && options.Organization != "" && s.organization != options.Organization:
		return s, errors.New("pkcs11: the URI and the options name different organizations")
	case s.sessions != 0 && options.Sessions != 0 && s.sessions != options.Sessions:
		return s, errors.New("pkcs11: the URI and the options set different numbers of sessions")
	}
	if s.logger = options.Logger; s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.organization = cmp.Or(s.organization, options.Organization)
	s.sessions = cmp.Or(s.sessions, options.Sessions, DefaultSessions)
	if s.sessions < 1 || s.sessions > maxSessions {
		return s, fmt.Errorf("pkcs11: %d sessions: use 1 to %d", s.sessions, maxSessions)
	}
	s.publicKeys = map[keystore.Locator]keystore.PublicKey{}
	for id, public := range options.PublicKeys {
		s.publicKeys[keystore.ByID(id)] = public
	}
	return s, nil
}

// maxPIN is the maximum length of a PIN in bytes.
const maxPIN = 255

// readPIN returns the PIN from the options, or from the file that the options or the URI
// name, together with its source.
func readPIN(uri URI, options Options) (pin keystore.Secret, source string, err error) {
	if len(options.PIN) > 0 {
		if err := checkPIN(options.PIN); err != nil {
			return pin, "", fmt.Errorf("pkcs11: PIN: %w", err)
		}
		return keystore.NewSecret(options.PIN), cmp.Or(options.PINFile, "the caller"), nil
	}
	path := cmp.Or(options.PINFile, uri.PINSource)
	if path == "" {
		return pin, "", errors.New("pkcs11: no PIN: name its file with pin-source=file:/PATH in the URI")
	}
	bytes, err := readPINFile(path)
	if err != nil {
		return pin, "", fmt.Errorf("pkcs11: PIN file %s: %w", path, err)
	}
	defer keystore.Wipe(bytes)
	return keystore.NewSecret(bytes), path, nil
}

// readPINFile reads a file whose only line is a PIN.
func readPINFile(path string) ([]byte, error) {
	file, err := trust.Open(path)
	if err != nil {
		if pathError, ok := errors.AsType[*os.PathError](err); ok {
			err = pathError.Err
		}
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := trust.Secret(info, path); err != nil {
		return nil, err
	}
	content := make([]byte, maxPIN+len("\r\n")+1)
	size, err := io.ReadFull(file, content)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	pin, err := secret.Text(content[:size])
	if err == nil {
		err = checkPIN(pin)
	}
	if err != nil {
		keystore.Wipe(content)
		return nil, err
	}
	return pin, nil
}

func checkPIN(pin []byte) error {
	if err := plaintext.CheckEncoding("it", pin); err != nil {
		return err
	}
	switch {
	case len(pin) == 0:
		return errors.New("it is empty")
	case len(pin) > maxPIN:
		return fmt.Errorf("it is longer than %d bytes", maxPIN)
	case bytes.ContainsAny(pin, "\r\n\x00"):
		return errors.New("it has more than one line, or a zero byte")
	}
	return nil
}
