package packaging_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// dist fills a folder as make release does. Only the static binary of this platform is one: the
// packages of the others are tested here, and not what is in them.
func dist(t *testing.T, program string) string {
	t.Helper()
	folder := t.TempDir()
	content, err := os.ReadFile(program)
	testenv.Must(t, err)
	for _, name := range []string{
		"countersign-linux-amd64", "countersign-linux-arm64", "countersign-hsm-linux-amd64", "countersign-kms-linux-amd64",
		"countersign-kms-linux-arm64", "countersign-policy-import-linux-amd64", "countersign-policy-import-linux-arm64",
	} {
		stands := []byte("#!/bin/sh\n")
		if name == "countersign-linux-"+runtime.GOARCH {
			stands = content
		}
		testenv.Must(t, os.WriteFile(filepath.Join(folder, name), stands, 0o755))
	}
	testenv.Must(t, os.Mkdir(filepath.Join(folder, "completions"), 0o755))
	for _, shell := range []string{"bash", "zsh", "fish"} {
		testenv.Must(t, os.WriteFile(filepath.Join(folder, "completions", "countersign."+shell), output(t, program, "completion", shell), 0o644))
	}
	man := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-run", "^TestManPages$", "./internal/cli", "-man", filepath.Join(folder, "man"))
	man.Dir, man.Env = testenv.Root(), append(man.Environ(), "SOURCE_DATE_EPOCH=1700000000")
	if out, err := man.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	bill := output(t, testenv.GoProgram(t, "packaging/sbom", "."), program)
	testenv.Must(t, os.WriteFile(filepath.Join(folder, "countersign.cdx.json"), bill, 0o644))
	return folder
}

// made runs packaging/artifacts.
func made(t *testing.T, what, folder, version string) {
	t.Helper()
	program := testenv.GoProgram(t, "packaging/artifacts", ".")
	if out, err := exec.CommandContext(t.Context(), program, what, testenv.Root(), folder, version, "1700000000").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, out)
	}
}

// TestPackages installs, upgrades, removes and purges the deb in a Debian without Go, and serves,
// signs, halts and resumes with it in between: a deployment is created by hand, and nothing ever removes it. The contents
// of the rpm are compared with the deb's; no rpm is installed.
func TestPackages(t *testing.T) {
	testenv.Slow(t)
	folder := dist(t, binary(t))
	for _, version := range []string{"1.0.0", "1.0.1"} {
		made(t, "packages", folder, version)
	}
	before := sums(t, folder, "*.deb", "*.rpm")
	made(t, "packages", folder, "1.0.0")
	if after := sums(t, folder, "*.deb", "*.rpm"); before != after {
		t.Errorf("packages built twice differ:\n%s\n%s", before, after)
	}
	t.Run("rpm", func(t *testing.T) { testRPM(t, folder) })
	t.Run("deb", func(t *testing.T) { testDeb(t, folder) })
}

func sums(t *testing.T, folder string, patterns ...string) (all string) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %q, %v", pattern, paths, err)
		}
		all += string(output(t, "sha256sum", paths...))
	}
	return all
}

// testRPM compares the files of each rpm with those of the deb: path, mode, owner and size.
func testRPM(t *testing.T, folder string) {
	testenv.Tool(t, "rpm")
	line := regexp.MustCompile(`(?m)^(\S{10}) (\S+)/(\S+) +(\d+) \S+ \S+ \.?(/\S+)$`)
	for _, name := range []string{"countersign", "countersign-hsm", "countersign-kms"} {
		var deb []string
		for _, match := range line.FindAllStringSubmatch(string(output(t, "dpkg-deb", "-c", filepath.Join(folder, name+"_1.0.0_amd64.deb"))), -1) {
			if match[1][0] != 'd' {
				deb = append(deb, strings.Join([]string{match[5], match[1], match[2], match[3], match[4]}, " "))
			}
		}
		rpm := strings.Split(strings.TrimSpace(string(output(t, "rpm", "-qp", "--qf", "[%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME} %{FILESIZES}\n]",
			filepath.Join(folder, name+"-1.0.0-1.x86_64.rpm")))), "\n")
		isDoc := func(line string) bool { return strings.Contains(line, "changelog") }
		deb, rpm = slices.DeleteFunc(deb, isDoc), slices.DeleteFunc(rpm, isDoc)
		slices.Sort(deb)
		slices.Sort(rpm)
		if len(deb) < 20 || !slices.Equal(deb, rpm) {
			t.Errorf("%s:\n deb %q\n rpm %q", name, deb, rpm)
		}
	}
}

// debian is a Debian root in which a package is tried.
type debian struct {
	root    string
	command func(args ...string) *exec.Cmd
}

func (d *debian) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := d.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// install copies packages into the root and installs them.
func (d *debian) install(t *testing.T, folder string, names ...string) ([]byte, error) {
	t.Helper()
	args := []string{"dpkg", "--install"}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(d.root, name), content, 0o644)
		}
		testenv.Must(t, err)
		args = append(args, "/"+name)
	}
	return d.command(args...).CombinedOutput()
}

const deployment = "/var/lib/countersign"

// content lists what is in the deployment: the path, mode, owner and content of each file.
func (d *debian) content(t *testing.T) string {
	t.Helper()
	return d.run(t, "sh", "-c", "cd "+deployment+" && find . -printf '%p %m %u %g\\n' | sort && find . -type f | sort | xargs sha256sum")
}

func testDeb(t *testing.T, folder string) {
	arch := runtime.GOARCH
	d := &debian{}
	d.root, d.command = testenv.DebianRoot(t)
	if out, err := d.install(t, folder, "countersign_1.0.0_"+arch+".deb"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := d.run(t, "stat", "-c", "%a %U %G", deployment); got != "700 countersign countersign\n" {
		t.Errorf("%s is %q", deployment, got)
	}
	unit, err := os.ReadFile(filepath.Join(d.root, "usr/lib/systemd/system/countersign.service"))
	if err != nil || !strings.Contains(string(unit), "ExecStart=/usr/bin/countersign serve ") {
		t.Errorf("%v: %s", err, unit)
	}
	as := []string{"runuser", "-u", "countersign", "--"}
	d.run(t, append(as, "countersign", "init", deployment)...)
	address := strings.TrimSpace(d.run(t, append(as, "countersign", "keys", "generate", "--config", deployment+"/countersign.yaml", "--curve", "secp256k1", "--name", "hot", "--field", "ADDRESS_FORMAT_ETHEREUM")...))
	d.run(t, append(as, "sh", "-euc", administrator)...)
	d.signs(t, address)
	d.run(t, "countersign", "policy", "import") // which the script here runs that stands for the program
	before := d.content(t)
	if out, err := d.install(t, folder, "countersign-hsm_1.0.0_amd64.deb"); err == nil || !strings.Contains(string(out), "conflict") {
		t.Errorf("two of the packages are installed: %v\n%s", err, out)
	}
	if out, err := d.install(t, folder, "countersign_1.0.1_"+arch+".deb"); err != nil {
		t.Fatalf("upgrade: %v\n%s", err, out)
	}
	for _, step := range []string{"--remove", "--purge"} {
		d.run(t, "dpkg", step, "countersign")
		if after := d.content(t); after != before {
			t.Errorf("%s changed the deployment:\n%s\n%s", step, before, after)
		}
	}
	if out, err := d.command("countersign", "version").CombinedOutput(); err == nil {
		t.Errorf("after the removal: %s", out)
	}
	if out, err := d.install(t, folder, "countersign_1.0.1_"+arch+".deb"); err != nil {
		t.Fatalf("again: %v\n%s", err, out)
	}
	d.signs(t, address)
}

// administrator gives the deployment a user who may halt and resume.
const administrator = `cd ` + deployment + `
countersign apikey new --name ann --votes --config countersign.yaml --out ann.json | sed 's/APPROVE_ACTIVITY/HALT/; s/REJECT_ACTIVITY/RESUME/' > users
sed -i '/publicKey/r users
s/^    allowHazards: .*/    resume: {approvals: 1}/' countersign.yaml
rm users`

// signs serves the deployment as the package's user, has a request signed, and another one that waits for the
// end of a halt.
func (d *debian) signs(t *testing.T, address string) {
	t.Helper()
	serve := d.command("runuser", "-u", "countersign", "--", "countersign", "serve", "--config", deployment+"/countersign.yaml",
		"--listen", "127.0.0.1:0", "--admin", "none")
	serve.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	url := listening(t, serve)
	defer func() {
		err := syscall.Kill(-serve.Process.Pid, syscall.SIGTERM)
		if waitErr := serve.Wait(); err != nil {
			t.Error(err, waitErr)
		}
	}()
	answer := d.run(t, "runuser", "-u", "countersign", "--", "sh", "-euc", "cd "+deployment+`
at='--url `+url+` --api-key'
request() {
  echo 02f00107843b9aca008504a817c8008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b7880de0b6b3a764000080c0 |
    countersign request --type ethereum --sign-with `+address+` --api-key api-key.json --body $1 > /dev/null
}
request /tmp/before.json
countersign submit $at api-key.json < /tmp/before.json
countersign halt --org $at ann.json
request /tmp/after.json
! countersign submit $at api-key.json < /tmp/after.json
countersign resume --org $at ann.json
countersign submit $at api-key.json < /tmp/after.json
rm /tmp/before.json /tmp/after.json`)
	at := 0
	for _, step := range []string{`"signedTransaction"`, "signing is halted for the organization.", "SIGNING_HALTED", "signing is resumed for the organization.", `"signedTransaction"`} {
		next := strings.Index(answer[at:], step)
		if next < 0 {
			t.Fatalf("no %s: %s", step, answer)
		}
		at += next + len(step)
	}
}

// TestImage reads the OCI image as its specification says, twice built, and runs it: as an unnamed
// user, in a root that has only what the image has.
func TestImage(t *testing.T) {
	testenv.Slow(t)
	folder := dist(t, binary(t))
	made(t, "image", folder, "1.0.0")
	before := sums(t, folder, "*.oci.tar")
	made(t, "image", folder, "1.0.0")
	if after := sums(t, folder, "*.oci.tar"); before != after {
		t.Errorf("images built twice differ:\n%s\n%s", before, after)
	}
	layout := untar(t, filepath.Join(folder, "countersign-1.0.0-"+runtime.GOARCH+".oci.tar"))
	var index, manifest struct {
		Manifests      []struct{ Digest string }
		Config, Layers json.RawMessage
	}
	blob := func(digest string) []byte { return layout["blobs/"+strings.ReplaceAll(digest, ":", "/")] }
	testenv.Must(t, errors.Join(json.Unmarshal(layout["index.json"], &index), json.Unmarshal(blob(index.Manifests[0].Digest), &manifest)))
	var config struct{ Digest string }
	var layers []struct{ Digest string }
	if err := errors.Join(json.Unmarshal(manifest.Config, &config), json.Unmarshal(manifest.Layers, &layers)); err != nil || len(layers) != 1 {
		t.Fatal(err, len(layers))
	}
	var runs struct {
		Config struct {
			User       string
			Entrypoint []string
		} `json:"config"`
	}
	if err := json.Unmarshal(blob(config.Digest), &runs); err != nil || runs.Config.User != "65532:65532" || !slices.Equal(runs.Config.Entrypoint, []string{"/countersign"}) {
		t.Errorf("%+v, %v", runs, err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(blob(layers[0].Digest)))
	testenv.Must(t, err)
	files := entries(t, unpacked)
	if len(files["countersign.cdx.json"]) == 0 || len(files["etc/ssl/certs/ca-certificates.crt"]) == 0 || len(files) != 4 {
		t.Errorf("the image has %d files", len(files))
	}
	program := filepath.Join(t.TempDir(), "countersign")
	testenv.Must(t, os.WriteFile(program, files["countersign"], 0o755))
	run := testenv.EmptyRoot(t, program, "version")
	if os.Getuid() == 0 {
		run.SysProcAttr.Credential = &syscall.Credential{Uid: 65532, Gid: 65532}
	}
	if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), `"version"`) {
		t.Errorf("%v\n%s", err, out)
	}
}

func untar(t *testing.T, path string) map[string][]byte {
	t.Helper()
	file, err := os.Open(path)
	testenv.Must(t, err)
	defer file.Close()
	return entries(t, file)
}

func entries(t *testing.T, from io.Reader) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for reader := tar.NewReader(from); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		testenv.Must(t, err)
		if found[header.Name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
		if fs.FileMode(header.Mode)&0o022 != 0 {
			t.Errorf("%s has mode %o", header.Name, header.Mode)
		}
	}
}

// TestStatement makes the statement over SHA256SUMS, and signs and verifies both as packaging/README.md
// says. A binary that is not of a clean commit has none.
func TestStatement(t *testing.T) {
	testenv.Tool(t, "ssh-keygen")
	source, folder := t.TempDir(), t.TempDir()
	script := func(dir, text string) ([]byte, error) {
		command := exec.CommandContext(t.Context(), "sh", "-euc", text)
		command.Dir = dir
		command.Env = append(command.Environ(), "DIST="+folder, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GOFLAGS=")
		return command.CombinedOutput()
	}
	build := `go build -buildvcs=true -o "$DIST/countersign-linux-amd64" . && cd "$DIST" && sha256sum countersign-* > SHA256SUMS`
	if out, err := script(source, `git init -q . && echo 'module example.com/program' > go.mod && echo 'package main
func main() {}' > main.go && git add . && git commit -qm first && `+build); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made(t, "statement", folder, "1.0.0")
	var statement struct {
		Type    string `json:"_type"`
		Subject []struct {
			Name   string
			Digest struct{ SHA256 string }
		}
		PredicateType string
		Predicate     struct {
			BuildDefinition struct {
				ResolvedDependencies []struct {
					Digest struct{ GitCommit string }
				}
			}
		}
	}
	content := testenv.Read(t, filepath.Join(folder, "provenance.intoto.json"))
	testenv.Must(t, json.Unmarshal(content, &statement))
	commit, err := script(source, "git rev-parse HEAD")
	sums := string(testenv.Read(t, filepath.Join(folder, "SHA256SUMS")))
	if err != nil || statement.Type != "https://in-toto.io/Statement/v1" || statement.PredicateType != "https://slsa.dev/provenance/v1" ||
		len(statement.Subject) != 1 || sums != statement.Subject[0].Digest.SHA256+"  "+statement.Subject[0].Name+"\n" ||
		statement.Predicate.BuildDefinition.ResolvedDependencies[0].Digest.GitCommit != strings.TrimSpace(string(commit)) {
		t.Errorf("%v: %s", err, content)
	}

	page := string(testenv.Read(t, "README.md"))
	_, verify, _ := strings.Cut(page, "```text\n")
	verify, _, _ = strings.Cut(verify, "```")
	for _, line := range []string{"ssh-keygen -Y verify", "sha256sum --check"} {
		if !strings.Contains(verify, line) {
			t.Fatalf("the page does not say %s: %s", line, verify)
		}
	}
	sign := `rm -f release-key* *.sig && ssh-keygen -q -t ed25519 -N '' -f release-key && for file in SHA256SUMS provenance.intoto.json; do
ssh-keygen -Y sign -q -f release-key -n countersign-release $file; done && `
	if out, err := script(folder, sign+verify); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for name, change := range map[string]string{
		"another binary":  "echo x >> countersign-linux-amd64",
		"other sums":      "echo >> SHA256SUMS",
		"another key":     "rm SHA256SUMS.sig && ssh-keygen -q -t ed25519 -N '' -f other && ssh-keygen -Y sign -q -f other -n countersign-release SHA256SUMS",
		"another purpose": "rm SHA256SUMS.sig && ssh-keygen -Y sign -q -f release-key -n file SHA256SUMS",
	} {
		if out, err := script(folder, "cp countersign-linux-amd64 kept && cp SHA256SUMS sums && "+sign+change+" && "+verify); err == nil {
			t.Errorf("%s: verified\n%s", name, out)
		}
		if out, err := script(folder, "mv kept countersign-linux-amd64 && mv sums SHA256SUMS && rm -f other*"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	program := testenv.GoProgram(t, "packaging/artifacts", ".")
	if out, err := script(source, "echo >> main.go && "+build); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program, "statement", testenv.Root(), folder, "1.0.0", "1700000000").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not of a clean commit") {
		t.Errorf("a changed checkout: %v\n%s", err, out)
	}
}
