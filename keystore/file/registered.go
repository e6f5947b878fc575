package file

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// ErrNotOurs says that no key of a wallet policy is derived from a wallet of the keystore.
var ErrNotOurs = errors.New("no key of the wallet is from a wallet of this keystore")

var _ keystore.WalletRegistry = (*Store)(nil)

// Registered implements keystore.WalletRegistry. Files that are not authentic are left out
// and logged.
func (s *Store) Registered(ctx context.Context, organizationID string) ([]keystore.Registration, error) {
	all, err := s.RegisteredWallets(ctx, organizationID)
	if err != nil {
		return nil, err
	}
	wallets := make([]keystore.Registration, len(all))
	for i := range all {
		wallets[i] = keystore.Registration{RegisteredWallet: all[i].Policy, Leaf: all[i].Leaf}
	}
	return wallets, nil
}

// RegisteredWallets returns the organization's registered wallets, sorted by name.
func (s *Store) RegisteredWallets(ctx context.Context, organizationID string) ([]Registered, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	if s.registry.was == nil {
		return nil, keystore.ErrClosed
	}
	if err := s.readRegistered(); err != nil {
		return nil, s.errorf("read registered wallets", err)
	}
	var all []Registered
	for _, file := range s.registry.was {
		if file.err == nil && file.parsed.OrganizationID == organizationID {
			all = append(all, file.parsed)
		}
	}
	slices.SortFunc(all, func(a, b Registered) int { return cmp.Compare(a.Policy.Name(), b.Policy.Name()) })
	return all, nil
}

// readRegistered reads all files of registered wallets. The caller holds s.registry.mu.
func (c *contents) readRegistered() error {
	root, err := c.openBelow(registeredName)
	if errors.Is(err, fs.ErrNotExist) {
		clear(c.registry.was)
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	present, err := names(root, ".")
	if err != nil {
		return err
	}
	before := c.registry.was
	c.registry.was = make(map[string]readRegistration, len(present))
	for _, name := range present {
		if !strings.HasSuffix(name, registeredSuffix) {
			continue
		}
		if len(c.registry.was) == maxRegistered {
			return fmt.Errorf("%w: more than %d registered wallets", ErrMalformed, maxRegistered)
		}
		content, err := readFile(root, name, maxRegisteredSize)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		file, known := before[name]
		if err != nil || !known || file.content != string(content) {
			file = readRegistration{content: string(content)}
			if err == nil {
				file.parsed, err = c.registry.parse(name, file.content)
			}
			if err != nil {
				file.err = c.fileError(err, registeredName, name)
				c.options.Logger.Warn("registered wallet skipped", "file", file.err.Path, "error", err)
			}
		}
		c.registry.was[name] = file
	}
	return nil
}

// Register registers a wallet, or replaces the one of that name. At least one of its keys must
// be derived from a wallet of the organization; ErrNotOurs otherwise. A wallet that is registered
// under another name is refused: see walletpolicy.CheckNew.
func (s *Store) Register(ctx context.Context, add Registered) error {
	own, err := s.OwnKeys(ctx, add.OrganizationID, add.Policy)
	if err == nil && len(own) == 0 {
		err = ErrNotOurs
	}
	if err == nil {
		err = s.asWriter(ctx, func() error {
			all, err := s.RegisteredWallets(ctx, add.OrganizationID)
			for _, other := range all {
				err = errors.Join(err, walletpolicy.CheckNew(add.Policy, other.Policy))
			}
			if err != nil {
				return err
			}
			return s.writeRegistered(add)
		})
	}
	return s.errorf("register wallet "+add.Policy.Name(), err)
}

func (c *contents) writeRegistered(add Registered) error {
	content, err := c.registry.encode(add)
	if err != nil {
		return err
	}
	if err := c.root.Mkdir(registeredName, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return c.fileError(err, registeredName)
	}
	root, err := c.openBelow(registeredName)
	if err != nil {
		return err
	}
	defer root.Close()
	sweep(root) // no other writer is active
	present, err := names(root, ".")
	if err != nil {
		return err
	}
	name := registeredFile(add.OrganizationID, add.Policy.Name())
	if len(present) >= maxRegistered && !slices.Contains(present, name) {
		return fmt.Errorf("at most %d wallets can be registered", maxRegistered)
	}
	if err := replaceFile(root, name, content); err != nil {
		return c.fileError(err, registeredName, name)
	}
	return c.root.Sync()
}

// Unregister removes a registered wallet. Its error wraps fs.ErrNotExist if there is none of
// that name.
func (s *Store) Unregister(ctx context.Context, organizationID, name string) error {
	return s.errorf("remove registered wallet "+name, s.asWriter(ctx, func() error {
		root, err := s.openBelow(registeredName)
		if err != nil {
			return err
		}
		defer root.Close()
		if err := root.Remove(registeredFile(organizationID, name)); err != nil {
			return s.fileError(err, registeredName)
		}
		return root.Sync()
	}))
}

// OwnKey is a key of a wallet policy that is derived from a wallet of the keystore.
type OwnKey struct {
	Key    int // index in the policy
	Wallet Wallet
}

// OwnKeys returns the keys of a policy that are the organization's: each is derived from a
// wallet of it and compared, with its chain code. The origin that the policy claims says only
// which key to derive.
func (s *Store) OwnKeys(ctx context.Context, organizationID string, policy *walletpolicy.Policy) (own []OwnKey, err error) {
	wallets, err := s.Wallets(ctx, organizationID)
	if err != nil {
		return nil, err
	}
	for _, w := range wallets {
		err := s.RevealRoot(ctx, organizationID, w.ID, func(root *wallet.Root) error {
			for i, key := range policy.Keys() {
				if key.Fingerprint != root.Fingerprint() {
					continue
				}
				ours, err := root.Has(key.Path, key.Public, key.Chain)
				if err != nil {
					return err
				}
				if ours {
					own = append(own, OwnKey{i, w})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(own, func(a, b OwnKey) int { return cmp.Compare(a.Key, b.Key) })
	return own, nil
}

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

// parse reads the file of a registered wallet. Nothing of it is read before its MAC is verified.
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
