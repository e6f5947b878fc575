package sign_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// hwiAnswer is an answer of the command hwi.
type hwiAnswer struct {
	PSBT, Error, Address string
	Receive, Internal    []string
}

// hwi runs the command as Bitcoin Core does: with the arguments of its ExternalSigner
// (src/external_signer.cpp), without a terminal. The exit status is 0, whatever the answer.
func hwi(s *clitest.Session, stdin string, args ...string) (answer hwiAnswer) {
	s.T.Helper()
	stdout := s.Must([]byte(stdin), append([]string{"hwi", "--wallet", "seed"}, args...)...)
	if err := json.Unmarshal(stdout, &answer); err != nil {
		s.T.Fatalf("%s: %v", stdout, err)
	}
	return answer
}

// TestHWI holds the command against what Core sends, and what it reads of the answers.
func TestHWI(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	s.Must([]byte(clitest.CosignerWords[0]), "keys", "import", "--format", "mnemonic", "--name", "seed", "--yes")
	root, err := wallet.FromMnemonic([]byte(clitest.CosignerWords[0]), nil)
	testenv.Must(t, err)
	keys := strings.Fields(clitest.KeystoreFlags)
	var signers []struct{ Fingerprint, Model, Error string }
	testenv.JSON(t, s.Must(nil, append([]string{"hwi", "--wallet", "seed"}, append(keys, "enumerate")...)...), &signers)
	if len(signers) != 1 || signers[0].Fingerprint != "73c5da0a" || signers[0].Model == "" {
		t.Fatalf("enumerate: %+v", signers)
	}
	core := append(keys, "--fingerprint", "73c5da0a", "--chain", "main")
	with := func(args ...string) []string { return append(core[:len(core):len(core)], args...) }
	descriptors := hwi(s, "", with("getdescriptors", "--account", "0")...)
	if len(descriptors.Receive) != 4 || len(descriptors.Internal) != 4 || !strings.HasPrefix(descriptors.Receive[2], "wpkh([73c5da0a/84h/0h/0h]xpub6Cat") {
		t.Errorf("getdescriptors: %+v", descriptors)
	}
	testnet := append(keys, "--fingerprint", "73c5da0a", "--chain", "signet", "getdescriptors", "--account", "2")
	if got := hwi(s, "", testnet...); !strings.HasPrefix(got.Receive[3], "tr([73c5da0a/86h/1h/2h]tpub") {
		t.Errorf("getdescriptors on signet: %+v", got)
	}
	const own = "wpkh([73c5da0a/84h/0h/0h/0/0]0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c)"
	for desc, want := range map[string]hwiAnswer{
		own: {Address: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
		strings.Replace(descriptors.Receive[2][:strings.Index(descriptors.Receive[2], "#")], "/*", "/0", 1): {Address: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
		strings.Replace(own, "/0/0]", "/0/1]", 1):                                                           {Error: "not the wallet's at m/84'/0'/0'/0/1"},
		strings.Replace(own, "73c5da0a", "00000000", 1):                                                     {Error: "of master key 00000000"},
		own + "#aaaaaaaa":  {Error: "the checksum is"},
		"wsh(multi(1,02))": {Error: "countersign wallets address"},
	} {
		if got := hwi(s, "", with("displayaddress", "--desc", desc)...); got.Address != want.Address || !strings.Contains(got.Error, want.Error) {
			t.Errorf("displayaddress %s: %+v", desc, got)
		}
	}
	raw := base64.StdEncoding.EncodeToString(clitest.CorePSBT(t, root, 25)) // beyond the gap of keys derive
	for name, stdin := range map[string]string{"quoted": `signtx "` + raw + `"`, "bare": "signtx " + raw + "\n\n", "with line breaks": "signtx\n" + raw + "\n"} {
		if got := hwi(s, stdin, append(core[:len(core):len(core)], "--stdin")...); got.PSBT != "" || !strings.Contains(got.Error, "no one can consent") {
			t.Errorf("%s, without a terminal and a policy: %+v", name, got)
		}
	}
	if got := hwi(s, "signtx "+raw, append(keys, "--stdin", "--fingerprint", "00000000")...); !strings.Contains(got.Error, "not 00000000") {
		t.Errorf("another fingerprint: %+v", got)
	}
	command := s.Command(append([]string{"hwi", "--wallet", "seed", "--stdin"}, core...)...)
	var out, talk clitest.Printed
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(`signtx "`+raw+`"`), &out, &talk
	p := clitest.Sit(t, command)
	p.Sees("you spend")
	p.Sees("? [y/N] ")
	p.Types("y\n")
	if status := p.Ends(); status != console.ExitSuccess {
		t.Fatalf("exit status %d: %s", status, talk.String())
	}
	var answer hwiAnswer
	testenv.JSON(t, []byte(out.String()), &answer)
	signed, err := base64.StdEncoding.DecodeString(answer.PSBT)
	if err != nil || answer.Error != "" {
		t.Fatalf("%+v, %v", answer, err)
	}
	if _, err := bitcoin.Finalize(signed); err != nil {
		t.Error(err)
	}
}

// TestHWIPolicy: without a terminal, the policy consents to what it allows, for the user of
// --as, and to nothing else.
func TestHWIPolicy(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	s.Must(nil, "init", "made")
	s.Must([]byte(clitest.CosignerWords[0]), "keys", "import", "--config", "made/countersign.yaml", "--format", "mnemonic", "--name", "seed", "--yes")
	root, err := wallet.FromMnemonic([]byte(clitest.CosignerWords[0]), nil)
	testenv.Must(t, err)
	path := filepath.Join(s.Dir, "made", "countersign.yaml")
	configured := testenv.Read(t, path)
	configured = bytes.Replace(configured, []byte("    name: Example"), []byte("    name: Example\n    policy: policy.yaml"), 1)
	testenv.Write(t, path, configured)
	rules := "schema: countersign.policy/2\nrules:\n  - {name: small, allow: [transfer, fee], on: bitcoin, when: \"effect.amount <= btc('0.0004')\"}\n"
	core := []string{"--config", "made/countersign.yaml", "--as", "admin", "--stdin", "--fingerprint", "73c5da0a", "--chain", "main"}
	for name, c := range map[string]struct {
		rules string
		index uint32 // a transaction of its own: one that was signed is answered again
		ok    bool
	}{"allowed": {rules, 3, true}, "denied": {strings.Replace(rules, "0.0004", "0.0002", 1), 4, false}} {
		testenv.Write(t, filepath.Join(s.Dir, "made", "policy.yaml"), []byte(c.rules))
		got := hwi(s, `signtx "`+base64.StdEncoding.EncodeToString(clitest.CorePSBT(t, root, c.index))+`"`, core...)
		if (got.PSBT != "") != c.ok || (got.Error == "") != c.ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
