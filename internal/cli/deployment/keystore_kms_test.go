package deployment

import (
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestFollowing: a change of the configuration is seen once, also one between the program's own
// reading of it and the first look-up of a key.
func TestFollowing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "countersign.yaml")
	write := func(name string) {
		t.Helper()
		text := "listen: 127.0.0.1:8080\nstore: memory\norganizations:\n  - id: org\n    users:\n      - id: ci\n        name: ci\n        apiKeys:\n" +
			"          - {curve: API_KEY_CURVE_P256, publicKey: 036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296}\n" +
			"kms:\n  - {uri: 'awskms:alias/hot', publicKey: '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', name: " + name + "}\n"
		testenv.Write(t, path, []byte(text))
	}
	write("first")
	if _, err := config.Read(path); err != nil {
		t.Fatal(err)
	}
	write("second one") // before the pins are followed
	follow := following(path)
	expect := func(name string) {
		t.Helper()
		pins, changed, err := follow()
		if err != nil || changed != (name != "") || changed && (len(pins) != 1 || pins[0].Name != name) {
			t.Errorf("%v, %t, %v, want %q", pins, changed, err, name)
		}
	}
	expect("second one")
	expect("")
	write("the third one")
	expect("the third one")
	expect("")
}
