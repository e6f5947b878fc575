package wallets_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// forms returns the wallet in the forms of coordinators and of Bitcoin Core.
func (m *multisig) forms() map[string]string {
	m.t.Helper()
	receive, change := m.policy.BranchDescriptor(false), m.policy.BranchDescriptor(true)
	both, err := wallet.CutChecksum(m.policy.Descriptor())
	testenv.Must(m.t, err)
	first, ok := bitcoin.AddressOf(m.scripts(false, 0).Output, bitcoin.Mainnet)
	if !ok {
		m.t.Fatal("the script has no address")
	}
	in, out := fmt.Sprintf(`{"desc":%q,"active":true,"internal":false}`, receive), fmt.Sprintf(`{"desc":%q,"active":true,"internal":true}`, change)
	file := "Name: cold\nPolicy: 2 of 3\nFormat: P2WSH\nDerivation: m/48'/0'/0'/2'\n"
	for _, key := range m.policy.Keys() {
		file += fmt.Sprintf("%X: %s\n", key.Fingerprint, key.XPub)
	}
	return map[string]string{
		"Core's listdescriptors":   `{"wallet_name":"core","descriptors":[` + in + "," + out + "]}",
		"Core's importdescriptors": "[" + in + "," + out + "]",
		"Specter's JSON":           fmt.Sprintf(`{"label":"cold","blockheight":0,"descriptor":%q,"devices":[]}`, receive),
		"a BSMS record":            "BSMS 1.0\n" + strings.ReplaceAll(both, "<0;1>/*", "**") + "\n/0/*,/1/*\n" + first + "\n",
		"Sparrow's descriptors":    "# both\n" + both + "\n# receive\n" + receive + "\n# change\n" + change + "\n",
		"Coldcard's file":          file,
		"capitals":                 strings.ReplaceAll(strings.ReplaceAll(both, "73c5da0a", "73C5DA0A"), "48h", "48H"),
	}
}

// TestRegisteredForms registers the wallet in each form, signs with it what btcd's engine takes,
// and lies to it about change.
func TestRegisteredForms(t *testing.T) {
	t.Parallel()
	m := newMultisig(t)
	m.nodes[0].Must(m.psbt(), "keys", "derive", "--wallet", "seed", "--psbt")
	for name, text := range m.forms() {
		m.wallets(0, nil, "remove", "--digest", m.digest(), "treasury")
		m.wallets(0, []byte(text), "register", "--name", "treasury", "--digest", m.digest())
		signed, shown, status := m.nodes[0].Run(m.psbt(), "sign", "--type", "bitcoin", "--sign-with", "treasury", "--yes")
		if status != console.ExitSuccess || !strings.Contains(string(shown), "you spend            0.00035 BTC") || !strings.Contains(string(shown), "(change, yours)") {
			t.Errorf("%s: exit status %d: %s", name, status, shown)
			continue
		}
		m.finalized(m.elsewhere(bytes.TrimSpace(signed)))
		for lie, raw := range m.lies() {
			_, shown, status := m.nodes[0].Run(raw, "sign", "--type", "bitcoin", "--sign-with", "treasury", "--yes")
			if status != console.ExitSuccess || strings.Contains(string(shown), "change") || !strings.Contains(string(shown), "you spend            0.001 BTC") {
				t.Errorf("%s: %s: exit status %d: %s", name, lie, status, shown)
			}
		}
	}
}

// TestRegisterForeign: a form's name is the wallet's without --name, and what is refused names
// the cause and the cure.
func TestRegisterForeign(t *testing.T) {
	t.Parallel()
	m, forms := newMultisig(t), newCosigners(t).forms()
	m.wallets(0, nil, "remove", "--digest", m.digest(), "treasury") // a wallet has one name
	args := append([]string{"wallets", "register", "--replace", "--digest", strings.Repeat("0", 64)}, strings.Fields(clitest.KeystoreFlags)...)
	for _, c := range []struct{ text, want string }{
		{forms["Specter's JSON"], "wallet            cold\n"},
		{forms["Core's listdescriptors"], "wallet            core\n"},
		{forms["Coldcard's file"], "wallet            cold\n"},
		{"\xff\xfe{\x00}\x00", "the text is UTF-16, as > of Windows PowerShell writes it: save it as UTF-8"},
		{`{"wallet_type":"2of3","seed_version":17,"x1/":{"seed":"abandon"}}`, "the text is Electrum's wallet file, which can hold secrets: write the policy"},
		{m.policy.BranchDescriptor(false), "a key has the addresses of one branch, /0/*: give two descriptors"},
		{strings.Replace(forms["a BSMS record"], "sortedmulti(2", "sortedmulti(1", 1), "BSMS: the first address is bc1q"},
	} {
		name := []string{"--name", "treasury"}
		if strings.HasPrefix(c.want, "wallet") {
			name = nil
		}
		_, stderr, status := m.nodes[0].Run([]byte(c.text), append(args, name...)...)
		if status != console.ExitFailure || !strings.Contains(string(stderr), c.want) || strings.Contains(string(stderr), "abandon") {
			t.Errorf("%q: exit status %d, %s, want %s", c.text, status, stderr, c.want)
		}
	}
}

// place is a branch and an index.
type place [2]uint32

// lies are PSBTs whose second output has the fingerprints of all cosigners, and is no change.
func (m *multisig) lies() map[string][]byte {
	m.t.Helper()
	far := place{1, walletpolicy.MaxIndex + 1}
	if script, _ := m.output(place{1, 0}, place{1, 0}, 2); !bytes.Equal(script, m.scripts(true, 0).Output) {
		m.t.Fatalf("what is no lie is not the wallet's: %x", script)
	}
	all := map[string][]byte{}
	for name, lie := range map[string]struct {
		claimed, script place
		k               int
	}{
		"another index than claimed":      {place{1, 0}, place{1, 1}, 2},
		"another branch than claimed":     {place{1, 0}, place{2, 0}, 2},
		"a branch that is not the wallet": {place{2, 0}, place{2, 0}, 2},
		"an index beyond every search":    {far, far, 2},
		"a lower threshold":               {place{1, 0}, place{1, 0}, 1},
	} {
		script, records := m.output(lie.claimed, lie.script, lie.k)
		all[name] = m.paying(script, records)
	}
	return all
}

// output returns the script of the cosigners' keys at one place, built without the code under
// test, with origins that claim another.
func (m *multisig) output(claimed, at place, k int) (script []byte, records []bitcointest.Record) {
	m.t.Helper()
	var keys [][]byte
	for _, root := range m.roots {
		pub, err := root.PublicKey(append(multisigAccount[:4:4], at[0], at[1]))
		testenv.Must(m.t, err)
		keys = append(keys, pub.Bytes())
		fingerprint := root.Fingerprint()
		value := fingerprint[:]
		for _, step := range append(multisigAccount[:4:4], claimed[0], claimed[1]) {
			value = binary.LittleEndian.AppendUint32(value, step)
		}
		records = append(records, bitcointest.Record{Key: append([]byte{psbt.OutBIP32Derivation}, pub.Bytes()...), Value: value})
	}
	slices.SortFunc(keys, bytes.Compare)
	builder := txscript.NewScriptBuilder().AddInt64(int64(k))
	for _, key := range keys {
		builder.AddData(key)
	}
	code, err := builder.AddInt64(int64(len(keys))).AddOp(txscript.OP_CHECKMULTISIG).Script()
	testenv.Must(m.t, err)
	hash := sha256.Sum256(code)
	return append([]byte{txscript.OP_0, 32}, hash[:]...), records
}

// paying is a PSBT of the wallet that pays a stranger, and a second output.
func (m *multisig) paying(script []byte, records []bitcointest.Record) []byte {
	m.t.Helper()
	spend := bitcointest.P2WSH(m.scripts(false, 0).Witness)
	spend.Records = append(spend.Records, m.origins(psbt.InBIP32Derivation, 0)...)
	stranger := append([]byte{txscript.OP_0, 20}, bytes.Repeat([]byte{9}, 20)...)
	return bitcointest.PSBT{Inputs: []bitcointest.Input{spend.Input(100_000, 1)}, Outputs: []bitcointest.Output{
		{Amount: 30_000, Script: stranger}, {Amount: 65_000, Script: script, Records: records},
	}}.Encode()
}
