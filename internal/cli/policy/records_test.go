package policy_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
)

// recorded is an input of an audit, in one of the files where it was copied by its class.
type recorded struct {
	Name, Class             string
	Kind, Payload           string          // of messages/testdata/classes.json
	Type                    string          // of policies
	Hex, Input, PSBT, Text  string          // of the chains, and of texts
	Message                 json.RawMessage // typed data
	Hazards                 json.RawMessage // names, where the file says them so
	Sample, Policy          string
	Key, Secret, User, Ours string
	Tags                    []string
}

// recordFiles are the files with records, and the type of transactions of those of one chain.
var recordFiles = map[string]activity.TransactionType{
	"messages/testdata/classes.json":                   "",
	"messages/testdata/texts.json":                     "",
	"messages/testdata/fees.json":                      "",
	"policy/testdata/attacked_policies.json":           "",
	"chains/solana/testdata/meaning/transactions.json": activity.TransactionTypeSolana,
	"chains/solana/testdata/dangers/dangers.json":      activity.TransactionTypeSolana,
	"chains/bitcoin/testdata/danger/outputs.json":      activity.TransactionTypeBitcoin,
	"chains/bitcoin/testdata/danger/danger.json":       activity.TransactionTypeBitcoin,
	"chains/bitcoin/testdata/danger/omitted.json":      activity.TransactionTypeBitcoin,
	"chains/ethereum/testdata/danger/danger.json":      activity.TransactionTypeEthereum,
	"chains/tempo/testdata/audit/findings.json":        activity.TransactionTypeTempo,
	"chains/tron/testdata/audit/findings.json":         activity.TransactionTypeTron,
}

// recordsOf reads a file of records: a list, or an object with one.
func recordsOf(t *testing.T, path string) (list []recorded) {
	t.Helper()
	text := testenv.Read(t, filepath.Join(testenv.Root(), path))
	if json.Unmarshal(text, &list) == nil {
		return list
	}
	var file struct{ Cases, Vectors []recorded }
	testenv.JSON(t, text, &file)
	return slices.Concat(file.Cases, file.Vectors)
}

// intent returns what a record asks for, without a key.
func (r *recorded) intent(t *testing.T, of activity.TransactionType) activity.Intent {
	t.Helper()
	message := func(payload string, encoding activity.Encoding, hash activity.HashFunction) activity.Intent {
		return activity.SignMessageIntent{Payload: payload, Encoding: encoding, HashFunction: hash}
	}
	preimage := func(prefix, text string) activity.Intent {
		return message(string(personal.Preimage(prefix, []byte(text))), activity.EncodingText, activity.HashKeccak256)
	}
	switch kind := r.Kind + r.Type; kind {
	case "":
	case "eip712":
		return message(r.Payload, activity.EncodingEIP712, activity.HashNone)
	case "personal":
		return preimage(personal.EthereumPrefix, r.Payload)
	case "tron personal":
		return preimage(personal.TronPrefix, r.Payload)
	case "bitcoin":
		return message(hex.EncodeToString(bip137.Preimage([]byte(r.Payload))), activity.EncodingHex, activity.HashDoubleSHA256)
	case "solana text":
		return message(r.Payload, activity.EncodingText, activity.HashNotApplicable)
	default:
		return activity.SignTransactionIntent{UnsignedTransaction: r.Payload, Type: activity.TransactionType("TRANSACTION_TYPE_" + strings.ToUpper(strings.TrimPrefix(kind, "TRANSACTION_TYPE_")))}
	}
	switch {
	case r.Message != nil:
		return message(strings.ReplaceAll(string(r.Message), "SIGNER", enginetest.Address), activity.EncodingEIP712, activity.HashNone)
	case r.Text != "":
		return preimage(personal.EthereumPrefix, r.Text)
	}
	return activity.SignTransactionIntent{UnsignedTransaction: r.Hex + r.Input + r.PSBT, Type: of}
}

// recordSecrets are the keys of the records, by curve.
var recordSecrets = map[keystore.Curve][]string{
	keystore.CurveSecp256k1: {enginetest.Secret, strings.Repeat("46", 32), strings.Repeat("22", 32), strings.Repeat("11", 32)},
	keystore.CurveEd25519:   {enginetest.Secret, strings.Repeat("46", 32), strings.Repeat("11", 32)},
}

// twoHouses is a deployment that policy explain opens, and an engine with the same keys and policy.
type twoHouses struct {
	*clitest.Served
	engine *countersign.Engine
	keys   []string // ids
}

func newTwoHouses(t *testing.T, clock time.Time, policyText string) *twoHouses {
	t.Helper()
	h := &twoHouses{Served: clitest.NewServed(t)}
	keys := memory.New()
	for curve, secrets := range recordSecrets {
		for _, secret := range secrets {
			line, stderr, status := clitest.MainWith(secret, "keys", "import", "--config", h.Config(), "--curve", fmt.Sprint(curve), "--yes")
			var key show.KeyLine
			if status != console.ExitSuccess {
				t.Fatal(stderr)
			}
			testenv.JSON(t, []byte(line), &key)
			h.keys = append(h.keys, key.PrivateKeyID)
			if _, err := keys.Add(t.Context(), h.By.OrganizationID, keystore.NewKey{ID: key.PrivateKeyID, Curve: curve, Secret: testenv.Hex(t, secret)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	clitest.WritePrivate(t, filepath.Join(h.Dir, "policy.yaml"), policyText)
	h.Edit(t, "name: Example", "name: Example\n    policy: policy.yaml")
	public := fmt.Sprintf("publicKey: \"%x\"", h.By.PublicKey())
	h.Edit(t, public, public+", activities: [ACTIVITY_TYPE_SIGN_TRANSACTION_V2, ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2]")
	served := all.Chains(all.Limits{})
	file, err := policy.Parse("policy.yaml", []byte(policyText), policy.Options{Chains: served, Hazards: messages.HazardNames(served...)})
	testenv.Must(t, err)
	h.engine, err = countersign.New(countersign.Config{Chains: served, Operations: messages.Operations(served...), Keystore: keys, Policy: file, Now: func() time.Time { return clock }})
	testenv.Must(t, err)
	t.Cleanup(func() {
		if err := h.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// of returns an intent for a key.
func of(intent activity.Intent, key string) activity.Intent { return show.WithSigner(intent, key) }

// TestRecordsExplained: policy explain says of every record what the engine answers to it: signed, or
// refused with the same words, or not read at all. sign does the same, and inspect has the hazards.
func TestRecordsExplained(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var kinds []string
	for _, kind := range chains.Kinds() {
		if kind != chains.KindOTP && kind != chains.KindReceive {
			kinds = append(kinds, string(kind))
		}
	}
	h := newTwoHouses(t, clock, "schema: countersign.policy/2\nrules:\n  - {name: everything, allow: ["+strings.Join(kinds, ", ")+"]}\n")
	decided := map[string]int{}
	for path, kind := range recordFiles {
		for _, r := range recordsOf(t, path) {
			name := fmt.Sprint(path, ": ", r.Name, r.Class)
			intent := r.intent(t, kind)
			var answer error
			signer := h.keys[0]
			for i, key := range h.keys { // the record's: the first that the transaction takes
				_, err := h.engine.As(access.User{ID: "admin", Name: "admin"}, "").Prepare(t.Context(), h.By.OrganizationID, of(intent, key))
				refused, _ := errors.AsType[*activity.Error](err)
				if mine := err == nil || refused != nil && (refused.Reason == activity.ReasonNotAuthorized || refused.Reason == activity.ReasonHazardNotAllowed); mine || i == 0 {
					if answer, signer = err, key; mine {
						break
					}
				}
			}
			decision := h.explain(t, name, of(intent, signer), clock, answer)
			decided[decision]++
			h.sign(t, name, of(intent, signer), answer)
			var hazards []string
			if json.Unmarshal(r.Hazards, &hazards) == nil && (len(hazards) > 0) != (decision == "deny") && path == "messages/testdata/classes.json" {
				t.Errorf("%s: hazards %q, and it is %s", name, hazards, decision)
			}
		}
	}
	t.Logf("%v", decided)
	if decided["allow"] < 40 || decided["deny"] < 150 {
		t.Errorf("decided %v", decided)
	}
}

// explain explains a request, compares the answer with the engine's, and returns the decision; "error"
// if both refuse to read or to sign it.
func (h *twoHouses) explain(t *testing.T, name string, intent activity.Intent, clock time.Time, answer error) string {
	t.Helper()
	request, err := activity.NewRequest(activity.Envelope{OrganizationID: h.By.OrganizationID, Time: clock}, intent)
	testenv.Must(t, err)
	sent, err := show.NewRequestFile(h.By, request.Body)
	testenv.Must(t, err)
	stdout, stderr, status := clitest.MainWith(string(console.JSONLine(sent)), "policy", "explain", "--config", h.Config(), "--at", clock.Format(time.RFC3339), "--json")
	refused, _ := errors.AsType[*activity.Error](answer)
	judged := answer == nil || refused != nil && (refused.Reason == activity.ReasonNotAuthorized || refused.Reason == activity.ReasonHazardNotAllowed)
	if !judged {
		if status == console.ExitSuccess || refused == nil || !strings.Contains(stderr, refused.Message) {
			t.Errorf("%s: the engine says %v; explain: exit status %d: %s%s", name, answer, status, stdout, stderr)
		}
		return "error"
	}
	var said policy.Explanation
	if status != console.ExitSuccess || json.Unmarshal([]byte(stdout), &said) != nil {
		t.Errorf("%s: the engine says %v; explain: exit status %d: %s", name, answer, status, stderr)
		return "error"
	}
	if (said.Decision == "allow") != (answer == nil) || answer != nil && !strings.Contains(answer.Error(), said.Refusal) {
		t.Errorf("%s: the engine says %v; explain says %s: %s", name, answer, said.Decision, said.Refusal)
	}
	return said.Decision
}

// sign signs a transaction that is valid at any time, and has it inspected. The command does what the
// engine answers, and names the hazards.
func (h *twoHouses) sign(t *testing.T, name string, intent activity.Intent, answer error) {
	t.Helper()
	tx, ok := intent.(activity.SignTransactionIntent)
	if !ok || tx.Type == activity.TransactionTypeTempo || tx.Type == activity.TransactionTypeTron {
		return
	}
	stdout, stderr, status := clitest.MainWith(tx.UnsignedTransaction, "sign", "--config", h.Config(), "--as", "admin", "--sign-with", tx.SignWith, "--type", string(tx.Type), "--yes")
	if (status == console.ExitSuccess) != (answer == nil) || answer != nil && stdout != "" {
		t.Errorf("%s: the engine says %v; sign: exit status %d: %s%s", name, answer, status, stdout, stderr)
	}
	read, err := all.InspectIntent(intent, all.Limits{})
	stdout, stderr, status = clitest.MainWith(tx.UnsignedTransaction, "inspect", "--type", string(tx.Type), "--json")
	var shown struct{ Hazards []struct{ Name string } }
	if (status == console.ExitSuccess) != (err == nil) || err == nil && (json.Unmarshal([]byte(stdout), &shown) != nil || len(shown.Hazards) != len(read.Hazards)) {
		t.Errorf("%s: read %v, hazards %+v; inspect: exit status %d: %s%s", name, err, read.Hazards, status, stdout, stderr)
	}
	for i := range shown.Hazards {
		if i < len(read.Hazards) && shown.Hazards[i].Name != read.Hazards[i].Name {
			t.Errorf("%s: inspect names %+v, not %+v", name, shown.Hazards, read.Hazards)
		}
	}
}

// TestAttacksExplained: of the requests with which a thief passed policies, policy explain says under
// the policy that they are refused, for what is known from the bytes.
func TestAttacksExplained(t *testing.T) {
	samples, explained := testenv.SamplePolicies(t), 0
	for i, r := range recordsOf(t, "policy/testdata/attacked_policies.json") {
		text := r.Policy
		if r.Sample != "" {
			text = samples[r.Sample]
		}
		if r.Ours != "" {
			text = strings.ReplaceAll(text, r.Ours, "Bow1CGKGDB9mNxeWdw85E2aCthQ1oZX4oFEe7fYT17ew")
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%x.yaml", sha256.Sum256([]byte(text))))
		clitest.WritePrivate(t, path, text)
		args := []string{"policy", "explain", path, "--as", r.User, "--key", r.Key, "--at", "2026-11-20T12:00:00Z", "--json"}
		for _, tag := range r.Tags {
			args = append(args, "--tag", tag)
		}
		if r.Type == "eip712" {
			args = append(args, "--message", "eip712")
		} else {
			args = append(args, "--type", r.Type)
		}
		stdout, stderr, status := clitest.MainWith(r.Payload, args...)
		var said policy.Explanation
		if status != console.ExitSuccess || json.Unmarshal([]byte(stdout), &said) != nil || said.Decision == "allow" {
			t.Errorf("%d, %s: exit status %d: %s: %s%s", i, r.Class, status, said.Decision, said.Refusal, stderr)
		}
		explained++
	}
	if explained < 28 {
		t.Errorf("%d explained", explained)
	}
}
