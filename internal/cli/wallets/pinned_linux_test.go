//go:build cgo

package wallets_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestPinnedWallet: an HSM cannot authenticate a registered wallet. The lines that wallets
// register prints pin it in the configuration, and sign and policy explain then know it. A
// file that is not the pinned one is refused.
func TestPinnedWallet(t *testing.T) {
	token := testenv.SoftHSM(t)
	m, s := newCosigners(t), newConfigured(t)
	s.Write("pin", []byte(token.PIN+"\n"))
	edit(s, "keystore: file:keys", fmt.Sprintf("keystore: %q", token.URI("")+"&pin-source=file:"+s.Dir+"/pin"))
	edit(s, "passphraseFile: passphrase\n", "")
	secret, err := m.roots[0].Derive(keystore.CurveSecp256k1, append(multisigAccount[:4:4], 0, 0))
	testenv.Must(t, err)
	s.Must(fmt.Appendf(nil, "%x\n", secret), "keys", "import", "--config", madeConfig, "--curve", "CURVE_SECP256K1", "--yes")
	raw := m.psbt()
	if stderr, status := spends(s, raw); status != console.ExitFailure || !strings.Contains(stderr, `no key "treasury"`) {
		t.Errorf("before it is pinned: exit status %d: %s", status, stderr)
	}
	policy, stderr, status := s.Run([]byte(m.policy.Canonical()), "wallets", "register", "--config", madeConfig, "--digest", m.digest())
	lines := regexp.MustCompile(`(?m)^wallets:\n  - .*\n`).FindString(string(stderr))
	if status != console.ExitSuccess || strings.TrimSpace(string(policy)) != m.policy.Canonical() || !strings.Contains(lines, m.digest()) {
		t.Fatalf("exit status %d: %s%s", status, policy, stderr)
	}
	s.Write("made/wallet.json", policy)
	edit(s, "organizations:\n", lines+"organizations:\n")
	if got := explained(s, raw); got != "allow" {
		t.Errorf("policy explain: %s", got)
	}
	if stderr, status := spends(s, raw); status != console.ExitSuccess || !strings.Contains(stderr, `yours [wallet "treasury": change]`) {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	if _, record := logged(s); len(record.Decision.Wallets) != 1 || record.Decision.Wallets[0].Digest != m.digest() {
		t.Errorf("the record names %+v", record.Decision.Wallets)
	}
	s.Write("made/wallet.json", []byte(strings.Replace(string(policy), "sortedmulti(2", "sortedmulti(1", 1)))
	const refused = "is not the wallet that was pinned"
	if stderr, status := spends(s, raw); status != console.ExitFailure || !strings.Contains(stderr, refused) {
		t.Errorf("with another file: exit status %d: %s", status, stderr)
	}
	_, stderr, status = s.Run(raw, "policy", "explain", "--config", madeConfig, "--as", "admin", "--type", "bitcoin", "--sign-with", "treasury")
	if status != console.ExitFailure || !strings.Contains(string(stderr), refused) {
		t.Errorf("policy explain with another file: exit status %d: %s", status, stderr)
	}
}
