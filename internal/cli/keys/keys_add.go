package keys

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// serviceKey is a key in a key service that a command adds to a configuration.
type serviceKey struct {
	at        *deployment.KeystoreFlags
	uri       string
	name      string
	publicKey string // that was compared; empty: ask
	created   bool   // by this command: there is nothing to compare
	network   *show.NetworkFlag
	field     *fieldFlag
}

func newAddCommand(at *deployment.KeystoreFlags) *cobra.Command {
	var network show.NetworkFlag
	var field fieldFlag
	add := serviceKey{at: at, network: &network, field: &field}
	command := &cobra.Command{
		Use:   "add",
		Short: "Add a key in a key service to a configuration",
		Long: console.Paragraphs(`
Ask a key service, such as AWS KMS, for the public key that --uri names, print the key
with all its addresses, and add a line to the section kms of the configuration:

  - {uri: 'awskms:alias/hot?region=eu-central-1', publicKey: '02…', name: 'hot'}

From then on the public key is what the key is: if the service has another one at the
URI, the key is refused. So the command asks first: compare the public key with the one
that the service's console or its owner shows. A script passes --public-key with the one
that was compared. Servers that use the configuration find the key at once.

The released countersign has no key services. countersign-kms has awskms:,
vaulttransit:, gcpkms: and azurekms:.`),
		Example: "  countersign keys add --config countersign.yaml --uri 'awskms:alias/hot?region=eu-west-1'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return add.run(cmd, add.uri) },
	}
	flags := command.Flags()
	flags.StringVar(&add.uri, "uri", "", "`KEY` in a key service: awskms:…, vaulttransit:…, gcpkms:… or azurekms:…")
	flags.StringVar(&add.name, "name", "", "`NAME` of the key: free text for people")
	flags.StringVar(&add.publicKey, "public-key", "",
		"add without asking, if the service has this `KEY`, in hex, which was compared before")
	console.Require(command, "uri", "name a key in a key service, such as awskms:alias/hot?region=eu-central-1")
	network.Register(command)
	field.register(command)
	return command
}

func (s *serviceKey) check() error {
	for _, flag := range []string{"passphrase-file", "pin-file", "count", "recovery", "post-quantum"} {
		if s.at.Set(flag) {
			return console.Usagef("--%s does not go with --uri", flag)
		}
	}
	if s.at.ConfigFile == "" {
		return console.Usagef("--config is missing: a key in a key service is added to a configuration, such as countersign.yaml")
	}
	if err := keystore.CheckName("--name", s.name); err != nil {
		return console.Usagef("%v", err)
	}
	if err := s.at.Resolve(); err != nil {
		return err
	}
	pins, err := s.at.Configured.Pins()
	if i := slices.IndexFunc(pins, func(pin remote.Pin) bool {
		return s.name != "" && pin.Name == s.name && pin.OrganizationID == s.at.Organization
	}); i >= 0 {
		return fmt.Errorf("--name %s: kms[%d] has this name: choose another, since policies name keys by it", s.name, i)
	}
	return err
}

func (s *serviceKey) run(cmd *cobra.Command, uri string) error {
	if err := s.check(); err != nil {
		return err
	}
	public, err := fetch(cmd.Context(), uri)
	if err != nil {
		return err
	}
	info := keystore.KeyInfo{ID: remote.IDOf(public), Name: s.name, PublicKey: public}
	line := deployment.Spendable(noSchnorr{}, s.network.Line(info))
	if s.publicKey != "" && !strings.EqualFold(s.publicKey, public.String()) {
		return fmt.Errorf("--public-key is not the key at %s, which is %s: compare it with what the service's "+
			"console or its owner shows", uri, public)
	}
	if err := console.ConfirmedWith(s.publicKey != "" || s.created, "pass --public-key with the key that was compared",
		func(tty *terminal.Terminal) error {
			return console.Ask(cmd.Context(), tty, fmt.Sprintf("The public key at %s is %s. Does the service's console or "+
				"its owner show the same?", uri, public), "not added")
		}); err != nil {
		return err
	}
	key := config.KMSKey{URI: uri, PublicKey: public.String(), Name: s.name, Organization: s.at.Organization}
	if err := config.AddKMS(s.at.ConfigFile, key); err != nil {
		return err
	}
	return s.field.print(cmd.OutOrStdout(), line)
}

// noSchnorr stands for a keystore whose keys make no BIP-340 signatures.
type noSchnorr struct{ keystore.Keystore }

func (noSchnorr) SignsSchnorr() bool { return false }

func fetch(ctx context.Context, uri string) (public keystore.PublicKey, err error) {
	service, _, err := deployment.Services(ctx).Of(uri)
	if err == nil {
		err = service.Check(uri)
	}
	if err != nil {
		return public, console.Usagef("--uri: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, remote.DefaultTimeout)
	defer cancel()
	key, err := service.Open(ctx, uri)
	if err != nil {
		return public, fmt.Errorf("%s: %w", uri, err)
	}
	published, err := key.PublicKey(ctx)
	switch {
	case err != nil:
		return public, fmt.Errorf("%s: %w", uri, err)
	case published.Proof != nil:
		return public, fmt.Errorf("%s: the key is on P-256, which no chain here uses: it can be the proofKey of a configuration", uri)
	}
	return published.Signing, nil
}

func (s *serviceKey) generate(cmd *cobra.Command, curve keystore.Curve) error {
	if err := s.check(); err != nil {
		return err
	}
	service, scheme, err := deployment.Services(cmd.Context()).Of(s.uri)
	if err != nil {
		return console.Usagef("--uri: %v", err)
	}
	generator, ok := service.(remote.Generator)
	if !ok {
		return console.Usagef("--uri: %s creates no keys for others: create it there, and add it with 'countersign keys add'", scheme)
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), remote.DefaultTimeout)
	defer cancel()
	created, err := generator.Generate(ctx, s.uri, s.name, remote.SchemeOf(curve))
	if err != nil {
		return err
	}
	s.created = true
	if err := s.run(cmd, created); err != nil {
		return fmt.Errorf("the service has created the key %s, but it was not added: 'countersign keys add --uri' "+
			"adds it: %w", created, err)
	}
	return nil
}

type generateCommand struct {
	at      *deployment.KeystoreFlags
	network show.NetworkFlag
	field   fieldFlag
	curve   string
	name    string
	count   int
	uri     string // in a key service
}

func newGenerateCommand(at *deployment.KeystoreFlags) *cobra.Command {
	c := generateCommand{at: at}
	command := &cobra.Command{
		Use:   "generate",
		Short: "Create a key",
		Long: console.Paragraphs(`
Create a key and print it as one line of JSON, once it is safe on disk or in the
HSM. --field prints one field of it as plain text, for --sign-with.

secp256k1 is for Ethereum, Tron, Bitcoin and Tempo, ed25519 for Solana.
If the directory has no keystore yet, one is created. In an HSM the key is generated
inside and never leaves it. With --uri and --config, a key service such as AWS KMS creates
the key, non-exportable and in its HSM if it has one, and the key is added to the
configuration, see 'countersign keys add'.`),
		Example: "  countersign keys generate --keystore file:keys --curve secp256k1 --name 'hot wallet'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.at.RegisterNew(command)
	c.network.Register(command)
	c.field.register(command)
	registerKeyFlags(command, &c.curve, &c.name)
	command.Flags().StringVar(&c.uri, "uri", "", "with --config: create a `KEY` in a key service, such as awskms:alias/NAME")
	command.Flags().IntVar(&c.count, "count", 1, "create `N` keys; if more than one, -1, -2 and so on is appended to the name")
	return command
}

func (c *generateCommand) run(cmd *cobra.Command) (err error) {
	curve, err := parseCurve(c.curve)
	if err != nil {
		return err
	}
	if c.count < 1 {
		return console.Usagef("--count %d: at least 1", c.count)
	}
	if c.uri != "" {
		key := serviceKey{at: c.at, uri: c.uri, name: c.name, network: &c.network, field: &c.field}
		return key.generate(cmd, curve)
	}
	keys, generator, err := deployment.OpenFor[keystore.Generator](c.at, cmd, "this keystore generates no keys")
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	// A key that could not be printed is not created.
	if err := c.field.fits(cmd.Context(), keys, &c.network, curve); err != nil {
		return err
	}
	for number := 1; number <= c.count; number++ {
		name := c.name
		if c.count > 1 && name != "" {
			name = fmt.Sprintf("%s-%d", name, number)
		}
		if err := c.at.Judge(cmd.Context(), keys, cmd.ErrOrStderr(), "", name); err != nil {
			return err
		}
		info, err := generator.Generate(cmd.Context(), c.at.Organization, name, curve)
		if err != nil {
			return err
		}
		if err := c.field.print(cmd.OutOrStdout(), deployment.Spendable(keys, c.network.Line(info))); err != nil {
			return err
		}
	}
	return nil
}
