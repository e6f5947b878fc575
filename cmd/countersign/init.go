package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/stamp"
)

func newInitCommand() *cobra.Command {
	var c initCommand
	command := &cobra.Command{
		Use:   "init DIR",
		Short: "Set up all that serve needs",
		Long: paragraphs(`
Make a directory with all that serve needs, and that a first request needs:

  countersign.yaml   the configuration; its comments say what can be changed
  keys/              a keystore without keys
  passphrase         its passphrase, made up
  api-key.json       an API key: for who sends requests, not for the server
  proof.pem          the key of app proofs and verification tokens
  otp-secret         the secret of one-time passwords
  outbox/            where their messages go, until a mail server is configured

DIR must be empty or not there. All of it is for its owner alone. If init is
interrupted, the same command finishes what it began. Printed is

  {"config":"…","organizationId":"…","apiPublicKey":"…","apiPrivateKeyFile":"…"}

For two machines, of which one has never had a network: --online makes api-key.json
alone, for the machine that asks; its output, client.json, goes to the other, where
--offline --client client.json makes the rest, for requests of that key alone:

  {"config":"…","organizationId":"…","apiPublicKey":"…","proofPublicKeyFile":"…",
   "logKeyFile":"…"}

proof-public.pem is what the machine that asks verifies answers with.`),
		Example: paragraphs(`
  countersign init DIR
  countersign keys generate --config DIR/countersign.yaml --curve CURVE_SECP256K1
  countersign serve --config DIR/countersign.yaml
  countersign init --online online > client.json
  countersign init --offline --client client.json offline`),
		Args: oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	flags := command.Flags()
	flags.BoolVar(&c.online, "online", false, "make what a machine needs that only asks: an API key")
	flags.BoolVar(&c.offline, "offline", false, "make what a machine needs that signs and has no network")
	flags.StringVar(&c.client, "client", "", "`FILE` that init --online printed on the other machine, with --offline")
	return command
}

// oneDirectory checks that exactly one directory is named.
func oneDirectory(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usagef("DIR is missing: name a directory that is empty or not there, such as 'countersign init server'")
	case 1:
		return nil
	}
	return usagef("init makes one directory, and %q names %d", args, len(args))
}

// initCommand is one call of init.
type initCommand struct {
	online, offline bool
	client          string
}

func (c *initCommand) run(cmd *cobra.Command, dir string) error {
	var made any
	var err error
	switch {
	case c.online && c.offline:
		return usagef("--online and --offline are for two machines: pass one of them")
	case c.offline && c.client == "":
		return usagef("--client is missing: what 'countersign init --online' printed on the machine that asks")
	case c.client != "" && !c.offline:
		return usagef("--client goes with --offline")
	case c.online:
		made, err = initializeOnline(dir)
	case c.offline:
		made, err = initializeOffline(dir, c.client)
	default:
		made, err = initialize(dir)
	}
	if err != nil {
		return err
	}
	return printJSON(cmd.OutOrStdout(), made)
}

// initialized is what init prints.
type initialized struct {
	Config            string `json:"config"`
	OrganizationID    string `json:"organizationId"`
	APIPublicKey      string `json:"apiPublicKey"`
	APIPrivateKeyFile string `json:"apiPrivateKeyFile"`
}

// Names in the directory that init makes.
const (
	configName     = "countersign.yaml"
	keysName       = "keys"
	passphraseName = "passphrase"
	apiKeyName     = "api-key.json"
	proofName      = "proof.pem"
	logName        = "log.pem"
	otpSecretName  = "otp-secret"
	outboxName     = "outbox"
)

// initialize fills the directory.
func initialize(dir string) (made initialized, err error) {
	if err := harden.NoCoreDumps(); err != nil {
		return made, err
	}
	key, err := newAPIKey(uuid.NewString(), stamp.CurveP256)
	if err != nil {
		return made, err
	}
	made = initialized{configName, key.OrganizationID, key.PublicKey, apiKeyName}
	err = fillAtOnce(dir, &made, func(at func(string) string) []func() error {
		return []func() error{
			func() error { return initKeystore(at(keysName), at(passphraseName)) },
			func() error { return writeNew(at(apiKeyName), append(jsonLine(key), '\n')) },
			func() error { return initProofKey(at(proofName)) },
			func() error { return initLogKey(at(logName)) },
			func() error { return writeNew(at(otpSecretName), randomLine(otp.MinSecretSize)) },
			func() error { return os.Mkdir(at(outboxName), 0o700) },
			func() error { return writeNew(at(configName), initialConfig(key)) },
		}
	})
	made.Config, made.APIPrivateKeyFile = filepath.Join(dir, made.Config), filepath.Join(dir, made.APIPrivateKeyFile)
	return made, err
}

// writeNew writes a file that is not there yet, for its owner alone, safely on
// disk.
func writeNew(path string, content []byte) (err error) {
	made, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	if _, err := made.Write(content); err != nil {
		return err
	}
	return made.Sync()
}

// randomLine is a line of random bytes in hex.
func randomLine(size int) []byte {
	random := make([]byte, size)
	_, _ = rand.Read(random) // never fails
	defer keystore.Wipe(random)
	return append(hex.AppendEncode(nil, random), '\n')
}

// initWorkFactor is the scrypt work factor of the keystore that init makes. Its
// passphrase is 256 random bits, which cannot be guessed at any speed: making each
// guess slow would only slow each start.
const initWorkFactor = 10

func initKeystore(dir, passphraseFile string) error {
	line := randomLine(32)
	defer keystore.Wipe(line)
	if err := writeNew(passphraseFile, line); err != nil {
		return err
	}
	keys, err := file.Create(dir, line[:len(line)-1], file.Options{WorkFactor: initWorkFactor})
	if err != nil {
		return err
	}
	return keys.Close()
}

func initProofKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(path, key)
}

func initLogKey(path string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(path, key)
}

// writeKey writes a private key as PKCS #8 in PEM.
func writeKey(path string, key any) error {
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	defer keystore.Wipe(encoded)
	return writeNew(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

// initialConfig is the configuration that init writes. Nothing in it needs
// quotes but what has them.
func initialConfig(key apiKey) []byte {
	return fmt.Appendf(nil, `# Relative paths are relative to this file. After a change: systemctl reload, or kill -HUP.
listen: 127.0.0.1:8080
admin: 127.0.0.1:8081           # /healthz, /readyz, /metrics
# tls: {certFile: cert.pem, keyFile: key.pem}
# origins: [https://app.example.com]  # pages that may use the API from a browser
store: bolt:state.db            # or postgres://user@host/name, for several nodes
keystore: file:%s
passphraseFile: %s
proofKey: file:%s
log: {keyFile: %s}         # signs checkpoints of the log: countersign log --help
organizations:
  - id: "%s"
    name: Example
    allowHazards: []            # by name, as 'countersign inspect' shows them
    users:
      - name: admin
        apiKeys:
          - {curve: %s, publicKey: "%s"}
            # activities: […] # left out: transactions and one-time passwords. To vote
            #                   or sign messages, the types have to be named: docs/configuration.md
otp:
  secretFile: %s
  outbox: %s                # one file per message; to send them, instead of it:
  # email: {smtp: {host: mail.example.com, port: 587, username: …, passwordFile: …, tls: starttls, from: no-reply@example.com}}
  # sms: {webhook: {url: https://…, headersFile: …}}
`, keysName, passphraseName, proofName, logName, key.OrganizationID, key.Curve, key.PublicKey, otpSecretName, outboxName)
}
