package deployment

import (
	"context"
	"errors"
	"iter"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// withServices adds the keys of the section kms to a keystore, which it closes if that fails.
func (f *KeystoreFlags) withServices(cmd *cobra.Command, own keystore.Keystore) (keystore.Keystore, error) {
	services, err := f.openServices(cmd)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	with := both{own, services}
	switch own := own.(type) {
	case *file.Store:
		return &mixedFile{ownFile{own}, with}, nil
	case *pkcs11.Store:
		return &mixedToken{ownToken{own}, with}, nil
	}
	return with, nil
}

// both is what the mixed keystores have in common: keys of their own, and keys at services,
// which are looked for first.
type both struct {
	own      keystore.Keystore
	services *atServices
}

func (b both) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	key, err := b.services.Find(ctx, organizationID, locator)
	if errors.Is(err, keystore.ErrKeyNotFound) {
		return b.own.Find(ctx, organizationID, locator)
	}
	return key, err
}

// Keys implements keystore.Keystore: first the own keys, which have a time of creation.
func (b both) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		for _, keys := range []keystore.Keystore{b.own, b.services} {
			for info, err := range keys.Keys(ctx, organizationID) {
				if !yield(info, err) || err != nil {
					return
				}
			}
		}
	}
}

func (b both) Close() error { return errors.Join(b.services.Close(), b.own.Close()) }

// Ready implements keystore.Readier: one of the two is enough, if it has keys.
func (b both) Ready(ctx context.Context) error {
	services := b.services.Ready(ctx)
	if services == nil {
		return nil
	}
	pins, err := b.services.Pins(ctx)
	if err != nil {
		return err
	}
	for _, pin := range pins {
		for _, err := range b.own.Keys(ctx, pin.OrganizationID) {
			if err == nil {
				return nil
			}
		}
	}
	return services
}

func (b both) Skipped() []error {
	why := b.services.Skipped()
	if own, ok := b.own.(keystore.Skipper); ok {
		why = append(own.Skipped(), why...)
	}
	return why
}

// Rename implements keystore.Renamer, if the own keystore does.
func (b both) Rename(ctx context.Context, organizationID, id, name string) error {
	if err := b.services.refuse(ctx, organizationID, id, noRename); err != nil {
		return err
	}
	if own, ok := b.own.(keystore.Renamer); ok {
		return own.Rename(ctx, organizationID, id, name)
	}
	return errors.ErrUnsupported
}

// Delete implements keystore.Deleter, if the own keystore does.
func (b both) Delete(ctx context.Context, organizationID, id string) error {
	if err := b.services.refuse(ctx, organizationID, id, noDelete); err != nil {
		return err
	}
	if own, ok := b.own.(keystore.Deleter); ok {
		return own.Delete(ctx, organizationID, id)
	}
	return errors.ErrUnsupported
}

// Pins returns the pinned keys.
func (b both) Pins(ctx context.Context) ([]remote.Pin, error) { return b.services.Pins(ctx) }

// mixedFile is a directory with keys at services beside it. It has all capabilities of the
// directory; changes of keys at services are refused.
type mixedFile struct {
	ownFile
	both
}

// ownFile embeds the directory one level deeper than both, whose methods win.
type ownFile struct{ *file.Store }

// mixedToken is the same with an HSM.
type mixedToken struct {
	ownToken
	both
}

type ownToken struct{ *pkcs11.Store }

var (
	_ keystore.Keystore = (*mixedFile)(nil)
	_ keystore.Keystore = (*mixedToken)(nil)
)

func (m *mixedFile) Disable(ctx context.Context, organizationID, id string) error {
	if _, _, ok := m.services.has(ctx, organizationID, id); ok {
		return m.services.Disable(ctx, organizationID, id)
	}
	return m.Store.Disable(ctx, organizationID, id)
}

func (m *mixedFile) Enable(ctx context.Context, organizationID, id string) error {
	if _, _, ok := m.services.has(ctx, organizationID, id); ok {
		return m.services.Enable(ctx, organizationID, id)
	}
	return m.Store.Enable(ctx, organizationID, id)
}

func (m *mixedFile) Disabled(ctx context.Context, organizationID string) ([]keystore.KeyInfo, error) {
	own, err := m.Store.Disabled(ctx, organizationID)
	if err != nil {
		return nil, err
	}
	infos, err := m.services.Disabled(ctx, organizationID)
	return append(own, infos...), err
}

func (m *mixedFile) Archive(ctx context.Context, organizationID, id string) (string, error) {
	if err := m.services.refuse(ctx, organizationID, id, noDelete); err != nil {
		return "", err
	}
	return m.Store.Archive(ctx, organizationID, id)
}

// The cures for changes that are made elsewhere.
const (
	noRename = "its name is in the section kms of the configuration"
	noDelete = "remove its line from the section kms of the configuration; only the service can delete the key"
)

func (m *mixedToken) Ready(ctx context.Context) error {
	if err := m.Store.Ready(ctx); err == nil {
		return nil
	}
	return m.services.Ready(ctx)
}

// refuse returns an error if the key is in a service.
func (s *atServices) refuse(ctx context.Context, organizationID, id, what string) error {
	if _, _, ok := s.has(ctx, organizationID, id); ok {
		return console.Usagef("the key is in a key service: %s", what)
	}
	return nil
}
