package keys_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

// TestNoSecretPrinted searches everything that a session prints, in calls that succeed and
// calls that fail, and everything that it leaves on disk, for secrets.
func TestNoSecretPrinted(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	s := clitest.NewSession(t)
	seed := clitest.NthSecret(1)
	s.Must([]byte(clitest.NthSecret(0)), "keys", "import", "--curve", "CURVE_SECP256K1")
	s.Must([]byte(seed), "keys", "import", "--curve", "CURVE_ED25519")
	s.Must([]byte(clitest.Unsigned), "sign", "--yes", "--type", "TRANSACTION_TYPE_ETHEREUM", "--sign-with", clitest.Address)
	s.Must([]byte(clitest.IntentLine(clitest.Address, clitest.Unsigned)), "sign", "--jsonl")
	s.Must([]byte(walletWords), "keys", "import", "--format", "mnemonic")
	s.Must([]byte(walletXPrv), "keys", "import", "--format", "xprv")
	s.Must(secretWIF(t), "keys", "import", "--format", "wif")
	s.Must(nil, "keys", "list")
	s.Must(nil, "keys", "show", clitest.KeyID)

	// Secrets where they do not belong.
	for _, in := range []string{
		clitest.NthSecret(0) + "0", "x" + clitest.NthSecret(0), clitest.NthSecret(0) + " " + clitest.NthSecret(0), `"` + clitest.NthSecret(0) + `"`,
	} {
		mustFail(s, []byte(in), "keys", "import", "--curve", "CURVE_SECP256K1")
	}
	for _, in := range []string{
		clitest.NthSecret(0), `"` + clitest.NthSecret(0) + `"`, `{"curve":"CURVE_SECP256K1","privateKey":"` + clitest.NthSecret(0),
		`{"curve":"CURVE_SECP256K1","privateKey":"` + clitest.NthSecret(0) + `0"}`,
		`{"curve":"CURVE_SECP256K1","privatekey":"` + clitest.NthSecret(0) + `"}`,
		`{"curve":"` + clitest.NthSecret(0) + `","privateKey":"` + clitest.NthSecret(0) + `"}`,
		`{"` + clitest.NthSecret(0) + `":"privateKey"}`,
		`{"curve":"CURVE_ED25519","privateKey":"` + seed + `","name":"another"}` + "\n" + `{"curve":"CURVE_ED25519","privateKey":"` + seed + `","name":"name"}`,
	} {
		mustFail(s, []byte(in), "keys", "import", "--jsonl")
	}
	for _, format := range []string{"hex", "wif", "solana", "pkcs8", "mnemonic", "xprv"} {
		args := []string{"keys", "import", "--format", format}
		if format == "hex" {
			args = append(args, "--curve", "CURVE_SECP256K1")
		}
		for _, in := range []string{walletWords + " zoo", "x" + walletWords, string(secretWIF(t)) + "1", "[" + seed + "]", walletXPrv + "1", "wpkh(" + walletXPrv + "/0/*)"} {
			mustFail(s, []byte(in), args...)
		}
	}
	testenv.Write(t, filepath.Join(s.Dir, "pass"), []byte(clitest.Passphrase+"\n"+clitest.Passphrase))
	mustFail(s, nil, "keys", "list")
	testenv.Write(t, filepath.Join(s.Dir, "pass"), []byte(clitest.Passphrase+"?"))
	mustFail(s, nil, "keys", "list")

	searchDisk(s)
	for _, secret := range []string{clitest.Secret, clitest.Seed, clitest.NthSecret(0), seed} {
		for form, text := range formsOf(testenv.Hex(t, secret)) {
			if bytes.Contains(s.Output.Bytes(), []byte(text)) {
				t.Errorf("a secret was printed or left in plain, as %s", form)
			}
		}
	}
	for _, text := range []string{walletWords[:20], string(secretWIF(t))[:20], walletXPrv[20:40]} {
		if bytes.Contains(s.Output.Bytes(), []byte(text)) {
			t.Errorf("%s… was printed or left in plain", text)
		}
	}
	if bytes.Contains(s.Output.Bytes(), []byte(clitest.Passphrase)) {
		t.Error("the passphrase was printed or left in plain")
	}
	if !bytes.Contains(s.Output.Bytes(), []byte(clitest.Address)) {
		t.Error("the search does not see the output")
	}
}

const walletWords = "legal winner thank year wave sausage worth useful legal winner thank yellow"

// walletXPrv is the master key of the first test vector of BIP-32.
const walletXPrv = "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"

func secretWIF(t *testing.T) []byte {
	t.Helper()
	key, err := keyformat.NewKey(keystore.CurveSecp256k1, testenv.Hex(t, clitest.NthSecret(2)))
	testenv.Must(t, err)
	text, err := keyformat.WIF{Key: key}.Format()
	testenv.Must(t, err)
	return text
}

// mustFail is run for a call that must fail.
func mustFail(s *clitest.Session, stdin []byte, args ...string) {
	s.T.Helper()
	if _, _, status := s.Run(stdin, args...); status != console.ExitFailure {
		s.T.Errorf("countersign %q: exit status %d", args, status)
	}
}

// searchDisk adds the files of the keystore to the output that is searched.
func searchDisk(s *clitest.Session) {
	s.T.Helper()
	root := os.DirFS(filepath.Join(s.Dir, "keys"))
	testenv.Must(s.T, fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, path)
		s.Output.Write(content)
		return err
	}))
}

// formsOf returns the usual encodings of bytes in a text.
func formsOf(secret []byte) map[string]string {
	return map[string]string{
		"hex":          hex.EncodeToString(secret),
		"upper hex":    strings.ToUpper(hex.EncodeToString(secret)),
		"base64":       base64.RawStdEncoding.EncodeToString(secret)[:40],
		"base64url":    base64.RawURLEncoding.EncodeToString(secret)[:40],
		"bytes":        string(secret),
		"decimal list": strings.Trim(fmt.Sprintf("%d", secret), "[]"),
	}
}
