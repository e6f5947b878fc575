package sign_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestBIP137: the signature is for the address that --sign-with or --address names, and an
// address of another key, or of a kind that BIP-137 does not know, is refused.
func TestBIP137(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	var made show.KeyLine
	testenv.JSON(t, s.Must([]byte(strings.Repeat("22", 32)), "keys", "import", "--curve", "CURVE_SECP256K1", "--yes"), &made)
	addresses := map[string]string{}
	for _, address := range made.Addresses {
		addresses[strings.TrimPrefix(address.Format, show.BitcoinFormat+"MAINNET_")] = address.Address
	}
	sign := func(args ...string) (header byte, stderr string, status int) {
		stdout, talk, status := s.Run([]byte("hello"), append([]string{"sign", "--message", "bip137", "--yes", "--allow", "message/free-text"}, args...)...)
		var answer struct{ Signature string }
		if status == 0 && json.Unmarshal(stdout, &answer) == nil {
			if raw, err := base64.StdEncoding.DecodeString(answer.Signature); err == nil && len(raw) == 65 {
				header = (raw[0] - 27) / 4 * 4
			}
		}
		return header + 27, string(talk), status
	}
	for _, c := range []struct {
		args []string
		want byte
	}{
		{[]string{"--sign-with", addresses["P2PKH"]}, 31}, {[]string{"--sign-with", addresses["P2WPKH"]}, 39}, {[]string{"--sign-with", made.PrivateKeyID}, 31},
		{[]string{"--sign-with", addresses["P2SH"]}, 35},
		{[]string{"--sign-with", made.PrivateKeyID, "--address", addresses["P2SH"]}, 35},
	} {
		if header, stderr, status := sign(c.args...); status != 0 || header != c.want || !strings.Contains(stderr, "hello") {
			t.Errorf("%v: header %d, want %d: status %d, %s", c.args, header, c.want, status, stderr)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--sign-with", addresses["P2TR"]}, "use BIP-322 for this address"},
		{[]string{"--sign-with", made.PrivateKeyID, "--address", addresses["P2TR"]}, "BIP-322"},
		{[]string{"--sign-with", made.PrivateKeyID, "--address", "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"}, "is not an address of the key"},
	} {
		if _, stderr, status := sign(c.args...); status == 0 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %s, want %s", c.args, status, stderr, c.want)
		}
	}
}
