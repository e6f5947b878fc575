package setup

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Names in the directory of an offline machine that the online machine gets copies of.
const (
	proofPublicName = "proof-public.pem" // verifies answers
	logKeyName      = "log-key.txt"      // verifies the log
)

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
