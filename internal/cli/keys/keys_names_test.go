package keys_test

import (
	"cmp"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// namesHot is a policy with a rule that names a key.
const namesHot = `schema: countersign.policy/2
rules:
  - {name: gas, allow: fee, when: "effect.amount <= ether('1')"}
  - {name: pay, allow: transfer, key: hot, when: "effect.amount <= ether('1')"}
`

// TestKeyNames: no command leaves keys with which serve would refuse the policy, and each says
// which rule breaks. New names are unique. What repairs a deployment is not refused.
func TestKeyNames(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	hot := idIn(t, s.Run(t, "keys", "generate", "--config", s.Config(), "--curve", "secp256k1", "--name", "hot"))
	cold := idIn(t, s.Run(t, "keys", "generate", "--config", s.Config(), "--curve", "secp256k1", "--name", "cold"))
	policy := filepath.Join(s.Dir, "policy.yaml")
	clitest.WritePrivate(t, policy, namesHot)
	s.Edit(t, "name: Example", "name: Example\n    policy: policy.yaml")
	starts := func() {
		t.Helper()
		if _, stderr, status := clitest.MainWith("", "serve", "--check", "--config", s.Config()); status != console.ExitSuccess {
			t.Errorf("serve refuses: %s", stderr)
		}
	}
	refused := func(stdin, want string, args ...string) {
		t.Helper()
		if stdout, stderr, status := clitest.MainWith(stdin, append(args, "--config", s.Config())...); status == console.ExitSuccess || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d: %s%s", args, status, stdout, stderr)
		}
		starts()
	}
	const rule = "there is no key or wallet hot"
	secret := strings.Repeat("5a", 31) + "01"
	words := strings.Repeat("abandon ", 11) + "about"
	refused("", "another key has this name", "keys", "generate", "--curve", "ed25519", "--name", "hot")
	refused(secret, "another key has this name", "keys", "import", "--format", "hex", "--curve", "secp256k1", "--name", "hot")
	refused(`{"curve":"CURVE_SECP256K1","privateKey":"`+secret+`","name":"hot"}`+"\n", "1 of 1 lines", "keys", "import", "--jsonl")
	refused("", "another key has this name", "keys", "rename", cold, "hot")
	refused("", rule, "keys", "rename", hot, "warm")
	refused("", rule, "keys", "delete", "--yes", hot)
	refused("", "pay", "keys", "delete", "--yes", hot)

	// A wallet has the names of its accounts.
	imported, stderr, status := clitest.MainWith(words, "keys", "import", "--config", s.Config(), "--format", "mnemonic", "--name", "seed")
	if status != console.ExitSuccess {
		t.Fatal(stderr)
	}
	wallet := idIn(t, []byte(imported))
	refused("", "another key has this name", "keys", "rename", cold, "seed m/44'/60'/0'/0/0")
	s.Run(t, "keys", "rename", "--config", s.Config(), wallet, "other seed")
	starts()

	// In a hurry a key can be disabled, and then is warned of; enabled again, all is well.
	_, stderr, status = clitest.MainWith("", "keys", "disable", hot, "--config", s.Config())
	if status != console.ExitSuccess || !strings.Contains(stderr, rule) {
		t.Errorf("disabled with status %d: %s", status, stderr)
	}
	s.Run(t, "keys", "enable", "--config", s.Config(), hot)
	starts()

	// By its id a key keeps its place in a policy.
	clitest.WritePrivate(t, policy, strings.Replace(namesHot, "key: hot", "key: "+hot, 1))
	s.Run(t, "keys", "rename", "--config", s.Config(), hot, "warm")
	refused("", "there is no key or wallet "+hot, "keys", "delete", "--yes", hot)

	// A policy that is refused already stops nothing, and a rename may repair it.
	clitest.WritePrivate(t, policy, namesHot)
	s.Run(t, "keys", "generate", "--config", s.Config(), "--curve", "ed25519", "--name", "more")
	s.Run(t, "keys", "delete", "--yes", "--config", s.Config(), cold)
	s.Run(t, "keys", "rename", "--config", s.Config(), hot, "hot")
	starts()
	refused("", "another key has this name", "keys", "rename", idIn(t, s.Run(t, "keys", "restore", "--config", s.Config(), cold)), "hot")
}

// idIn returns the id of the key or wallet that a command printed.
func idIn(t *testing.T, printed []byte) string {
	t.Helper()
	var line struct{ PrivateKeyID, WalletID string }
	testenv.JSON(t, printed, &line)
	return cmp.Or(line.PrivateKeyID, line.WalletID)
}
