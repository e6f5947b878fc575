package serve_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/stamp"
)

// TestAPIKeys: the engine verifies the stamps of keys of each curve.
func TestAPIKeys(t *testing.T) {
	t.Parallel()
	body := []byte(`{"organizationId":"o"}`)
	for _, curve := range []stamp.Curve{stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519} {
		by, err := api.ParseKeyWith([]byte(clitest.APIKeyFile(curve)), stamp.NewSigner)
		testenv.Must(t, err)
		made, err := show.NewRequestFile(by, body)
		testenv.Must(t, err)
		sent, err := stamp.Parse(made.Stamp)
		testenv.Must(t, err)
		credential, err := stamp.NewAPIKey(curve, by.PublicKey())
		testenv.Must(t, err)
		if err := credential.Verify(sent, body, time.Now()); err != nil || made.Body != string(body) {
			t.Errorf("%s: %v", curve, err)
		}
		if err := credential.Verify(sent, append(body, '\n'), time.Now()); err == nil {
			t.Errorf("%s: the stamp verifies over another body", curve)
		}
	}
}

// TestAPIKeyRefused: an invalid file is refused, and the error reveals nothing of the
// secret.
func TestAPIKeyRefused(t *testing.T) {
	good := clitest.APIKeyFile(stamp.CurveEd25519)
	for _, test := range []struct{ name, old, replacement, want string }{
		{"other public key", "d75a98", "d75a99", "publicKey is not that of privateKey"},
		{"other curve", string(stamp.CurveEd25519), string(stamp.CurveP256), "publicKey is not that of privateKey"},
		{"unknown curve", string(stamp.CurveEd25519), "CURVE_ED25519", "curve"},
		{"short secret", clitest.Seed, clitest.Seed[2:], "64 hex digits"},
		{"long secret", clitest.Seed, clitest.Seed + "00", "64 hex digits"},
		{"no hex", clitest.Seed, "zz" + clitest.Seed[2:], "64 hex digits"},
		{"other member", "organizationId", "organizationID", "organizationID"},
		{"twice", `"curve"`, `"privateKey":"` + clitest.Seed + `","curve"`, "twice"},
		{"missing", `"organizationId":"o",`, "", "missing"},
		{"trailing", `"}`, `"}{}`, "API key"},
	} {
		text := strings.Replace(good, test.old, test.replacement, 1)
		_, err := api.ParseKey([]byte(text))
		if text == good || err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), clitest.Seed[2:62]) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestSecondKeyOfOneUser: for a user in the configuration, apikey new prints the line of
// the key only. A second entry of the same name is refused, with the cure.
func TestSecondKeyOfOneUser(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	addUser(t, s, "ci", "old.json")
	l := clitest.NewLive(t, s)
	addKey(t, s, filepath.Join(s.Dir, "old.json"), "new.json")
	testenv.Must(t, l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}))
	users := l.Current.Load().Configured.Organizations[0].Users
	if len(users) != 2 || users[0].Name != "ci" || len(users[0].APIKeys) != 2 {
		t.Errorf("%+v", users)
	}
	before := l.Current.Load()
	addUser(t, s, "ci", "other.json")
	if err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}); err == nil || !strings.Contains(err.Error(), "list all keys of a user under one entry") || l.Current.Load() != before {
		t.Errorf("a second entry: %v", err)
	}
}
