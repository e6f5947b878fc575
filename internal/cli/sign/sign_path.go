package sign

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// unnamedSigner is the error for a request that does not name the key. If the keystore has
// the key at the request's path, it says so: a path is only a hint, which the person at the
// terminal has to take.
func (c *signCommand) unnamedSigner(cmd *cobra.Command, asked *foreignRequest) error {
	missing := console.Usagef("--sign-with is missing: the request does not name the key")
	if asked.path == "" {
		return missing
	}
	engine, err := c.engine(cmd)
	if err != nil {
		return errors.Join(missing, err)
	}
	id, err := c.atPath(cmd.Context(), asked.path)
	if err := errors.Join(err, engine.Close()); err != nil || id == "" {
		return errors.Join(missing, err)
	}
	return console.Usagef("--sign-with is missing: the request does not name the key, only its path, %s. If it is "+
		"the key of this keystore at that path, pass --sign-with %s", asked.path, id)
}

// atPath returns the id of the only key of the keystore at a path, which a fingerprint of
// the master key in brackets may precede, or "".
func (c *signCommand) atPath(ctx context.Context, path string) (id string, err error) {
	keys, ok := c.keystore.(walletLister)
	if !ok {
		return "", nil
	}
	origin, steps, found := strings.Cut(path, "]")
	if !found {
		origin, steps = "", path
	}
	wallets, err := keys.Wallets(ctx, c.at.Organization)
	if err != nil {
		return "", err
	}
	for _, w := range wallets {
		for _, account := range w.Accounts {
			if account.Disabled || account.Path.String() != steps {
				continue
			}
			is, err := c.hasRoot(ctx, keys, w.ID, strings.TrimPrefix(origin, "["))
			if err != nil {
				return "", err
			}
			if is && id != "" {
				return "", nil // of two wallets
			}
			if is {
				id = account.ID
			}
		}
	}
	return id, nil
}

// hasRoot reports whether a wallet has the master key with a fingerprint, in hex; an empty one
// is any.
func (c *signCommand) hasRoot(ctx context.Context, keys walletLister, walletID, fingerprint string) (has bool, err error) {
	if fingerprint == "" {
		return true, nil
	}
	err = keys.RevealRoot(ctx, c.at.Organization, walletID, func(root *wallet.Root) error {
		has = fmt.Sprintf("%x", root.Fingerprint()) == fingerprint
		return nil
	})
	return has, err
}
