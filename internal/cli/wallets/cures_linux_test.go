package wallets_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// printedCommand is a command that a note or an error of sign or of keys derive prints.
var printedCommand = regexp.MustCompile(`countersign (keys derive [^\n]*?--(?:psbt|path "[^"]*"))`)

// cure signs a PSBT, runs every command that is printed, and signs again, until nothing more is
// printed. It returns what the last run said.
func cure(t *testing.T, s *clitest.Session, raw []byte, signWith string) (shown string, status int) {
	t.Helper()
	for range 6 {
		_, stderr, status := s.Run(raw, "sign", "--type", "bitcoin", "--sign-with", signWith, "--yes")
		todo := printedCommand.FindAllStringSubmatch(string(stderr), -1)
		if len(todo) == 0 {
			return string(stderr), status
		}
		for len(todo) > 0 {
			command := strings.ReplaceAll(todo[0][1], "WALLET", "seed")
			todo = todo[1:]
			command, path, hasPath := strings.Cut(command, ` --path "`)
			args := strings.Fields(command)
			if hasPath {
				args = append(args, "--path", strings.TrimSuffix(path, `"`))
			}
			_, stderr, status := s.Run(raw, args...)
			more := printedCommand.FindAllStringSubmatch(string(stderr), -1)
			if (status == console.ExitSuccess) != (len(more) == 0) {
				t.Fatalf("%q: exit status %d: %s", args, status, stderr)
			}
			todo = append(todo, more...)
		}
	}
	t.Fatal("the commands that are printed do not help")
	return "", 0
}

// TestPrintedCures has PSBTs whose keys are not derived yet: on registered wallets that have been in
// use elsewhere, and of taproot. Each command that is printed is run, and then the PSBT is signed.
func TestPrintedCures(t *testing.T) {
	t.Parallel()
	var records []struct {
		Name, SignWith, PSBT string
		Wallet               json.RawMessage
	}
	text, err := os.ReadFile(filepath.Join("testdata", "cures.json"))
	if err == nil {
		err = json.Unmarshal(text, &records)
	}
	testenv.Must(t, err)
	notOurs := map[string]string{"btc-tr-change-thief-claims-ours": "which has another key there: it is not yours"}
	for _, r := range records {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			s := clitest.NewSession(t)
			s.Must([]byte(clitest.CosignerWords[0]), "keys", "import", "--format", "mnemonic", "--name", "seed", "--yes")
			raw, signWith := testenv.Hex(t, r.PSBT), r.SignWith
			if string(r.Wallet) != "null" {
				register(s, r.Wallet)
			} else {
				signWith = "seed"
			}
			shown, status := cure(t, s, raw, signWith)
			if status != console.ExitSuccess || strings.Contains(shown, "Note: ") != (notOurs[r.Name] != "") || !strings.Contains(shown, notOurs[r.Name]) {
				t.Errorf("exit status %d: %s", status, shown)
			}
		})
	}
}

// register registers the wallet of a policy.
func register(s *clitest.Session, text []byte) {
	s.T.Helper()
	policy, err := walletpolicy.Read(text, "")
	testenv.Must(s.T, err)
	digest := policy.Digest()
	args := append([]string{"wallets", "register", "--digest", hex.EncodeToString(digest[:])}, strings.Fields(clitest.KeystoreFlags)...)
	s.Must(text, args...)
}

// TestChangeFarOut: change of a registered wallet at the highest index is recognized without being
// derived, and no note says otherwise.
func TestChangeFarOut(t *testing.T) {
	t.Parallel()
	m := newMultisig(t)
	raw := m.psbt()
	m.nodes[0].Must(raw, "keys", "derive", "--wallet", "seed", "--psbt")
	far := m.scripts(true, walletpolicy.MaxIndex)
	index := binary.LittleEndian.AppendUint32(nil, walletpolicy.MaxIndex)
	near := m.scripts(true, 0)
	raw = bytes.Replace(raw, near.Output, far.Output, 1)
	packet, err := psbt.Read(raw)
	testenv.Must(t, err)
	records := packet.Outputs[1].Records
	for i := range records {
		if value := records[i].Value; records[i].Type == psbt.OutBIP32Derivation {
			records[i].Value = append(bytes.Clone(value[:len(value)-4]), index...)
			pub, err := m.roots[i].PublicKey(append(multisigAccount[:4:4], 1, walletpolicy.MaxIndex))
			testenv.Must(t, err)
			records[i].Key = append([]byte{psbt.OutBIP32Derivation}, pub.Bytes()...)
		}
	}
	_, stderr, status := m.nodes[0].Run(packet.Encode(), "sign", "--type", "bitcoin", "--sign-with", "treasury", "--yes")
	if status != console.ExitSuccess || !strings.Contains(string(stderr), "(change, yours)") || strings.Contains(string(stderr), "Note: ") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
}

// TestLinesInBase64: a PSBT on a line of --jsonl comes in hex or in base64, and is answered in the
// same form.
func TestLinesInBase64(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	s.Must([]byte(clitest.CosignerWords[0]), "keys", "import", "--format", "mnemonic", "--name", "seed", "--yes")
	root, err := wallet.FromMnemonic([]byte(clitest.CosignerWords[0]), nil)
	testenv.Must(t, err)
	raw := clitest.CorePSBT(t, root, 0)
	var answers [2]struct{ SignedTransaction string }
	for i, text := range []string{hex.EncodeToString(raw), base64.StdEncoding.EncodeToString(raw)} {
		line := `{"signWith":"seed","unsignedTransaction":"` + text + `","type":"TRANSACTION_TYPE_BITCOIN"}` + "\n"
		testenv.JSON(t, s.Must([]byte(line), "sign", "--jsonl"), &answers[i])
	}
	signed, err := base64.StdEncoding.DecodeString(answers[1].SignedTransaction)
	if err != nil || hex.EncodeToString(signed) != answers[0].SignedTransaction {
		t.Errorf("%+v, %v", answers, err)
	}
}

// TestBIP322Forms: an empty message is signed, and the signature is printed as verifiers of the
// earlier text of BIP-322 take it, too.
func TestBIP322Forms(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	s.Must([]byte(clitest.CosignerWords[0]), "keys", "import", "--format", "mnemonic", "--name", "seed", "--yes")
	for _, message := range []string{"", "hello"} {
		for address, prefix := range map[string]string{
			"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu":                     "smp",
			"bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr": "smp",
			"37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf":                             "ful",
			"1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA":                             "ful",
		} {
			var answer struct{ Signature, Older string }
			testenv.JSON(t, s.Must([]byte(message), "sign", "--message", "bip322", "--sign-with", address, "--allow", "all", "--yes"), &answer)
			older, err := base64.StdEncoding.DecodeString(answer.Older)
			if err != nil || !strings.HasPrefix(answer.Signature, prefix) || len(older) == 0 || (prefix == "smp" || address[0] == '3') != (older[0] > 0 && older[0] <= 2) {
				t.Errorf("%q of %s: %+v", message, address, answer)
			}
		}
		s.Must([]byte(message), "sign", "--message", "bip137", "--sign-with", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "--allow", "all", "--yes")
	}
}
