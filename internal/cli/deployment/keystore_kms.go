package deployment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// Services returns the key services that a command has.
func Services(ctx context.Context) remote.Services {
	backends, _ := ctx.Value(backendsKey{}).(Backends)
	services := remote.Services{}
	for scheme, backend := range backends {
		if backend.Service != nil {
			services[scheme] = backend.Service
		}
	}
	return services
}

// CheckServices checks the keys of the section kms without asking a service, and returns their
// URIs.
func CheckServices(ctx context.Context, configured *config.Config) (notAsked []string, err error) {
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

// checkServices refuses flags that are about other keystores.
func (f *KeystoreFlags) checkServices() error {
	for _, flag := range []string{"passphrase-file", "pin-file", "leave-out-bad-files", "recovery", "post-quantum"} {
		if f.Set != nil && f.Set(flag) {
			return console.Usagef("--%s does not go with %s, whose keys are in key services", flag, f.Configured.Path)
		}
	}
	return nil
}

// refuseService refuses the URI of a key as a keystore: without a pin, the service would decide
// which key it is.
func (f *KeystoreFlags) refuseService() error {
	return console.Usagef("%s %s is a key in a key service: add it to a configuration with 'countersign keys add --config FILE --uri %s', and use --config FILE", f.named(), f.uri, f.uri)
}

// openServices opens the keys of the section kms.
func (f *KeystoreFlags) openServices(cmd *cobra.Command) (*atServices, error) {
	pins, err := f.Configured.Pins()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Configured.Path, err)
	}
	store, err := remote.Open(cmd.Context(), Services(cmd.Context()), pins, remote.Options{
		Lazy: f.Log == nil, Logger: f.Log, OnDisabled: f.onDisabled(cmd.ErrOrStderr()), Observe: f.ObserveService, Follow: following(f.Configured.Path),
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
		if err != nil || sameFile(info, seen) {
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

func sameFile(a, b fs.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
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

// disable sets disabled of a key in the configuration.
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

// Disable implements keystore.Disabler.
func (s *atServices) Disable(ctx context.Context, organizationID, id string) error {
	return s.disable(ctx, organizationID, id, true)
}

// Enable implements keystore.Disabler.
func (s *atServices) Enable(ctx context.Context, organizationID, id string) error {
	return s.disable(ctx, organizationID, id, false)
}

// Disabled implements keystore.Disabler.
func (s *atServices) Disabled(ctx context.Context, organizationID string) (infos []keystore.KeyInfo, err error) {
	pins, err := s.Pins(ctx)
	for _, pin := range pins {
		if pin.Disabled && pin.OrganizationID == organizationID {
			infos = append(infos, keystore.KeyInfo{ID: pin.ID, Name: pin.Name, PublicKey: pin.PublicKey})
		}
	}
	return infos, err
}

// errElsewhere refuses a change of a key that is not here.
func errElsewhere(what string) error {
	return console.Usagef("the key is in a key service: %s", what)
}

// refuse returns an error if the key is in a service.
func (s *atServices) refuse(ctx context.Context, organizationID, id, what string) error {
	if _, _, ok := s.has(ctx, organizationID, id); ok {
		return errElsewhere(what)
	}
	return nil
}

// both is what the mixed keystores have in common: keys of their own, and keys at services,
// which are looked for first.
type both struct {
	own      keystore.Keystore
	services *atServices
}

// Find implements keystore.Keystore.
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

// Close implements keystore.Keystore.
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

// Skipped implements keystore.Skipper.
func (b both) Skipped() []error {
	why := b.services.Skipped()
	if own, ok := b.own.(keystore.Skipper); ok {
		why = append(own.Skipped(), why...)
	}
	return why
}

// mixedFile is a directory with keys at services beside it. It has all capabilities of the
// directory; changes of keys at services are refused.
type mixedFile struct {
	*file.Store
	both
}

// mixedToken is the same with an HSM.
type mixedToken struct {
	*pkcs11.Store
	both
}

var (
	_ keystore.Disabler = (*atServices)(nil)
	_ keystore.Keystore = (*mixedFile)(nil)
	_ keystore.Keystore = (*mixedToken)(nil)
)

func (m *mixedFile) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	return m.both.Find(ctx, organizationID, locator)
}

func (m *mixedFile) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return m.both.Keys(ctx, organizationID)
}

// Close implements keystore.Keystore.
func (m *mixedFile) Close() error { return m.both.Close() }

// Skipped implements keystore.Skipper.
func (m *mixedFile) Skipped() []error { return m.both.Skipped() }

// Disable implements keystore.Disabler.
func (m *mixedFile) Disable(ctx context.Context, organizationID, id string) error {
	if _, _, ok := m.services.has(ctx, organizationID, id); ok {
		return m.services.Disable(ctx, organizationID, id)
	}
	return m.Store.Disable(ctx, organizationID, id)
}

// Enable implements keystore.Disabler.
func (m *mixedFile) Enable(ctx context.Context, organizationID, id string) error {
	if _, _, ok := m.services.has(ctx, organizationID, id); ok {
		return m.services.Enable(ctx, organizationID, id)
	}
	return m.Store.Enable(ctx, organizationID, id)
}

// Disabled implements keystore.Disabler.
func (m *mixedFile) Disabled(ctx context.Context, organizationID string) ([]keystore.KeyInfo, error) {
	own, err := m.Store.Disabled(ctx, organizationID)
	if err != nil {
		return nil, err
	}
	infos, err := m.services.Disabled(ctx, organizationID)
	return append(own, infos...), err
}

// Rename implements keystore.Renamer.
func (m *mixedFile) Rename(ctx context.Context, organizationID, id, name string) error {
	if err := m.services.refuse(ctx, organizationID, id, noRename); err != nil {
		return err
	}
	return m.Store.Rename(ctx, organizationID, id, name)
}

// Delete implements keystore.Deleter.
func (m *mixedFile) Delete(ctx context.Context, organizationID, id string) error {
	if err := m.services.refuse(ctx, organizationID, id, noDelete); err != nil {
		return err
	}
	return m.Store.Delete(ctx, organizationID, id)
}

// Archive implements keystore.Archiver.
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

func (m *mixedToken) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	return m.both.Find(ctx, organizationID, locator)
}

func (m *mixedToken) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return m.both.Keys(ctx, organizationID)
}

// Close implements keystore.Keystore.
func (m *mixedToken) Close() error { return m.both.Close() }

// Ready implements keystore.Readier.
func (m *mixedToken) Ready(ctx context.Context) error {
	if err := m.Store.Ready(ctx); err == nil {
		return nil
	}
	return m.services.Ready(ctx)
}

// Skipped implements keystore.Skipper.
func (m *mixedToken) Skipped() []error { return m.both.Skipped() }

// Rename implements keystore.Renamer.
func (m *mixedToken) Rename(ctx context.Context, organizationID, id, name string) error {
	if err := m.services.refuse(ctx, organizationID, id, noRename); err != nil {
		return err
	}
	return m.Store.Rename(ctx, organizationID, id, name)
}

// Delete implements keystore.Deleter.
func (m *mixedToken) Delete(ctx context.Context, organizationID, id string) error {
	if err := m.services.refuse(ctx, organizationID, id, noDelete); err != nil {
		return err
	}
	return m.Store.Delete(ctx, organizationID, id)
}

// withServices adds the keys of the section kms to a keystore, which it closes if that fails.
func (f *KeystoreFlags) withServices(cmd *cobra.Command, own keystore.Keystore) (keystore.Keystore, error) {
	services, err := f.openServices(cmd)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	with := both{own, services}
	switch own := own.(type) {
	case *file.Store:
		return &mixedFile{own, with}, nil
	case *pkcs11.Store:
		return &mixedToken{own, with}, nil
	}
	return with, nil
}

// atService reports whether a key of a keystore is in a key service, whose keys make no BIP-340
// signatures.
func atService(keys keystore.Keystore, public string) bool {
	pinned, ok := keys.(interface {
		Pins(ctx context.Context) ([]remote.Pin, error)
	})
	if !ok {
		return false
	}
	pins, err := pinned.Pins(context.Background())
	if err != nil {
		return false
	}
	for _, pin := range pins {
		if strings.EqualFold(pin.PublicKey.String(), public) {
			return true
		}
	}
	return false
}

// Pins returns the pinned keys.
func (b both) Pins(ctx context.Context) ([]remote.Pin, error) { return b.services.Pins(ctx) }
