package docs_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// fakeBin returns a folder with scripts, and with links to the named programs of the system.
func fakeBin(t *testing.T, scripts map[string]string, system ...string) string {
	t.Helper()
	folder := t.TempDir()
	for name, script := range scripts {
		testenv.Must(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script), 0o700))
	}
	for _, name := range system {
		path, err := exec.LookPath(name)
		testenv.Must(t, err)
		testenv.Must(t, os.Symlink(path, filepath.Join(folder, name)))
	}
	return folder
}

// runScript runs a script of the repository, and returns its exit status and its output.
func runScript(t *testing.T, path, script string, env ...string) (status int, out string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join("..", script)}, "module@version", "./...")...)
	command.Env = append([]string{"PATH=" + path, "HOME=" + t.TempDir()}, env...)
	all, err := command.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode(), string(all)
	}
	testenv.Must(t, err)
	return 0, string(all)
}

// TestVuln: the search for vulnerabilities fails for a finding, and for code that cannot be
// analysed. If it cannot be made, it says so and succeeds.
func TestVuln(t *testing.T) {
	for name, c := range map[string]struct {
		install string // what 'go install' does
		scan    string // what govulncheck does
		status  int
		want    string
	}{
		"nothing found":           {"", "echo No vulnerabilities found.", 0, "No vulnerabilities found."},
		"a finding":               {"", "echo Vulnerability 1; exit 3", 3, "Vulnerability 1"},
		"code that does not load": {"", "echo govulncheck: loading packages: x >&2; exit 1", 1, "loading packages"},
		"no database":             {"", "echo govulncheck: fetching vulnerabilities: no route >&2; exit 1", 0, "the database of vulnerabilities cannot be reached: NOT CHECKED"},
		"no scanner":              {"exit 1", "", 0, "module@version cannot be installed: NOT CHECKED"},
	} {
		install := c.install + "\ncat > \"$GOBIN/govulncheck\" <<'END'\n#!/bin/sh\n" + c.scan + "\nEND\nchmod +x \"$GOBIN/govulncheck\"\n"
		path := fakeBin(t, map[string]string{"go": install}, "mktemp", "rm", "cat", "grep", "chmod", "sh")
		if status, out := runScript(t, path, ".ci/vuln"); status != c.status || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d, want %d: %s", name, status, c.status, out)
		}
	}
}

// TestCISuites: continuous integration says that the folder of suites is missing before it
// tests anything, and how to run without it.
func TestCISuites(t *testing.T) {
	path := fakeBin(t, map[string]string{"make": "echo made \"$@\"", "go": ""}, "dirname")
	const missing = "the folder of third-party test suites is missing"
	for name, c := range map[string]struct {
		suites, require string
		status          int
		says            bool
	}{
		"it is there":       {t.TempDir(), "all", 0, false},
		"it is missing":     {"/nowhere/suites", "all", 1, true},
		"none is named":     {"", "all", 1, true},
		"none is named, ok": {"", "", 0, true},
	} {
		status, out := runScript(t, path, ".ci/run", "COUNTERSIGN_SUITES="+c.suites, "COUNTERSIGN_REQUIRE="+c.require)
		if status != c.status || strings.Contains(out, missing) != c.says || strings.Contains(out, "made test") != (c.status == 0) {
			t.Errorf("%s: status %d: %s", name, status, out)
		}
		if c.status != 0 && !strings.Contains(out, "COUNTERSIGN_SUITES= COUNTERSIGN_REQUIRE= .ci/run") {
			t.Errorf("%s: it does not say how to run without: %s", name, out)
		}
	}
}

// TestInstallAnnounces: the first line before anything is installed says what and how to run
// without it, and COUNTERSIGN_INSTALL=no installs nothing.
func TestInstallAnnounces(t *testing.T) {
	log := filepath.Join(t.TempDir(), "installed")
	path := fakeBin(t, map[string]string{
		"apt-get": "echo \"$@\" >> " + log, "sudo": "shift; \"$@\"",
	}, "dirname", "cmp", "uname", "id", "env", "sh")
	_, out := runScript(t, path, "internal/testenv/install.sh")
	first, _, _ := strings.Cut(out, "\n")
	if !strings.HasPrefix(first, "testenv: installing system packages with apt-get, as root: age ") || !strings.Contains(first, "make test COUNTERSIGN_INSTALL=no") {
		t.Errorf("the first line is %q", first)
	}
	if installed, err := os.ReadFile(log); err != nil || !strings.Contains(string(installed), "softhsm2") {
		t.Errorf("installed %q, %v", installed, err)
	}
	testenv.Must(t, os.Remove(log))
	if status, out := runScript(t, path, "internal/testenv/install.sh", "COUNTERSIGN_INSTALL=no"); status != 0 || !strings.Contains(out, "not installed: age") {
		t.Errorf("status %d: %s", status, out)
	}
	if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
		t.Error("it installs in spite of COUNTERSIGN_INSTALL=no")
	}
}
