package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// backend is a kind of keystore. What its keystores can do beside finding keys is found
// by assertion: keystore.Generator and the others.
type backend struct {
	kind   keystore.Keystore // a nil pointer, whose type says what its keystores can do
	check  func(*keystoreFlags) error
	open   func(*keystoreFlags, *cobra.Command) (keystore.Keystore, error)
	create func(*keystoreFlags, *cobra.Command) (keystore.Keystore, error) // open, or make one where nothing is
}

// backend returns what the scheme of --keystore names. What has none of its own is left
// to the directory's to refuse.
func (f *keystoreFlags) backend() backend {
	if strings.HasPrefix(f.uri, "pkcs11:") {
		return backend{
			kind: (*pkcs11.Store)(nil),
			check: func(f *keystoreFlags) error {
				_, err := f.token()
				return err
			},
			open:   (*keystoreFlags).openToken,
			create: (*keystoreFlags).openToken,
		}
	}
	return backend{
		kind: (*file.Store)(nil),
		check: func(f *keystoreFlags) error {
			_, err := f.directory()
			return err
		},
		open:   (*keystoreFlags).openDirectory,
		create: (*keystoreFlags).createDirectory,
	}
}

// check refuses a call that names no keystore, or one that cannot be.
func (f *keystoreFlags) check() error {
	if err := f.resolve(); err != nil {
		return err
	}
	return f.backend().check(f)
}

// open opens a keystore that is there.
func (f *keystoreFlags) open(cmd *cobra.Command) (keystore.Keystore, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.backend().open(f, cmd)
}

// can reports whether the keystore that --keystore names can do something beside finding
// keys, before it is opened.
func can[Capability any](f *keystoreFlags) bool {
	_, ok := f.backend().kind.(Capability)
	return ok
}

// openFor opens a keystore for a capability; refusal says why it does not have it.
func openFor[Capability keystore.Keystore](f *keystoreFlags, cmd *cobra.Command, refusal string) (keys Capability, err error) {
	if err := f.check(); err != nil {
		return keys, err
	}
	if !can[Capability](f) {
		return keys, usagef("%s", refusal)
	}
	opened, err := f.backend().open(f, cmd)
	if err != nil {
		return keys, err
	}
	return opened.(Capability), nil
}

// createFor is openFor with a keystore that may be made.
func createFor[Capability keystore.Keystore](f *keystoreFlags, cmd *cobra.Command, refusal string) (keys Capability, err error) {
	if err := f.check(); err != nil {
		return keys, err
	}
	if !can[Capability](f) {
		return keys, usagef("%s", refusal)
	}
	opened, err := f.backend().create(f, cmd)
	if err != nil {
		return keys, err
	}
	return opened.(Capability), nil
}

// extractabler is a keystore that knows which of its keys can be taken out.
type extractabler interface{ Extractable() []error }

// tellSkipped says which keys are not used, and which are not as safe as they should be.
func tellSkipped(cmd *cobra.Command, keys keystore.Keystore) {
	_, isDirectory := keys.(*file.Store) // said when it was opened
	if skipper, ok := keys.(keystore.Skipper); ok && !isDirectory {
		for _, why := range skipper.Skipped() {
			fmt.Fprintf(cmd.ErrOrStderr(), "Left out: %s\n", shown(why))
		}
	}
	if token, ok := keys.(extractabler); ok {
		for _, why := range token.Extractable() {
			fmt.Fprintf(cmd.ErrOrStderr(), "Warning: %s\n", shown(why))
		}
	}
}

// spendable leaves out the taproot addresses of keys that make no BIP-340 signatures:
// what is sent there could not be spent.
func spendable(keys keystore.Keystore, line keyLine) keyLine {
	if reporter, ok := keys.(keystore.SchnorrReporter); ok && !reporter.SignsSchnorr() {
		line.Addresses = slices.DeleteFunc(line.Addresses, func(address chains.Address) bool {
			return strings.HasSuffix(address.Format, taprootFormat)
		})
	}
	return line
}
