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

To sign on a machine without a network, set up two directories. On the machine that
sends requests, --online creates api-key.json alone, and prints client.json. On the
machine that signs, --offline --client client.json creates the rest, which accepts
requests stamped with that API key only, and prints

  {"config":"…","organizationId":"…","apiPublicKey":"…","proofPublicKeyFile":"…",
   "logKeyFile":"…"}

The online machine verifies answers with proof-public.pem and log-key.txt.`),
		Example: console.Paragraphs(`
  countersign init DIR
  countersign keys generate --config DIR/countersign.yaml --curve secp256k1
  countersign serve --config DIR/countersign.yaml
  countersign init --online online > client.json
  countersign init --offline --client client.json offline`),
		Args: oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	flags := command.Flags()
	flags.BoolVar(&c.online, "online", false, "set up the machine that sends requests: an API key alone")
	flags.BoolVar(&c.offline, "offline", false, "set up the machine that signs, without a network")
	flags.StringVar(&c.client, "client", "", "with --offline: `FILE` that init --online printed on the other machine")
	console.Exclusive(command, "they are for two machines", "online", "offline")
	console.Together(command,
		"the machine without a network needs the output of 'countersign init --online' on the other one", "offline", "client")
	return command
}

// oneDirectory requires exactly one directory.
func oneDirectory(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return console.Usagef("DIR is missing: name a directory that is empty or does not exist, such as 'countersign init server'")
	case 1:
		return nil
	}
	return console.Usagef("init sets up one directory, and %q names %d", args, len(args))
}

// initCommand is one call of init.
type initCommand struct {
	online, offline bool
	client          string
}

func (c *initCommand) run(cmd *cobra.Command, dir string) (err error) {
	if err := harden.NoCoreDumps(); err != nil {
		return err
	}
	var answer initialized
	switch {
	case c.online:
		answer, err = initializeOnline(dir)
	case c.offline:
		answer, err = initializeOffline(dir, c.client)
	default:
		answer, err = initialize(dir)
	}
	if err == nil && !c.online {
		err = readBack(cmd, dir)
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

// in returns the answer with the paths of the files in a directory.
func (i initialized) in(dir string) initialized {
	for _, name := range []*string{&i.Config, &i.APIPrivateKeyFile, &i.ProofPublicKey, &i.LogKey} {
		if *name != "" {
			*name = filepath.Join(dir, *name)
		}
	}
	return i
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

// initialize fills the directory of a server.
func initialize(dir string) (answer initialized, err error) {
	key, err := deployment.NewAPIKey(uuid.NewString(), stamp.CurveP256)
	if err != nil {
		return answer, err
	}
	answer = initialized{
		Config: ConfigName, OrganizationID: key.OrganizationID,
		APIPublicKey: key.PublicKey, APIPrivateKeyFile: APIKeyName,
	}
	err = fillAtOnce(dir, &answer, func(staged func(string) string) []func() error {
		return []func() error{
			func() error { return initStore(staged(StoreName)) },
			func() error { return initKeystore(staged(KeysName), staged(PassphraseName)) },
			func() error { return console.WriteNew(staged(APIKeyName), append(console.JSONLine(key), '\n')) },
			func() error { return initProofKey(staged(proofName), "") },
			func() error { return initLogKey(staged(logName), "", "") },
			func() error { return console.WriteNew(staged(otpSecretName), randomLine(otp.MinSecretSize)) },
			func() error { return os.Mkdir(staged(OutboxName), 0o700) },
			func() error { return console.WriteNew(staged(ConfigName), initialConfig(key)) },
		}
	})
	return answer.in(dir), err
}

// readBack reads what init wrote, or an interrupted init did, as serve will.
func readBack(cmd *cobra.Command, dir string) error {
	loaded, err := deployment.Loader{Path: filepath.Join(dir, ConfigName)}.Load(cmd)
	if err == nil {
		loaded.Discard()
	}
	return err
}

// randomLine returns a line of random bytes in hex.
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
	line := randomLine(32)
	defer keystore.Wipe(line)
	if err := console.WriteNew(passphraseFile, line); err != nil {
		return err
	}
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

// initialConfig returns the configuration that init writes. Names need no quotes in YAML.
func initialConfig(key deployment.APIKey) []byte {
	return fmt.Appendf(nil, config.SchemaLine+`# Relative paths are relative to this file. After a change: systemctl reload, or kill -HUP.
listen: 127.0.0.1:8080
admin: 127.0.0.1:8081           # /healthz, /readyz, /metrics
# tls: {certFile: cert.pem, keyFile: key.pem}
# origins: [https://app.example.com]  # pages that may use the API from a browser
store: bolt:%s            # or postgres://user@host/name, for several nodes: then start once with --new-store
keystore: file:%s
passphraseFile: %s
proofKey: file:%s
log: {keyFile: %s}         # signs checkpoints of the log: countersign log --help
organizations:
  - id: "%s"
    name: Example
    allowHazards: []            # by name, as 'countersign inspect' shows them; texts that are neither
    #                             sign-ins nor of a template need message/free-text: docs/messages.md
    users:
      - name: admin
        apiKeys:
          - {curve: %s, publicKey: "%s"}
            # activities: […] # default: transactions and one-time passwords. Voting and
            #                   signing messages must be listed: docs/configuration.md
otp:
  secretFile: %s
  outbox: %s                # one file per message; to send them, replace it with:
  # email: {smtp: {host: mail.example.com, port: 587, username: …, passwordFile: …, tls: starttls, from: no-reply@example.com}}
  # sms: {webhook: {url: https://…, headersFile: …}}
`, StoreName, KeysName, PassphraseName, proofName, logName, key.OrganizationID, key.Curve, key.PublicKey, otpSecretName, OutboxName)
}
