package deployment

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// Backends are the kinds of keystores that a command has in addition to file: and pkcs11:,
// by the scheme of their URI, such as "kms" for --keystore kms:…. They cannot replace those
// two.
type Backends map[string]Backend

// Backend is a kind of keystore that another program adds to the command.
type Backend struct {
	// Service is a key service, whose keys a configuration pins in its section kms. Such a
	// backend has no other member: its scheme is no --keystore.
	Service remote.Service

	// Kind is a nil pointer of the type that Open returns. Its methods tell which
	// capabilities, such as keystore.Exporter, the keystores have, before one is opened.
	Kind keystore.Keystore

	// Check refuses a URI, scheme included, that cannot name a keystore. It opens nothing.
	Check func(uri string) error

	// Open opens the keystore of a URI that Check accepts.
	Open func(ctx context.Context, uri string) (keystore.Keystore, error)
}

// Schemes returns the schemes of the backends that are keystores, sorted.
func (b Backends) Schemes() []string {
	keystores := maps.Clone(b)
	maps.DeleteFunc(keystores, func(_ string, backend Backend) bool { return backend.Service != nil })
	return slices.Sorted(maps.Keys(keystores))
}

type backendsKey struct{}

// WithBackends returns a context whose commands have the backends.
func WithBackends(ctx context.Context, backends Backends) context.Context {
	return context.WithValue(ctx, backendsKey{}, backends)
}

func backendsOf(cmd *cobra.Command) Backends {
	if cmd == nil || cmd.Context() == nil {
		return nil
	}
	backends, _ := cmd.Context().Value(backendsKey{}).(Backends)
	return backends
}

// added returns an added backend as the flags use it. Such a keystore takes none of the
// flags that are about the other two kinds.
func added(own Backend) backend {
	return backend{
		kind: own.Kind,
		check: func(f *KeystoreFlags) error {
			if err := f.refuseSecrets(f.named() + " " + f.uri); err != nil {
				return err
			}
			if err := own.Check(f.uri); err != nil {
				return console.Usagef("%s: %v", f.named(), err)
			}
			return nil
		},
		open: func(f *KeystoreFlags, cmd *cobra.Command) (keystore.Keystore, error) {
			return own.Open(cmd.Context(), f.uri)
		},
	}
}

// refuseSecrets refuses the flags that are about a directory or a token.
func (f *KeystoreFlags) refuseSecrets(other string) error {
	for _, flag := range []string{"passphrase-file", "pin-file", "recovery", "post-quantum"} {
		if f.Set != nil && f.Set(flag) {
			return console.Usagef("--%s does not go with %s", flag, other)
		}
	}
	return nil
}
