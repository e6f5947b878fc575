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
)

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
