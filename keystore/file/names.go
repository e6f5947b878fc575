package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/keystore"
)

// ErrName says that another key of the organization has the name that a key is to get.
var ErrName = errors.New("another key has this name")

// check refuses the name of a key if another one has it. Accounts of wallets without a name are
// called by their path alone.
func (n named) check(info keystore.KeyInfo) error {
	if holder := n[info.Name]; info.Name != "" && !strings.HasPrefix(info.Name, "m/") && holder != "" && holder != info.ID {
		return fmt.Errorf("%w: %q is the name of key %s: choose another, since policies name keys by it", ErrName, info.Name, holder)
	}
	return nil
}

// take gives a key its name.
func (n named) take(info keystore.KeyInfo) error {
	if err := n.check(info); err != nil {
		return err
	}
	n[info.Name] = info.ID
	return nil
}

// all returns the keys of an organization that are found, those that are disabled, and the
// names of both. The caller holds the lock.
func (c *contents) all(organizationID string) (enabled, disabled []keystore.KeyInfo, names named) {
	for info, err := range c.index.Keys(context.Background(), organizationID) {
		if err == nil { // or it is closed, and nothing is written
			enabled = append(enabled, info)
		}
	}
	disabled, names = c.parked.list(organizationID), named{}
	for _, info := range slices.Concat(enabled, disabled) {
		names[info.Name] = info.ID
	}
	return enabled, disabled, names
}

// judge refuses new names that other keys have, and asks Options.Judge. changed are the keys
// that are added or changed, as they will be. The caller holds the lock.
func (c *contents) judge(organizationID string, changed []Account) error {
	enabled, disabled, names := c.all(organizationID)
	before := map[string]string{}
	for _, info := range slices.Concat(enabled, disabled) {
		before[info.ID] = info.Name
	}
	next := slices.DeleteFunc(slices.Clone(enabled), func(info keystore.KeyInfo) bool {
		return slices.ContainsFunc(changed, func(key Account) bool { return key.ID == info.ID })
	})
	for i := range changed {
		if name, known := before[changed[i].ID]; !known || name != changed[i].Name {
			if err := names.take(changed[i].KeyInfo); err != nil {
				return err
			}
		}
		if !changed[i].Disabled {
			next = append(next, changed[i].KeyInfo)
		}
	}
	if c.options.Judge == nil {
		return nil
	}
	return c.options.Judge(organizationID, enabled, next)
}

// existing returns the organization's key that prevents adding a key, with
// keystore.ErrKeyExists. Ids name files, so that each exists once across organizations;
// nothing but that is revealed about another organization's key.
func (c *contents) existing(organizationID string, info keystore.KeyInfo) (keystore.KeyInfo, error) {
	if existing, shares := c.sharing(organizationID, info); shares {
		return existing, fmt.Errorf("%w: key %s", keystore.ErrKeyExists, existing.ID)
	}
	name := info.ID + keySuffix
	switch _, err := c.keysRoot.Lstat(name); {
	case err == nil:
		return keystore.KeyInfo{}, fmt.Errorf("%w: the id %s is taken: leave it empty to generate one", keystore.ErrKeyExists, info.ID)
	case !errors.Is(err, fs.ErrNotExist):
		return keystore.KeyInfo{}, c.fileError(err, keysName, name)
	}
	return keystore.KeyInfo{}, nil
}
