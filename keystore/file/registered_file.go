package file

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

const (
	registeredName   = "wallets" // the directory of registered wallets
	registeredSuffix = ".wallet"

	maxRegistered     = 256
	maxRegisteredSize = 16 << 10
)

// registeredPurpose begins what a MAC is over, and derives its key from the identity.
const registeredPurpose = "countersign.dev/registered-wallet-mac/v1"

// registration is the first line of the file of a registered wallet:
//
//	{"organizationId":"…","registeredAt":"2026-01-02T03:04:05Z","leaf":"…","policy":{"name":…}}
//	<MAC, 64 hex digits>
//
// with MAC = HMAC-SHA-256(MAC key, "countersign.dev/registered-wallet-mac/v1\n" ‖ first line),
// and MAC key = HKDF-SHA-256(identity, info "countersign.dev/registered-wallet-mac/v1"). The
// leaf is left out if there is none. The name of the file is the beginning of SHA-256 of the
// organization and the wallet's name.
type registration struct {
	OrganizationID string          `json:"organizationId"`
	At             string          `json:"registeredAt"`
	Leaf           string          `json:"leaf,omitempty"`
	Policy         json.RawMessage `json:"policy"`
}

func (r *registry) mac(line []byte) (sum []byte, err error) {
	err = r.key.Reveal(func(key []byte) error {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(registeredPurpose + "\n"))
		mac.Write(line)
		sum = mac.Sum(nil)
		return nil
	})
	return sum, err
}

// encode returns the file of a registered wallet.
func (r *registry) encode(add Registered) ([]byte, error) {
	line, err := strictjson.Marshal(registration{
		add.OrganizationID, add.At.UTC().Format(time.RFC3339), add.Leaf, json.RawMessage(add.Policy.Canonical()),
	})
	if err != nil {
		return nil, err
	}
	sum, err := r.mac(line)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(line, "\n%x\n", sum), nil
}

// parse reads the file of a registered wallet. Nothing of it is read before its MAC is
// verified.
func (r *registry) parse(name, content string) (parsed Registered, err error) {
	line, rest, _ := bytes.Cut([]byte(content), []byte("\n"))
	claimed, err := hex.DecodeString(string(bytes.TrimSuffix(rest, []byte("\n"))))
	if err != nil || len(claimed) != sha256.Size || len(content) != len(line)+2+2*sha256.Size {
		return parsed, fmt.Errorf("%w: expected one line of JSON and the MAC", ErrMalformed)
	}
	sum, err := r.mac(line)
	if err != nil {
		return parsed, err
	}
	if !hmac.Equal(sum, claimed) {
		return parsed, fmt.Errorf("%w: the MAC is not this keystore's: register the wallet again, with its keys compared", ErrNotAuthentic)
	}
	var read registration
	if err := json.Unmarshal(line, &read); err != nil {
		return parsed, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	parsed.OrganizationID, parsed.Leaf = read.OrganizationID, read.Leaf
	if parsed.At, err = time.Parse(time.RFC3339, read.At); err != nil {
		return parsed, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if parsed.Policy, err = walletpolicy.Read(read.Policy, ""); err != nil {
		return parsed, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if registeredFile(parsed.OrganizationID, parsed.Policy.Name()) != name {
		return parsed, fmt.Errorf("%w: renamed: it is the file of %q", ErrNotAuthentic, parsed.Policy.Name())
	}
	return parsed, nil
}

// Registered is a registered wallet: a wallet policy that a person has compared.
type Registered struct {
	OrganizationID string
	Policy         *walletpolicy.Policy
	Leaf           string    // id of the leaf of the registration in the log; empty without a log
	At             time.Time // to the second
}

// registry has the registered wallets that were read. Its files are read at each look-up,
// because other processes write them, and parsed when they change.
type registry struct {
	mu  sync.Mutex
	key keystore.Secret // of the MACs
	was map[string]readRegistration
}

// readRegistration is a file as it was read last.
type readRegistration struct {
	content string
	parsed  Registered
	err     *Error // why it is not used
}

func registeredFile(organizationID, name string) string {
	digest := sha256.Sum256([]byte(organizationID + "\x00" + name))
	return hex.EncodeToString(digest[:16]) + registeredSuffix
}
