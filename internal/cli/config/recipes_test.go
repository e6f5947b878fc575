package config_test

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/cli/serve"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// yamlBlocks are the blocks of YAML of a page.
func yamlBlocks(t *testing.T, page string) (blocks []string) {
	t.Helper()
	text := testenv.Read(t, filepath.Join(testenv.Root(), "docs", page))
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}

// TestRecipesBehindSigner loads the configuration of docs/rpc.md with each policy of
// docs/recipes.md. The users who call the signer have no credential of their own; only those who
// approve do, and without them the policy that needs approvals is refused.
func TestRecipesBehindSigner(t *testing.T) {
	example := clitest.Documented(t)
	signer := strings.Replace(yamlBlocks(t, "rpc.md")[0], "127.0.0.1:8545", "127.0.0.1:0", 1)
	recipes := testenv.SamplePolicies(t, "recipes.md")
	if len(recipes) < 5 {
		t.Fatalf("%d recipes", len(recipes))
	}
	organization := example.By.OrganizationID
	byUser, byKey := regexp.MustCompile(`who: \{user: (\w+)\}`), regexp.MustCompile(`key: \[(\w+)\]`)
	for i, recipe := range slices.Sorted(maps.Values(recipes)) {
		user, key := byUser.FindStringSubmatch(recipe)[1], byKey.FindStringSubmatch(recipe)[1]
		example.Run(t, "keys", "generate", "--keystore", "file:"+filepath.Join(example.Dir, "keys"), "--passphrase-file", filepath.Join(example.Dir, "passphrase"), "--org", organization, "--curve", "secp256k1", "--name", key)
		for _, voters := range []int{2, 1} {
			var text strings.Builder
			fmt.Fprintf(&text, "listen: 127.0.0.1:0\nstore: bolt:state.db\nkeystore: file:keys\npassphraseFile: passphrase\n%s", signer)
			users := "      - {name: batcher}\n      - {name: keeper, tags: [finance]}\n" // one who cannot vote
			if user != "batcher" && user != "keeper" {
				users += "      - {name: " + user + "}\n"
				fmt.Fprintf(&text, "    - {user: %s, tokenFile: ann-token}\n", user)
			}
			for v := range voters {
				voter := enginetest.NewAPIKey(t).Config()
				users += fmt.Sprintf("      - {name: voter%d, tags: [finance], apiKeys: [{curve: API_KEY_CURVE_P256, publicKey: %q, activities: [ACTIVITY_TYPE_APPROVE_ACTIVITY]}]}\n", v, voter.PublicKey)
			}
			fmt.Fprintf(&text, "organizations:\n  - id: %s\n    name: Example\n    policy: recipe.yaml\n    users:\n%s", organization, users)
			clitest.WritePrivate(t, filepath.Join(example.Dir, "recipe.yaml"), recipe)
			clitest.WritePrivate(t, filepath.Join(example.Dir, "keeper-token"), strings.Repeat("8", 64)+"\n")
			behind := filepath.Join(example.Dir, "behind.yaml")
			clitest.WritePrivate(t, behind, text.String())
			err := within(t, serve.NewCommand(), io.Discard, "--check", "--config", behind)
			want := ""
			if voters == 1 && strings.Contains(recipe, "count: 2") {
				want = "2 approvals are needed, but only 1 of the users can give one"
			}
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("recipe %d, of %s, with %d voters: %v", i, user, voters, err)
			}
		}
	}
}
