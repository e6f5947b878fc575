package deployment

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/policy"
)

// judge returns what refuses a change of keys after which serve would refuse the policy of
// the organization, which named them. It is nil without a configuration, and for a server. To
// disable a key must be possible in a hurry: that is only warned of.
func (f *KeystoreFlags) judge(ctx context.Context, warnings io.Writer) func(organizationID string, before, after []keystore.KeyInfo) error {
	if f.Configured == nil || f.Log != nil {
		return nil
	}
	return func(organizationID string, before, after []keystore.KeyInfo) error {
		if f.policyWith(ctx, organizationID, before) != nil {
			return nil //nolint:nilerr // serve would refuse the policy in any case
		}
		err := f.policyWith(ctx, organizationID, after)
		switch {
		case err == nil:
			return nil
		case f.WarnOnly:
			fmt.Fprintf(warnings,
				"Warning: until the policy is changed, 'countersign serve' does not start again: %s\n", console.CleanText(err.Error()))
			return nil
		}
		return fmt.Errorf("nothing was changed: with these keys 'countersign serve' would not start: %w", err)
	}
}

// policyWith reads the policy of an organization, if it has one, as with these keys and those at
// key services.
func (f *KeystoreFlags) policyWith(ctx context.Context, organizationID string, keys []keystore.KeyInfo) error {
	organization, err := f.Configured.Organization(organizationID)
	if err != nil || organization.Policy == "" {
		return nil //nolint:nilerr // no policy names its keys
	}
	pins, err := f.Configured.Pins()
	if err != nil {
		return err
	}
	keys = slices.Clone(keys)
	for _, pin := range pins {
		if pin.OrganizationID == organizationID && !pin.Disabled {
			keys = append(keys, keystore.KeyInfo{ID: pin.ID, Name: pin.Name})
		}
	}
	names, err := policy.NamesOf(ctx, organization, listed{infos: keys})
	if err == nil {
		_, err = policy.Load(organization.Policy, PolicyOptions(names))
	}
	return err
}

// listed is a keystore of which only the list of keys is asked.
type listed struct {
	keystore.Keystore
	infos []keystore.KeyInfo
}

func (l listed) Keys(context.Context, string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		for _, info := range l.infos {
			if !yield(info, nil) {
				return
			}
		}
	}
}

// Judge refuses a change of a keystore that is no directory, which judges its changes itself
// under its lock: a key that goes, by its id, or a new one, by its name. Either may be empty.
func (f *KeystoreFlags) Judge(ctx context.Context, keys keystore.Keystore, warnings io.Writer, gone, name string) error {
	if _, directory := f.backend().kind.(*file.Store); directory {
		return nil
	}
	var before []keystore.KeyInfo
	for info, err := range keys.Keys(ctx, f.Organization) {
		if err != nil {
			return err
		}
		if name != "" && info.Name == name {
			return fmt.Errorf("%w: %q is the name of key %s: choose another, since policies name keys by it", file.ErrName, name, info.ID)
		}
		before = append(before, info)
	}
	judge := f.judge(ctx, warnings)
	if judge == nil {
		return nil
	}
	after := slices.DeleteFunc(slices.Clone(before),
		func(info keystore.KeyInfo) bool { return keystore.ByID(info.ID) == keystore.ByID(gone) })
	return judge(f.Organization, before, append(after, keystore.KeyInfo{ID: "a new key", Name: name}))
}
