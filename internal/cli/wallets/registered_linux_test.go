package wallets_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// multisig is a 2-of-3 wallet of two keystores and a signer elsewhere.
type multisig struct {
	t      *testing.T
	nodes  [2]*clitest.Session
	roots  [3]*wallet.Root
	policy *walletpolicy.Policy
}

var multisigAccount = wallet.Path{48 + wallet.Hardened, wallet.Hardened, wallet.Hardened, 2 + wallet.Hardened}

// newCosigners returns the wallet before anything has its keys.
func newCosigners(t *testing.T) *multisig {
	t.Helper()
	m := &multisig{t: t}
	var keys []string
	for i, words := range clitest.CosignerWords {
		root, err := wallet.FromMnemonic([]byte(words), nil)
		testenv.Must(t, err)
		key, err := root.XPub(multisigAccount)
		testenv.Must(t, err)
		m.roots[i], keys = root, append(keys, key)
	}
	var err error
	if m.policy, err = walletpolicy.New("treasury", "wsh(sortedmulti(2,@0/**,@1/**,@2/**))", keys); err != nil {
		t.Fatal(err)
	}
	return m
}

// newMultisig imports the words into two keystores, compares the keys that 'keys show --xpub'
// prints, and registers the wallet in both.
func newMultisig(t *testing.T) *multisig {
	t.Helper()
	m := newCosigners(t)
	texts := []string{m.policy.Canonical(), m.policy.BranchDescriptor(false) + "\n" + m.policy.BranchDescriptor(true)}
	for i, text := range texts {
		m.nodes[i] = clitest.NewSession(t)
		m.nodes[i].Must([]byte(clitest.CosignerWords[i]), "keys", "import", "--format", "mnemonic", "--name", "seed", "--yes")
		var shown struct{ Accounts []struct{ Key string } }
		testenv.JSON(t, m.nodes[i].Must(nil, "keys", "show", "--xpub", "--account", "m/48'/0'/0'/2'", "seed"), &shown)
		if key, err := m.roots[i].XPub(multisigAccount); err != nil || shown.Accounts[0].Key != key {
			t.Fatalf("keys show --xpub: %s, want %s, %v", shown.Accounts[0].Key, key, err)
		}
		printed := string(m.wallets(i, []byte(text), "register", "--name", "treasury", "--digest", m.digest()))
		if strings.Count(printed, `"yours":true`) != 1 {
			t.Errorf("registered %s", printed)
		}
	}
	return m
}

// digest returns the digest of the wallet.
func (m *multisig) digest() string {
	digest := sha256.Sum256([]byte(m.policy.Canonical()))
	return hex.EncodeToString(digest[:])
}

// wallets runs a command on registered wallets at a node.
func (m *multisig) wallets(node int, stdin []byte, args ...string) []byte {
	m.t.Helper()
	return m.nodes[node].Must(stdin, append(append([]string{"wallets"}, args...), strings.Fields(clitest.KeystoreFlags)...)...)
}

// psbt pays 30,000 of 100,000 satoshi to a stranger, and 65,000 back to the wallet. It spends
// other inputs too.
func (m *multisig) psbt(others ...bitcointest.Input) []byte {
	m.t.Helper()
	from, back := m.scripts(false, 0), m.scripts(true, 0)
	spend := bitcointest.P2WSH(from.Witness)
	spend.Records = append(spend.Records, m.origins(psbt.InBIP32Derivation, 0)...)
	stranger := append([]byte{txscript.OP_0, 20}, bytes.Repeat([]byte{9}, 20)...)
	return bitcointest.PSBT{Inputs: append([]bitcointest.Input{spend.Input(100_000, 1)}, others...), Outputs: []bitcointest.Output{
		{Amount: 30_000, Script: stranger},
		{Amount: 65_000, Script: back.Output, Records: m.origins(psbt.OutBIP32Derivation, 1)},
	}}.Encode()
}

func (m *multisig) scripts(change bool, index uint32) *walletpolicy.Scripts {
	m.t.Helper()
	scripts, err := m.policy.Scripts(change, index)
	testenv.Must(m.t, err)
	return scripts
}

func (m *multisig) origins(kind byte, branch uint32) (records []bitcointest.Record) {
	for _, root := range m.roots {
		path := append(multisigAccount[:4:4], branch, 0)
		pub, err := root.PublicKey(path)
		testenv.Must(m.t, err)
		fingerprint := root.Fingerprint()
		value := fingerprint[:]
		for _, step := range path {
			value = binary.LittleEndian.AppendUint32(value, step)
		}
		records = append(records, bitcointest.Record{Key: append([]byte{kind}, pub.Bytes()...), Value: value})
	}
	return records
}

// elsewhere adds the third cosigner's signature, as btcd's library makes it.
func (m *multisig) elsewhere(raw []byte) []byte {
	m.t.Helper()
	packet, err := psbt.Read(raw)
	testenv.Must(m.t, err)
	var tx wire.MsgTx
	testenv.Must(m.t, tx.Deserialize(bytes.NewReader(packet.Unsigned())))
	secret, err := m.roots[2].Derive(keystore.CurveSecp256k1, append(multisigAccount[:4:4], 0, 0))
	testenv.Must(m.t, err)
	private, public := btcec.PrivKeyFromBytes(secret)
	from := m.scripts(false, 0)
	fetcher := txscript.NewCannedPrevOutputFetcher(from.Output, 100_000)
	signature, err := txscript.RawTxInWitnessSignature(&tx, txscript.NewTxSigHashes(&tx, fetcher), 0, 100_000, from.Witness, txscript.SigHashAll, private)
	testenv.Must(m.t, err)
	key := append([]byte{psbt.InPartialSig}, public.SerializeCompressed()...)
	return psbt.AppendSpliced(nil, raw, []psbt.Insertion{{At: packet.Inputs[0].InsertAt(key), Bytes: psbt.AppendRecord(nil, key, signature)}})
}

// valid runs the final transaction through btcd's script engine.
func (m *multisig) valid(final []byte) {
	m.t.Helper()
	var tx wire.MsgTx
	testenv.Must(m.t, tx.Deserialize(bytes.NewReader(final)))
	script := m.scripts(false, 0).Output
	fetcher := txscript.NewCannedPrevOutputFetcher(script, 100_000)
	engine, err := txscript.NewEngine(script, &tx, 0, txscript.StandardVerifyFlags, nil, txscript.NewTxSigHashes(&tx, fetcher), 100_000, fetcher)
	if err == nil {
		err = engine.Execute()
	}
	if err != nil {
		m.t.Errorf("btcd's engine refuses the transaction: %v", err)
	}
}

// TestRegisteredWallet: a 2-of-3 of two keystores and a signer elsewhere is registered, shown
// with its change, signed by any two of the three, finalized, and taken by btcd's engine.
func TestRegisteredWallet(t *testing.T) {
	t.Parallel()
	m := newMultisig(t)
	raw := m.psbt()
	for i := range m.nodes {
		m.nodes[i].Must(raw, "keys", "derive", "--wallet", "seed", "--psbt")
	}
	sign := func(node int, in []byte, flags ...string) (out []byte, shown string) {
		stdout, stderr, status := m.nodes[node].Run(in, append([]string{"sign", "--type", "bitcoin", "--sign-with", "seed", "--yes"}, flags...)...)
		if status != console.ExitSuccess {
			t.Fatalf("node %d: exit status %d: %s", node, status, stderr)
		}
		return bytes.TrimSpace(stdout), string(stderr)
	}
	first, shown := sign(0, raw)
	for _, want := range []string{`yours [wallet "treasury", to be signed]`, `yours [wallet "treasury": change]`, "you spend            0.00035 BTC", "(change, yours)"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	for name, final := range map[string]func() []byte{
		"both keystores":           func() []byte { out, _ := sign(1, first, "--finalize"); return out },
		"a keystore and elsewhere": func() []byte { out, _ := sign(1, m.elsewhere(raw), "--finalize"); return out },
	} {
		transaction, err := hex.DecodeString(string(final()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m.valid(transaction)
	}
}

// TestRegisteredWalletByCamera takes the PSBT across two air gaps: as codes to the first
// keystore, its answer as pictures to the second.
func TestRegisteredWalletByCamera(t *testing.T) {
	t.Parallel()
	m := newMultisig(t)
	raw := m.psbt()
	codes := strings.ToUpper(ur.PSBT(raw, ur.TypePSBT).String())
	for i := range m.nodes {
		codes = strings.TrimSpace(string(m.nodes[i].Must(nil, "scan", m.drawn(i, raw, codes))))
	}
	collector := ur.NewCollector(ur.TypePSBT)
	for code := range strings.Lines(codes) {
		testenv.Must(t, collector.Add(strings.TrimSpace(code)))
	}
	message, ok := collector.Message()
	if !ok {
		t.Fatal("the pictures do not have the whole PSBT")
	}
	signed, err := ur.DecodePSBT(message)
	testenv.Must(t, err)
	m.finalized(signed)
}

// drawn has a node sign the PSBT in codes, and returns the folder with the pictures of its
// answer.
func (m *multisig) drawn(node int, raw []byte, codes string) string {
	m.t.Helper()
	const folder = "answer"
	m.nodes[node].Must(raw, "keys", "derive", "--wallet", "seed", "--psbt")
	if _, stderr, status := m.nodes[node].Scanned(codes, "y\n", "--sign-with", "treasury", "--qr-png", folder); status != console.ExitSuccess {
		m.t.Fatalf("node %d: exit status %d: %s", node, status, stderr)
	}
	return folder
}

// finalized finalizes a PSBT, which btcd's engine must take.
func (m *multisig) finalized(signed []byte) {
	m.t.Helper()
	final, err := bitcoin.Finalize(signed)
	testenv.Must(m.t, err)
	m.valid(final)
}

// TestRegisteredWalletByCameraElsewhere: one of the two is the signer elsewhere, with the codes
// of Keystone's SDK and jsQR for its camera. It signs after a keystore, and before one.
func TestRegisteredWalletByCameraElsewhere(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	m, others := newMultisig(t), clitest.StartWallets(t)
	codes := func(raw []byte) string {
		return strings.ToUpper(strings.Join(others.Ask(map[string]any{
			"op": "request", "chain": "btc", "requestId": clitest.WalletRequest, "xfp": "f23f9fd2", "fragment": 90, "psbt": hex.EncodeToString(raw),
		}).Parts, "\n"))
	}
	read := func(node int, raw, in []byte) []byte {
		folder := filepath.Join(m.nodes[node].Dir, m.drawn(node, raw, codes(in)))
		return testenv.Hex(t, others.Ask(map[string]any{"op": "signature", "parts": strings.Fields(string(others.JsQR(folder)))}).PSBT)
	}
	raw := m.psbt()
	m.finalized(m.elsewhere(read(0, raw, raw)))
	m.finalized(read(1, raw, m.elsewhere(raw)))
}

// TestWalletsCommand: what is printed about a registered wallet, and what is refused.
func TestWalletsCommand(t *testing.T) {
	t.Parallel()
	m := newMultisig(t)
	var line struct {
		Name, Digest, Terms string
		Keys                []struct{ Key string }
	}
	if err := json.Unmarshal(m.wallets(0, nil, "list"), &line); err != nil || line.Name != "treasury" || line.Terms != "2 of 3 keys" || len(line.Keys) != 3 {
		t.Errorf("list: %+v, %v", line, err)
	}
	if got := strings.TrimSpace(string(m.wallets(0, nil, "export", "treasury"))); got != m.policy.Descriptor() {
		t.Errorf("export: %s", got)
	}
	if got := strings.TrimSpace(string(m.wallets(0, nil, "export", "--format", "bip388", "treasury"))); got != m.policy.Canonical() {
		t.Errorf("export: %s", got)
	}
	var imports []struct {
		Desc             string
		Active, Internal bool
	}
	if err := json.Unmarshal(m.wallets(0, nil, "export", "--format", "core", "treasury"), &imports); err != nil || len(imports) != 2 || imports[1].Desc != m.policy.BranchDescriptor(true) || !imports[1].Internal {
		t.Errorf("export: %+v, %v", imports, err)
	}
	want, _ := bitcoin.AddressOf(m.scripts(true, 7).Output, bitcoin.Mainnet)
	if got := string(m.wallets(0, nil, "address", "--change", "--index", "7", "treasury")); !strings.Contains(got, want) {
		t.Errorf("address: %s, want %s", got, want)
	}
	if got := m.wallets(0, nil, "show", "treasury"); !bytes.Contains(got, []byte(m.digest())) {
		t.Errorf("show: %s", got)
	}
	foreign := strings.Replace(m.policy.Canonical(), "73c5da0a", "73c5da0b", 1)
	for text, want := range map[string]string{
		m.policy.Canonical(): "registered already",
		foreign:              "no key of the wallet is from a wallet of this keystore",
		strings.Replace(m.policy.Canonical(), "sortedmulti(2", "sortedmulti(1", 1):    "pass --replace",
		strings.Replace(m.policy.Canonical(), "wsh(sortedmulti(2", "wsh(thresh(2", 1): "miniscript is not",
	} {
		args := append([]string{"wallets", "register", "--digest", m.digest()}, strings.Fields(clitest.KeystoreFlags)...)
		if _, stderr, status := m.nodes[0].Run([]byte(text), args...); status != console.ExitFailure || !strings.Contains(string(stderr), want) {
			t.Errorf("%s: exit status %d, %s, want %s", text, status, stderr, want)
		}
	}
	m.wallets(0, nil, "remove", "--digest", m.digest(), "treasury")
	if _, stderr, status := m.nodes[0].Run(nil, append([]string{"wallets", "show", "treasury"}, strings.Fields(clitest.KeystoreFlags)...)...); status == console.ExitSuccess || !strings.Contains(string(stderr), "has no registered wallets") {
		t.Errorf("removed: exit status %d, %s", status, stderr)
	}
	planted := filepath.Join(m.nodes[1].Dir, "keys", "wallets")
	entries, err := os.ReadDir(planted)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	content := testenv.Read(t, filepath.Join(planted, entries[0].Name()))
	target := filepath.Join(m.nodes[0].Dir, "keys", "wallets", entries[0].Name())
	content = bytes.Replace(content, []byte("sortedmulti(2"), []byte("sortedmulti(1"), 1)
	testenv.Write(t, target, content)
	if _, stderr, status := m.nodes[0].Run(nil, append([]string{"wallets", "list"}, strings.Fields(clitest.KeystoreFlags)...)...); status == console.ExitSuccess || !strings.Contains(string(stderr), fmt.Sprintf("%s: not authentic", filepath.Join("keys", "wallets", entries[0].Name()))) {
		t.Errorf("planted: exit status %d, %s", status, stderr)
	}
}

// TestClaimedKeys: before its keys are derived, a PSBT of the wallet is answered with the
// command that derives them; a claim that is not true is named.
func TestClaimedKeys(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	s.Must([]byte(clitest.CosignerWords[0]), "keys", "import", "--format", "mnemonic", "--name", "seed", "--yes")
	root, err := wallet.FromMnemonic([]byte(clitest.CosignerWords[0]), nil)
	testenv.Must(t, err)
	args := []string{"sign", "--type", "bitcoin", "--sign-with", "seed", "--yes"}
	const derive = "of your wallet seed, which is not derived yet: run 'countersign keys derive --wallet seed --psbt'"
	if _, stderr, status := s.Run(clitest.CorePSBT(t, root, 7), args...); status != console.ExitFailure || !strings.Contains(string(stderr), "input 0 claims m/84'/0'/0'/0/7 "+derive) {
		t.Errorf("exit status %d, %s", status, stderr)
	}
	if _, stderr, status := s.Run(clitest.CorePSBT(t, root, 0), args...); status != console.ExitSuccess || !strings.Contains(string(stderr), "output 1 claims m/84'/0'/0'/1/0 "+derive) {
		t.Errorf("exit status %d, %s", status, stderr)
	}
	s.Must(clitest.CorePSBT(t, root, 0), "keys", "derive", "--wallet", "seed", "--psbt")
	if _, stderr, status := s.Run(clitest.CorePSBT(t, root, 0), args...); status != console.ExitSuccess || strings.Contains(string(stderr), "claims") || !strings.Contains(string(stderr), "(change, yours)") {
		t.Errorf("exit status %d, %s", status, stderr)
	}
	other, err := wallet.FromMnemonic([]byte(clitest.CosignerWords[2]), nil)
	testenv.Must(t, err)
	own, foreign := root.Fingerprint(), other.Fingerprint()
	lying := bytes.ReplaceAll(clitest.CorePSBT(t, other, 0), foreign[:], own[:])
	if _, stderr, _ := s.Run(lying, args...); !strings.Contains(string(stderr), "which has another key there: it is not yours") {
		t.Errorf("%s", stderr)
	}
}

// TestLongPSBT: a PSBT of 24 MiB, with the payouts that its legacy inputs spend, is signed by
// the command.
func TestLongPSBT(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	public, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, testenv.Hex(t, strings.TrimSpace(clitest.PublicOf(t, s))))
	testenv.Must(t, err)
	var inputs []bitcointest.Input
	for i := range 60 {
		input := bitcointest.P2PKH(public).Input(100_000, uint32(i))
		payout := wire.NewMsgTx(2)
		payout.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(i)}, nil, nil))
		payout.AddTxOut(wire.NewTxOut(100_000, input.Script))
		for range 13_000 {
			payout.AddTxOut(wire.NewTxOut(1_000, append([]byte{txscript.OP_0, 20}, bytes.Repeat([]byte{byte(i)}, 20)...)))
		}
		var encoded bytes.Buffer
		testenv.Must(t, payout.Serialize(&encoded))
		input.Tx, input.Index = encoded.Bytes(), 0
		inputs = append(inputs, input)
	}
	raw := bitcointest.PSBT{Inputs: inputs, Outputs: []bitcointest.Output{bitcointest.P2WPKH(public).Output(5_900_000)}}.Encode()
	if len(raw) < 23<<20 {
		t.Fatalf("%d bytes", len(raw))
	}
	final := s.Must(raw, "sign", "--type", "bitcoin", "--sign-with", clitest.KeyID, "--yes", "--finalize")
	if len(final) < 60*200 {
		t.Errorf("%d bytes", len(final))
	}
}
