package docs_test

import (
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
)

// reload puts users and the rules of an organization in force.
func reload(current *access.Current, rules *policy.Organizations, organization access.OrganizationConfig, file *policy.File) error {
	directory, err := access.NewDirectory([]access.OrganizationConfig{organization})
	if err != nil {
		return err // the old ones stay
	}
	state := current.State() // with the descriptors and names that are in force
	state.Directory = directory
	current.Replace(state)
	rules.Replace(organization.ID, file)
	return nil
}

func TestReload(t *testing.T) {
	rulesOf := func(rule string) *policy.File {
		file, err := policy.Parse("rules", []byte("schema: countersign.policy/2\nrules:\n  - "+rule), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...)})
		testenv.Must(t, err)
		return file
	}
	rules := policy.NewOrganizations(map[string]*policy.File{enginetest.Organization: rulesOf("{name: none, deny: request}")})
	current := new(access.Current)
	f := enginetest.New(t, func(c *countersign.Config) {
		c.Directory, c.Descriptors, c.Names, c.Policy = current, current, current, rules
	})
	_, err := f.Submit(t, enginetest.Request{})
	enginetest.Refusal(t, err, activity.ReasonSignatureInvalid, "")
	ann := access.OrganizationConfig{ID: enginetest.Organization, Name: "Example", Users: []access.UserConfig{{Name: "ann", APIKeys: []access.APIKeyConfig{f.APIKey.Config()}}}}
	for _, rule := range []string{"{name: none, deny: request}", "{name: all, allow: request}"} {
		testenv.Must(t, reload(current, rules, ann, rulesOf(rule)))
		if _, err := f.Submit(t, enginetest.Request{}); (err == nil) != (rule == "{name: all, allow: request}") {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
