package file

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// GapLimit is how many unused addresses in a row wallets search before they stop (BIP-44).
const GapLimit = 20

// Named is a key named by a PSBT. Only deriving the key shows whether it is a wallet's.
type Named struct {
	Fingerprint [4]byte     // of the master key
	Path        wallet.Path // m/purpose'/coin'/account'/change/index, or of a registered wallet
	PublicKey   []byte      // compressed, or x-only (32 bytes)
	Input       bool        // it is of an input, and not of an output
}

// Discover adds named keys to a wallet that belong to its Bitcoin accounts, or to a registered
// wallet, and are not derived yet. A key is added if the wallet has a key of the same account
// or the account is a registered wallet's, if the index is at most gap beyond the last one
// derived on the same chain (receiving or change), and if deriving it gives the named public
// key. For an input of a registered wallet the gap does not count. Discover returns the added
// accounts, written together and safe on disk, and the paths of the named keys that the wallet has
// and that are still not derived. It tries at most MaxAccounts keys of each.
func (s *Store) Discover(ctx context.Context, organizationID, walletID string, named []Named,
	gap uint32) (added []Account, left []wallet.Path, err error) {
	err = s.asWriter(ctx, func() error {
		w, err := s.readWallet(organizationID, walletID)
		if err != nil {
			return err
		}
		defer w.destroy()
		registered, err := s.RegisteredWallets(ctx, organizationID)
		if err != nil {
			return err
		}
		before := len(w.Accounts)
		if left, err = s.discoverInto(organizationID, w, registered, named, gap); err != nil || len(w.Accounts) == before {
			return err
		}
		added = slices.Clone(w.Accounts[before:])
		return s.writeWallet(organizationID, w)
	})
	if err != nil {
		return nil, nil, s.errorf("discover accounts", err)
	}
	return added, left, nil
}

// discoverInto derives the named keys in the order of their indexes, so that each one found
// extends the gap for the next, and returns those that are left.
func (c *contents) discoverInto(organizationID string, w *openWallet, registered []Registered, named []Named,
	gap uint32) (left []wallet.Path, err error) {
	root, err := w.root()
	if err != nil {
		return nil, err
	}
	defer root.Wipe()
	ofRegistered := func(n Named) bool {
		return slices.ContainsFunc(registered, func(r Registered) bool {
			_, _, ok := r.Policy.Place(n.Fingerprint, n.Path)
			return ok
		})
	}
	candidates := slices.DeleteFunc(slices.Clone(named), func(n Named) bool {
		return n.Fingerprint != root.Fingerprint() || len(n.Path) < 2 || root.Check(keystore.CurveSecp256k1, n.Path) != nil
	})
	slices.SortStableFunc(candidates, func(a, b Named) int { return cmp.Compare(a.Path[len(a.Path)-1], b.Path[len(b.Path)-1]) })
	tried := 0
	for _, n := range candidates {
		_, ok := wallet.BitcoinAccount(n.Path)
		of := ofRegistered(n)
		wanted := of && n.Input && !w.has(n.Path) || (ok || of) && w.reaches(n.Path, gap, of)
		if tried == MaxAccounts || !wanted {
			continue
		}
		tried++
		if err := c.tryNamed(organizationID, w, root, n); err != nil {
			return nil, err
		}
	}
	for _, n := range candidates[:min(len(candidates), MaxAccounts)] {
		own, err := root.PublicKey(n.Path)
		if err != nil || !IsNamed(own, n.PublicKey) || w.has(n.Path) || !n.Input && ofRegistered(n) {
			continue
		}
		if _, imported := c.sharing(organizationID, keystore.KeyInfo{PublicKey: own}); !imported {
			left = append(left, n.Path)
		}
	}
	return left, nil
}

func (w *openWallet) has(path wallet.Path) bool {
	return slices.ContainsFunc(w.Accounts, func(account Account) bool { return slices.Equal(account.Path, path) })
}

// reaches reports whether a path belongs to an account of the wallet, or to a registered
// wallet, is not derived yet, and is within the gap.
func (w *openWallet) reaches(path wallet.Path, gap uint32, ofAccount bool) bool {
	index := len(path) - 1
	change, next := index-1, uint64(0)
	for _, account := range w.Accounts {
		if len(account.Path) != len(path) || !slices.Equal(account.Path[:change], path[:change]) {
			continue
		}
		ofAccount = true
		if account.Path[change] != path[change] {
			continue
		}
		if account.Path[index] == path[index] {
			return false
		}
		next = max(next, uint64(account.Path[index])+1)
	}
	return ofAccount && uint64(path[index]) < next+uint64(gap)
}

// tryNamed adds a key to the wallet if it is the one that is named.
func (c *contents) tryNamed(organizationID string, w *openWallet, root *wallet.Root, n Named) error {
	account := newAccount(w.Name, keystore.CurveSecp256k1, n.Path)
	key, err := account.derive(root)
	if err != nil {
		return err
	}
	account.KeyInfo = key.Info()
	if !IsNamed(account.PublicKey, n.PublicKey) {
		key.Destroy()
		return nil
	}
	if _, shares := c.sharing(organizationID, account.KeyInfo); shares { // imported separately
		key.Destroy()
		return nil
	}
	if len(w.Accounts) == MaxAccounts {
		key.Destroy()
		return w.errFull()
	}
	w.Accounts, w.keys = append(w.Accounts, account), append(w.keys, key)
	return nil
}

// IsNamed reports whether a PSBT's key, compressed or x-only, is the given one.
func IsNamed(key keystore.PublicKey, named []byte) bool {
	x := key.XOnly()
	return bytes.Equal(key.Bytes(), named) || bytes.Equal(x[:], named)
}
