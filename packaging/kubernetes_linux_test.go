package packaging_test

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// podUser and podGroup are those of the manifests.
const podUser, podGroup = 65532, 65532

// inPod returns a command as a pod runs it: without root, in its group.
func inPod(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: podUser, Gid: podGroup, Groups: []uint32{podGroup}}}
	return command
}

// mountVolume gives a volume the rights that kubelet sets at each mount: its group owns all,
// and may read and write it.
func mountVolume(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o660
		if entry.IsDir() {
			mode = info.Mode().Perm() | 0o770 | fs.ModeSetgid
		}
		return errors.Join(os.Lchown(path, -1, podGroup), os.Chmod(path, mode))
	})
}

// mountSecret lays out the files of a secret as kubelet does, with their mode: links to a
// folder of this version, of root and the pod's group.
func mountSecret(folder string, mode fs.FileMode, files map[string][]byte) error {
	version := filepath.Join(folder, "..2026_11_26")
	err := errors.Join(os.MkdirAll(version, 0o755), os.Chmod(folder, 0o777|fs.ModeSticky|fs.ModeSetgid), os.Symlink("..2026_11_26", filepath.Join(folder, "..data")))
	for name, content := range files {
		path := filepath.Join(version, name)
		err = errors.Join(err, os.WriteFile(path, content, 0o600), os.Chown(path, 0, podGroup), os.Chmod(path, mode),
			os.Symlink(filepath.Join("..data", name), filepath.Join(folder, name)))
	}
	return err
}

// TestRightsOfKubernetes starts the program as a pod does, on volumes and secrets with the
// rights that Kubernetes sets, and checks that a secret which others can read is refused with a
// cure that a mount allows.
func TestRightsOfKubernetes(t *testing.T) {
	testenv.Slow(t)
	testenv.Superuser(t)
	root, err := os.MkdirTemp("", "pod")
	testenv.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	at := func(elem ...string) string { return filepath.Join(append([]string{root}, elem...)...) }
	program := at("countersign")
	copied, err := os.ReadFile(binary(t))
	if err == nil {
		err = errors.Join(os.Chmod(root, 0o755), os.WriteFile(program, copied, 0o755), os.Chmod(program, 0o755), os.Mkdir(at("state"), 0o755), os.Mkdir(at("memory"), 0o755))
	}
	testenv.Must(t, err)
	testenv.Must(t, errors.Join(mountVolume(at("state")), mountVolume(at("memory"))))
	if out, err := inPod(t, program, "init", at("state", "deployment")).CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	if err := mountVolume(at("state")); err != nil { // the next start of the pod
		t.Fatal(err)
	}
	serves(t, program, at("state", "deployment", "countersign.yaml"))

	files := map[string][]byte{}
	for _, name := range []string{"countersign.yaml", "passphrase", "proof.pem", "log.pem", "otp-secret"} {
		if files[name], err = os.ReadFile(at("state", "deployment", name)); err != nil {
			t.Fatal(err)
		}
	}
	files["countersign.yaml"] = []byte(strings.NewReplacer(
		"file:keys", "file:"+at("state", "deployment", "keys"), "bolt:state.db", "bolt:"+at("state", "deployment", "state.db"),
		"keyFile: log.pem", "keyFile: log.pem, memory: "+at("memory", "log.memory"), "outbox: outbox", "outbox: "+at("state", "deployment", "outbox"),
	).Replace(string(files["countersign.yaml"])))
	for mode, refused := range map[fs.FileMode]bool{0o440: false, 0o640: false, 0o444: true, 0o644: true} {
		folder := at("secret" + mode.String())
		testenv.Must(t, mountSecret(folder, mode, files))
		if !refused {
			serves(t, program, filepath.Join(folder, "countersign.yaml"))
			continue
		}
		out, err := inPod(t, program, "serve", "--check", "--config", filepath.Join(folder, "countersign.yaml")).CombinedOutput()
		if err == nil || !bytes.Contains(out, []byte("others can read it")) || !bytes.Contains(out, []byte("defaultMode: 0440 and fsGroup")) {
			t.Errorf("secrets of mode %o: %v\n%s", mode, err, out)
		}
	}
	testenv.Must(t, os.Chmod(at("state", "deployment", "state.db"), 0o666))
	if out, err := inPod(t, program, "serve", "--check", "--config", at("state", "deployment", "countersign.yaml")).CombinedOutput(); err == nil || !bytes.Contains(out, []byte("state.db: others can read it (mode 0666): run 'chmod 600")) {
		t.Errorf("a store that everyone can write: %v\n%s", err, out)
	}
}

// serves starts a server, and stops it once it listens.
func serves(t *testing.T, program, config string) {
	t.Helper()
	command := inPod(t, program, "serve", "--config", config, "--listen", "127.0.0.1:0", "--admin", "none")
	if url := listening(t, command); url == "" {
		t.Error(config)
	}
	_ = command.Process.Signal(syscall.SIGTERM)
	if err := command.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", config, err, command.Stderr)
	}
}

// listening starts a server and returns its URL once it listens, or "" after an error.
func listening(t *testing.T, command *exec.Cmd) (url string) {
	t.Helper()
	command.Stderr = &bytes.Buffer{}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	testenv.Must(t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Errorf("%q, %v\n%s", line, err, command.Stderr)
		return ""
	}
	var printed struct{ Listening string }
	testenv.JSON(t, []byte(line), &printed)
	return "http://" + printed.Listening
}
