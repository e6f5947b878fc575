package serve_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/logmemory"
	"github.com/countersign-dev/countersign/internal/cli/serve"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/stamp"
)

const onlyFees = "schema: countersign.policy/2\nrules: [{name: gas, allow: fee}]\n"

// held is a place at which reloads wait: they have revoked credentials, and have not read
// policies yet.
type held struct{ reached, goOn chan struct{} }

// holdReloads makes reloads wait.
func holdReloads(l *serve.Live) *held {
	h := &held{make(chan struct{}), make(chan struct{})}
	l.Loader.Keystore = func(*cobra.Command, *config.Config) (keystore.Keystore, error) {
		h.reached <- struct{}{}
		<-h.goOn
		return nil, nil
	}
	return h
}

// TestReloadRevokesFirst checks that a credential which the configuration no longer has stops
// working while the policy is still to be read, and does not come back if that policy is refused.
func TestReloadRevokesFirst(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	file := filepath.Join(s.Dir, "ci.json")
	lines := string(s.Run(t, "apikey", "new", "--name", "ci", "--org", s.By.OrganizationID, "--out", file, "--expires", "90d"))
	stolen, own := credentialIn(t, file), credentialIn(t, filepath.Join(s.Dir, setup.APIKeyName))
	s.Edit(t, "    users:\n", "    users:\n"+lines)
	l := clitest.NewLive(t, s)
	l.Policies = &deployment.LoadedPolicies{Organizations: policy.NewOrganizations(nil), Configured: l.Current.Load().Configured}
	works := func(id stamp.ID) bool {
		_, err := l.InForce.Member(t.Context(), s.By.OrganizationID, id)
		if err != nil && !errors.Is(err, access.ErrCredentialNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	if !works(stolen) || !works(own) {
		t.Fatal("the credentials do not work")
	}
	s.Edit(t, lines, "")
	s.Edit(t, "name: Example", "name: Renamed\n    policy: policy.yaml")
	h := holdReloads(l)
	for _, text := range []string{"no policy", onlyFees} {
		reloaded := make(chan error, 1)
		go func() {
			err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {})
			reloaded <- err
		}()
		<-h.reached
		if works(stolen) || !works(own) {
			t.Error("the stolen credential works, or the other stopped working")
		}
		clitest.WritePrivate(t, filepath.Join(s.Dir, "policy.yaml"), text)
		h.goOn <- struct{}{}
		if err := <-reloaded; (err == nil) != (text == onlyFees) {
			t.Errorf("%q: %v", text, err)
		}
		if works(stolen) || !works(own) || l.OlderSince().IsZero() != (text == onlyFees) {
			t.Errorf("%q: the stolen credential works: %v, the other: %v, older since %v", text, works(stolen), works(own), l.OlderSince())
		}
	}
}

// TestReloadGivenUp checks that a reload which takes too long, or which the end of the server
// overtakes, is given up: nothing of it is put in force later, and the next one works.
func TestReloadGivenUp(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	l := clitest.NewLive(t, s)
	before := l.Current.Load()
	s.Edit(t, "name: Example", "name: Renamed")
	h := holdReloads(l)
	for _, ends := range []bool{true, false} {
		command := clitest.InCommand(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		command.SetContext(ctx)
		l.Within = time.Hour
		if !ends {
			l.Within = time.Nanosecond
		}
		reloaded := make(chan error, 1)
		go func() {
			err := l.Reload(command, s.Config(), func([]string) {})
			reloaded <- err
		}()
		if ends {
			<-h.reached
			cancel()
		}
		if err := <-reloaded; ends != errors.Is(err, context.Canceled) || !ends && !strings.Contains(err.Error(), "it took longer than 1ns") {
			t.Errorf("the server ends: %v: %v", ends, err)
		}
		if since := l.OlderSince(); since.IsZero() != ends {
			t.Errorf("the server ends: %v: older since %v", ends, since)
		}
		if ends {
			h.goOn <- struct{}{}
		}
	}
	if l.Current.Load() != before {
		t.Error("what was given up is in force")
	}
	l.Within, l.Loader.Keystore = 0, nil
	if err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}); err != nil || !l.OlderSince().IsZero() || l.Current.Load() == before {
		t.Errorf("the next reload: %v, older since %v", err, l.OlderSince())
	}
}

// kinds make what is no regular file.
var kinds = map[string]func(path string) error{
	"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a directory":  func(path string) error { return os.Mkdir(path, 0o700) },
	"a device":     func(path string) error { return os.Symlink("/dev/zero", path) },
	"a socket": func(path string) error {
		listener, err := net.Listen("unix", path)
		if err == nil {
			listener.(*net.UnixListener).SetUnlinkOnClose(false)
			err = listener.Close()
		}
		return err
	},
}

// TestNoRegularFile puts what is no regular file in place of each file that a configuration
// names, and of those that these name. It is refused by name, and nothing waits for it.
func TestNoRegularFile(t *testing.T) {
	s := clitest.Documented(t)
	configured, err := config.Read(s.Config())
	testenv.Must(t, err)
	memory := filepath.Join(s.Dir, "log.memory")
	files := append(configured.Files(), configured.PassphraseFile, memory, strings.TrimPrefix(configured.Store, "bolt:"), filepath.Join(s.Dir, "fee.json"))
	clitest.WritePrivate(t, filepath.Join(s.Dir, "fee.json"), `{"type":"TRANSACTION_TYPE_ETHEREUM","unsignedTransaction":"`+enginetest.Unsigned+`"}`)
	clitest.WritePrivate(t, filepath.Join(s.Dir, "policy.yaml"), onlyFees+"tests: [{as: payments, file: fee.json, expect: deny}]\n")
	if _, err := (deployment.Loader{Path: s.Config()}).Load(clitest.InCommand(t)); err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, path := range files {
		if tried[path] || path == configured.Descriptors.Folder {
			continue
		}
		tried[path] = true
		for kind, make := range kinds {
			aside := path + ".aside"
			if err := os.Rename(path, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if err := make(path); err != nil {
				t.Fatal(kind, path, err)
			}
			_, err := deployment.Loader{Path: s.Config()}.Load(clitest.InCommand(t))
			if err == nil && path == memory {
				_, err = logmemory.Read(path)
			}
			if err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
				t.Errorf("%s is %s: %v", filepath.Base(path), kind, err)
			}
			testenv.Must(t, os.RemoveAll(path))
			if err := os.Rename(aside, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	if len(tried) < 20 {
		t.Errorf("%d files: %v", len(tried), tried)
	}
}

// TestReloadOfPipe: a named pipe in place of a policy fails a reload, which /readyz and the
// metrics tell, and the next reload works.
func TestReloadOfPipe(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	s.Edit(t, "name: Example", "name: Example\n    policy: policy.yaml")
	path := filepath.Join(s.Dir, "policy.yaml")
	clitest.WritePrivate(t, path, onlyFees)
	address := testenv.FreeAddress(t)
	n := s.Start(t, "--admin", address)
	admin := "http://" + address
	told := func(older bool) {
		t.Helper()
		_, ready := clitest.Get(t, admin+"/readyz")
		_, metrics := clitest.Get(t, admin+"/metrics")
		if strings.Contains(ready, "configurationOlderSince") != older || strings.Contains(metrics, "countersign_configuration_older_since_seconds 0\n") == older || !strings.Contains(ready, `"ready"`) {
			t.Errorf("%s\n%s", ready, regexp.MustCompile("(?m)^countersign_(conf|reload).*").FindAllString(metrics, -1))
		}
	}
	told(false)
	testenv.Must(t, errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600), n.Command.Process.Signal(syscall.SIGHUP)))
	testenv.Await(t, "the failure is counted", func() bool {
		_, metrics := clitest.Get(t, admin+"/metrics")
		return strings.Contains(metrics, "countersign_reload_failures_total 1\n")
	})
	told(true)
	testenv.Must(t, os.Remove(path))
	clitest.WritePrivate(t, path, onlyFees+"# good again\n")
	testenv.Must(t, n.Command.Process.Signal(syscall.SIGHUP))
	testenv.Await(t, "the next reload works", func() bool {
		_, ready := clitest.Get(t, admin+"/readyz")
		return !strings.Contains(ready, "configurationOlderSince")
	})
	told(false)
	n.End(t, os.Interrupt)
	if !strings.Contains(n.Log.String(), "it is a named pipe: name a regular file") {
		t.Errorf("the log does not say why: %s", n.Log)
	}
}

// credentialIn returns the id of the API key in a file.
func credentialIn(t *testing.T, path string) stamp.ID {
	t.Helper()
	content := testenv.Read(t, path)
	var key struct {
		PublicKey string `json:"publicKey"`
	}
	testenv.JSON(t, content, &key)
	raw := testenv.Hex(t, key.PublicKey)
	return stamp.APIKeyID(raw)
}

// TestReloadCompilesWhatChanged checks that a reload takes over the policies that are as they
// were, and compiles one whose bytes, users, keys or tests have changed.
func TestReloadCompilesWhatChanged(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	s.Edit(t, "name: Example", "name: Example\n    policy: policy.yaml")
	path := filepath.Join(s.Dir, "policy.yaml")
	clitest.WritePrivate(t, path, onlyFees)
	l := clitest.NewLive(t, s)
	first := l.Current.Load()
	l.Policies = &deployment.LoadedPolicies{Organizations: policy.NewOrganizations(first.Policies), Configured: first.Configured}
	inForce := func() *policy.File { return l.Policies.File(&access.Organization{ID: s.By.OrganizationID}) }
	for _, step := range []struct {
		what    string
		change  func()
		compile bool
	}{
		{"nothing", func() {}, false},
		{"another name of the organization", func() { s.Edit(t, "name: Example", "name: Renamed") }, false},
		{"the policy", func() { clitest.WritePrivate(t, path, onlyFees+"# changed\n") }, true},
		{"nothing again", func() {}, false},
		{"a key", func() { s.Run(t, "keys", "generate", "--config", s.Config(), "--curve", "CURVE_ED25519") }, true},
		{"a user", func() {
			s.Edit(t, "    users:\n", "    users:\n"+string(s.Run(t, "apikey", "new", "--name", "ci", "--org", s.By.OrganizationID, "--out", filepath.Join(s.Dir, "ci.json"), "--expires", "90d")))
		}, true},
	} {
		before := inForce()
		step.change()
		if err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if compiled := inForce() != before; compiled != step.compile {
			t.Errorf("%s changed: compiled %v, want %v", step.what, compiled, step.compile)
		}
	}
}
