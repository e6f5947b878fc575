package setup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// errKilled is the panic that simulates a killed process.
var errKilled = errors.New("killed")

// fill runs init.
func fill(t *testing.T, dir string) (initialized, error) {
	t.Helper()
	command := NewInitCommand()
	command.SetContext(t.Context())
	return new(initCommand).initialize(command, dir)
}

// diesAt runs init and kills it, without any clean-up, before it moves the file with an
// index. It reports whether init got that far.
func diesAt(t *testing.T, dir string, move int) (died bool) {
	t.Helper()
	defer func() { rename = os.Rename }()
	defer func() {
		if cause := recover(); cause != nil {
			died = true
			if cause != errKilled { //nolint:errorlint // the value itself
				panic(cause)
			}
		}
	}()
	rename = func(from, to string) error {
		if move--; move < 0 {
			panic(errKilled)
		}
		return os.Rename(from, to)
	}
	if _, err := fill(t, dir); err != nil {
		t.Fatal(err)
	}
	return false
}

// TestInitKilledWhileMoving kills init before each of its moves. The same command then
// finishes, with one API key, and no configuration exists before everything else does.
func TestInitKilledWhileMoving(t *testing.T) {
	ends := 0
	for ; ; ends++ {
		dir := filepath.Join(t.TempDir(), "made")
		if !diesAt(t, dir, ends) {
			break
		}
		if _, err := os.Stat(filepath.Join(dir, ConfigName)); err == nil && ends < 3 {
			t.Errorf("killed before move %d: the configuration is there", ends)
		}
		made, err := fill(t, dir)
		if err != nil {
			t.Fatalf("killed before move %d: %v", ends, err)
		}
		mustBeWhole(t, dir, made)
	}
	if ends != 10 { // the answer, and nine entries of the directory
		t.Errorf("init moves %d files, want 10: does it create some in place?", ends)
	}
}

// mustBeWhole checks that the directory is complete, and that the configuration, the API
// key and the answer belong together.
func mustBeWhole(t *testing.T, dir string, made initialized) {
	t.Helper()
	configured, err := config.Read(made.Config)
	testenv.Must(t, err)
	content := testenv.Read(t, made.APIPrivateKeyFile)
	by, err := api.ParseKey(content)
	if err != nil || by.OrganizationID != made.OrganizationID || configured.Organizations[0].ID != made.OrganizationID {
		t.Errorf("%v: organization %s of the key, %s of the answer", err, by.OrganizationID, made.OrganizationID)
	}
	for _, path := range append(configured.Files(), filepath.Join(dir, KeysName, "identity.age"), filepath.Join(dir, PassphraseName), filepath.Join(dir, OutboxName)) {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, StagingName)); err == nil {
		t.Error("the staging folder is left")
	}
	if _, err := fill(t, dir); err == nil {
		t.Error("a complete directory was filled again")
	}
}

// TestInitKilledWhileCreating: if init is killed before everything is created, the next
// one starts over. It does not touch files of other programs.
func TestInitKilledWhileCreating(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	func() {
		defer func() { _ = recover() }()
		var made initialized
		_ = fillAtOnce(dir, &made, func(at func(string) string) []func() error {
			return []func() error{
				func() error { return console.WriteNew(at(PassphraseName), []byte("first")) },
				func() error { panic(errKilled) },
			}
		})
	}()
	other := filepath.Join(dir, "other")
	testenv.Write(t, other, nil)
	if _, err := fill(t, dir); err == nil {
		t.Error("a directory with a file of another program was taken")
	}
	testenv.Must(t, os.Remove(other))
	made, err := fill(t, dir)
	testenv.Must(t, err)
	mustBeWhole(t, dir, made)
	if content, err := os.ReadFile(filepath.Join(dir, PassphraseName)); err != nil || string(content) == "first" {
		t.Errorf("passphrase %q, %v", content, err)
	}
}
