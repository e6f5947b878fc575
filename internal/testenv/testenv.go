// Package testenv provides what some tests need besides Go: the third-party suites, Node
// with the packages of interop/, SoftHSM, PostgreSQL.
//
// A test whose tools are missing is skipped and says what is missing. With
// COUNTERSIGN_REQUIRE=all in the environment, as in continuous integration, it fails
// instead. Tests that need Node, PostgreSQL, SoftHSM or a program that has to be built are
// also skipped with -short: see [Slow].
package testenv

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Suite returns the path of a file in the third-party suites, which are not part of this
// project. COUNTERSIGN_SUITES names their folder.
func Suite(t testing.TB, elem ...string) string {
	t.Helper()
	folder := os.Getenv("COUNTERSIGN_SUITES")
	if folder == "" {
		leaveOut(t, "the third-party suites are missing: set COUNTERSIGN_SUITES to their folder")
	}
	path := filepath.Join(append([]string{folder}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		leaveOut(t, "missing in COUNTERSIGN_SUITES: "+err.Error())
	}
	return path
}

// NodeModule returns the path of a file inside interop/node_modules.
func NodeModule(t testing.TB, elem ...string) string {
	t.Helper()
	return NodeModuleOf(t, "interop", elem...)
}

// NodeModuleOf returns the path of a file inside the node_modules of a folder.
func NodeModuleOf(t testing.TB, folder string, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{Root(), folder, "node_modules"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		leaveOut(t, "npm packages are not installed: run make test-deps")
	}
	return path
}

// Node returns a command that runs a script of interop/ with Node.
func Node(t testing.TB, script string, args ...string) *exec.Cmd {
	t.Helper()
	Slow(t)
	node, err := exec.LookPath("node")
	if err != nil {
		leaveOut(t, "Node is not installed")
	}
	NodeModule(t)
	command := exec.CommandContext(t.Context(), node, append([]string{script}, args...)...)
	command.Dir = filepath.Join(Root(), "interop")
	command.Stderr = os.Stderr
	return command
}

// Tool returns the path of a program of the system, such as age.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		leaveOut(t, "the program "+name+" is not installed")
	}
	return path
}

// Root returns the root folder of the library's module, also for tests in other modules
// below it.
func Root() string {
	folder, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for ; folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		mod, _ := os.ReadFile(filepath.Join(folder, "go.mod"))
		if bytes.HasPrefix(mod, []byte("module github.com/countersign-dev/countersign\n")) {
			return folder
		}
	}
	panic("testenv: no go.mod of the library above the working directory")
}

// Slow skips a test with -short. It is for tests that start other programs, build a
// release or wait for a disk. It does not skip benchmarks.
func Slow(t testing.TB) {
	t.Helper()
	if _, test := t.(*testing.T); test && testing.Short() {
		t.Skip("takes seconds: skipped with -short")
	}
}

// Some returns how many of n random cases a test runs: all, or a tenth with -short.
func Some(n int) int {
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}

// Draws returns how many random cases or rounds a test runs: COUNTERSIGN_PROVE if it is set, as
// in make prove, and n otherwise.
func Draws(t testing.TB, n int) int {
	t.Helper()
	text := os.Getenv("COUNTERSIGN_PROVE")
	if text == "" {
		return n
	}
	draws, err := strconv.Atoi(text)
	if err != nil || draws < 1 {
		t.Fatalf("COUNTERSIGN_PROVE: %q: expected a number from 1", text)
	}
	return draws
}

// leaveOut skips a test for lack of something, or fails it if COUNTERSIGN_REQUIRE is all.
func leaveOut(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("COUNTERSIGN_REQUIRE") == "all" {
		t.Fatalf("required, but left out: %s", why)
	}
	t.Skipf("left out: %s", why)
}

// Superuser skips a test unless it runs as root, which changing the owner of a file
// requires.
func Superuser(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		leaveOut(t, "changing the owner of a file requires root")
	}
}

// SamplePolicies returns the policies in docs/policies by the titles in their first lines, or those
// that a page of the documentation links.
func SamplePolicies(t testing.TB, page ...string) map[string]string {
	t.Helper()
	folder := filepath.Join(Root(), "docs", "policies")
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(page) > 0 {
		text, err := os.ReadFile(filepath.Join(Root(), "docs", page[0]))
		if err != nil {
			t.Fatal(err)
		}
		paths = nil
		for _, link := range regexp.MustCompile(`\(policies/([\w-]+\.yaml)\)`).FindAllStringSubmatch(string(text), -1) {
			paths = append(paths, filepath.Join(folder, link[1]))
		}
	}
	samples := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		samples[title] = string(text)
	}
	return samples
}
