package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// keystoreFlags select the keystore and the organization that a command works with.
type keystoreFlags struct {
	uri              string
	passphraseFile   string
	passphraseNamed  string // what names passphraseFile: a flag or a member of the configuration
	pinFile          string
	organization     string
	mayCreate        bool     // a directory without a keystore gets a new one
	recovery         []string // recipients of a new keystore
	postQuantum      bool     // for a new keystore
	leaveOutBadFiles bool
	retryPIN         bool
	log              *slog.Logger // of serve, which loads all keys; nil for commands that use some and exit
	configFile       string
	set              func(flag string) bool // reports whether the flag was given
	configured       *config.Config         // set once it has been read
	newStore         bool                   // of serve --new-store
}

const defaultOrganization = "default"

func (f *keystoreFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.set, f.passphraseNamed = flags.Changed, "--passphrase-file"
	flags.StringVar(&f.uri, "keystore", "", "`URI` of the keystore: file:DIR, or pkcs11:… for an HSM (RFC 7512)")
	flags.StringVar(&f.configFile, "config", "", "`FILE` that names the keystore, its passphrase file and the organization: countersign.yaml")
	flags.StringVar(&f.passphraseFile, "passphrase-file", "", "`FILE` with the keystore's passphrase, mode 0600 (default: ask on the terminal)")
	flags.StringVar(&f.pinFile, "pin-file", "", "`FILE` with the HSM's PIN, mode 0600 (default: the URI's pin-source, else ask on the terminal)")
	registerRetryPIN(cmd, &f.retryPIN)
	flags.StringVar(&f.organization, "org", defaultOrganization, "`ID` of the organization that owns the keys; with --config, the only one in it")
	flags.BoolVar(&f.leaveOutBadFiles, "leave-out-bad-files", false, "skip key files that cannot be trusted instead of refusing the keystore")
}

// registerNew adds the flags of a command that may create the keystore.
func (f *keystoreFlags) registerNew(cmd *cobra.Command) {
	f.mayCreate = true
	flags := cmd.Flags()
	flags.StringArrayVar(&f.recovery, "recovery", nil, "for a new keystore: age `RECIPIENT`, age1… or age1pq1…, that can decrypt the keys without the passphrase (repeatable)")
	flags.BoolVar(&f.postQuantum, "post-quantum", false, "for a new keystore: encrypt it to a post-quantum age identity")
}

// registerRetryPIN adds the flag that allows a login which may lock the token.
func registerRetryPIN(cmd *cobra.Command, retry *bool) {
	cmd.Flags().BoolVar(retry, "retry-pin", false, "log in once to an HSM that reports a wrong PIN at its last login; correct the PIN first")
}

// resolve fills in what the configuration says, if --config names one.
func (f *keystoreFlags) resolve() error {
	if f.configFile == "" || f.configured != nil {
		return nil
	}
	if f.set("keystore") {
		return usagef("--keystore does not go with --config, which names one")
	}
	configured, err := config.Read(f.configFile)
	if err != nil {
		return err
	}
	named := ""
	if f.set("org") {
		named = f.organization
	}
	organization, err := configured.Organization(named)
	if err != nil {
		return usagef("%v", err)
	}
	f.organization = organization.ID
	f.use(configured)
	return nil
}

// use selects the keystore of a configuration. --passphrase-file takes precedence over
// the configuration's passphraseFile.
func (f *keystoreFlags) use(configured *config.Config) {
	f.uri, f.configured = configured.Keystore, configured
	if f.passphraseFile == "" {
		f.passphraseFile, f.passphraseNamed = configured.PassphraseFile, "passphraseFile"
	}
}

// named returns what names the keystore, for errors: the flag, or the member of the
// configuration.
func (f *keystoreFlags) named() string {
	if f.configured != nil {
		return f.configured.Path + ": keystore"
	}
	return "--keystore"
}

// backend is a kind of keystore.
type backend struct {
	kind  keystore.Keystore // a nil pointer: its type tells which capabilities the keystores have
	check func(*keystoreFlags) error
	open  func(*keystoreFlags, *cobra.Command) (keystore.Keystore, error)
}

// backend returns the backend for the scheme of --keystore. An unknown scheme gets the
// directory backend, whose check refuses it.
func (f *keystoreFlags) backend() backend {
	if strings.HasPrefix(f.uri, "pkcs11:") {
		return backend{(*pkcs11.Store)(nil), (*keystoreFlags).checkToken, (*keystoreFlags).openToken}
	}
	return backend{(*file.Store)(nil), (*keystoreFlags).checkDirectory, (*keystoreFlags).openDirectory}
}

// check refuses a call that names no keystore, or an invalid one.
func (f *keystoreFlags) check() error {
	if err := f.resolve(); err != nil {
		return err
	}
	return f.backend().check(f)
}

// open opens the keystore, creating it if the command may.
func (f *keystoreFlags) open(cmd *cobra.Command) (keystore.Keystore, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.backend().open(f, cmd)
}

// can reports whether the selected keystore has a capability, without opening it. The
// flags must have been checked.
func can[Capability any](f *keystoreFlags) bool {
	_, ok := f.backend().kind.(Capability)
	return ok
}

// openFor opens a keystore that has a capability. Without it, the call is wrong and
// refusal says why.
func openFor[Capability keystore.Keystore](f *keystoreFlags, cmd *cobra.Command, refusal string) (keys Capability, err error) {
	if err := f.check(); err != nil {
		return keys, err
	}
	if !can[Capability](f) {
		return keys, usagef("%s", refusal)
	}
	opened, err := f.open(cmd)
	if err != nil {
		return keys, err
	}
	return opened.(Capability), nil
}

// closeKeystore closes a keystore at the end of a function that returns *err.
func closeKeystore(keys keystore.Keystore, err *error) {
	if closeErr := keys.Close(); *err == nil {
		*err = closeErr
	}
}

// extractabler is a keystore that reports which of its keys can be extracted.
type extractabler interface{ Extractable() []error }

// tellSkipped reports keys that are not used, and keys that can be extracted from an HSM.
func tellSkipped(cmd *cobra.Command, keys keystore.Keystore) {
	_, isDirectory := keys.(*file.Store) // reported when it was opened
	if skipper, ok := keys.(keystore.Skipper); ok && !isDirectory {
		for _, why := range skipper.Skipped() {
			fmt.Fprintf(cmd.ErrOrStderr(), "Left out: %s\n", cleanText(why.Error()))
		}
	}
	if token, ok := keys.(extractabler); ok {
		for _, why := range token.Extractable() {
			fmt.Fprintf(cmd.ErrOrStderr(), "Warning: %s\n", cleanText(why.Error()))
		}
	}
}

// spendable removes the taproot addresses of keys that cannot make BIP-340 signatures:
// coins sent there could not be spent. Such keys do not choose their ECDSA nonces either.
func spendable(keys keystore.Keystore, line keyLine) keyLine {
	if reporter, ok := keys.(keystore.SchnorrReporter); ok && !reporter.SignsSchnorr() {
		line.Addresses = slices.DeleteFunc(line.Addresses, func(address chains.Address) bool {
			return strings.HasSuffix(address.Format, taprootFormat)
		})
		line.HighR = line.Curve == keystore.CurveSecp256k1
	}
	return line
}
