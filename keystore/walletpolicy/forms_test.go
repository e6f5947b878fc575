package walletpolicy_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// publishedForm is a text in which others hold a wallet: with the name in it and its first
// receiving and change addresses, if they are published, or with a part of the error.
type publishedForm struct {
	Source, Text, Name, Refused string
	Addresses                   []string
}

func publishedForms(t testing.TB) (all []publishedForm) {
	t.Helper()
	testenv.JSON(t, testenv.Read(t, "testdata/forms.json"), &all)
	return all
}

// TestPublishedForms reads what others publish, and derives the addresses that they derive.
func TestPublishedForms(t *testing.T) {
	for _, form := range publishedForms(t) {
		name := "w"
		if form.Name != "" {
			name = ""
		}
		for _, text := range []string{form.Text, strings.ReplaceAll(form.Text, "\n", "\r\n"), "\ufeff" + form.Text + "\n\n"} {
			p, err := walletpolicy.Read([]byte(text), name)
			switch {
			case form.Refused != "":
				if !errors.Is(err, walletpolicy.ErrPolicy) || !strings.Contains(err.Error(), form.Refused) || strings.Contains(err.Error(), "pub7") {
					t.Errorf("%s: %v, want %s", form.Source, err, form.Refused)
				}
			case err != nil:
				t.Errorf("%s: %v", form.Source, err)
			case form.Name != "" && p.Name() != form.Name:
				t.Errorf("%s: the name %q, want %q", form.Source, p.Name(), form.Name)
			default:
				for branch, want := range form.Addresses {
					if got := mainnet(t, p, branch == 1); got != want {
						t.Errorf("%s: branch %d: %s, want %s", form.Source, branch, got, want)
					}
				}
			}
		}
	}
}

func mainnet(t *testing.T, p *walletpolicy.Policy, change bool) string {
	t.Helper()
	script, err := p.Script(change, 0)
	testenv.Must(t, err)
	_, addresses, _, err := txscript.ExtractPkScriptAddrs(script, &chaincfg.MainNetParams)
	if err != nil || len(addresses) != 1 {
		t.Fatalf("%x: %v", script, err)
	}
	return addresses[0].EncodeAddress()
}

// writtenForm is a form of the wallet of BIP-388's vector: what it is read as, or a part of the
// error.
type writtenForm struct{ name, text, refused string }

// writtenForms writes one wallet in each form, and each form with what contradicts it.
func writtenForms(t testing.TB) []writtenForm {
	t.Helper()
	v := vectors(t)[0]
	p := newPolicy(t, "w", v.Template, v.Keys)
	whole, receive, change := p.Descriptor(), p.BranchDescriptor(false), p.BranchDescriptor(true)
	plain := func(text string) string { text, _, _ = strings.Cut(text, "#"); return text }
	core := func(parts ...string) string {
		return `{"wallet_name":"w","descriptors":[` + strings.Join(parts, ",") + `]}`
	}
	in := `{"desc":"` + receive + `","timestamp":1700000000,"active":true,"internal":false,"range":[0,999],"next":0,"next_index":0}`
	out := `{"desc":"` + change + `","timestamp":1700000000,"active":true,"internal":true,"range":[0,999],"next":0,"next_index":0}`
	specter := func(descriptor string) string {
		return `{"label":"w","blockheight":1,"descriptor":"` + descriptor + `","devices":[{"type":"other","label":"a"}]}`
	}
	script, err := p.Script(false, 0)
	testenv.Must(t, err)
	_, addresses, _, err := txscript.ExtractPkScriptAddrs(script, &chaincfg.MainNetParams)
	testenv.Must(t, err)
	first := addresses[0].EncodeAddress()
	bsms := func(descriptor, paths, address string) string {
		return strings.Join([]string{"BSMS 1.0", descriptor, paths, address}, "\n")
	}
	template := strings.ReplaceAll(plain(whole), "<0;1>/*", "**")
	slip := func(prefix string, version ...byte) string {
		text := plain(whole)
		for _, key := range p.Keys() {
			payload, _, _ := base58.CheckDecode(key.XPub)
			text = strings.Replace(text, key.XPub, base58.CheckEncode(append(version[1:4:4], payload[3:]...), version[0]), 1)
		}
		if !strings.Contains(text, prefix) {
			t.Fatalf("%s has no %s", text, prefix)
		}
		return text
	}
	utf := func(order binary.AppendByteOrder) string {
		var text []byte
		for _, unit := range utf16.Encode([]rune("\ufeff" + p.Canonical())) {
			text = order.AppendUint16(text, unit)
		}
		return string(text)
	}
	const oneBranch = "has the addresses of one branch, /0/*"
	return []writtenForm{
		{"Core's listdescriptors", core(in, out), ""},
		{"in another order", core(out, in), ""},
		{"of both branches", core(`{"desc":"` + whole + `","timestamp":1,"active":false}`), ""},
		{"with descriptors of another wallet", core(in, out, in), "3 descriptors: keep the two of the wallet to register"},
		{"without descriptors", core(), "0 descriptors: expected one"},
		{"of inactive descriptors", core(strings.ReplaceAll(in, `"internal":false,`, ""), strings.ReplaceAll(out, `"internal":true,`, "")), `the one of change has "internal": true`},
		{"of one branch", core(in), oneBranch},
		{"with a member of another form", strings.Replace(core(in, out), "{", `{"keys_info":[],`, 1), "keys_info at byte 1: unknown member"},

		{"Specter's JSON, receiving addresses", specter(receive), ""},
		{"both branches", specter(whole), ""},
		{"without devices", `{"descriptor":"` + receive + `","label":"w"}`, ""},
		{"of change alone", specter(change), "has the addresses of one branch, /1/*"},
		{"of a third branch", specter(strings.ReplaceAll(plain(receive), "/0/*", "/2/*")), "has the addresses of one branch, /2/*"},
		{"of two branches for two keys", specter(strings.Replace(plain(receive), "/0/*", "/1/*", 1)), "has the addresses of one branch, /1/*"},
		{"of one branch for one key", specter(strings.Replace(plain(whole), "<0;1>/*", "0/*", 1)), "some keys have both branches"},
		{"with a wrong checksum", specter(receive[:len(receive)-1] + "q"), "the checksum is"},
		{"of one key", specter("wpkh(" + p.Keys()[0].Text + "/0/*)"), "a wallet of one key is not registered"},

		{"a BSMS record", bsms(template, "/0/*,/1/*", first), ""},
		{"with a space, and an address in capitals", bsms(template, "/0/*, /1/*", strings.ToUpper(first)), ""},
		{"with the branches in the descriptor", bsms(whole, "No path restrictions", first), ""},
		{"with the branches twice", bsms(whole, "/0/*,/1/*", first), ""},
		{"with other branches than the descriptor's", bsms(whole, "/2/*,/3/*", first), "which are not the path restrictions"},
		{"with others in the restrictions", bsms(template, "/1/*,/0/*", first), "the first address is"},
		{"with three branches", bsms(template, "/0/*,/1/*,/2/*", first), "expected two branches"},
		{"with a hardened branch", bsms(template, "/0'/*,/1'/*", first), "expected two branches"},
		{"with /** that stands for nothing", bsms(template, "No path restrictions", first), "no path restrictions that it stands for"},
		{"of another threshold", bsms(strings.Replace(template, "sortedmulti(2", "sortedmulti(1", 1), "/0/*,/1/*", first), "the record was altered"},
		{"without its address", bsms(template, "/0/*,/1/*", ""), "3 lines"},
		{"of another version", strings.Replace(bsms(template, "/0/*,/1/*", first), "1.0", "2.0", 1), `version "BSMS 2.0"`},

		{"comments", "# w\n" + whole + "\n# end", ""},
		{"Sparrow's three descriptors", "# Receive and change descriptor (BIP389):\n" + whole + "\n\n# Receive descriptor (Bitcoin Core):\n" + receive +
			"\n\n# Change descriptor (Bitcoin Core):\n" + change, ""},
		{"that do not agree", strings.Join([]string{strings.Replace(plain(whole), "sortedmulti", "multi", 1), receive, change}, "\n"), "is not of the wallet of the other two"},
		{"in another order", strings.Join([]string{receive, change, whole}, "\n"), "the first must have both branches"},
		{"a fingerprint in capitals", strings.ReplaceAll(plain(whole), "6738736c", "6738736C"), ""},
		{"a step with another mark", strings.Replace(plain(whole), "48h", "48x", 1), "followed by ' if it is hardened"},
		{"hardened steps with H", strings.ReplaceAll(strings.ReplaceAll(plain(whole), "6738736c", "6738736C"), "48h/0h/0h/2h", "48H/0H/0H/2H"), ""},

		{"Zpub", slip("Zpub", 0x02, 0xaa, 0x7e, 0xd3), ""},
		{"Ypub, which is of sh(wsh)", slip("Ypub", 0x02, 0x95, 0xb4, 0x3f), "Ypub… is a key for sh(wsh(…)) (SLIP-132)"},
		{"Vpub, which is of sh(wsh) here", strings.Replace(slip("Vpub", 0x02, 0x57, 0x54, 0x83), "wsh(", "sh(wsh(", 1) + ")", "Vpub… is a key for wsh(…) (SLIP-132)"},
		{"zpub, which signs alone", slip("zpub", 0x04, 0xb2, 0x47, 0x46), "zpub… is a form of a key that signs alone"},
		{"Zpub with a slip", strings.Replace(slip("Zpub", 0x02, 0xaa, 0x7e, 0xd3), "/<0;1>", "1/<0;1>", 1), "mistyped or cut"},

		{"UTF-16 of Windows", utf(binary.LittleEndian), "the text is UTF-16"},
		{"UTF-16 of others", utf(binary.BigEndian), "the text is UTF-16"},
		{"Electrum's encrypted file", "QklFMQOq", "the text is Electrum's wallet file"},
		{"a wallet named as a member, before it", strings.Replace(specter(receive), `"w"`, `"descriptor"`, 1), ""},
		{"a wallet named as a member", `{"name":"descriptor","descriptor_template":"` + v.Template + `","keys_info":["` + strings.Join(v.Keys, `","`) + `"]}`, ""},
	}
}

// TestWrittenForms: each form is read as the wallet, or refused with the cause.
func TestWrittenForms(t *testing.T) {
	v := vectors(t)[0]
	want := newPolicy(t, "w", v.Template, v.Keys)
	for _, form := range writtenForms(t) {
		p, err := walletpolicy.Read([]byte(form.text), "w")
		switch {
		case form.refused != "":
			if !errors.Is(err, walletpolicy.ErrPolicy) || !strings.Contains(err.Error(), form.refused) || p != nil {
				t.Errorf("%s: %v, want %s", form.name, err, form.refused)
			}
		case err != nil || p.Digest() != want.Digest():
			t.Errorf("%s: %s: %v", form.name, form.text, err)
		}
	}
}

// TestBSMSBranches: the path restrictions of a record are the branches of the wallet, and no
// others are.
func TestBSMSBranches(t *testing.T) {
	v := vectors(t)[0]
	want := newPolicy(t, "w", strings.ReplaceAll(v.Template, "**", "<2;3>/*"), v.Keys)
	template := strings.ReplaceAll(want.Descriptor()[:strings.Index(want.Descriptor(), "#")], "<2;3>/*", "**")
	p, err := walletpolicy.Read([]byte("BSMS 1.0\n"+template+"\n/2/*,/3/*\n"+mainnet(t, want, false)), "w")
	if err != nil || p.Digest() != want.Digest() {
		t.Fatalf("%s: %v", template, err)
	}
	key := p.Keys()[0]
	for step := range uint32(5) {
		change, _, ok := p.Place(key.Fingerprint, append(key.Path[:len(key.Path):len(key.Path)], step, 0))
		if ok != (step == 2 || step == 3) || change != (step == 3) {
			t.Errorf("branch %d: change %t, of the wallet %t", step, change, ok)
		}
	}
}

// TestSLIP132 converts the keys of test networks and of nested scripts too.
func TestSLIP132(t *testing.T) {
	versions := map[string][]byte{"wsh(xpub": {0x02, 0xaa, 0x7e, 0xd3}, "sh(wsh(xpub": {0x02, 0x95, 0xb4, 0x3f}, "wsh(tpub": {0x02, 0x57, 0x54, 0x83}, "sh(wsh(tpub": {0x02, 0x42, 0x89, 0xef}}
	seen := map[string]bool{}
	for _, v := range vectors(t) {
		p := newPolicy(t, "w", v.Template, v.Keys)
		open := v.Template[:strings.LastIndex(v.Template[:strings.Index(v.Template, "@")], "(")]
		open = open[:strings.LastIndex(open, "(")+1] + p.Keys()[0].XPub[:4]
		version, ok := versions[open]
		if !ok {
			continue
		}
		seen[open] = true
		text, _ := wallet.CutChecksum(p.Descriptor())
		for _, key := range p.Keys() {
			payload, _, err := base58.CheckDecode(key.XPub)
			testenv.Must(t, err)
			text = strings.Replace(text, key.XPub, base58.CheckEncode(bytes.Join([][]byte{version[1:], payload[3:]}, nil), version[0]), 1)
		}
		if again, err := walletpolicy.Read([]byte(text), "w"); err != nil || again.Digest() != p.Digest() {
			t.Errorf("%s: %s: %v", v.Source, text, err)
		}
	}
	if len(seen) < 3 {
		t.Errorf("the vectors have %v", seen)
	}
}
