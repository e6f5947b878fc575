package file_test

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// TestAgeCommand decrypts a key and a wallet of an extended key with the age command: with the
// decrypted identity, with the encrypted identity, and with a recovery identity.
func TestAgeCommand(t *testing.T) {
	command := testenv.Tool(t, "age")
	recovery, err := age.GenerateX25519Identity()
	testenv.Must(t, err)
	options := fast
	options.Recovery = []string{recovery.Recipient().String()}
	dir := filepath.Join(t.TempDir(), "keys")
	store, err := file.Create(dir, passphrase, options)
	testenv.Must(t, err)
	defer store.Close()
	info, err := store.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret(1)})
	testenv.Must(t, err)

	sealed := filepath.Join(dir, "identity.age")
	plain := filepath.Join(t.TempDir(), "identity.txt")
	paper := filepath.Join(t.TempDir(), "paper.txt")
	testenv.Write(t, paper, []byte(recovery.String()+"\n"))
	onTerminal(t, command, "-d", "-o", plain, sealed)
	key := filepath.Join(dir, "keys", info.ID+".age")
	extended := filepath.Join(dir, "keys", addExtended(t, store, masterKey).ID+".age")
	for name, identity := range map[string]string{"the decrypted identity": plain, "the recovery identity": paper} {
		for path, want := range map[string]string{key: hex.EncodeToString(secret(1)), extended: masterKey} {
			output, err := exec.CommandContext(t.Context(), command, "-d", "-i", identity, path).CombinedOutput()
			if err != nil || string(output) != want+"\n" {
				t.Errorf("with %s: %s, %v", name, output, err)
			}
		}
	}
	out := filepath.Join(t.TempDir(), "secret.txt")
	onTerminal(t, command, "-d", "-i", sealed, "-o", out, key)
	if text, err := os.ReadFile(out); err != nil || string(text) != hex.EncodeToString(secret(1))+"\n" {
		t.Errorf("with the encrypted identity: %s, %v", text, err)
	}
}

// onTerminal runs a command that prompts for the passphrase, on a terminal provided by
// script(1).
func onTerminal(t *testing.T, command ...string) {
	t.Helper()
	script := exec.CommandContext(t.Context(), testenv.Tool(t, "script"), "-qec", strings.Join(command, " "), os.DevNull)
	script.Stdin = strings.NewReader(string(passphrase) + "\n")
	if output, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, output)
	}
}
