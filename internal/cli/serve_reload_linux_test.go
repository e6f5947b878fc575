package cli

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/stamp"
)

const onlyFees = "schema: countersign.policy/2\nrules: [{name: gas, allow: fee}]\n"

// TestReloadRevokesFirst checks that a credential which the configuration no longer has stops
// working while the policy is still being read, which takes as long as a named pipe has no
// writer, and does not come back if that policy is refused.
func TestReloadRevokesFirst(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	file := filepath.Join(s.dir, "ci.json")
	lines := string(s.run(t, "apikey", "new", "--name", "ci", "--org", s.by.OrganizationID, "--out", file, "--expires", "90d"))
	stolen, own := credentialIn(t, file), credentialIn(t, filepath.Join(s.dir, setup.APIKeyName))
	s.edit(t, "    users:\n", "    users:\n"+lines)
	l := newLive(t, s)
	l.Policies = &deployment.LoadedPolicies{Organizations: policy.NewOrganizations(nil), Configured: l.Current.Load().Configured}
	works := func(id stamp.ID) bool {
		_, err := l.InForce.Member(t.Context(), s.by.OrganizationID, id)
		if err != nil && !errors.Is(err, access.ErrCredentialNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	if !works(stolen) || !works(own) {
		t.Fatal("the credentials do not work")
	}
	pipe := filepath.Join(s.dir, "policy.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	s.edit(t, lines, "")
	s.edit(t, "name: Example", "name: Renamed\n    policy: policy.yaml")
	for _, text := range []string{"no policy", onlyFees} {
		reloaded := make(chan error, 1)
		go func() {
			_, err := l.Reload(inCommand(t), s.config())
			reloaded <- err
		}()
		testenv.Await(t, "the stolen credential stops working", func() bool { return !works(stolen) })
		if !works(own) {
			t.Error("the other credential stopped working")
		}
		writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // blocks until the policy is read
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writer.WriteString(text); err != nil {
			t.Fatal(err)
		}
		_ = writer.Close()
		if err := <-reloaded; (err == nil) != (text == onlyFees) {
			t.Errorf("%q: %v", text, err)
		}
		if works(stolen) || !works(own) {
			t.Errorf("%q: the stolen credential works: %v, the other: %v", text, works(stolen), works(own))
		}
	}
}

// credentialIn returns the id of the API key in a file.
func credentialIn(t *testing.T, path string) stamp.ID {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var key struct {
		PublicKey string `json:"publicKey"`
	}
	if err := json.Unmarshal(content, &key); err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return stamp.APIKeyID(raw)
}

// TestStopDuringReload checks that a server which is told to stop does not wait for a policy
// that a reload is reading, which takes as long as a named pipe has no text.
func TestStopDuringReload(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	s.edit(t, "name: Example", "name: Example\n    policy: policy.yaml")
	path := filepath.Join(s.dir, "policy.yaml")
	writePrivate(t, path, onlyFees)
	n := s.start(t, "--admin", "none")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := n.command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	var writer *os.File
	testenv.Await(t, "the reload reads the policy", func() (reads bool) {
		var err error
		writer, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0) // refused while there is no reader
		return err == nil
	})
	defer writer.Close()
	if status := n.end(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, n.log)
	}
	if strings.Contains(n.log.String(), "reload") {
		t.Errorf("the log tells of the reload: %s", n.log)
	}
}

// TestReloadCompilesWhatChanged checks that a reload takes over the policies that are as they
// were, and compiles one whose bytes, users, keys or tests have changed.
func TestReloadCompilesWhatChanged(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	s.edit(t, "name: Example", "name: Example\n    policy: policy.yaml")
	path := filepath.Join(s.dir, "policy.yaml")
	writePrivate(t, path, onlyFees)
	l := newLive(t, s)
	first := l.Current.Load()
	l.Policies = &deployment.LoadedPolicies{Organizations: policy.NewOrganizations(first.Policies), Configured: first.Configured}
	inForce := func() *policy.File { return l.Policies.File(&access.Organization{ID: s.by.OrganizationID}) }
	for _, step := range []struct {
		what    string
		change  func()
		compile bool
	}{
		{"nothing", func() {}, false},
		{"another name of the organization", func() { s.edit(t, "name: Example", "name: Renamed") }, false},
		{"the policy", func() { writePrivate(t, path, onlyFees+"# changed\n") }, true},
		{"nothing again", func() {}, false},
		{"a key", func() { s.run(t, "keys", "generate", "--config", s.config(), "--curve", "CURVE_ED25519") }, true},
		{"a user", func() {
			s.edit(t, "    users:\n", "    users:\n"+string(s.run(t, "apikey", "new", "--name", "ci", "--org", s.by.OrganizationID, "--out", filepath.Join(s.dir, "ci.json"), "--expires", "90d")))
		}, true},
	} {
		before := inForce()
		step.change()
		if _, err := l.Reload(inCommand(t), s.config()); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if compiled := inForce() != before; compiled != step.compile {
			t.Errorf("%s changed: compiled %v, want %v", step.what, compiled, step.compile)
		}
	}
}
