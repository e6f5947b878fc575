package setup

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/cli/console"
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

// StagingName is the folder in which init creates everything. It is inside the directory
// that init fills, which may be a volume: a folder outside could not be renamed over it.
const StagingName = ".countersign-init"

// answerName is the file that is written into the staging folder last: if it exists, the
// folder is complete. It holds the output of init, with paths relative to the directory.
const answerName = "answer.json"

// rename is os.Rename. Tests replace it to simulate a crash.
var rename = os.Rename

// fillAtOnce runs the steps, each of which creates one file or folder, so that the
// directory is filled completely or not at all. If the process is killed, the next call
// with the same directory starts over if the staging folder is incomplete. Otherwise it
// finishes the first call, and sets *answer to the answer of that call.
func fillAtOnce(dir string, answer *initialized, steps func(staged func(name string) string) []func() error) error {
	staging := filepath.Join(dir, StagingName)
	finished, err := os.ReadFile(filepath.Join(staging, answerName)) //nolint:gosec // named by the user
	if err == nil {
		if err := json.Unmarshal(finished, answer); err != nil {
			return fmt.Errorf("%s: the leftovers of an interrupted init are damaged: remove them", staging)
		}
		return moveUp(staging, dir)
	}
	if err := console.MakeEmptyDirectory(dir, StagingName); err != nil {
		return err
	}
	if err := os.RemoveAll(staging); err != nil { // nothing in it was ever in use
		return err
	}
	if err := os.Mkdir(staging, 0o700); err != nil {
		return err
	}
	staged := func(name string) string {
		if name == "" { // of no file
			return ""
		}
		return filepath.Join(staging, name)
	}
	all := append(steps(staged), func() error { return console.WriteNew(staged("."+answerName), console.JSONLine(answer)) },
		func() error { return rename(staged("."+answerName), staged(answerName)) })
	for _, step := range all {
		if err := step(); err != nil {
			return errors.Join(err, os.RemoveAll(staging))
		}
	}
	return moveUp(staging, dir)
}

// moveUp moves everything but the answer from the staging folder to the directory, and
// removes the folder.
func moveUp(staging, dir string) error {
	entries, err := os.ReadDir(staging)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == answerName {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, entry.Name())); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists, and was not created by init: move it away", filepath.Join(dir, entry.Name()))
		}
		if err := rename(filepath.Join(staging, entry.Name()), filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(staging, answerName)); err != nil {
		return err
	}
	return os.Remove(staging)
}
