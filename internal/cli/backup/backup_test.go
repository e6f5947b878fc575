package backup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/backup"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestRestoreRewritesPaths: in the restored configuration, all paths name the restored
// files, whether they were absolute or relative, inside or outside its directory. The old
// files are gone, and paths that only look similar are left alone.
func TestRestoreRewritesPaths(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old")
	write := func(name, content string) string {
		path := filepath.Join(old, name)
		testenv.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testenv.Write(t, path, []byte(content))
		return path
	}
	files := []string{
		write("conf/state.db", "state"), write("conf/log.pem", "log"), write("conf2/proof.pem", "proof"),
		write("keys/a.age", "a"), write("shared/tokens.json", "tokens"), write("shared/policy.yaml", "policy"),
	}
	config := write("conf/countersign.yaml", fmt.Sprintf(`store: bolt:%[1]s/conf/state.db # absolute, inside
log: {keyFile: log.pem}
proofKey: file:%[1]s/conf2/proof.pem
keystore: file:%[1]s/keys
tokens: [../shared/tokens.json, %[1]s/other.json]
policy: "../shared/policy.yaml"
name: %[1]s/keys-of-nobody
`, old))

	into, restored := filepath.Join(t.TempDir(), "saved"), filepath.Join(t.TempDir(), "new")
	w, err := backup.NewWriter(into, config, time.Now())
	testenv.Must(t, err)
	for _, path := range append(files, config) {
		add := w.AddFile
		if strings.HasSuffix(path, ".age") {
			path, add = filepath.Dir(path), w.AddTree
		}
		testenv.Must(t, add(path))
	}
	testenv.Must(t, w.Close())
	_, path, err := backup.Restore(into, restored)
	testenv.Must(t, err)
	content := testenv.Read(t, path)
	want := fmt.Sprintf(`store: bolt:%[1]s/state.db # absolute, inside
log: {keyFile: log.pem}
proofKey: file:%[1]s/outside/1-proof.pem
keystore: file:%[1]s/outside/2-keys
tokens: [%[1]s/outside/3-tokens.json, %[2]s/other.json]
policy: "%[1]s/outside/4-policy.yaml"
name: %[2]s/keys-of-nobody
`, restored, old)
	if string(content) != want {
		t.Errorf("restored:\n%swant:\n%s", content, want)
	}
	for _, name := range []string{"state.db", "log.pem", "outside/1-proof.pem", "outside/2-keys/a.age", "outside/3-tokens.json", "outside/4-policy.yaml"} {
		if _, err := os.Stat(filepath.Join(restored, name)); err != nil {
			t.Error(err)
		}
	}
}
