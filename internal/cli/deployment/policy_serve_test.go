package deployment

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/policy"
)

// TestReloadKeepsPolicy checks that a policy that is invalid, or whose tests fail, does not
// replace the one in force, and that a valid one does.
func TestReloadKeepsPolicy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	const first = "schema: countersign.policy/2\nrules:\n  - {name: gas, allow: fee, when: \"effect.amount <= ether('1')\"}\n"
	write := func(text string) {
		testenv.Write(t, path, []byte(text))
	}
	write(first)
	configured := &config.Config{Organizations: []access.OrganizationConfig{{ID: "org", Policy: path}, {ID: "free"}}}
	keys := memory.New()
	files, err := readPolicies(t.Context(), configured, keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	policies := &LoadedPolicies{policy.NewOrganizations(files), configured}
	organization := &access.Organization{ID: "org"}
	served := policies.File(organization).Digest()
	for name, text := range map[string]string{
		"wrong":        strings.Replace(first, "amount", "amuont", 1),
		"failing":      first + "tests:\n  - {effects: [{kind: fee, asset: \"eip155:1\", amount: \"2\"}], expect: allow}\n",
		"unknown user": first + "  - {name: ann, allow: transfer, who: {user: ann}}\n",
		"unknown key":  first + "  - {name: hot, allow: transfer, key: hot}\n",
	} {
		write(text)
		if files, err := readPolicies(t.Context(), configured, keys, nil); err == nil || policies.File(organization).Digest() != served {
			t.Errorf("%s: read %v, and another policy is served: %t", name, files, policies.File(organization).Digest() != served)
		}
	}
	write(first + "# new\n")
	if files, err = readPolicies(t.Context(), configured, keys, nil); err != nil {
		t.Fatal(err)
	}
	policies.PutInForce(files, configured)
	if policies.File(organization).Digest() == served {
		t.Error("the new policy is not served")
	}
	if policies.File(&access.Organization{ID: "free"}) != nil {
		t.Error("an organization without a policy has one")
	}
	write("rules: []\n")
	if _, err := readPolicies(t.Context(), configured, keys, nil); err == nil {
		t.Error("a policy that is wrong is served from the start")
	}
}

// TestDoubles: keys that have one name load with a warning, and no rule may name them.
func TestDoubles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	configured := &config.Config{Organizations: []access.OrganizationConfig{{ID: "org", Policy: path}, {ID: "free"}}}
	keys := memory.New()
	for _, name := range []string{"hot", "cold", "hot", "", ""} {
		for _, organization := range configured.Organizations {
			if _, err := keys.Generate(t.Context(), organization.ID, name, keystore.CurveEd25519); err != nil {
				t.Fatal(err)
			}
		}
	}
	warnings, err := doubles(t.Context(), configured, keys)
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "organization org: 2 keys are called hot: ") {
		t.Errorf("%q, %v", warnings, err)
	}
	for name, want := range map[string]string{"hot": "2 keys or wallets are called hot: use an id", "cold": ""} {
		text := "schema: countersign.policy/2\nrules:\n  - {name: gas, allow: fee, key: " + name + ", when: \"effect.amount <= ether('1')\"}\n"
		testenv.Write(t, path, []byte(text))
		_, err := readPolicies(t.Context(), configured, keys, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
