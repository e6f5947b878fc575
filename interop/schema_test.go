package interop

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
)

// schemaCase is a file of the command, with its schema as published and as its reader says.
type schemaCase struct {
	published string
	schema    func() ([]byte, error)
	samples   []string
	takes     func(t *testing.T, text string) bool
}

func schemaCases(t *testing.T) map[string]schemaCase {
	policies := []string{}
	for _, text := range testenv.SamplePolicies(t) {
		policies = append(policies, text)
	}
	var configurations []string
	for _, page := range []string{"configuration.md", "rpc.md", "operations.md", "events.md"} {
		text := testenv.Read(t, filepath.Join(testenv.Root(), "docs", page))
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			configurations = append(configurations, block[1])
		}
	}
	folder := filepath.Join(testenv.Root(), "docs", "policies")
	return map[string]schemaCase{
		"policy": {"policy.schema.json", setup.Schemas["policy"], policies, func(_ *testing.T, text string) bool {
			options := deployment.PolicyOptions(nil)
			options.Folder = folder
			_, err := policy.Parse("policy.yaml", []byte(text), options)
			return err == nil
		}},
		"config": {"countersign.schema.json", setup.Schemas["config"], configurations, func(t *testing.T, text string) bool {
			path := filepath.Join(t.TempDir(), "countersign.yaml")
			testenv.Write(t, path, []byte(text))
			_, err := config.Read(path)
			return err == nil
		}},
	}
}

// TestSchemas holds the JSON Schemas of the files that people write against their readers, in the
// validator and the YAML parser that editors use: the published ones are those of this version, and
// no file that a reader takes is refused.
func TestSchemas(t *testing.T) {
	for name, c := range schemaCases(t) {
		t.Run(name, func(t *testing.T) {
			p := startPeer(t, "schema.mjs")
			schema, err := c.schema()
			testenv.Must(t, err)
			path := filepath.Join(testenv.Root(), "docs", c.published)
			if published, err := os.ReadFile(path); errors.Is(err, os.ErrNotExist) || string(published) != string(schema) {
				t.Errorf("%s: write 'countersign schema %s' to it", path, name)
			}
			texts := c.samples
			random := rand.New(rand.NewPCG(7, uint64(len(name))))
			for range testenv.Draws(t, 1000) {
				texts = append(texts, otherwise(random, c.samples[random.IntN(len(c.samples))]))
			}
			var problems []string
			p.ask(t, map[string]any{"schema": string(schema), "texts": texts}, &problems)
			taken, refused := 0, 0
			for i, text := range texts {
				takes := c.takes(t, text)
				if takes {
					taken++
				}
				if problems[i] != "" {
					refused++
				}
				if takes && problems[i] != "" {
					t.Fatalf("the reader takes what the schema refuses: %s\n%s", problems[i], text)
				}
			}
			if taken < len(texts)/50 || refused < len(texts)/10 {
				t.Errorf("of %d files the reader takes %d and the schema refuses %d: too few to say anything", len(texts), taken, refused)
			}
		})
	}
}

var (
	anyMember   = regexp.MustCompile(`(\w+): ([^,{}\[\]\n#|>]+)`)
	otherValues = []string{"true", "5", "-1", "1.5", "text", "'7'", "[]", "{}", "[a, 1]", "{a: b}", "null", "~", "0x10", "1e3", "2027-01-01T00:00:00Z", "10m"}
)

// otherwise returns a file with a member that has another name or value, or is gone.
func otherwise(random *rand.Rand, text string) string {
	found := anyMember.FindAllStringSubmatchIndex(text, -1)
	at := found[random.IntN(len(found))]
	name, value := text[at[2]:at[3]], text[at[4]:at[5]]
	switch random.IntN(4) {
	case 0:
		name += "s"
	case 1:
		other := found[random.IntN(len(found))]
		name = text[other[2]:other[3]]
	case 2:
		value = strings.TrimSpace(value) + otherValues[random.IntN(len(otherValues))]
	default:
		value = otherValues[random.IntN(len(otherValues))]
	}
	return text[:at[2]] + name + ": " + value + text[at[5]:]
}
