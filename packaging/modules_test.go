package packaging_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/countersign-dev/countersign/internal/testenv"
)

const modulePath = "github.com/countersign-dev/countersign"

// strangers is a program of another module that uses the engine and a key service.
const strangers = `package main

import (
	"fmt"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/keystore/kms/vaulttransit"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/keystore/remote"
)

var _ remote.Service = (*vaulttransit.Service)(nil)

func main() {
	engine, err := countersign.New(countersign.Config{Keystore: memory.New(), Chains: []chains.Chain{ethereum.Chain{}}})
	fmt.Println(engine.Close(), err)
}
`

// TestTaggedModules builds a stranger's program against a module proxy that serves this tree as the tags of
// the next release: the engine, and its nested modules that are required by what they import, without
// their replace lines.
func TestTaggedModules(t *testing.T) {
	testenv.Slow(t)
	changelog, err := os.ReadFile("../CHANGELOG.md")
	testenv.Must(t, err)
	version := string(regexp.MustCompile(`(?m)^## (v[0-9.]+)$`).FindSubmatch(changelog)[1])
	proxy := t.TempDir()
	var sums []byte // with which what is in the cache needs no answer of the checksum database
	for _, folder := range []string{"", "keystore/kms", "tools/countersign-policy-import"} {
		serve(t, proxy, folder, version)
		sums = append(sums, testenv.Read(t, filepath.Join("..", folder, "go.sum"))...)
	}

	dir := t.TempDir()
	testenv.Write(t, filepath.Join(dir, "main.go"), []byte(strangers))
	testenv.Write(t, filepath.Join(dir, "go.sum"), sums)
	sources := strings.TrimSpace(string(output(t, "go", "env", "GOPROXY")))
	cache := strings.TrimSpace(string(output(t, "go", "env", "GOMODCACHE")))
	environment := append(os.Environ(), "GOPROXY=file://"+proxy+",file://"+cache+"/cache/download,"+sources,
		"GONOSUMDB="+modulePath+","+modulePath+"/*", "GOPRIVATE=", "GOFLAGS=-modcacherw -trimpath", "GOWORK=off",
		"GOMODCACHE="+t.TempDir())
	for _, args := range [][]string{
		{"mod", "init", "example.com/stranger"},
		{"get", modulePath + "@" + version, modulePath + "/keystore/kms@" + version},
		{"list", "-m", modulePath + "/tools/countersign-policy-import@" + version},
		{"get", "."}, // the sums of what they import
		{"run", "."},
	} {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir, command.Env = dir, environment
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		if args[0] == "run" && !strings.HasSuffix(string(out), "<nil> <nil>\n") {
			t.Errorf("the program prints %s", out)
		}
	}
}

// TestModuleHasOneName: until the first tag the owner may choose another name, and one replacement of the
// module's path then changes it everywhere: in imports, the home page of the packages and the schema's URL.
func TestModuleHasOneName(t *testing.T) {
	if mod := string(testenv.Read(t, "../go.mod")); !strings.HasPrefix(mod, "module "+modulePath+"\n") {
		t.Errorf("go.mod begins with %.60q", mod)
	}
	owner, _, _ := strings.Cut(strings.TrimPrefix(modulePath, "github.com/"), "/")
	search := exec.CommandContext(t.Context(), "git", "grep", "-I", "-n", owner)
	search.Dir = testenv.Root()
	found, err := search.Output()
	testenv.Must(t, err)
	whole := strings.TrimPrefix(modulePath, "github.com/")
	for line := range strings.Lines(string(found)) {
		if strings.Contains(strings.ReplaceAll(line, whole, ""), owner) {
			t.Errorf("not the whole name: %s", line)
		}
	}
}

// serve adds the module in a folder of this tree to a proxy, at a version.
func serve(t *testing.T, proxy, folder, version string) {
	t.Helper()
	served := module.Version{Path: path.Join(modulePath, folder), Version: version}
	at := filepath.Join(proxy, filepath.FromSlash(served.Path), "@v")
	testenv.Must(t, os.MkdirAll(at, 0o700))
	files := tracked(t, folder)
	mod, err := os.ReadFile(filepath.Join(testenv.Root(), folder, "go.mod"))
	testenv.Must(t, err)
	if wants := modulePath + " " + version; folder != "" && !strings.Contains(string(mod), wants) {
		t.Errorf("%s/go.mod does not require %s", folder, wants)
	}
	archive, err := os.Create(filepath.Join(at, version+".zip"))
	testenv.Must(t, err)
	defer archive.Close()
	testenv.Must(t, zip.Create(archive, served, files))
	for name, content := range map[string]string{
		version + ".mod": string(mod), version + ".info": fmt.Sprintf(`{"Version":%q}`, version), "list": version + "\n",
	} {
		testenv.Must(t, os.WriteFile(filepath.Join(at, name), []byte(content), 0o600))
	}
}

// tracked returns the files of the module in a folder: those of git, without those of modules below.
func tracked(t *testing.T, folder string) (files []zip.File) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = filepath.Join(testenv.Root(), folder)
	out, err := list.Output()
	testenv.Must(t, err)
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var below []string
	for _, name := range names {
		if dir, ok := strings.CutSuffix(name, "/go.mod"); ok {
			below = append(below, dir+"/")
		}
	}
	for _, name := range names {
		nested := slices.ContainsFunc(below, func(dir string) bool { return strings.HasPrefix(name, dir) })
		if info, err := os.Lstat(filepath.Join(list.Dir, name)); err == nil && info.Mode().IsRegular() && !nested {
			files = append(files, treeFile{list.Dir, name, info})
		}
	}
	return files
}

// treeFile is a file of the tree. It implements zip.File.
type treeFile struct {
	dir, name string
	info      fs.FileInfo
}

func (f treeFile) Path() string                 { return f.name }
func (f treeFile) Lstat() (fs.FileInfo, error)  { return f.info, nil }
func (f treeFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.dir, f.name)) }
