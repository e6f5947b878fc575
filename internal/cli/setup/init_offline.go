package setup

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/stamp"
)

// Names in the directory of an offline machine that the online machine gets copies of.
const (
	proofPublicName = "proof-public.pem" // verifies answers
	logKeyName      = "log-key.txt"      // verifies the log
)

// initializedClient is the output of init --online: client.json.
type initializedClient struct {
	OrganizationID    string `json:"organizationId"`
	APIPublicKey      string `json:"apiPublicKey"`
	APIPrivateKeyFile string `json:"apiPrivateKeyFile"`
}

// initializeOnline fills the directory of the machine that sends requests: an API key,
// and nothing to sign transactions with.
func initializeOnline(dir string) (answer initializedClient, err error) {
	if err := harden.NoCoreDumps(); err != nil {
		return answer, err
	}
	key, err := deployment.NewAPIKey(uuid.NewString(), stamp.CurveP256)
	if err != nil {
		return answer, err
	}
	answer = initializedClient{key.OrganizationID, key.PublicKey, APIKeyName}
	err = fillAtOnce(dir, &answer, func(staged func(string) string) []func() error {
		return []func() error{func() error { return console.WriteNew(staged(APIKeyName), append(console.JSONLine(key), '\n')) }}
	})
	answer.APIPrivateKeyFile = filepath.Join(dir, answer.APIPrivateKeyFile)
	return answer, err
}

// initializedOffline is the output of init --offline.
type initializedOffline struct {
	Config         string `json:"config"`
	OrganizationID string `json:"organizationId"`
	APIPublicKey   string `json:"apiPublicKey"` // of the online machine, for comparison there
	ProofPublicKey string `json:"proofPublicKeyFile"`
	LogKey         string `json:"logKeyFile"`
}

// initializeOffline fills the directory of the machine that signs, for the requests of the
// client in clientFile.
func initializeOffline(dir, clientFile string) (answer initializedOffline, err error) {
	client, err := readClient(clientFile)
	if err != nil {
		return answer, fmt.Errorf("--client %s: %w", clientFile, err)
	}
	if err := harden.NoCoreDumps(); err != nil {
		return answer, err
	}
	answer = initializedOffline{ConfigName, client.OrganizationID, client.APIPublicKey, proofPublicName, logKeyName}
	err = fillAtOnce(dir, &answer, func(staged func(string) string) []func() error {
		return []func() error{
			func() error { return initStore(staged(StoreName)) },
			func() error { return initKeystore(staged(KeysName), staged(PassphraseName)) },
			func() error { return initProofKey(staged(proofName), staged(proofPublicName)) },
			func() error { return initLogKey(staged(logName), staged(logKeyName), client.OrganizationID) },
			func() error { return console.WriteNew(staged(ConfigName), offlineConfig(client)) },
		}
	})
	for _, name := range []*string{&answer.Config, &answer.ProofPublicKey, &answer.LogKey} {
		*name = filepath.Join(dir, *name)
	}
	return answer, err
}

// maxClient bounds client.json, in bytes.
const maxClient = 4096

// readClient reads client.json strictly: its values are written into a configuration.
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
	var config string // the path of the other machine's configuration, if init ran without --online
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
		return client, errors.New("organizationId: expected a UUID in lower case")
	}
	key, err := hex.DecodeString(client.APIPublicKey)
	if err != nil || len(key) != 33 || hex.EncodeToString(key) != client.APIPublicKey {
		return client, errors.New("apiPublicKey: expected 66 lower-case hex digits, a compressed key on P-256")
	}
	return client, nil
}

// offlineConfig returns the configuration that init --offline writes.
func offlineConfig(client initializedClient) []byte {
	return fmt.Appendf(nil, `# A machine without a network. Relative paths are relative to this file.
store: bolt:%s            # records what was signed: no request is signed twice
keystore: file:%s
passphraseFile: %s
proofKey: file:%s
log: {keyFile: %s}         # signs checkpoints of the log, in each answer
organizations:
  - id: "%s"
    name: Example
    allowHazards: []            # by name, as 'countersign inspect' shows them
    users:
      - name: online            # the machine that sends requests
        apiKeys:
          - {curve: %s, publicKey: "%s"}
            # activities: […] # default: transactions and one-time passwords. Voting and
            #                   signing messages must be listed: docs/configuration.md
`, StoreName, KeysName, PassphraseName, proofName, logName, client.OrganizationID, stamp.CurveP256, client.APIPublicKey)
}
