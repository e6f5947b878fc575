package deployment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// KeystoreFlags select the keystore and the organization that a command works with.
type KeystoreFlags struct {
	uri             string
	PassphraseFile  string
	PassphraseNamed string // what names PassphraseFile: a flag or a member of the configuration
	pinFile         string
	Organization    string
	mayCreate       bool         // a directory without a keystore gets a new one
	recovery        []string     // recipients of a new keystore
	postQuantum     bool         // for a new keystore
	WarnOnly        bool         // of changes of keys that the policy does not suit
	Log             *slog.Logger // of serve, which loads all keys; nil for commands that use some and exit
	ConfigFile      string
	Set             func(flag string) bool // reports whether the flag was given
	Configured      *config.Config         // set once it has been read
	ObserveService  func(remote.Observation)
	command         *cobra.Command // whose context has the key services
}

// DefaultOrganization is the organization of a keystore without a configuration.
const DefaultOrganization = "default"

// Register adds the flags to a command.
func (f *KeystoreFlags) Register(cmd *cobra.Command) {
	f.register(cmd.Flags())
	f.of(cmd)
}

// RegisterAll adds the flags to all commands of a group.
func (f *KeystoreFlags) RegisterAll(group *cobra.Command) {
	f.register(group.PersistentFlags())
	group.PersistentPreRun = func(called *cobra.Command, _ []string) { f.of(called) }
}

// of notes whose flags they are.
func (f *KeystoreFlags) of(cmd *cobra.Command) { f.command, f.Set = cmd, cmd.Flags().Changed }

func (f *KeystoreFlags) register(flags *pflag.FlagSet) {
	f.PassphraseNamed = "--passphrase-file"
	flags.StringVar(&f.uri, "keystore", "", "`URI` of the keystore: file:DIR, or pkcs11:… for an HSM (RFC 7512)")
	flags.StringVar(&f.ConfigFile, "config", "",
		"`FILE` that names the keystore, its passphrase file and the organization: countersign.yaml")
	flags.StringVar(&f.PassphraseFile, "passphrase-file", "",
		"`FILE` with the keystore's passphrase, mode 0600 (default: ask on the terminal)")
	flags.StringVar(&f.pinFile, "pin-file", "",
		"`FILE` with the HSM's PIN, mode 0600 (default: the URI's pin-source, else ask on the terminal)")
	flags.StringVar(&f.Organization, "org", DefaultOrganization,
		"`ID` of the organization that owns the keys; with --config, the only one in it")
}

// RegisterNew adds the flags of a command that may create the keystore.
func (f *KeystoreFlags) RegisterNew(cmd *cobra.Command) {
	console.Check(cmd, func() error { f.mayCreate = true; return nil })
	flags := cmd.Flags()
	flags.StringArrayVar(&f.recovery, "recovery", nil,
		"for a new keystore: age `RECIPIENT`, age1… or age1pq1…, that can decrypt the keys without the passphrase (repeatable)")
	flags.BoolVar(&f.postQuantum, "post-quantum", false, "for a new keystore: encrypt it to a post-quantum age identity")
}

// Resolve fills in what the configuration says, if --config names one.
func (f *KeystoreFlags) Resolve() error {
	if f.ConfigFile == "" || f.Configured != nil {
		return nil
	}
	if f.Set("keystore") {
		return console.Usagef("--keystore does not go with --config, which names one")
	}
	named := ""
	if f.Set("org") {
		named = f.Organization
	}
	configured, organization, err := ReadConfig(f.ConfigFile, named)
	if err != nil {
		return err
	}
	f.Organization = organization.ID
	f.Use(configured)
	return nil
}

// Use selects the keystore of a configuration. --passphrase-file takes precedence over
// the configuration's PassphraseFile.
func (f *KeystoreFlags) Use(configured *config.Config) {
	f.uri, f.Configured = configured.Keystore, configured
	if f.PassphraseFile == "" {
		f.PassphraseFile, f.PassphraseNamed = configured.PassphraseFile, "passphraseFile"
	}
}

// named returns what names the keystore, for errors: the flag, or the member of the configuration.
func (f *KeystoreFlags) named() string {
	if f.Configured != nil {
		return "keystore"
	}
	return "--keystore"
}

// backend is a kind of keystore.
type backend struct {
	kind  keystore.Keystore // a nil pointer: its type tells which capabilities the keystores have
	check func(*KeystoreFlags) error
	open  func(*KeystoreFlags, *cobra.Command) (keystore.Keystore, error)
}

// backend returns the backend for the scheme of --keystore. An unknown scheme gets the
// directory backend, whose check refuses it.
func (f *KeystoreFlags) backend() backend {
	scheme, _, found := strings.Cut(f.uri, ":")
	if scheme == "pkcs11" && found {
		return backend{(*pkcs11.Store)(nil), (*KeystoreFlags).checkToken, (*KeystoreFlags).openToken}
	}
	if f.uri == "" && f.Configured != nil && len(f.Configured.KMS) > 0 {
		return backend{(*atServices)(nil), (*KeystoreFlags).checkServices, nil}
	}
	if f.command != nil && found && Services(f.command.Context())[scheme] != nil {
		return backend{(*atServices)(nil), func(f *KeystoreFlags) error {
			// Without a pin, the service would decide which key it is.
			return console.Usagef("%s %s is a key in a key service: add it to a configuration with 'countersign keys "+
				"add --config FILE --uri %s', and use --config FILE", f.named(), f.uri, f.uri)
		}, nil}
	}
	return backend{(*file.Store)(nil), (*KeystoreFlags).checkDirectory, (*KeystoreFlags).openDirectory}
}

// Check refuses a call that names no keystore, or an invalid one.
func (f *KeystoreFlags) Check() error {
	if err := f.Resolve(); err != nil {
		return err
	}
	if f.Organization == "" {
		return console.Usagef("--org is empty: leave it out for %q", DefaultOrganization)
	}
	err := f.backend().check(f)
	if err != nil && f.Configured != nil && strings.HasPrefix(err.Error(), f.named()) {
		return f.Configured.At("keystore", errors.New(err.Error())) // the file is wrong, not the usage of the command
	}
	return err
}

// Open opens the keystore, creating it if the command may.
func (f *KeystoreFlags) Open(cmd *cobra.Command) (keystore.Keystore, error) {
	f.command = cmd
	if err := f.Check(); err != nil {
		return nil, err
	}
	own := f.backend()
	if own.open == nil {
		return f.openServices(cmd)
	}
	opened, err := own.open(f, cmd)
	if err != nil || f.Configured == nil || len(f.Configured.KMS) == 0 {
		return opened, err
	}
	return f.withServices(cmd, opened)
}

// Can reports whether the selected keystore has a capability, without opening it. The
// flags must have been checked.
func Can[Capability any](f *KeystoreFlags) bool {
	_, ok := f.backend().kind.(Capability)
	return ok
}

// OpenFor opens a keystore that has a capability, and returns both. Without it, the call is wrong
// and refusal says why.
func OpenFor[Capability any](f *KeystoreFlags, cmd *cobra.Command, refusal string) (keys keystore.Keystore, can Capability, err error) {
	if err := f.Check(); err != nil {
		return nil, can, err
	}
	if !Can[Capability](f) {
		return nil, can, console.Usagef("%s", refusal)
	}
	if keys, err = f.Open(cmd); err != nil {
		return nil, can, err
	}
	can, ok := keys.(Capability)
	if !ok { // its own keystore has it, but not together with keys in key services
		return nil, can, errors.Join(console.Usagef("%s", refusal), keys.Close())
	}
	return keys, can, nil
}

// CloseKeystore closes a keystore at the end of a function that returns *err.
func CloseKeystore(keys keystore.Keystore, err *error) {
	if closeErr := keys.Close(); *err == nil {
		*err = closeErr
	}
}

// Extractabler is a keystore that reports which of its keys can be extracted.
type Extractabler interface{ Extractable() []error }

// TellSkipped reports keys that are not used, and keys that can be extracted from an HSM.
func TellSkipped(cmd *cobra.Command, keys keystore.Keystore) {
	if mixed, ok := keys.(*mixedFile); ok {
		keys = mixed.services
	}
	_, isDirectory := keys.(*file.Store) // reported when it was opened
	if skipper, ok := keys.(keystore.Skipper); ok && !isDirectory {
		for _, why := range skipper.Skipped() {
			fmt.Fprintf(cmd.ErrOrStderr(), "Left out: %s\n", console.CleanText(why.Error()))
		}
	}
	if token, ok := keys.(Extractabler); ok {
		for _, why := range token.Extractable() {
			fmt.Fprintf(cmd.ErrOrStderr(), "Warning: %s\n", console.CleanText(why.Error()))
		}
	}
}

// Spendable removes the taproot addresses of keys that cannot make BIP-340 signatures, as none in
// a key service can: coins sent there could not be spent. Such keys do not choose their ECDSA nonces either.
func Spendable(keys keystore.Keystore, line show.KeyLine) show.KeyLine {
	reporter, ok := keys.(keystore.SchnorrReporter)
	atService := func(pin remote.Pin) bool { return strings.EqualFold(pin.PublicKey.String(), line.PublicKey) }
	if ok && !reporter.SignsSchnorr() || slices.ContainsFunc(PinsOf(context.Background(), keys), atService) {
		line.Addresses = slices.DeleteFunc(line.Addresses, func(address chains.Address) bool {
			return strings.HasSuffix(address.Format, show.TaprootFormat)
		})
		line.HighR = line.Curve == keystore.CurveSecp256k1
	}
	return line
}

type servicesKey struct{}

// WithServices returns a context whose commands have the key services of a program.
func WithServices(ctx context.Context, services remote.Services) context.Context {
	return context.WithValue(ctx, servicesKey{}, services)
}

// Services returns the key services that a command has.
func Services(ctx context.Context) remote.Services {
	services, _ := ctx.Value(servicesKey{}).(remote.Services)
	return services
}

// checkServices refuses the flags that are about a directory or a token.
func (f *KeystoreFlags) checkServices() error {
	for _, flag := range []string{"passphrase-file", "pin-file", "recovery", "post-quantum"} {
		if f.Set != nil && f.Set(flag) {
			return console.Usagef("--%s does not go with %s, whose keys are in key services", flag, f.Configured.Path)
		}
	}
	return nil
}
