package deployment_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

// toyService is a key service in this process.
type toyService struct{ keys *remotetest.Keys }

func (s toyService) Check(uri string) error {
	_, err := remote.ParseURI(uri)
	return err
}

func (s toyService) Open(_ context.Context, uri string) (remote.Key, error) {
	parsed, err := remote.ParseURI(uri)
	return toyKey{s.keys, parsed.Name}, err
}

func (s toyService) Generate(_ context.Context, uri, _ string, scheme remote.Scheme) (string, error) {
	parsed, err := remote.ParseURI(uri)
	s.keys.Generate(parsed.Name, scheme)
	return uri, err
}

type toyKey struct {
	keys *remotetest.Keys
	name string
}

func (k toyKey) fault() error {
	switch fault, _ := k.keys.Fault(); fault {
	case keystoretest.Denied:
		return fmt.Errorf("%w: the right toy:Sign is missing", keystore.ErrDenied)
	case keystoretest.Away:
		return fmt.Errorf("connection refused")
	}
	if _, ok := k.keys.Scheme(k.name); !ok {
		return keystore.ErrKeyNotFound
	}
	return nil
}

func (k toyKey) PublicKey(context.Context) (remote.Public, error) {
	if err := k.fault(); err != nil {
		return remote.Public{}, err
	}
	return k.keys.Public(k.name), nil
}

func (k toyKey) Sign(_ context.Context, _ remote.Scheme, message []byte) ([]byte, error) {
	if err := k.fault(); err != nil {
		return nil, err
	}
	return k.keys.Sign(k.name, message, remotetest.DER)
}

// toyDeployment is a deployment whose program has a key service.
type toyDeployment struct {
	t      *testing.T
	keys   *remotetest.Keys
	config string
}

func newToyDeployment(t *testing.T) *toyDeployment {
	t.Helper()
	d := &toyDeployment{t: t, keys: remotetest.NewKeys()}
	dir := filepath.Join(t.TempDir(), "d")
	d.must("init", dir)
	d.config = filepath.Join(dir, "countersign.yaml")
	return d
}

// call runs the command and returns its output and status.
func (d *toyDeployment) call(args ...string) (stdout, stderr string, status int) {
	d.t.Helper()
	var out, errs bytes.Buffer
	status = cli.Main(args, strings.NewReader(""), &out, &errs, remote.Services{"toy": toyService{d.keys}})
	return out.String(), errs.String(), status
}

func (d *toyDeployment) must(args ...string) string {
	d.t.Helper()
	stdout, stderr, status := d.call(args...)
	if status != console.ExitSuccess {
		d.t.Fatalf("%q: status %d: %s%s", args, status, stdout, stderr)
	}
	return stdout
}

func (d *toyDeployment) refused(want string, status int, args ...string) {
	d.t.Helper()
	if stdout, stderr, got := d.call(args...); got != status || !strings.Contains(stderr, want) {
		d.t.Errorf("%q: status %d, want %d with %q: %s%s", args, got, status, want, stdout, stderr)
	}
}

// TestServices adds keys of a service to a deployment that has keys in files too, and uses them
// like those.
func TestServices(t *testing.T) {
	d := newToyDeployment(t)
	d.keys.Generate("hot", remote.Secp256k1)
	added := d.must("keys", "add", "--config", d.config, "--uri", "toy:hot", "--name", "hot one", "--public-key", d.keys.Public("hot").Signing.String())
	var line struct{ PrivateKeyID, PublicKey string }
	if err := json.Unmarshal([]byte(added), &line); err != nil || line.PublicKey != d.keys.Public("hot").String() || strings.Contains(added, "P2TR") {
		t.Fatalf("%v: %s", err, added)
	}
	d.must("keys", "generate", "--config", d.config, "--uri", "toy:sol", "--curve", "ed25519", "--name", "sol")
	inFile := d.must("keys", "generate", "--config", d.config, "--curve", "secp256k1", "--name", "in a file")
	if !strings.Contains(inFile, "P2TR") {
		t.Errorf("a key in a file: %s", inFile)
	}
	if listed := d.must("keys", "list", "--config", d.config); strings.Count(listed, "\n") != 3 || strings.Count(listed, "P2TR") == 0 || !strings.Contains(listed, added) {
		t.Errorf("listed:\n%s", listed)
	}
	if shown := d.must("keys", "show", "--config", d.config, line.PrivateKeyID, "--field", "name"); shown != "hot one\n" {
		t.Errorf("shown %q", shown)
	}
	if checked := d.must("keys", "check", "--config", d.config); strings.Count(checked, `"ok":true`) != 3 || !strings.Contains(checked, `"uri":"toy:hot"`) {
		t.Errorf("checked:\n%s", checked)
	}
	var report struct{ NotAsked []string }
	if err := json.Unmarshal([]byte(d.must("serve", "--config", d.config, "--check")), &report); err != nil || len(report.NotAsked) != 2 {
		t.Errorf("%v: serve --check: %v", err, report)
	}
	d.refused("kms[0] has this name", console.ExitFailure, "keys", "add", "--config", d.config, "--uri", "toy:sol", "--name", "hot one")
	d.refused("1 of 1 keys could not sign", console.ExitFailure, "keys", "check", "--config", d.config, "00000000-0000-4000-8000-000000000000")
	d.refused("its name is in the section kms", console.ExitUsage, "keys", "rename", "--config", d.config, line.PrivateKeyID, "other")
	d.refused("remove its line from the section kms", console.ExitUsage, "keys", "delete", "--config", d.config, line.PrivateKeyID, "--yes")

	if shown := d.must("keys", "disable", "--config", d.config, line.PrivateKeyID); !strings.Contains(shown, `"disabled":true`) {
		t.Errorf("disabled: %s", shown)
	}
	d.refused("is disabled", console.ExitFailure, "keys", "check", "--config", d.config, line.PrivateKeyID)
	if listed := d.must("keys", "list", "--config", d.config); strings.Count(listed, "\n") != 3 || strings.Count(listed, `"disabled":true`) != 1 {
		t.Errorf("listed:\n%s", listed)
	}
	d.must("keys", "enable", "--config", d.config, line.PrivateKeyID)
	d.must("keys", "check", "--config", d.config, line.PrivateKeyID)
}

// TestServicesOnly: a deployment may have no keystore of its own.
func TestServicesOnly(t *testing.T) {
	d := newToyDeployment(t)
	d.keys.Generate("hot", remote.Secp256k1)
	d.must("keys", "add", "--config", d.config, "--uri", "toy:hot", "--public-key", d.keys.Public("hot").Signing.String())
	text := testenv.Read(t, d.config)
	only := strings.Replace(strings.Replace(string(text), "keystore: file:keys\n", "", 1), "passphraseFile: passphrase\n", "", 1)
	testenv.Write(t, d.config, []byte(only))
	id := remote.IDOf(d.keys.Public("hot").Signing)
	if listed := d.must("keys", "list", "--config", d.config); strings.Count(listed, "\n") != 1 || !strings.Contains(listed, id) {
		t.Errorf("listed:\n%s", listed)
	}
	d.must("keys", "disable", "--config", d.config, id)
	d.must("keys", "enable", "--config", d.config, id)
	d.must("keys", "check", "--config", d.config)
	d.refused("this keystore generates no keys", console.ExitUsage, "keys", "generate", "--config", d.config, "--curve", "ed25519")
	d.refused("--passphrase-file does not go with", console.ExitUsage, "keys", "list", "--config", d.config, "--passphrase-file", "x")
}

// TestServicesRefuse: what is wrong is refused by its name, and writes nothing.
func TestServicesRefuse(t *testing.T) {
	d := newToyDeployment(t)
	d.keys.Generate("hot", remote.Secp256k1)
	d.keys.Generate("proof", remote.P256)
	before := testenv.Read(t, d.config)
	d.refused("--uri is missing", console.ExitUsage, "keys", "add", "--config", d.config)
	d.refused("--config is missing", console.ExitUsage, "keys", "add", "--uri", "toy:hot")
	d.refused("this program has toy", console.ExitUsage, "keys", "add", "--config", d.config, "--uri", "awskms:alias/hot")
	d.refused("no such key", console.ExitFailure, "keys", "add", "--config", d.config, "--uri", "toy:cold")
	d.refused("it can be the proofKey", console.ExitFailure, "keys", "add", "--config", d.config, "--uri", "toy:proof")
	d.refused("invisible or control character", console.ExitUsage, "keys", "add", "--config", d.config, "--uri", "toy:hot", "--name", "a\u202eb")
	d.refused("name one of the organizations", console.ExitUsage, "keys", "add", "--config", d.config, "--uri", "toy:hot", "--org", "x")
	d.refused("'countersign keys add --config FILE --uri toy:hot'", console.ExitUsage, "keys", "list", "--keystore", "toy:hot")
	d.refused("--public-key is not the key at toy:hot, which is "+d.keys.Public("hot").Signing.String(), console.ExitFailure,
		"keys", "add", "--config", d.config, "--uri", "toy:hot", "--public-key", "02"+strings.Repeat("11", 32))
	d.refused("there is no terminal to ask on: pass --public-key", console.ExitUsage, "keys", "add", "--config", d.config, "--uri", "toy:hot")
	d.refused("--count does not go with --uri", console.ExitUsage, "keys", "generate", "--config", d.config, "--uri", "toy:new", "--curve", "ed25519", "--count", "2")
	d.keys.SetFault(keystoretest.Denied)
	d.refused("the right toy:Sign is missing", console.ExitFailure, "keys", "add", "--config", d.config, "--uri", "toy:hot")
	d.keys.SetFault(keystoretest.NoFault)
	if after, err := os.ReadFile(d.config); err != nil || string(after) != string(before) {
		t.Errorf("%v: the configuration was changed:\n%s", err, after)
	}
	d.must("keys", "add", "--config", d.config, "--uri", "toy:hot", "--public-key", d.keys.Public("hot").Signing.String())
	d.refused("the organization has this publicKey", console.ExitFailure, "keys", "add", "--config", d.config, "--uri", "toy:hot", "--public-key", d.keys.Public("hot").Signing.String())
	if _, stderr, status := clitest.CallIn("keys", "list", "--config", d.config); status != console.ExitFailure || !strings.Contains(stderr, "this program has no key services: countersign-kms has awskms") {
		t.Errorf("a program without services: status %d: %s", status, stderr)
	}
	d.keys.Generate("hot", remote.Secp256k1)
	d.refused("1 of 1 keys could not sign", console.ExitFailure, "keys", "check", "--config", d.config)
	if stdout, _, _ := d.call("keys", "check", "--config", d.config); !strings.Contains(stdout, "not the pinned") {
		t.Errorf("a key that was moved: %s", stdout)
	}
}
