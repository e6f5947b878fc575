// Package setup is the commands that begin: init, apikey and passkey.
package setup

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/translog"
)

// NewInitCommand returns the command init.
func NewInitCommand() *cobra.Command {
	var c initCommand
	command := &cobra.Command{
		Use:   "init DIR",
		Short: "Set up a server: configuration, keystore and API key",
		Long: console.Paragraphs(`
Create a directory with everything that serve and a first request need:

  countersign.yaml   the configuration, with comments on what can be changed
  state.db           the store: what was answered, limits, used codes, the log
  keys/              an empty keystore
  passphrase         its passphrase, random
  api-key.json       an API key, for the client that sends requests, not for the server
  proof.pem          the key that signs app proofs and verification tokens
  log.pem            the key that signs checkpoints of the log
  otp-secret         the secret for one-time passwords
  outbox/            receives their messages until a mail server is configured

DIR must be empty or must not exist. Only its owner can read the files. If init is
interrupted, running it again finishes the work. It prints

  {"config":"…","organizationId":"…","apiPublicKey":"…","apiPrivateKeyFile":"…"}

--listen, --admin, --store, --keystore and --memory are written into countersign.yaml as
they stand, for a container in which it cannot be edited. init does not create the store
and the keystore that they name: 'serve --check --new-store' and 'keys generate' do.

To keep the API key away from the server, set up two directories. On the machine that
sends requests, --online creates api-key.json alone, and prints client.json. Where the
server runs, --client client.json creates the rest, which accepts requests stamped with
that API key only. If that machine has no network, add --offline; it prints

  {"config":"…","organizationId":"…","apiPublicKey":"…","proofPublicKeyFile":"…",
   "logKeyFile":"…"}

The online machine verifies answers with proof-public.pem and log-key.txt.`),
		Example: console.Paragraphs(`
  countersign init DIR
  countersign keys generate --config DIR/countersign.yaml --curve secp256k1
  countersign serve --config DIR/countersign.yaml
  countersign init --online online > client.json
  countersign init --offline --client client.json offline
  countersign init --client client.json --store 'postgres://user@host/name' --no-otp server`),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	c.register(command)
	return command
}

func (c *initCommand) register(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&c.listen, "listen", "", "`ADDRESS` of the API (default 127.0.0.1:8080)")
	flags.StringVar(&c.admin, "admin", "", "`ADDRESS` for monitoring (default 127.0.0.1:8081)")
	flags.StringVar(&c.store, "store", "", "`URI` of a store to be created later: bolt:PATH or postgres://…")
	flags.StringVar(&c.keystore, "keystore", "", "`URI` of a keystore to be created later: file:DIR or pkcs11:…")
	flags.StringVar(&c.memory, "memory", "", "`FILE` for what this machine remembers of its logs (default log.memory)")
	flags.BoolVar(&c.noOTP, "no-otp", false, "send no one-time passwords")
	flags.BoolVar(&c.online, "online", false, "set up the machine that sends requests: an API key alone")
	flags.BoolVar(&c.offline, "offline", false, "set up the machine that signs, without a network")
	flags.StringVar(&c.client, "client", "", "`FILE` that init --online printed on the machine that sends requests")
	console.Needs(command, []string{"offline"}, []string{"client"})
	console.Exclusive(command, "they are for two machines", "online", "offline")
	console.Exclusive(command, "they are for two machines", "online", "client")
	for _, name := range []string{"listen", "admin", "store", "keystore", "memory", "no-otp"} {
		console.Exclusive(command, "it is for a server", "online", name)
		console.Exclusive(command, "it is for a server", "offline", name)
	}
}

// initCommand is one call of init. Members of the configuration that are empty are the defaults, in
// the directory.
type initCommand struct {
	online, offline, noOTP                 bool
	client                                 string
	listen, admin, store, keystore, memory string
}

func (c *initCommand) run(cmd *cobra.Command, dir string) error {
	if err := harden.NoCoreDumps(); err != nil {
		return err
	}
	answer, err := c.initialize(cmd, dir)
	if err == nil && !c.online { // an interrupted call may have left something else
		err = c.readBack(cmd, filepath.Join(dir, ConfigName))
	}
	if err != nil {
		return err
	}
	return console.PrintJSON(cmd.OutOrStdout(), answer)
}

// initialized is the output of init. That of init --online is client.json.
type initialized struct {
	Config            string `json:"config,omitempty"` // not with --online
	OrganizationID    string `json:"organizationId"`
	APIPublicKey      string `json:"apiPublicKey"`
	APIPrivateKeyFile string `json:"apiPrivateKeyFile,omitempty"`  // not with --offline
	ProofPublicKey    string `json:"proofPublicKeyFile,omitempty"` // with --offline, as the next
	LogKey            string `json:"logKeyFile,omitempty"`
}

// Names in the directory that init fills.
const (
	ConfigName     = "countersign.yaml"
	StoreName      = "state.db"
	KeysName       = "keys"
	PassphraseName = "passphrase"
	APIKeyName     = "api-key.json"
	proofName      = "proof.pem"
	logName        = "log.pem"
	otpSecretName  = "otp-secret"
	OutboxName     = "outbox"
)

// initialize fills the directory of a server, of a machine without a network, or of one that sends
// requests.
func (c *initCommand) initialize(cmd *cobra.Command, dir string) (answer initialized, err error) {
	key, err := c.apiKey()
	if err != nil {
		return answer, err
	}
	answer = initialized{OrganizationID: key.OrganizationID, APIPublicKey: key.PublicKey}
	if c.client == "" {
		answer.APIPrivateKeyFile = APIKeyName
	}
	if !c.online {
		answer.Config = ConfigName
	}
	if c.offline {
		answer.ProofPublicKey, answer.LogKey = proofPublicName, logKeyName
	}
	err = fillAtOnce(dir, &answer, func(staged func(string) string) (steps []func() error) {
		add := func(wanted bool, step func() error) {
			if wanted {
				steps = append(steps, step)
			}
		}
		write := func(name string, content []byte) error { return console.WriteNew(staged(name), content) }
		add(!c.online && c.store == "", func() error { return initStore(staged(StoreName)) })
		add(!c.online && c.hasPassphrase(), func() error { return write(PassphraseName, randomLine(32)) })
		add(!c.online && c.keystore == "", func() error {
			return initKeystore(staged(KeysName), staged(PassphraseName))
		})
		add(c.client == "", func() error { return write(APIKeyName, append(console.JSONLine(key), '\n')) })
		add(!c.online, func() error { return initProofKey(staged(proofName), staged(answer.ProofPublicKey)) })
		add(!c.online, func() error { return initLogKey(staged(logName), staged(answer.LogKey), key.OrganizationID) })
		add(c.sendsCodes(), func() error { return write(otpSecretName, randomLine(otp.MinSecretSize)) })
		add(c.sendsCodes(), func() error { return os.Mkdir(staged(OutboxName), 0o700) })
		add(!c.online, func() error { return write(ConfigName, c.config(key)) })
		add(!c.online, func() error { return c.readBack(cmd, staged(ConfigName)) })
		return steps
	})
	for _, name := range []*string{&answer.Config, &answer.APIPrivateKeyFile, &answer.ProofPublicKey, &answer.LogKey} {
		if *name != "" {
			*name = filepath.Join(dir, *name)
		}
	}
	return answer, err
}

// hasPassphrase reports whether the keystore is a directory: a token has a PIN.
func (c *initCommand) hasPassphrase() bool {
	return c.keystore == "" || strings.HasPrefix(c.keystore, "file:")
}

// apiKey returns a new API key, or the public half of the client's.
func (c *initCommand) apiKey() (deployment.APIKey, error) {
	if c.client == "" {
		return deployment.NewAPIKey(uuid.NewString(), stamp.CurveP256)
	}
	client, err := readClient(c.client)
	if err != nil {
		return deployment.APIKey{}, fmt.Errorf("--client %s: %w", c.client, err)
	}
	return deployment.APIKey{
		OrganizationID: client.OrganizationID, PublicKey: client.APIPublicKey, Curve: stamp.CurveP256,
	}, nil
}

// readBack reads what init wrote as serve will, but for a store and a keystore that do not exist yet.
func (c *initCommand) readBack(cmd *cobra.Command, path string) error {
	loader := deployment.Loader{Path: path, NewStore: c.store != ""}
	if c.keystore != "" {
		loader.Keystore = func(_ *cobra.Command, configured *config.Config) (keystore.Keystore, error) {
			flags := deployment.KeystoreFlags{Organization: deployment.DefaultOrganization}
			flags.Use(configured)
			return nil, flags.Check()
		}
	}
	loaded, err := loader.Load(cmd)
	if err == nil {
		loaded.Discard()
	}
	return err
}

func randomLine(size int) []byte {
	random := make([]byte, size)
	_, _ = rand.Read(random) // never fails
	defer keystore.Wipe(random)
	return append(hex.AppendEncode(nil, random), '\n')
}

// initStore creates an empty store: serve creates none by itself.
func initStore(path string) error {
	created, err := bolt.Open(path)
	if err != nil {
		return err
	}
	return created.Close()
}

func initKeystore(dir, passphraseFile string) error {
	line, err := os.ReadFile(passphraseFile)
	if err != nil {
		return err
	}
	defer keystore.Wipe(line)
	keys, err := file.Create(dir, line[:len(line)-1], file.Options{WorkFactor: deployment.InitWorkFactor})
	if err != nil {
		return err
	}
	return keys.Close()
}

// initProofKey creates the proof key, and the file of its public half if that has a name.
func initProofKey(path, public string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err == nil {
		err = console.WriteKey(path, key)
	}
	if err != nil || public == "" {
		return err
	}
	encoded, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return console.WriteNew(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: encoded}))
}

// initLogKey creates the key of the log of an organization, and the file of its verifier key if that has a name.
func initLogKey(path, public, organizationID string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err == nil {
		err = console.WriteKey(path, key)
	}
	if err != nil || public == "" {
		return err
	}
	return console.WriteNew(public, []byte(translog.NewSigner(key).VerifierKey(organizationID)+"\n"))
}

// sendsCodes reports whether this is a server with one-time passwords.
func (c *initCommand) sendsCodes() bool { return !c.noOTP && !c.online && !c.offline }

// config returns the configuration that init writes. Names in the directory need no quotes in YAML.
func (c *initCommand) config(key deployment.APIKey) []byte {
	or := func(given, standard string) string {
		if given == "" {
			return standard
		}
		return strconv.Quote(given)
	}
	user, addresses := "online            # the machine that sends requests", ""
	if !c.offline {
		user, addresses = "admin", fmt.Sprintf(`listen: %s
admin: %s           # /healthz, /readyz, /metrics
# tls: {certFile: cert.pem, keyFile: key.pem}
# origins: [https://app.example.com]  # pages that may use the API from a browser
`, or(c.listen, "127.0.0.1:8080"), or(c.admin, "127.0.0.1:8081"))
	}
	var passphrase, memory, codes string
	if c.hasPassphrase() {
		passphrase = "passphraseFile: " + PassphraseName + "\n"
	}
	if c.memory != "" {
		memory = ", memory: " + strconv.Quote(c.memory)
	}
	if c.sendsCodes() {
		codes = fmt.Sprintf(`otp:
  secretFile: %s
  outbox: %s                # one file per message; to send them, replace it with:
  # email: {smtp: {host: mail.example.com, port: 587, username: …, passwordFile: …, tls: starttls, from: no-reply@example.com}}
  # sms: {webhook: {url: https://…, headersFile: …}}
`, otpSecretName, OutboxName)
	}
	return fmt.Appendf(nil, config.SchemaLine+`# Relative paths are relative to this file. After a change: systemctl reload, or kill -HUP.
%sstore: %s            # or postgres://user@host/name, for several nodes: then start once with --new-store
keystore: %s
%sproofKey: file:%s
log: {keyFile: %s%s}         # signs checkpoints of the log: countersign log --help
organizations:
  - id: "%s"
    name: Example
    allowHazards: []            # by name, as 'countersign inspect' shows them; texts that are neither
    #                             sign-ins nor of a template need message/free-text: docs/messages.md
    users:
      - name: %s
        apiKeys:
          - {curve: %s, publicKey: "%s"}
            # activities: […] # default: transactions and one-time passwords. Voting and
            #                   signing messages must be listed: docs/configuration.md
%s`, addresses, or(c.store, "bolt:"+StoreName), or(c.keystore, "file:"+KeysName), passphrase,
		proofName, logName, memory, key.OrganizationID, user, key.Curve, key.PublicKey, codes)
}
