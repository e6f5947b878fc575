package cli_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// toys are the backend of another main: keystores in memory.
func toys() cli.Backends {
	return cli.Backends{"toy": deployment.Backend{
		Kind: (*memory.Store)(nil),
		Check: func(uri string) error {
			if uri != "toy:box" {
				return errors.New("the only toy keystore is toy:box")
			}
			return nil
		},
		Open: func(ctx context.Context, _ string) (keystore.Keystore, error) {
			box := memory.New()
			_, err := box.Add(ctx, deployment.DefaultOrganization, keystore.NewKey{
				ID: clitest.KeyID, Name: "bear", Curve: keystore.CurveSecp256k1, Secret: bytes.Repeat([]byte{1}, keystore.SecretSize),
			})
			return box, err
		},
	}}
}

// TestBackends: the command opens the keystores that its main links, offers their scheme,
// and refuses flags that are about other keystores. Without the backend it does not know them.
func TestBackends(t *testing.T) {
	for args, want := range map[string]struct {
		status int
		text   string
	}{
		"keys list --keystore toy:box":                                                   {console.ExitSuccess, `"name":"bear"`},
		"keys list --keystore toy:":                                                      {console.ExitUsage, "--keystore: the only toy keystore is toy:box"},
		"keys list --keystore toy:box --pin-file x":                                      {console.ExitUsage, "--pin-file does not go with --keystore toy:box"},
		"keys list --keystore toy:box --passphrase-file x":                               {console.ExitUsage, "--passphrase-file does not go with --keystore toy:box"},
		"keys passphrase change --keystore toy:box":                                      {console.ExitUsage, "passphrase"},
		"keys list --keystore toys:box":                                                  {console.ExitUsage, `unknown scheme "toys"`},
		"__complete keys list --keystore ":                                               {console.ExitSuccess, "toy:"},
		"keys show 11111111-1111-4111-8111-111111111111 --keystore toy:box --field name": {console.ExitSuccess, "bear\n"},
	} {
		var out bytes.Buffer
		fields := strings.Split(args, " ")
		if status := cli.Main(fields, strings.NewReader(""), &out, &out, toys()); status != want.status || !strings.Contains(out.String(), want.text) {
			t.Errorf("%s: exit status %d: %s", args, status, &out)
		}
	}
	if _, stderr, status := clitest.CallIn("keys", "list", "--keystore", "toy:box"); status != console.ExitUsage || !strings.Contains(stderr, `unknown scheme "toy"`) {
		t.Errorf("without the backend: exit status %d: %s", status, stderr)
	}
}
