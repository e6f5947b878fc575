package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/stamp"
)

// proofPublicName is the public half of the proof key, for the machine that
// verifies answers.
const proofPublicName = "proof-public.pem"

// logKeyName is the key that verifies the log, for the same machine.
const logKeyName = "log-key.txt"

// initializedClient is what init --online prints: client.json.
type initializedClient struct {
	OrganizationID    string `json:"organizationId"`
	APIPublicKey      string `json:"apiPublicKey"`
	APIPrivateKeyFile string `json:"apiPrivateKeyFile"`
}

// initializeOnline makes the directory of the machine that asks: an API key, and
// nothing to sign with.
func initializeOnline(dir string) (made initializedClient, err error) {
	if err := harden.NoCoreDumps(); err != nil {
		return made, err
	}
	key, err := newAPIKey(uuid.NewString(), stamp.CurveP256)
	if err != nil {
		return made, err
	}
	made = initializedClient{key.OrganizationID, key.PublicKey, apiKeyName}
	err = fillAtOnce(dir, &made, func(at func(string) string) []func() error {
		return []func() error{func() error { return writeNew(at(apiKeyName), append(jsonLine(key), '\n')) }}
	})
	made.APIPrivateKeyFile = filepath.Join(dir, made.APIPrivateKeyFile)
	return made, err
}

// initializedOffline is what init --offline prints.
type initializedOffline struct {
	Config         string `json:"config"`
	OrganizationID string `json:"organizationId"`
	APIPublicKey   string `json:"apiPublicKey"` // of the machine that asks: to be compared there
	ProofPublicKey string `json:"proofPublicKeyFile"`
	LogKey         string `json:"logKeyFile"`
}

// initializeOffline makes the directory of the machine that signs, for the requests
// of the client whose file is named.
func initializeOffline(dir, clientFile string) (made initializedOffline, err error) {
	client, err := readClient(clientFile)
	if err != nil {
		return made, fmt.Errorf("--client %s: %w", clientFile, err)
	}
	if err := harden.NoCoreDumps(); err != nil {
		return made, err
	}
	made = initializedOffline{configName, client.OrganizationID, client.APIPublicKey, proofPublicName, logKeyName}
	err = fillAtOnce(dir, &made, func(at func(string) string) []func() error {
		return []func() error{
			func() error { return initKeystore(at(keysName), at(passphraseName)) },
			func() error { return initProofKey(at(proofName)) },
			func() error { return writeProofPublic(at(proofName), at(proofPublicName)) },
			func() error { return initLogKey(at(logName)) },
			func() error { return writeLogKey(at(logName), at(logKeyName), client.OrganizationID) },
			func() error { return writeNew(at(configName), offlineConfig(client)) },
		}
	})
	for _, name := range []*string{&made.Config, &made.ProofPublicKey, &made.LogKey} {
		*name = filepath.Join(dir, *name)
	}
	return made, err
}

// maxClient bounds client.json, in bytes.
const maxClient = 4096

// readClient reads client.json, as init prints it, strictly: what is in it goes into
// a configuration.
func readClient(path string) (client initializedClient, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return client, err
	}
	if info.Size() > maxClient {
		return client, fmt.Errorf("longer than %d bytes", maxClient)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return client, err
	}
	var config string // that of the other machine
	if err := strictjson.Read(content, "client",
		strictjson.Required("organizationId", &client.OrganizationID),
		strictjson.Required("apiPublicKey", &client.APIPublicKey),
		strictjson.Optional("apiPrivateKeyFile", &client.APIPrivateKeyFile),
		strictjson.Optional("config", &config),
	); err != nil {
		return client, err
	}
	id, err := uuid.Parse(client.OrganizationID)
	if err != nil || id.String() != client.OrganizationID {
		return client, errors.New("organizationId: a UUID in lower case is expected")
	}
	key, err := hex.DecodeString(client.APIPublicKey)
	if err != nil || len(key) != 33 || hex.EncodeToString(key) != client.APIPublicKey {
		return client, errors.New("apiPublicKey: 66 lower-case hex digits are expected, a compressed key on P-256")
	}
	return client, nil
}

// writeProofPublic writes the public half of the proof key.
func writeProofPublic(from, to string) error {
	content, err := os.ReadFile(from) //nolint:gosec // made a moment ago
	if err != nil {
		return err
	}
	defer clear(content)
	block, _ := pem.Decode(content)
	defer clear(block.Bytes)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return err
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return errors.New("the proof key is not on P-256")
	}
	encoded, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return writeNew(to, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: encoded}))
}

// writeLogKey writes the line that verifies the log of a key.
func writeLogKey(from, to, organizationID string) error {
	signer, err := openLogKey(context.Background(), from)
	if err != nil {
		return err
	}
	return writeNew(to, []byte(signer.VerifierKey(organizationID)+"\n"))
}

// offlineConfig is the configuration that init --offline writes.
func offlineConfig(client initializedClient) []byte {
	return fmt.Appendf(nil, `# A machine without a network. Relative paths are relative to this file.
store: bolt:state.db            # what was signed: the same request is never signed twice
keystore: file:%s
passphraseFile: %s
proofKey: file:%s
log: {keyFile: %s}         # signs checkpoints of the log, in each answer
organizations:
  - id: "%s"
    name: Example
    allowHazards: []            # by name, as 'countersign inspect' shows them
    users:
      - name: online            # the machine that asks
        apiKeys:
          - {curve: %s, publicKey: "%s"}
            # activities: […] # left out: transactions and one-time passwords. To vote
            #                   or sign messages, the types have to be named: docs/configuration.md
`, keysName, passphraseName, proofName, logName, client.OrganizationID, stamp.CurveP256, client.APIPublicKey)
}
