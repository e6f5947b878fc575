package walletpolicy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// vector is a policy that others publish, with its descriptor, the one of its receiving
// addresses with a checksum, or its first address.
type vector struct {
	Source, Template             string
	Keys                         []string
	Descriptor, Receive, Address string
}

func vectors(t testing.TB) (all []vector) {
	t.Helper()
	testenv.JSON(t, testenv.Read(t, "testdata/policies.json"), &all)
	return all
}

// TestVectors derives addresses and descriptors of published policies, and reads every form
// that is written.
func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		p, err := walletpolicy.New("Cold storage", v.Template, v.Keys)
		if err != nil {
			t.Errorf("%s: %v", v.Source, err)
			continue
		}
		if v.Descriptor != "" {
			text, err := wallet.CutChecksum(p.Descriptor())
			if err != nil || strings.ReplaceAll(text, "h", "'") != strings.ReplaceAll(v.Descriptor, "h", "'") {
				t.Errorf("%s: %s, %v", v.Source, text, err)
			}
		}
		if v.Receive != "" {
			checkReceive(t, v, p)
		}
		if v.Address != "" {
			if got := addressOf(t, p, strings.HasPrefix(v.Address, "bcrt1")); got != v.Address {
				t.Errorf("%s: %s, want %s", v.Source, got, v.Address)
			}
		}
		for _, text := range []string{
			p.Canonical(), p.Descriptor(), p.BranchDescriptor(false) + "\n" + p.BranchDescriptor(true),
		} {
			again, err := walletpolicy.Read([]byte(text), "Cold storage")
			if err != nil || again.Digest() != p.Digest() {
				t.Errorf("%s: %s: %v", v.Source, text, err)
			}
		}
		for i, key := range p.Keys() {
			if _, index, ok := p.Place(key.Fingerprint, append(key.Path, 1, 7)); !ok || index != 7 {
				t.Errorf("%s: key %d has no place", v.Source, i)
			}
			for _, path := range [][]uint32{append(key.Path, 2, 7), append(key.Path, 7), append(key.Path, 0, walletpolicy.MaxIndex+1), append(key.Path, 0, 1<<31)} {
				if _, _, ok := p.Place(key.Fingerprint, path); ok {
					t.Errorf("%s: %v is a place", v.Source, path)
				}
			}
		}
	}
}

// checkReceive compares the descriptor of receiving addresses, whose checksum depends on how
// hardened steps are written. Read with the one of change addresses, it is the policy.
func checkReceive(t *testing.T, v vector, p *walletpolicy.Policy) {
	t.Helper()
	got := p.BranchDescriptor(false)
	want, err := wallet.CutChecksum(v.Receive)
	if err != nil {
		t.Errorf("%s: %v", v.Source, err)
	}
	if !strings.Contains(want, "'") && got != v.Receive {
		t.Errorf("%s: %s, want %s", v.Source, got, v.Receive)
	}
	again, err := walletpolicy.Read([]byte(v.Receive+"\n"+strings.ReplaceAll(want, "/0/*", "/1/*")), "Cold storage")
	if err != nil || again.Digest() != p.Digest() {
		t.Errorf("%s: %v", v.Source, err)
	}
}

func addressOf(t *testing.T, p *walletpolicy.Policy, regtest bool) string {
	t.Helper()
	network := &chaincfg.TestNet3Params
	if regtest {
		network = &chaincfg.RegressionNetParams
	}
	script, err := p.Script(false, 0)
	testenv.Must(t, err)
	_, addresses, _, err := txscript.ExtractPkScriptAddrs(script, network)
	if err != nil || len(addresses) != 1 {
		t.Fatalf("%x: %v", script, err)
	}
	return addresses[0].EncodeAddress()
}

// TestRefused has BIP-388's invalid policies, those of the kinds that are not taken, and
// others that no two readers should read differently.
func TestRefused(t *testing.T) {
	keys := vectors(t)[0].Keys
	for template, want := range map[string]string{
		"pkh(@0)":                                 "of one key",
		"pkh(@0/0/**)":                            "of one key",
		"sh(multi(1,@1/**,@0/**))":                "@1 appears before @0",
		"sh(multi(1,@0/**,@2/**))":                "@2 appears before @1",
		"sh(multi(1,@0/**,@0/**))":                "@0/0 appears twice",
		"sh(multi(1,@0/<0;1>/*,@0/<1;2>/*))":      "@0/1 appears twice",
		"sh(multi(1,@0/**,xpub6AHA9/<0;1>/*))":    "expected a key placeholder",
		"wsh(multi(1,@0/<0;1;2>/*,@1/**))":        `expected ">/*"`,
		"tr(musig(@0/**,@1/**))":                  "musig is not taken",
		"tr(@0/**)":                               "of one key",
		"wpkh(@0/**)":                             "of one key",
		"sh(wpkh(@0/**))":                         "of one key",
		"wsh(pk(@0/**))":                          "pk is not taken",
		"tr(@0/**,pk(@1/**))":                     "pk is not taken",
		"tr(@0/**,multi(2,@1/**))":                "multi is not taken",
		"wsh(multi_a(2,@0/**,@1/**))":             "multi_a is not taken",
		"wsh(or_d(pk(@0/**),pkh(@1/**)))":         "or_d is not taken",
		"combo(@0/**)":                            "combo is not taken",
		"wsh(multi(3,@0/**,@1/**))":               "3 of 2 keys",
		"wsh(multi(0,@0/**,@1/**))":               "0 of 2 keys",
		"wsh(multi(02,@0/**,@1/**))":              "without leading zeros",
		"wsh(multi(2,@0/**,@1/*))":                "expected /**",
		"wsh(multi(2,@0/<1;1>/*,@1/**))":          "are the same",
		"wsh(multi(2,@0/**,@1/**)":                `expected ")"`,
		"wsh(multi(2,@0/**,@1/**)) ":              "nothing more is expected",
		"wsh(multi(2,@0/** ,@1/**))":              "2 of 1 keys",
		"wsh(multi(2,@0/**))":                     "2 of 1 keys",
		"wsh(multi(1,@0/**))":                     "names 1 of 2 keys",
		"wsh(multi(2,@0/**,@1/<2147483648;1>/*))": "at most 2147483647",
		"": "expected wsh, sh or tr",
	} {
		_, err := walletpolicy.New("w", template, keys)
		if !errors.Is(err, walletpolicy.ErrPolicy) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", template, err, want)
		}
	}
	const good = "wsh(multi(2,@0/**,@1/**))"
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"the same key":        {[]string{keys[0], keys[0]}, "is key @0 again"},
		"with another origin": {[]string{keys[0], keys[0][strings.Index(keys[0], "]")+1:]}, "is key @0 again"},
		"of another network":  {[]string{keys[0], vectors(t)[1].Keys[0]}, "another network"},
		"private":             {[]string{keys[0], "xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U"}, "it is private"},
		"with a slip":         {[]string{keys[0], strings.Replace(keys[1], "EWhj", "EWhk", 1)}, "not an extended public key"},
		"of SLIP-132":         {[]string{keys[0], "Zpub6FC1f"}, "mistyped or cut"},
		"with an open origin": {[]string{keys[0], strings.Replace(keys[1], "]", "", 1)}, "no ]"},
		"with a bad origin":   {[]string{keys[0], strings.Replace(keys[1], "/48'", "/x", 1)}, "origin"},
		"too few":             {keys[:1], "there are 1 keys"},
		"too many":            {append([]string{vectors(t)[0].Keys[0][23:]}, keys...), "key @1 is key @0 again"},
	} {
		if _, err := walletpolicy.New("w", good, c.keys); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for _, name := range []string{"", " w", "w ", "a/b", "a\nb", `a"b`, ".w", "ü", strings.Repeat("w", walletpolicy.MaxName+1)} {
		if _, err := walletpolicy.New(name, good, keys); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
}

// TestReadRefuses: a checksum that is wrong, two descriptors that are not of one wallet, and
// JSON that two readers would read differently.
func TestReadRefuses(t *testing.T) {
	v := vectors(t)[0]
	p := newPolicy(t, "w", v.Template, v.Keys)
	whole, receive, change := p.Descriptor(), p.BranchDescriptor(false), p.BranchDescriptor(true)
	for text, want := range map[string]string{
		strings.Replace(whole, "sortedmulti(2", "sortedmulti(1", 1): "the checksum is",
		receive: "has the addresses of one branch, /0/*",
		strings.Replace(receive, "2,", "1,", 1)[:len(receive)-9] + "\n" + change: "differ in more than",
		receive + "\n" + change + "\n" + change:                                  "the first must have both branches",
		`{"name":"w","name":"v","descriptor_template":"","keys_info":[]}`:        "appears twice",
		`{"name":"w","descriptor_template":"","keys_info":[],"extra":1}`:         "extra",
		"": "expected JSON",
	} {
		if _, err := walletpolicy.Read([]byte(text), "w"); !errors.Is(err, walletpolicy.ErrPolicy) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzRead: what is read is written in one form, which is read as the same policy.
func FuzzRead(f *testing.F) {
	for _, v := range vectors(f) {
		p := newPolicy(f, "w", v.Template, v.Keys)
		for _, text := range []string{p.Canonical(), p.Descriptor(), p.BranchDescriptor(false) + "\n" + p.BranchDescriptor(true), `[{"desc":"` + p.Descriptor() + `"}]`} {
			f.Add([]byte(text))
		}
		if file, ok := multisigFile(p, v.Template); ok {
			f.Add([]byte(file))
		}
	}
	for _, form := range publishedForms(f) {
		f.Add([]byte(form.Text))
	}
	for _, form := range writtenForms(f) {
		f.Add([]byte(form.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := walletpolicy.Read(text, "w")
		if err != nil {
			if !errors.Is(err, walletpolicy.ErrPolicy) {
				t.Errorf("%v", err)
			}
			return
		}
		for _, form := range []string{p.Canonical(), p.Descriptor()} {
			again, err := walletpolicy.Read([]byte(form), "w")
			if err != nil || again.Digest() != p.Digest() {
				t.Errorf("%s: %v", form, err)
			}
		}
		if _, err := p.Script(true, 3); err != nil {
			t.Error(err)
		}
	})
}

// TestForeignForms reads the forms in which coordinators and Bitcoin Core hold a wallet.
func TestForeignForms(t *testing.T) {
	for _, v := range vectors(t) {
		p := newPolicy(t, "Cold storage", v.Template, v.Keys)
		receive, change := p.BranchDescriptor(false), p.BranchDescriptor(true)
		texts := []string{
			"\ufeff" + p.Canonical() + "\r\n",
			`[{"desc":"` + receive + `","active":true,"internal":false,"timestamp":"now","range":[0,999]},{"desc":"` + change + `","internal":true}]`,
			`[ {"desc":"` + change + `","internal":true,"timestamp":1}, {"desc":"` + receive + `","next":3} ]`,
			`[{"desc":"` + p.Descriptor() + `"}]`,
		}
		if file, ok := multisigFile(p, v.Template); ok {
			texts = append(texts, file, strings.Replace(file, "Format: P2", "Format: p2", 1), "# Exported\r\n"+strings.ReplaceAll(file, "\n", "\r\n"))
		}
		for _, text := range texts {
			if again, err := walletpolicy.Read([]byte(text), "Cold storage"); err != nil || again.Digest() != p.Digest() {
				t.Errorf("%s: %s: %v", v.Source, text, err)
			}
		}
		for _, text := range []string{`[]`, `[{"desc":"` + receive + `"}]`, `[{"desc":"` + receive + `"},{"desc":"` + change + `"}]`,
			`[{"desc":"` + receive + `"},{"desc":"` + strings.Replace(change, "1/*", "2/*", 1) + `","internal":true}]`} {
			if _, err := walletpolicy.Read([]byte(text), "Cold storage"); !errors.Is(err, walletpolicy.ErrPolicy) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// multisigFile writes a wallet of sorted keys as Coldcard's multisig file.
func multisigFile(p *walletpolicy.Policy, template string) (string, bool) {
	for format, open := range map[string]string{"P2WSH": "wsh(", "P2SH-P2WSH": "sh(wsh(", "P2SH": "sh("} {
		rest, ok := strings.CutPrefix(template, open+"sortedmulti(")
		if !ok || strings.Contains(template, "/<") && !strings.Contains(template, "/<0;1>") {
			continue
		}
		k, _, _ := strings.Cut(rest, ",")
		text := fmt.Sprintf("Name: Cold storage\nPolicy: %s of %d\nFormat: %s\n", k, len(p.Keys()), format)
		for _, key := range p.Keys() {
			text += fmt.Sprintf("\nDerivation: %s\n%X: %s\n", key.Path, key.Fingerprint, key.XPub)
		}
		return text, true
	}
	return "", false
}

// TestMultisigFileRefused has files that say two things.
func TestMultisigFileRefused(t *testing.T) {
	var file string
	for _, v := range vectors(t) {
		p := newPolicy(t, "w", v.Template, v.Keys)
		if text, ok := multisigFile(p, v.Template); ok {
			file = text
			break
		}
	}
	if file == "" {
		t.Fatal("no vector has sorted keys")
	}
	head, _, _ := strings.Cut(file, "\n\n")
	for _, text := range []string{
		strings.Replace(file, " of ", " of 1", 1),
		strings.Replace(file, "Policy: ", "Policy: 0", 1) + "Policy: 3 of 2\n",
		strings.Replace(file, "Format: ", "Format: P2TR", 1),
		file + "Sorted\n",
		file + file,
		file + "Format: P2SH\n",
		strings.ReplaceAll(file, "Derivation", "# Derivation"),
		strings.ReplaceAll(file, "Derivation: m", "# derivation: None"),
		head,
	} {
		if _, err := walletpolicy.Read([]byte(text), "w"); !errors.Is(err, walletpolicy.ErrPolicy) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func newPolicy(t testing.TB, name, template string, keys []string) *walletpolicy.Policy {
	t.Helper()
	policy, err := walletpolicy.New(name, template, keys)
	testenv.Must(t, err)
	return policy
}
