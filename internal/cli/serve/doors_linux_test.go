package serve_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// doors are all commands that use the store of a configuration. REQUEST is a stamped
// request, and OUT a path that does not exist.
var doors = map[string][]string{
	"serve":             {"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"},
	"sign --request":    {"sign", "--yes", "--request", "REQUEST", "--out", "OUT"},
	"sign --as":         {"sign", "--yes", "--as", "admin", "--type", "ethereum", "--sign-with", "SIGNER"},
	"log verify":        {"log", "verify"},
	"log prove":         {"log", "prove", "id"},
	"log checkpoint":    {"log", "checkpoint"},
	"activities list":   {"activities", "list"},
	"activities show":   {"activities", "show", "id"},
	"activities resume": {"activities", "resume"},
	"policy replay":     {"policy", "replay", "POLICY"},
	"backup":            {"backup", "OUT"},
}

// contents returns what a directory and everything below it consists of.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content := []byte(nil)
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		if info.IsDir() {
			all[path] = info.Mode().String()
			return nil
		}
		all[path] = fmt.Sprintf("%v %d %x", info.Mode(), info.Size(), sha256.Sum256(content))
		return nil
	})
	testenv.Must(t, err)
	return all
}

// mustStay fails unless a directory is as it was.
func mustStay(t *testing.T, what, dir string, before map[string]string) {
	t.Helper()
	after := contents(t, dir)
	for path, state := range after {
		if before[path] != state {
			t.Errorf("%s: %s is %s, and was %q", what, path, state, before[path])
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			t.Errorf("%s: %s is gone", what, path)
		}
	}
}

// cutOff is a bolt file whose creation was cut off before it was laid out.
func cutOff(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cut-off.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err == nil {
		err = db.Close()
	}
	testenv.Must(t, err)
	content := testenv.Read(t, path)
	return content
}

// isNone is what every door says of a store that does not exist: what would be forgotten,
// and both cures.
var isNone = []string{"there is none", "limits, used codes, live requests, approvals and the log", "countersign restore", "countersign serve --new-store"}

// closedDoors runs every door of a deployment whose store is gone or damaged. Each refuses
// with all that says lists, and writes nothing.
func closedDoors(t *testing.T, s *clitest.Served, what string, says ...string) {
	t.Helper()
	closed(t, s, what, doors, says)
}

func closed(t *testing.T, s *clitest.Served, what string, doors map[string][]string, says []string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	request, policy := filepath.Join(s.Dir, "stamped"), filepath.Join(s.Dir, "tried.yaml")
	testenv.Write(t, policy, []byte("version: 1\nrules: []\n"))
	stamped := exec.CommandContext(t.Context(), "countersign", "stamp", "--api-key", filepath.Join(s.Dir, setup.APIKeyName))
	stamped.Stdin = bytes.NewReader(clitest.SignBody(s.By.OrganizationID, s.Signer, clitest.Unsigned, time.Now()))
	out, err := stamped.Output()
	testenv.Must(t, err)
	testenv.Write(t, request, out)
	before := contents(t, filepath.Dir(s.Dir))
	for door, args := range doors {
		line := strings.Join(args, "\n")
		line = strings.NewReplacer("REQUEST", request, "POLICY", policy, "OUT", filepath.Join(s.Dir, "out"), "SIGNER", s.Signer).Replace(line)
		command := exec.CommandContext(t.Context(), "countersign", append(strings.Split(line, "\n"), "--config", s.Config())...)
		command.Stdin = strings.NewReader(clitest.Unsigned)
		out, err := command.CombinedOutput()
		if err == nil || command.ProcessState.ExitCode() != console.ExitFailure {
			t.Errorf("%s, %s: %v: %s", what, door, err, out)
		}
		for _, one := range says {
			if !strings.Contains(string(out), one) {
				t.Errorf("%s, %s does not say %q: %s", what, door, one, out)
			}
		}
		mustStay(t, what+", "+door, filepath.Dir(s.Dir), before)
	}
}

// TestDoorsBolt: a bolt file that is absent, empty, or cut off while it was created is no
// store, and nothing makes one of it but --new-store.
func TestDoorsBolt(t *testing.T) {
	s := clitest.NewServed(t)
	file := filepath.Join(s.Dir, setup.StoreName)
	testenv.Must(t, os.Remove(file))
	closedDoors(t, s, "absent", append(isNone, file+" does not exist")...)
	for what, content := range map[string][]byte{"empty": {}, "cut off": cutOff(t)} {
		testenv.Write(t, file, content)
		closedDoors(t, s, what, append(isNone, file+" is empty")...)
	}
	testenv.Write(t, file, cutOff(t)[:5000])
	closedDoors(t, s, "shorter than its pages", file+" is damaged: restore a backup (docs/operations.md#restore)")
	testenv.Must(t, os.Truncate(file, 0))
	s.Run(t, "serve", "--check", "--new-store", "--config", s.Config())
	before := contents(t, s.Dir)
	out, err := exec.CommandContext(t.Context(), "countersign", "serve", "--new-store", "--config", s.Config()).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("--new-store: the store exists: start without --new-store")) {
		t.Errorf("a second new store: %v: %s", err, out)
	}
	mustStay(t, "a second new store", s.Dir, before)
	n := s.Start(t, "--admin", "none")
	signs(t, n, s, 1)
	out, err = exec.CommandContext(t.Context(), "countersign", "serve", "--new-store", "--check", "--config", s.Config()).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("--new-store")) {
		t.Errorf("a new store beside a server: %v: %s", err, out)
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, n.Log)
	}
}

// TestDoorsPostgres: the same of a schema without tables.
func TestDoorsPostgres(t *testing.T) {
	server := testenv.Postgres(t)
	folder, _, _ := strings.Cut(strings.TrimPrefix(server.DSN, "host="), " ")
	uri := "postgres:///postgres?user=postgres&host=" + folder
	s := clitest.NewServed(t)
	s.Edit(t, "store: bolt:state.db", "store: "+uri)
	connection := connected(t, server.DSN)
	for what, statement := range map[string]string{
		"empty":             "SELECT",
		"without a version": "CREATE TABLE IF NOT EXISTS countersign_schema (version integer NOT NULL)",
	} {
		if _, err := connection.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		closedDoors(t, s, what, append(isNone, "schema public of database postgres has no tables of countersign")...)
		tables := 0
		if err := connection.QueryRow(t.Context(), `SELECT count(*) FROM pg_class WHERE relname LIKE 'countersign_%' AND relname <> 'countersign_schema'`).Scan(&tables); err != nil || tables > 0 {
			t.Errorf("%s: %d tables were made, %v", what, tables, err)
		}
	}
	n := s.Start(t, "--admin", "none", "--new-store")
	signs(t, n, s, 1)
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, n.Log)
	}
	mustRefuse := func(what string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "countersign", "serve", "--new-store", "--check", "--config", s.Config()).CombinedOutput()
		if err == nil || !bytes.Contains(out, []byte("remembers a log of 1 leaves")) || !bytes.Contains(out, []byte("countersign log accept --org")) {
			t.Errorf("%s: %v: %s", what, err, out)
		}
	}
	mustRefuse("a second new store")
	if _, err := connection.Exec(t.Context(), "DROP TABLE countersign_ledgers"); err != nil {
		t.Fatal(err)
	}
	others := maps.Clone(doors)
	delete(others, "backup") // the keys can be backed up whatever has become of the database
	closed(t, s, "a table dropped", others, []string{"schema public of database postgres has lost countersign_ledgers: restore a backup"})
	if _, err := connection.Exec(t.Context(), "CREATE DATABASE other"); err != nil {
		t.Fatal(err)
	}
	s.Edit(t, "postgres:///postgres", "postgres:///other")
	closedDoors(t, s, "another database", append(isNone, "schema public of database other has no tables of countersign")...)
	mustRefuse("a new store in another database")
}

// TestRestoreWithoutStore: a backup from which no store comes back is refused, and nothing
// of it stays.
func TestRestoreWithoutStore(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	saved := filepath.Join(t.TempDir(), "saved")
	s.Run(t, "backup", "--config", s.Config(), saved)
	manifest := filepath.Join(saved, "backup.json")
	content := testenv.Read(t, manifest)
	without := bytes.Replace(content, []byte(`"name": "`+setup.StoreName+`"`), []byte(`"name": "another.db"`), 1)
	if bytes.Equal(without, content) {
		t.Fatalf("the manifest has no store: %s", content)
	}
	for _, err := range []error{
		os.WriteFile(manifest, without, 0o600), os.Rename(filepath.Join(saved, setup.StoreName), filepath.Join(saved, "another.db")),
	} {
		testenv.Must(t, err)
	}
	parent := t.TempDir()
	testenv.Must(t, os.Mkdir(filepath.Join(parent, "there"), 0o700))
	for _, into := range []string{"new", "there"} {
		out, err := exec.CommandContext(t.Context(), "countersign", "restore", saved, filepath.Join(parent, into)).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "there is none") || !strings.Contains(string(out), "this backup has none") {
			t.Errorf("restored into %s: %v: %s", into, err, out)
		}
	}
	entries, err := filepath.Glob(filepath.Join(parent, "*", "*"))
	if _, statErr := os.Lstat(filepath.Join(parent, "new")); err != nil || len(entries) > 0 || statErr == nil {
		t.Errorf("left behind: %q, %v", entries, err)
	}
}
