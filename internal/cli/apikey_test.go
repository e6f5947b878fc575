package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/stamp"
)

// apiKeyFile returns an API key file with a known key pair: the secret 1, or on Ed25519
// test 1 of RFC 8032.
func apiKeyFile(curve stamp.Curve) string {
	secret := strings.Repeat("0", 63) + "1"
	public := map[stamp.Curve]string{
		stamp.CurveP256:      "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
		stamp.CurveSecp256k1: "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
		stamp.CurveEd25519:   "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
	}[curve]
	if curve == stamp.CurveEd25519 {
		secret = fixtureSeed
	}
	return `{"organizationId":"o","publicKey":"` + public + `","privateKey":"` + secret + `","curve":"` + string(curve) + `"}`
}

// TestAPIKeys: the engine verifies the stamps of keys of each curve.
func TestAPIKeys(t *testing.T) {
	body := []byte(`{"organizationId":"o"}`)
	for _, curve := range []stamp.Curve{stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519} {
		by, err := api.ParseKeyWith([]byte(apiKeyFile(curve)), stamp.NewSigner)
		if err != nil {
			t.Fatal(err)
		}
		made, err := show.NewRequestFile(by, body)
		if err != nil {
			t.Fatal(err)
		}
		sent, err := stamp.Parse(made.Stamp)
		if err != nil {
			t.Fatal(err)
		}
		credential, err := stamp.NewAPIKey(curve, by.PublicKey())
		if err != nil {
			t.Fatal(err)
		}
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
	good := apiKeyFile(stamp.CurveEd25519)
	for _, test := range []struct{ name, old, replacement, want string }{
		{"other public key", "d75a98", "d75a99", "publicKey is not that of privateKey"},
		{"other curve", string(stamp.CurveEd25519), string(stamp.CurveP256), "publicKey is not that of privateKey"},
		{"unknown curve", string(stamp.CurveEd25519), "CURVE_ED25519", "curve"},
		{"short secret", fixtureSeed, fixtureSeed[2:], "64 hex digits"},
		{"long secret", fixtureSeed, fixtureSeed + "00", "64 hex digits"},
		{"no hex", fixtureSeed, "zz" + fixtureSeed[2:], "64 hex digits"},
		{"other member", "organizationId", "organizationID", "organizationID"},
		{"twice", `"curve"`, `"privateKey":"` + fixtureSeed + `","curve"`, "twice"},
		{"missing", `"organizationId":"o",`, "", "missing"},
		{"trailing", `"}`, `"}{}`, "API key"},
	} {
		text := strings.Replace(good, test.old, test.replacement, 1)
		_, err := api.ParseKey([]byte(text))
		if text == good || err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), fixtureSeed[2:62]) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestSecondKeyOfOneUser: for a user in the configuration, apikey new prints the line of
// the key only. A second entry of the same name is refused, with the cure.
func TestSecondKeyOfOneUser(t *testing.T) {
	s := newServed(t)
	addUser(t, s, "ci", "old.json")
	l := newLive(t, s)
	addKey(t, s, filepath.Join(s.dir, "old.json"), "new.json")
	if _, err := l.Reload(inCommand(t), s.config()); err != nil {
		t.Fatal(err)
	}
	users := l.Current.Load().Configured.Organizations[0].Users
	if len(users) != 2 || users[0].Name != "ci" || len(users[0].APIKeys) != 2 {
		t.Errorf("%+v", users)
	}
	before := l.Current.Load()
	addUser(t, s, "ci", "other.json")
	if _, err := l.Reload(inCommand(t), s.config()); err == nil || !strings.Contains(err.Error(), "list all keys of a user under one entry") || l.Current.Load() != before {
		t.Errorf("a second entry: %v", err)
	}
}
