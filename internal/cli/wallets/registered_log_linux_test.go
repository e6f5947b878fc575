package wallets_test

import (
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/translog"
)

// treasuryRules allow what the wallet pays, and nothing of another.
const treasuryRules = "schema: countersign.policy/2\nrules:\n  - {name: treasury, allow: [transfer, fee], on: bitcoin, when: wallet == 'treasury'}\n"

const madeConfig = "made/countersign.yaml"

// newConfigured is a server's configuration, with rules for the wallet, before it has keys.
func newConfigured(t *testing.T) *clitest.Session {
	t.Helper()
	s := &clitest.Session{T: t, Dir: t.TempDir()}
	s.Must(nil, "init", "made")
	edit(s, "    allowHazards", "    policy: policy.yaml\n    allowHazards")
	s.Write("made/policy.yaml", []byte(treasuryRules))
	return s
}

// edit replaces a text of the configuration.
func edit(s *clitest.Session, old, text string) {
	s.T.Helper()
	before := string(s.Read(madeConfig))
	if !strings.Contains(before, old) {
		s.T.Fatalf("the configuration has no %q", old)
	}
	s.Write(madeConfig, []byte(strings.Replace(before, old, text, 1)))
}

// wallet runs a command on registered wallets with the configuration.
func walletsCommand(s *clitest.Session, stdin string, args ...string) []byte {
	s.T.Helper()
	return s.Must([]byte(stdin), append([]string{"wallets", "--config", madeConfig}, args...)...)
}

// explained returns what policy explain decides about signing a PSBT for the wallet.
func explained(s *clitest.Session, raw []byte) string {
	s.T.Helper()
	var explained struct{ Decision string }
	out := s.Must(raw, "policy", "explain", "--config", madeConfig, "--as", "admin", "--type", "bitcoin", "--sign-with", "treasury", "--output", "json")
	if err := json.Unmarshal(out, &explained); err != nil {
		s.T.Fatalf("%s: %v", out, err)
	}
	return explained.Decision
}

// spends signs a PSBT for the wallet.
func spends(s *clitest.Session, raw []byte) (stderr string, status int) {
	s.T.Helper()
	_, talk, status := s.Run(raw, "sign", "--config", madeConfig, "--as", "admin", "--type", "bitcoin", "--sign-with", "treasury", "--yes")
	return string(talk), status
}

// logged returns the leaves of the log, and the newest record.
func logged(s *clitest.Session) (leaves []translog.Leaf, newest *activity.Record) {
	s.T.Helper()
	kept, err := bolt.Open(filepath.Join(s.Dir, "made", "state.db"))
	testenv.Must(s.T, err)
	defer kept.Close()
	heads, err := kept.LogHeads(s.T.Context())
	if err != nil || len(heads) != 1 {
		s.T.Fatalf("%v, %v", heads, err)
	}
	for organization, head := range heads {
		for index := range head.Size {
			rows, err := kept.LogRows(s.T.Context(), organization, []int64{index})
			testenv.Must(s.T, err)
			leaf, err := translog.ParseLeaf(rows[0].Leaf)
			testenv.Must(s.T, err)
			leaves = append(leaves, leaf)
		}
		found, err := kept.List(s.T.Context(), organization, store.Filter{Limit: 1})
		testenv.Must(s.T, err)
		if len(found) == 1 {
			if newest, err = activity.DecodeRecord(found[0].Data); err != nil {
				s.T.Fatal(err)
			}
		}
	}
	return leaves, newest
}

// TestWalletLeaves: registering, replacing and removing a wallet are leaves of the log, which
// commit to its name and digest. The record of a transaction names the wallet by both, and by
// the leaf.
func TestWalletLeaves(t *testing.T) {
	t.Parallel()
	m, s := newCosigners(t), newConfigured(t)
	s.Must([]byte(clitest.CosignerWords[0]), "keys", "import", "--config", madeConfig, "--format", "mnemonic", "--name", "seed", "--yes")
	strict := *m
	var keys []string
	for _, key := range m.policy.Keys() {
		keys = append(keys, key.Text)
	}
	var err error
	if strict.policy, err = walletpolicy.New("treasury", "wsh(sortedmulti(3,@0/**,@1/**,@2/**))", keys); err != nil {
		t.Fatal(err)
	}
	walletsCommand(s, strict.policy.Canonical(), "register", "--digest", strict.digest())
	walletsCommand(s, m.policy.Canonical(), "register", "--replace", "--digest", m.digest())
	raw := m.psbt()
	s.Must(raw, "keys", "derive", "--config", madeConfig, "--wallet", "seed", "--psbt")
	if got := explained(s, raw); got != "allow" {
		t.Errorf("policy explain: %s", got)
	}
	if stderr, status := spends(s, raw); status != console.ExitSuccess || !strings.Contains(stderr, `yours [wallet "treasury": change]`) {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	_, record := logged(s)
	var listed struct{ ID string }
	testenv.JSON(t, s.Must(nil, "activities", "list", "--config", madeConfig), &listed)
	_, shown, _ := s.Run(nil, "activities", "show", "--config", madeConfig, listed.ID)
	walletsCommand(s, "", "remove", "--digest", m.digest(), "treasury")
	leaves, _ := logged(s)
	var of []translog.Leaf
	for _, leaf := range leaves {
		if leaf.IsWallet() {
			of = append(of, leaf)
		}
	}
	want := []struct{ action, digest string }{
		{translog.WalletRegistered, strict.digest()}, {translog.WalletReplaced, m.digest()}, {translog.WalletRemoved, m.digest()},
	}
	if len(of) != len(want) {
		t.Fatalf("%d leaves of wallets in %+v", len(of), leaves)
	}
	for i, leaf := range of {
		if !strings.HasPrefix(leaf.ID, "wallet/"+want[i].action+"/") || !strings.HasSuffix(leaf.ID, "/treasury") || hex.EncodeToString(leaf.Record[:]) != want[i].digest {
			t.Errorf("leaf %d: %s, %x", i, leaf.ID, leaf.Record)
		}
	}
	used := activity.RegisteredWallet{Name: "treasury", Digest: m.digest(), Leaf: of[1].ID}
	if got := record.Decision.Wallets; len(got) != 1 || got[0] != used {
		t.Errorf("the record names %+v, want %+v", got, used)
	}
	if !strings.Contains(string(shown), "wallet treasury\n  digest "+used.Digest+"\n  leaf   "+used.Leaf+"\n") {
		t.Errorf("activities show: %s", shown)
	}
	s.Must(nil, "log", "verify", "--config", madeConfig)
	if got := s.Must(nil, "log", "prove", "--config", madeConfig, of[2].ID); !strings.Contains(string(got), "index") {
		t.Errorf("log prove: %s", got)
	}
}

// TestWalletNeedsDigest: without a terminal, a wallet is registered and removed only by its
// digest. At a terminal, a person is asked; no --yes answers for them.
func TestWalletNeedsDigest(t *testing.T) {
	t.Parallel()
	m := newMultisig(t)
	other := strings.Replace(m.policy.Canonical(), "sortedmulti(2", "sortedmulti(1", 1)
	call := func(text string, args ...string) (string, int) {
		_, stderr, status := m.nodes[0].Run([]byte(text), append(append([]string{"wallets"}, args...), strings.Fields(clitest.KeystoreFlags)...)...)
		return string(stderr), status
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":          {[]string{"register", "--replace"}, "pass --digest"},
		"--yes":            {[]string{"register", "--replace", "--yes"}, "unknown flag: --yes"},
		"another's digest": {[]string{"register", "--replace", "--digest", m.digest()}, "--digest is not this wallet's"},
		"a part of it":     {[]string{"register", "--replace", "--digest", m.digest()[:8]}, "--digest is not this wallet's"},
		"removing":         {[]string{"remove", "treasury"}, "pass --digest"},
		"removing another": {[]string{"remove", "--digest", strings.Repeat("0", 64), "treasury"}, "--digest is not this wallet's"},
	} {
		if stderr, status := call(other, c.args...); status == console.ExitSuccess || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit status %d: %s", name, status, stderr)
		}
	}
	if got := string(m.wallets(0, nil, "show", "treasury")); !strings.Contains(got, m.digest()) {
		t.Errorf("the wallet was changed: %s", got)
	}
	for _, answer := range []string{"n\n", "y\n"} {
		command := m.nodes[0].Command(append([]string{"wallets", "remove", "treasury"}, strings.Fields(clitest.KeystoreFlags)...)...)
		p := clitest.Sit(t, command)
		p.Sees(`Remove the wallet "treasury"? [y/N] `)
		p.Types(answer)
		if status := p.Ends(); (status == console.ExitSuccess) != (answer == "y\n") {
			t.Errorf("%q: exit status %d", answer, status)
		}
	}
}

// TestSignWithRegisteredWallet: the name of a registered wallet stands for the organization's
// keys in its inputs, and asks for these inputs only.
func TestSignWithRegisteredWallet(t *testing.T) {
	t.Parallel()
	m := newMultisig(t)
	raw := m.psbt()
	sign := func(in []byte, kind, name string) (string, int) {
		_, stderr, status := m.nodes[0].Run(in, "sign", "--type", kind, "--sign-with", name, "--yes")
		return string(stderr), status
	}
	if stderr, status := sign(raw, "bitcoin", "treasury"); status != console.ExitFailure || !strings.Contains(stderr, "run 'countersign keys derive --wallet seed --psbt'") {
		t.Errorf("before its key is derived: exit status %d: %s", status, stderr)
	}
	m.nodes[0].Must(raw, "keys", "derive", "--wallet", "seed", "--psbt")
	if stderr, status := sign(raw, "bitcoin", "treasury"); status != console.ExitSuccess || !strings.Contains(stderr, `[wallet "treasury", to be signed]`) {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	own, err := m.roots[0].PublicKey(append(multisigAccount[:4:4], 0, 0))
	testenv.Must(t, err)
	mixed := m.psbt(bitcointest.P2WPKH(own).Input(5_000, 2)) // of the same key, but not of the wallet
	for name, want := range map[string]string{"treasury": "yours [locked to another address: not signed]", "seed": "yours [to be signed]"} {
		if stderr, status := sign(mixed, "bitcoin", name); status != console.ExitSuccess || !strings.Contains(stderr, "input 1              "+want) {
			t.Errorf("with %s: exit status %d: %s", name, status, stderr)
		}
	}
	for name, c := range map[string]struct {
		raw        []byte
		kind, with string
		want       string
	}{
		"no input of it": {clitest.CorePSBT(t, m.roots[0], 0), "bitcoin", "treasury", `no input with its script is of the registered wallet "treasury"`},
		"another chain":  {[]byte(clitest.Unsigned), "ethereum", "treasury", `"treasury" is a registered wallet, which signs Bitcoin transactions`},
		"no such wallet": {raw, "bitcoin", "Treasury", `no key "Treasury"`},
	} {
		if stderr, status := sign(c.raw, c.kind, c.with); status != console.ExitFailure || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit status %d: %s", name, status, stderr)
		}
	}
}
