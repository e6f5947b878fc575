package file

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// GapLimit is how far behind the last derived address of a chain wallets look for more
// (BIP-44).
const GapLimit = 20

// Named is a key as a PSBT names it: it may be a wallet's, which only deriving it tells.
type Named struct {
	Fingerprint [4]byte     // of the master key
	Path        wallet.Path // m/purpose'/coin'/account'/change/index
	PublicKey   []byte      // compressed, or x-only (32 bytes)
}

// Discover adds to a wallet the keys of its Bitcoin accounts that are named and not
// derived yet. A key is added if the wallet has a key of the same account, if its index
// is at most gap behind the last one that is derived there for receiving or for change,
// and if deriving it gives the very key that is named. It returns those that were added,
// all in one write, safe on disk. At most MaxAccounts are tried.
func (s *Store) Discover(ctx context.Context, organizationID, walletID string, named []Named, gap uint32) ([]Account, error) {
	var added []Account
	err := s.asWriter(ctx, func() error {
		w, err := s.readWallet(organizationID, walletID)
		if err != nil {
			return err
		}
		before := len(w.Accounts)
		if err := s.discoverInto(organizationID, w, named, gap); err != nil || len(w.Accounts) == before {
			w.destroy()
			return err
		}
		added = slices.Clone(w.Accounts[before:])
		if err = s.writeWallet(organizationID, w); err != nil {
			w.destroy()
		}
		return err
	})
	if err != nil {
		return nil, s.errorf("look for accounts", err)
	}
	return added, nil
}

// discoverInto derives what is named, in the order of the indexes, so that one that is
// found lets the next be looked for.
func (s *Store) discoverInto(organizationID string, w *openWallet, named []Named, gap uint32) error {
	root, err := w.root()
	if err != nil {
		return err
	}
	defer root.Wipe()
	mine := slices.DeleteFunc(slices.Clone(named), func(n Named) bool {
		_, ok := wallet.BitcoinAccount(n.Path)
		return n.Fingerprint != root.Fingerprint() || !ok || root.Check(keystore.CurveSecp256k1, n.Path) != nil
	})
	slices.SortStableFunc(mine, func(a, b Named) int { return cmp.Compare(a.Path[4], b.Path[4]) })
	tried := 0
	for _, n := range mine {
		if !w.reaches(n.Path, gap) || tried == MaxAccounts {
			continue
		}
		tried++
		if err := s.tryNamed(organizationID, w, root, n); err != nil {
			return err
		}
	}
	return nil
}

// reaches reports whether a key is of an account of the wallet, not derived yet, and
// within the gap.
func (w *openWallet) reaches(path wallet.Path, gap uint32) bool {
	const change, index = 3, 4
	ofAccount, next := false, uint64(0)
	for _, account := range w.Accounts {
		known, ok := wallet.BitcoinAccount(account.Path)
		if !ok || !slices.Equal(known, path[:change]) {
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
func (s *Store) tryNamed(organizationID string, w *openWallet, root *wallet.Root, n Named) error {
	account := Account{
		KeyInfo: keystore.KeyInfo{ID: uuid.Must(uuid.NewV7()).String(), Name: accountName(w.Name, n.Path), CreatedAt: time.Now()},
		Curve:   keystore.CurveSecp256k1, Path: n.Path,
	}
	key, err := account.derive(root)
	if err != nil {
		return err
	}
	account.KeyInfo = key.Info()
	if !isNamed(account.PublicKey, n.PublicKey) {
		key.Destroy()
		return nil
	}
	if _, shares := s.sharing(organizationID, account.KeyInfo); shares { // imported by itself
		key.Destroy()
		return nil
	}
	if len(w.Accounts) == MaxAccounts {
		key.Destroy()
		return fmt.Errorf("wallet %s has %d accounts, and no more fit", w.ID, MaxAccounts)
	}
	w.add(account, key)
	return nil
}

func (w *openWallet) add(account Account, key *software.Key) {
	w.Accounts, w.keys = append(w.Accounts, account), append(w.keys, key)
}

// isNamed compares a key with what a PSBT names.
func isNamed(key keystore.PublicKey, named []byte) bool {
	x := key.XOnly()
	return bytes.Equal(key.Bytes(), named) || bytes.Equal(x[:], named)
}
