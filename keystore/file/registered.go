package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

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
