package pkcs11

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// DefaultSessions is how many sessions a Store uses at once, if nothing else is
// said. Each can make one signature at a time.
const DefaultSessions = 4

// RescanInterval is how often, at most, a Store looks at the token again for
// keys that others made: when it is asked for a key that it does not know, and
// when it lists.
const RescanInterval = time.Second

// Options are what the URI does not say. The zero value suits a URI with
// a pin-source.
type Options struct {
	// PIN of the user, instead of a file. It is copied; the caller still owns
	// it.
	PIN keystore.SecretBytes

	// PINFile is the path of a file with the PIN, instead of the URI's
	// pin-source. It must be readable by its owner only.
	PINFile string

	// Organization says whose the whole token is, like the URI's attribute
	// countersign-organization.
	Organization string

	// Sessions is how many are used at once, like countersign-sessions;
	// DefaultSessions if both are 0.
	Sessions int

	// RetryPIN logs in although the token reports that the last PIN that was entered
	// was wrong, or that one more wrong PIN locks it. Without it, Open returns ErrPIN
	// then and does not try: a program that is restarted over and over with a wrong
	// PIN would lock the token.
	RetryPIN bool

	// OnDemand has Open read no keys. A key is read when it is first asked for by its
	// id, if that is a UUID, and all of them when any is asked for by an address: for
	// programs that use one key of many and end.
	OnDemand bool

	// Logger is sent each key that is skipped, once, by the look at the token that
	// finds it. nil discards.
	Logger *slog.Logger

	// PublicKeys are the public keys, by key id, of private keys that have no
	// public object on the token. They are checked against the private key
	// before they are believed.
	PublicKeys map[string]keystore.PublicKey
}

// closeTimeout is how long Close waits for calls of the module that have begun: a
// token that hangs must not keep the program from ending.
const closeTimeout = 5 * time.Second

// ErrPIN means that the token refused the PIN, or reports that another wrong one may
// lock it, so that the PIN was not tried. It is not tried again.
var ErrPIN = errors.New("pkcs11: login refused")

// settings are URI and options together.
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
	uri, err := ParseURI(text)
	if err != nil {
		return settings{}, err
	}
	s := settings{uri: uri, organization: uri.Organization, sessions: uri.Sessions, onDemand: options.OnDemand, closeTimeout: closeTimeout}
	switch {
	case uri.ModulePath == "":
		return s, errors.New("pkcs11 uri: module-path is missing: write ?module-path=/PATH/OF/THE/MODULE.so")
	case uri.Token == "" && uri.Serial == "" && uri.SlotID == nil:
		return s, errors.New("pkcs11 uri: no token is named: write token=LABEL or serial=NUMBER")
	case s.organization != "" && options.Organization != "" && s.organization != options.Organization:
		return s, errors.New("pkcs11: the URI and the options name two organizations")
	case s.sessions != 0 && options.Sessions != 0 && s.sessions != options.Sessions:
		return s, errors.New("pkcs11: the URI and the options name two numbers of sessions")
	}
	if s.logger = options.Logger; s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.organization = cmp.Or(s.organization, options.Organization)
	s.sessions = cmp.Or(s.sessions, options.Sessions, DefaultSessions)
	if s.sessions < 1 || s.sessions > MaxSessions {
		return s, fmt.Errorf("pkcs11: %d sessions: use 1 to %d", s.sessions, MaxSessions)
	}
	s.publicKeys = map[keystore.Locator]keystore.PublicKey{}
	for id, public := range options.PublicKeys {
		s.publicKeys[keystore.ByID(id)] = public
	}
	return s, nil
}
