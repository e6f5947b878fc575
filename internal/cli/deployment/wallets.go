package deployment

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

type pinnedWallets map[string][]keystore.Registration

func (p pinnedWallets) Registered(_ context.Context, organizationID string) ([]keystore.Registration, error) {
	return p[organizationID], nil
}

// Wallets returns the registered wallets for an engine: those that the configuration pins, for
// a keystore that keeps none itself. It returns nil if the configuration pins none: then the
// keystore is asked.
func Wallets(configured *config.Config, keys keystore.Keystore) (keystore.WalletRegistry, error) {
	if configured == nil || len(configured.Wallets) == 0 {
		return nil, nil
	}
	if _, keeps := keys.(keystore.WalletRegistry); keeps {
		return nil,
			fmt.Errorf("%s: wallets: this keystore keeps registered wallets itself: remove the section, and run "+
				"'countersign wallets register'", configured.Path)
	}
	pinned := pinnedWallets{}
	for i, pin := range configured.Wallets {
		policy, err := readPinned(pin)
		if err != nil {
			return nil, fmt.Errorf("%s: wallets[%d]: %w", configured.Path, i, err)
		}
		for _, other := range pinned[pin.Organization] {
			if other.Name() == policy.Name() {
				return nil, fmt.Errorf("%s: wallets[%d]: organization %s has another wallet with the name %q",
					configured.Path, i, pin.Organization, policy.Name())
			}
			if err := walletpolicy.CheckNew(policy, other.RegisteredWallet.(*walletpolicy.Policy)); err != nil {
				return nil, fmt.Errorf("%s: wallets[%d]: %w", configured.Path, i, err)
			}
		}
		pinned[pin.Organization] = append(pinned[pin.Organization], keystore.Registration{RegisteredWallet: policy})
	}
	for _, wallets := range pinned {
		slices.SortFunc(wallets, func(a, b keystore.Registration) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return pinned, nil
}

func readPinned(pin config.Wallet) (*walletpolicy.Policy, error) {
	text, err := console.ReadText(pin.File, walletpolicy.MaxSize)
	if err != nil {
		return nil, err
	}
	policy, err := walletpolicy.Read(text, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pin.File, err)
	}
	if digest := policy.Digest(); hex.EncodeToString(digest[:]) != strings.ToLower(pin.Digest) {
		return nil,
			fmt.Errorf("%s is not the wallet that was pinned: its digest is %x: compare its keys with the other "+
				"signers before you change the pin", pin.File, digest)
	}
	return policy, nil
}
