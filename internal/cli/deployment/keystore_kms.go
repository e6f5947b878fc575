package deployment

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore"
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

// checkServices checks the keys of the section kms without asking a service, and returns their
// URIs.
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

// checkServices refuses flags that are about other keystores.
func (f *KeystoreFlags) checkServices() error {
	return f.refuseSecrets(f.Configured.Path + ", whose keys are in key services")
}

// refuseService refuses the URI of a key as a keystore: without a pin, the service would decide
// which key it is.
func (f *KeystoreFlags) refuseService() error {
	return console.Usagef("%s %s is a key in a key service: add it to a configuration with 'countersign keys add "+
		"--config FILE --uri %s', and use --config FILE", f.named(), f.uri, f.uri)
}

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
