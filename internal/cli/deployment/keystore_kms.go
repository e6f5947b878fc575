package deployment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// checkServices checks the keys of the section kms without asking a service, and returns their URIs.
func checkServices(ctx context.Context, configured *config.Config) (notAsked []string, err error) {
	services := Services(ctx)
	for i, key := range configured.KMS {
		service, _, err := services.Of(key.URI)
		if err == nil {
			err = service.Check(key.URI)
		}
		if err != nil {
			return nil, configured.At(fmt.Sprintf("kms[%d]", i), fmt.Errorf("kms[%d]: %w", i, err))
		}
		notAsked = append(notAsked, key.URI)
	}
	return notAsked, nil
}

// atServices is a keystore of the keys that the section kms of a configuration pins. It
// follows changes of the file.
type atServices struct {
	*remote.Store
	path string // of the configuration
}

var _ keystore.Disabler = (*atServices)(nil)

func (f *KeystoreFlags) openServices(cmd *cobra.Command) (*atServices, error) {
	pins, err := f.Configured.Pins()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Configured.Path, err)
	}
	store, err := remote.Open(cmd.Context(), Services(cmd.Context()), pins, remote.Options{
		Lazy: f.Log == nil, Logger: f.Log, OnDisabled: f.onDisabled(cmd.ErrOrStderr()), Observe: f.ObserveService,
		Follow: following(f.Configured.Path),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: kms: %w", f.Configured.Path, err)
	}
	return &atServices{store, f.Configured.Path}, nil
}

// following returns a function that reads the pins again when the configuration has changed. Its
// first call always does: the file may have changed since the program read it.
func following(path string) func() ([]remote.Pin, bool, error) {
	var mu sync.Mutex
	var seen fs.FileInfo
	return func() ([]remote.Pin, bool, error) {
		mu.Lock()
		defer mu.Unlock()
		info, err := os.Stat(path)
		if err != nil || seen != nil && os.SameFile(info, seen) && info.Size() == seen.Size() &&
			info.ModTime().Equal(seen.ModTime()) {
			return nil, false, nil
		}
		seen = info // also if it cannot be read: that is said once
		configured, err := config.Read(path)
		if err != nil {
			return nil, true, err
		}
		pins, err := configured.Pins()
		return pins, true, err
	}
}

// has returns the index of a key in the section kms.
func (s *atServices) has(ctx context.Context, organizationID, id string) (index int, pin remote.Pin, ok bool) {
	pins, err := s.Pins(ctx)
	if err != nil {
		return 0, pin, false
	}
	for i, pin := range pins {
		if pin.OrganizationID == organizationID && keystore.ByID(pin.ID) == keystore.ByID(id) {
			return i, pin, true
		}
	}
	return 0, pin, false
}

func (s *atServices) disable(ctx context.Context, organizationID, id string, disabled bool) error {
	index, pin, ok := s.has(ctx, organizationID, id)
	switch {
	case !ok:
		return keystore.ErrKeyNotFound
	case pin.Disabled == disabled:
		return nil
	}
	return config.DisableKMS(s.path, index, disabled)
}

func (s *atServices) Disable(ctx context.Context, organizationID, id string) error {
	return s.disable(ctx, organizationID, id, true)
}

func (s *atServices) Enable(ctx context.Context, organizationID, id string) error {
	return s.disable(ctx, organizationID, id, false)
}

func (s *atServices) Disabled(ctx context.Context, organizationID string) (infos []keystore.KeyInfo, err error) {
	pins, err := s.Pins(ctx)
	for _, pin := range pins {
		if pin.Disabled && pin.OrganizationID == organizationID {
			infos = append(infos, keystore.KeyInfo{ID: pin.ID, Name: pin.Name, PublicKey: pin.PublicKey})
		}
	}
	return infos, err
}

// PinsOf returns the keys of a keystore that are in key services, none if it does not know.
func PinsOf(ctx context.Context, keys keystore.Keystore) []remote.Pin {
	pinned, ok := keys.(interface {
		Pins(ctx context.Context) ([]remote.Pin, error)
	})
	if !ok {
		return nil
	}
	pins, err := pinned.Pins(ctx)
	if err != nil {
		return nil
	}
	return pins
}

// withServices adds the keys of the section kms to a keystore, which it closes if that fails.
func (f *KeystoreFlags) withServices(cmd *cobra.Command, own keystore.Keystore) (keystore.Keystore, error) {
	services, err := f.openServices(cmd)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	if token, ok := own.(*pkcs11.Store); ok {
		return &mixedToken{ownToken{token}, both{token, services}}, nil
	}
	directory := own.(*file.Store)
	return &mixedFile{ownFile{directory}, both{directory, services}}, nil
}

// both is what the mixed keystores have in common: keys of their own, and keys at services,
// which are looked for first.
type both struct {
	own      ownKeystore
	services *atServices
}

// ownKeystore is what a directory and a token have in common.
type ownKeystore interface {
	keystore.Keystore
	keystore.Renamer
	keystore.Deleter
	keystore.Skipper
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
	return slices.Concat(b.own.Skipped(), b.services.Skipped())
}

func (b both) Rename(ctx context.Context, organizationID, id, name string) error {
	if err := b.services.refuse(ctx, organizationID, id, noRename); err != nil {
		return err
	}
	return b.own.Rename(ctx, organizationID, id, name)
}

func (b both) Delete(ctx context.Context, organizationID, id string) error {
	if err := b.services.refuse(ctx, organizationID, id, noDelete); err != nil {
		return err
	}
	return b.own.Delete(ctx, organizationID, id)
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

// keeper returns which of the two has a key.
func (m *mixedFile) keeper(ctx context.Context, organizationID, id string) keystore.Disabler {
	if _, _, ok := m.services.has(ctx, organizationID, id); ok {
		return m.services
	}
	return m.Store
}

func (m *mixedFile) Disable(ctx context.Context, organizationID, id string) error {
	return m.keeper(ctx, organizationID, id).Disable(ctx, organizationID, id)
}

func (m *mixedFile) Enable(ctx context.Context, organizationID, id string) error {
	return m.keeper(ctx, organizationID, id).Enable(ctx, organizationID, id)
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
