package sign_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// recordIDs are the findings of our own audit of 2026 about what a signature means, whose inputs
// testdata/records.json has. Those without an input for a command are in otherRecords.
const recordIDs = `
AP-01 AP-02 AP-04 AP-06 AP-09 AP-11 AP-13 AP-14 AP-16 AP-18 AP-20
evm-safe-refund-drain evm-uo-empty-call-+-huge-preVerificationGas evm-uo-paymaster-only evm-uo-factory
evm-seaport-1wei evm-seaport-dutch-to-1wei evm-polymarket-order-1-unit evm-UR-swap-minOut-0
evm-UR-wrap-to-router,-no-sweep evm-UR-no-commands-with-value evm-eth-to-precompile01 evm-eth-to-dead
evm-erc20-to-dead evm-trx-to-dead evm-zksync-lite-key evm-umbra evm-immutable evm-siwe2-chain-x
evm-siwe2-nonce-symbols evm-GasFree-base58 evm-fee-pulsechain evm-erc4626-deposit evm-dai-allowed=false
evm-delegate-lock-max evm-policy-rbtc evm-UR-swap-ordinary evm-multicall-shared-tail evm-escaped-dup-key
evm-blob-fee-cap-huge evm-hl-ConvertToMultiSigUser evm-permission-update-to-attacker
lowr-0 lowr-2 lighthouse-fee-payer lighthouse-own SOL-to-wSOL-mint SOL-to-token-program SOL-to-ATA-program
USDC-to-ATA-of-incinerator USDC-to-ATA-owned-by-the-mint-itself fee-99-percent solana-base64-transaction
hex-bom dust-1-sat version-minus-1 offchain-cli-ascii sh-wpkh-no-redeem p2pkh-uncompressed
sh-wpkh-one-of-two blind-not-given base64-without-padding liana-recovery pass-change-claim-not-ours
pass-tap-change-with-attacker-leaf pass-tr-multi_a-NUMS pass-v3-tx-with-P2A-0-sat pass-op_return-500-bytes`

// record is the input of a finding, and the answers of the commands.
type record struct {
	ID         string
	Source     string // its report
	Want       string // the report's words
	Reason     string // why the answer is another one; empty if it is as wanted
	Args       []string
	Key, Input string
	Form       string // of the input: "byte order mark" in front; empty for as it is
	Finalize   bool
	Policy     string          // empty for one that allows every kind of effect and no hazard
	Descriptor json.RawMessage // pinned, if any
	Unreadable string          // the error of every command; empty if the input can be read
	Unsigned   string          // the error of sign, if no hazard is the reason
	Hazards    []string        // by name, sorted; if none, it is signed
	Inspected  []string        // in place of Hazards if no signer is known
	Effects    string          // their kinds, as inspect says
	Says       []string        // texts of the summary that sign shows
	Signed     string          // text of what sign prints
	Denied     string          // the error of sign under Policy
	Warned     string          // text of what policy check says of Policy
}

// recordBook runs the commands over records in two deployments with the same keys.
type recordBook struct {
	*clitest.Session
	bitcoinKey map[string]string // by configuration
	everything string            // the policy of records that have none
}

// recordConfig has no policy, and ruledConfig has one. What is signed under one is no record of the
// other.
const recordConfig, ruledConfig = "made/countersign.yaml", "ruled/countersign.yaml"

func newRecordBook(t *testing.T) *recordBook {
	b := &recordBook{Session: &clitest.Session{T: t, Dir: t.TempDir()}, bitcoinKey: map[string]string{}}
	for _, config := range []string{recordConfig, ruledConfig} {
		b.Must(nil, "init", filepath.Dir(config))
		b.Must([]byte(strings.Repeat("46", 32)), "keys", "import", "--config", config, "--curve", "CURVE_SECP256K1", "--yes")
		b.Must([]byte(strings.Repeat("11", 32)), "keys", "import", "--config", config, "--curve", "CURVE_ED25519", "--yes")
		b.Must([]byte(strings.Repeat("test ", 11)+"junk"), "keys", "import", "--config", config, "--format", "mnemonic", "--yes")
		var key struct{ PrivateKeyID string }
		line := b.Must([]byte(strings.Repeat("22", 32)), "keys", "import", "--config", config, "--curve", "CURVE_SECP256K1", "--yes")
		testenv.JSON(t, line, &key)
		b.bitcoinKey[config] = key.PrivateKeyID
	}
	b.Write(ruledConfig, bytes.Replace(b.Read(ruledConfig), []byte("    allowHazards"), []byte("    policy: policy.yaml\n    allowHazards"), 1))
	var kinds []string
	for _, kind := range chains.Kinds() {
		if kind != chains.KindOTP && kind != chains.KindReceive {
			kinds = append(kinds, string(kind))
		}
	}
	b.everything = "schema: countersign.policy/2\nassets: {coin: {chain: solana, token: native}}\nlimits: [{name: day, asset: coin, max: \"1\", window: 24h, per: organization}]\n" +
		"rules:\n  - {name: everything, allow: [" + strings.Join(kinds, ", ") + "]}\n  - {name: sponsors, allow: fee, alone: true, limit: day}\n"
	return b
}

// pin trusts a descriptor in both deployments.
func (b *recordBook) pin(descriptor json.RawMessage) {
	for _, config := range []string{recordConfig, ruledConfig} {
		folder := filepath.Join(b.Dir, filepath.Dir(config), "folder")
		testenv.Must(b.T, os.MkdirAll(folder, 0o700))
		b.Write(filepath.Join(filepath.Dir(config), "folder", "pinned.json"), descriptor)
		b.Write(config, append(b.Read(config), "descriptors: {folder: folder, pins: pins.txt}\n"...))
		b.Must(nil, "descriptors", "pin", "--config", config, "pinned.json")
	}
}

// sign runs sign over a record.
func (b *recordBook) sign(r *record, config string) (stdout, stderr []byte, status int) {
	args := slices.Concat([]string{"sign", "--config", config, "--as", "admin", "--yes", "--sign-with", b.key(r, config)}, r.Args)
	if r.Finalize {
		args = append(args, "--finalize")
	}
	return b.Run(r.input(), args...)
}

// key names the key for --sign-with. The id of a key is the deployment's.
func (b *recordBook) key(r *record, config string) string {
	if r.Key == "BITCOIN KEY" {
		return b.bitcoinKey[config]
	}
	return r.Key
}

func (r *record) input() []byte {
	if r.Form == "byte order mark" {
		return []byte("\ufeff" + r.Input)
	}
	return []byte(r.Input)
}

// refusal returns what sign's error must name. It is empty if sign signs.
func (r *record) refusal() []string {
	if r.Unreadable != "" {
		return []string{r.Unreadable}
	}
	if r.Unsigned != "" {
		return []string{r.Unsigned}
	}
	return r.Hazards
}

// checkSigned checks what sign answers: nothing but an error that names all of refusal, under a
// policy the first that it meets; or, if there is none, the signature.
func (r *record) checkSigned(t *testing.T, door string, stdout, stderr []byte, status int, refusal []string) {
	t.Helper()
	if len(refusal) == 0 {
		if status != console.ExitSuccess || len(stdout) == 0 || !strings.Contains(string(stdout), r.Signed) {
			t.Errorf("%s: exit status %d, %s%s", door, status, stdout, stderr)
		}
		return
	}
	if status == console.ExitSuccess || len(stdout) > 0 {
		t.Errorf("%s: signed: %s", door, stdout)
	}
	named := 0
	for _, text := range refusal {
		if strings.Contains(string(stderr), text) {
			named++
		}
	}
	if named < len(refusal) && (door != underPolicy || named == 0) {
		t.Errorf("%s: not refused for %q: %s", door, refusal, stderr)
	}
}

// underPolicy is the door that names the first hazard alone.
const underPolicy = "under the policy"

// checkInspected checks what inspect answers.
func (r *record) checkInspected(t *testing.T, stdout, stderr []byte, status int) {
	t.Helper()
	if r.Unreadable != "" {
		r.checkSigned(t, "inspect", stdout, stderr, status, []string{r.Unreadable})
		return
	}
	var shown struct {
		Effects []struct{ Kind string }
		Hazards []struct{ Name string }
	}
	if err := json.Unmarshal(stdout, &shown); err != nil || status != console.ExitSuccess {
		t.Fatalf("inspect: exit status %d, %v: %s", status, err, stderr)
	}
	var kinds, hazards []string
	for _, effect := range shown.Effects {
		kinds = append(kinds, effect.Kind)
	}
	for _, hazard := range shown.Hazards {
		hazards = append(hazards, hazard.Name)
	}
	slices.Sort(hazards)
	want := r.Hazards
	if r.Inspected != nil {
		want = r.Inspected
	}
	if got := strings.Join(kinds, " "); got != r.Effects {
		t.Errorf("inspect: effects %s, want %s", got, r.Effects)
	}
	if hazards = slices.Compact(hazards); !slices.Equal(hazards, want) {
		t.Errorf("inspect: hazards %q, want %q", hazards, want)
	}
}

// checkSays checks the texts of a summary, which sign shows for a known signer before it signs, and
// inspect for any.
func (b *recordBook) checkSays(t *testing.T, r *record, signed string) {
	t.Helper()
	if len(r.Says) == 0 {
		return
	}
	inspected := b.Must(r.input(), append([]string{"inspect"}, r.Args...)...)
	for _, says := range r.Says {
		if !strings.Contains(signed, says) && !strings.Contains(string(inspected), says) {
			t.Errorf("neither sign nor inspect says %q: %s%s", says, signed, inspected)
		}
	}
}

// checkRuled checks what sign and policy explain answer under the record's policy, or under one
// that allows everything but hazards.
func (b *recordBook) checkRuled(t *testing.T, r *record) {
	t.Helper()
	text, refusal := r.Policy, r.refusal()
	if text == "" {
		text = b.everything
	}
	if r.Denied != "" {
		refusal = []string{r.Denied}
	}
	b.Write("ruled/policy.yaml", []byte(text))
	stdout, stderr, status := b.sign(r, ruledConfig)
	r.checkSigned(t, underPolicy, stdout, stderr, status, refusal)
	if r.Warned != "" {
		if _, stderr, _ := b.Run(nil, "policy", "check", "ruled/policy.yaml"); !strings.Contains(string(stderr), r.Warned) {
			t.Errorf("policy check: %s", stderr)
		}
	}
	if r.Args[0] != "--type" || r.Unreadable != "" || r.Unsigned != "" {
		return // explained are transactions that can be read and signed
	}
	var answer struct{ Decision string }
	explained := b.Must(r.input(), slices.Concat([]string{"policy", "explain", "--config", ruledConfig, "--as", "admin", "--sign-with", b.key(r, ruledConfig), "--json"}, r.Args)...)
	if err := json.Unmarshal(explained, &answer); err != nil || (answer.Decision == "allow") != (len(refusal) == 0) {
		t.Errorf("policy explain: %s, %v", explained, err)
	}
}

// TestRecords checks that every finding of the audit answers as wanted, or as records.json says
// with a reason, through inspect, sign and a policy.
func TestRecords(t *testing.T) {
	text := testenv.Read(t, "testdata/records.json")
	var file struct {
		About   string
		Records []record
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	testenv.Must(t, decoder.Decode(&file))
	b, answered := newRecordBook(t), map[string]bool{}
	for _, r := range file.Records {
		answered[r.ID] = true
		t.Run(r.ID, func(t *testing.T) {
			b.T = t
			if r.Descriptor != nil {
				b.pin(r.Descriptor)
			}
			stdout, stderr, status := b.Run(r.input(), append([]string{"inspect", "--json"}, r.Args...)...)
			r.checkInspected(t, stdout, stderr, status)
			stdout, stderr, status = b.sign(&r, recordConfig)
			r.checkSigned(t, "sign", stdout, stderr, status, r.refusal())
			b.checkSays(t, &r, string(stderr))
			b.checkRuled(t, &r)
		})
	}
	for id, check := range otherRecords {
		answered[id] = true
		t.Run(id, check)
	}
	ids := strings.Fields(recordIDs)
	for _, id := range ids {
		if !answered[id] {
			t.Errorf("%s has no answer", id)
		}
	}
	if len(answered) != len(ids) {
		t.Errorf("%d findings are answered, and %d listed", len(answered), len(ids))
	}
}

// otherRecords are the findings that have no single input, by id.
var otherRecords = map[string]func(t *testing.T){
	"AP-13": checkVotesOnAnotherReading,
	"AP-14": checkImportedDenies,
}

// digestOfReading is in the refusal of a vote on something else.
var digestOfReading = regexp.MustCompile(`the vote is not on what is to be signed, whose digest is ([0-9a-f]{64})`)

// checkVotesOnAnotherReading votes on what is not to be signed, and verifies an answer against
// what its voter was shown, and against something else.
func checkVotesOnAnotherReading(t *testing.T) {
	q := newQuorum(t)
	votes := q.asks("request.json", time.Now())
	var request, vote struct{ Body string }
	testenv.Must(t, errors.Join(json.Unmarshal(q.Read("request.json"), &request), json.Unmarshal(q.Read("ann-request.json"), &vote)))
	votesOn := func(shown string) {
		body := strings.Replace(vote.Body, `"fingerprint"`, `"shown":"`+shown+`","fingerprint"`, 1)
		q.Write("ann-request.json", q.Must([]byte(body), "stamp", "--api-key", "ann.json"))
	}
	other := strings.Repeat("ab", 32)
	votesOn(other)
	signs := append([]string{"sign", "--yes", "--config", recordConfig, "--request", "request.json", "--out", "signed.json"}, votes...)
	_, stderr, status := q.Run(nil, signs...)
	digest := digestOfReading.FindSubmatch(stderr)
	if status == console.ExitSuccess || digest == nil {
		t.Fatalf("a vote on something else: exit status %d: %s", status, stderr)
	}
	votesOn(string(digest[1]))
	q.Must(nil, signs...)
	q.Write("body.json", []byte(request.Body))
	verify := []string{"verify", "--config", recordConfig, "--votes", "2", "--body", "body.json"}
	q.Must(nil, append(verify, "--shown", string(digest[1]), "signed.json")...)
	fails(q.Session, "it is on another reading", append(verify, "--shown", other, "signed.json")...)
	q.Write("forged.json", bytes.ReplaceAll(q.Read("signed.json"), digest[1], []byte(other)))
	fails(q.Session, "wrong signature", append(verify, "forged.json")...)
}

// hostedPolicies are an allow, and denies of which some cannot be carried over.
const hostedPolicies = `{"policies": [
  {"policyName": "allow eth", "effect": "EFFECT_ALLOW", "consensus": "true", "condition": "eth.tx.to == '0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7'"},
  {"policyName": "deny big gas", "effect": "EFFECT_DENY", "condition": "eth.tx.gas * eth.tx.gas_price > 1000000", "consensus": "true"},
  {"policyName": "deny data", "effect": "EFFECT_DENY", "condition": "eth.tx.data[0..10] == '0xa9059cbb' && eth.tx.data[74..138] != '00'"},
  {"policyName": "deny nonroot", "effect": "EFFECT_DENY", "consensus": "approvers.any(user, user.id == 'u-1')", "condition": "eth.tx.value > 5"},
  {"policyName": "allow n1", "effect": "EFFECT_ALLOW", "consensus": "approvers.count() >= 2 || approvers.any(user, user.tags.contains('x'))", "condition": "true"},
  {"policyName": "allow by cred", "effect": "EFFECT_ALLOW", "consensus": "credentials.any(c, c.id == 'abc')", "condition": "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'"}
]}`

// checkImportedDenies imports policies of the hosted service. A deny that cannot be carried over
// denies everything.
func checkImportedDenies(t *testing.T) {
	importer := testenv.GoProgram(t, "tools/countersign-policy-import", ".")
	t.Setenv("PATH", filepath.Dir(importer)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	s := clitest.NewSession(t)
	imported, stderr, status := s.Run([]byte(hostedPolicies), "policy", "import")
	if status != console.ExitSuccess || strings.Count(string(imported), "\n    deny: request\n") != 3 || !strings.Contains(string(stderr), "deny-big-gas, deny-data, deny-nonroot") {
		t.Fatalf("exit status %d: %s\n%s", status, stderr, imported)
	}
	s.Write("imported.yaml", imported)
	s.Must(nil, "policy", "check", "imported.yaml")
	paid := "02f00107843b9aca008504a817c8008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b7880de0b6b3a764000080c0"
	if explained := s.Must([]byte(paid), "policy", "explain", "imported.yaml", "--type", "ethereum", "--output", "text"); !strings.HasPrefix(string(explained), "deny by deny-big-gas\n") {
		t.Errorf("%s", explained)
	}
}
