package approvals_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/verify"
)

// riskRules ask for votes of risk and finance; RISK and FINANCE say whether the submitter's counts.
const riskRules = `schema: countersign.policy/2
rules:
  - {name: pays, allow: [transfer, fee], approvals: [GROUPS]}
`

// TestSubmissionAsVote checks that a submission is a vote only if its credential may vote and the
// group says that the submitter counts, and that the groups of a rule are filled by different
// people. What is signed verifies, and what is not does not, with the same groups.
func TestSubmissionAsVote(t *testing.T) {
	for name, test := range map[string]struct {
		groups   string
		mayVote  bool
		votes    []string // of ann (finance and risk), ben (finance)
		complete bool
	}{
		"by default":                       {"{count: 1, tag: risk}", true, nil, false},
		"counts":                           {"{count: 1, tag: risk, submitter: counts}", true, nil, true},
		"counts, may not vote":             {"{count: 1, tag: risk, submitter: counts}", false, nil, false},
		"counts, may not vote, one votes":  {"{count: 1, tag: risk, submitter: counts}", false, []string{"ann"}, true},
		"counts for one of two":            {"{count: 2, tag: risk, submitter: counts}", true, []string{"ann"}, true},
		"does not for one of two":          {"{count: 2, tag: risk, submitter: counts}", false, []string{"ann"}, false},
		"one person for two groups":        {"{count: 1, tag: finance}, {count: 1, tag: risk}", true, []string{"ann"}, false},
		"two for two groups":               {"{count: 1, tag: finance}, {count: 1, tag: risk}", true, []string{"ann", "ben"}, true},
		"the submitter and one":            {"{count: 1, tag: finance}, {count: 1, tag: risk, submitter: counts}", true, []string{"ann"}, true},
		"the submitter, may not, and one":  {"{count: 1, tag: finance}, {count: 1, tag: risk, submitter: counts}", false, []string{"ann"}, false},
		"the submitter, may not, and two":  {"{count: 1, tag: finance}, {count: 1, tag: risk, submitter: counts}", false, []string{"ben", "ann"}, true},
		"explicitly not":                   {"{count: 1, tag: risk, not: submitter}", true, nil, false},
		"everybody, the submitter as well": {"{count: 1, submitter: counts}", true, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := policy.Parse("policy.yaml", []byte(strings.ReplaceAll(riskRules, "GROUPS", test.groups)), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...)})
			testenv.Must(t, err)
			b := ballot.New(t, withSharedMemory, func(c *countersign.Config) { c.Policy = file })
			submitter := ballot.Voter("user-1", "risk", b.APIKey)
			submitter.APIKeys[0].Activities = []activity.Type{activity.TypeSignTransaction}
			if test.mayVote {
				submitter.APIKeys[0].Activities = append(submitter.APIKeys[0].Activities, ballot.VoteTypes...)
			}
			ann := ballot.Voter("ann", "finance", b.Ann)
			ann.Tags = append(ann.Tags, "risk")
			users := []access.UserConfig{submitter, ann, ballot.Voter("ben", "finance", b.Ben)}
			b.SetUsers(users...)
			record, err := b.Submit(t, enginetest.Request{})
			for _, voter := range test.votes {
				b.Is(record, activity.StatusConsensusNeeded)
				record = b.Approve(map[string]*enginetest.APIKey{"ann": b.Ann, "ben": b.Ben}[voter], record)
			}
			if err != nil || (record.Status == activity.StatusCompleted) != test.complete {
				t.Fatalf("%v, %v", record, err)
			}
			if record.Status != activity.StatusCompleted {
				return
			}
			organization := access.OrganizationConfig{ID: enginetest.Organization, Name: "Example", Users: users}
			members, err := organization.Members()
			testenv.Must(t, err)
			found, err := b.Config.Store.Get(t.Context(), enginetest.Organization, record.ID)
			testenv.Must(t, err)
			stored, err := activity.DecodeRecord(found.Data)
			testenv.Must(t, err)
			if _, err := verify.Votes(stored, members); err != nil {
				t.Errorf("what was signed does not verify: %v", err)
			}
			stored.Decision.Required = []access.Group{{Rule: "more", Count: len(test.votes) + 1}}
			if _, err := verify.Votes(stored, members); (err == nil) != test.mayVote {
				t.Errorf("with the submission for a vote: %v", err)
			}
		})
	}
}
