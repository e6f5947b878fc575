package setup

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/stamp"
)

// Names in the directory of an offline machine that the online machine gets copies of.
const (
	proofPublicName = "proof-public.pem" // verifies answers
	logKeyName      = "log-key.txt"      // verifies the log
)

// initializeOnline fills the directory of the machine that sends requests: an API key,
// and nothing to sign transactions with.
func initializeOnline(dir string) (answer initialized, err error) {
	key, err := deployment.NewAPIKey(uuid.NewString(), stamp.CurveP256)
	if err != nil {
		return answer, err
	}
	answer = initialized{OrganizationID: key.OrganizationID, APIPublicKey: key.PublicKey, APIPrivateKeyFile: APIKeyName}
	err = fillAtOnce(dir, &answer, func(staged func(string) string) []func() error {
		return []func() error{func() error { return console.WriteNew(staged(APIKeyName), append(console.JSONLine(key), '\n')) }}
	})
	return answer.in(dir), err
}

// initializeOffline fills the directory of the machine that signs, for the requests of the
// client in clientFile.
func initializeOffline(dir, clientFile string) (answer initialized, err error) {
	client, err := readClient(clientFile)
	if err != nil {
		return answer, fmt.Errorf("--client %s: %w", clientFile, err)
	}
	answer = initialized{
		Config: ConfigName, OrganizationID: client.OrganizationID, ProofPublicKey: proofPublicName, LogKey: logKeyName,
		APIPublicKey: client.APIPublicKey, // of the online machine, for comparison there
	}
	err = fillAtOnce(dir, &answer, func(staged func(string) string) []func() error {
		return []func() error{
			func() error { return initStore(staged(StoreName)) },
			func() error { return initKeystore(staged(KeysName), staged(PassphraseName)) },
			func() error { return initProofKey(staged(proofName), staged(proofPublicName)) },
			func() error { return initLogKey(staged(logName), staged(logKeyName), client.OrganizationID) },
			func() error { return console.WriteNew(staged(ConfigName), offlineConfig(client)) },
		}
	})
	return answer.in(dir), err
}

// maxClient bounds client.json, in bytes.
const maxClient = 4096

// readClient reads client.json strictly: its values are written into a configuration.
func readClient(path string) (client initialized, err error) {
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
	if err := strictjson.Read(content, "client",
		strictjson.Required("organizationId", &client.OrganizationID),
		strictjson.Required("apiPublicKey", &client.APIPublicKey),
		strictjson.Optional("apiPrivateKeyFile", &client.APIPrivateKeyFile),
		strictjson.Optional("config", &client.Config), // if init ran without --online
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
func offlineConfig(client initialized) []byte {
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
