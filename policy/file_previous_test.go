package policy_test

import (
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
)

// TestPrevious checks that Load returns the previous file only if nothing has changed from which
// it was loaded.
func TestPrevious(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, transaction := filepath.Join(folder, "policy.yaml"), filepath.Join(folder, "tx.json")
	write := func(path, text string) {
		testenv.Write(t, path, []byte(text))
	}
	const tx = `{"type":"TRANSACTION_TYPE_ETHEREUM","unsignedTransaction":"02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0"}`
	write(transaction, tx)
	write(path, "schema: countersign.policy/2\nrules: [{name: gas, allow: fee, when: \"effect.amount <= ether('0.02')\"}]\ntests: [{file: tx.json, expect: deny}]\n")
	options := withNames(&policy.Names{Users: []access.User{{ID: "1", Name: "ann"}}})
	var err error
	load := func() *policy.File {
		t.Helper()
		before := options.Previous
		if options.Previous, err = policy.Load(path, options); err != nil {
			t.Fatal(err)
		}
		if before == nil {
			return nil
		}
		return before
	}
	load()
	for _, step := range []struct {
		what   string
		change func()
		same   bool
	}{
		{"nothing", func() {}, true},
		{"a user", func() { options.Names = &policy.Names{Users: []access.User{{ID: "1", Name: "ben"}}} }, false},
		{"the keys", func() {
			options.Names = &policy.Names{Users: options.Names.Users, Keys: []access.SigningKey{{ID: "k"}}}
		}, false},
		{"the same names in another list", func() {
			options.Names = &policy.Names{Users: []access.User{{ID: "1", Name: "ben"}}, Keys: []access.SigningKey{{ID: "k"}}}
		}, true},
		{"a transaction of a test", func() { write(transaction, tx+"\n") }, false},
		{"the limits", func() { options.Chains = all.Chains(all.Limits{Ethereum: ethereum.Limits{MaxFee: 1}}) }, false},
		{"the tests", func() { options.SkipTests = true }, false},
		{"nothing", func() {}, true},
	} {
		step.change()
		if before := load(); (before == options.Previous) != step.same {
			t.Errorf("%s changed: the previous file was returned: %v", step.what, !step.same)
		}
	}
}
