package file

import (
	"context"
	"slices"

	"github.com/countersign-dev/countersign/keystore"
)

// namesOf returns the names of an organization's keys, which are kept until anything but a new
// key changes them. The caller holds the lock.
func (c *contents) namesOf(organizationID string) named {
	names := c.names[organizationID]
	if names == nil {
		_, _, names = c.all(organizationID)
		c.names[organizationID] = names
	}
	return names
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
