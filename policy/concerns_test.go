package policy_test

import (
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
)

// TestPoliciesOfMember checks that a credential is listed the rules that may judge what it
// submits, and those whose approvals it may give, and no others.
func TestPoliciesOfMember(t *testing.T) {
	t.Parallel()
	file, err := policy.Parse("policy.yaml", []byte(`schema: countersign.policy/2
rules:
  - {name: everything, deny: request, when: "size(effects) > 20"}
  - {name: payouts, allow: transfer, who: {user: bot}, when: "effect.to == address('0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7')", approvals: [{count: 1, tag: finance}]}
  - {name: refunds, allow: transfer, who: {user: shop}, when: "effect.to == address('0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7')", approvals: [{count: 1, users: [ben]}]}
  - {name: not-bot, deny: mint, who: {not: {user: bot}}}
  - {name: codes, allow: otp}
`), options())
	testenv.Must(t, err)
	sign, vote := []activity.Type{activity.TypeSignTransaction}, []activity.Type{activity.TypeApproveActivity}
	codes := []activity.Type{activity.TypeInitOTPAuth, activity.TypeVerifyOTP}
	for name, test := range map[string]struct {
		user access.User
		may  []activity.Type
		want []string
	}{
		"a bot that signs":              {access.User{ID: "bot"}, sign, []string{"everything", "payouts"}},
		"a shop that signs":             {access.User{ID: "shop"}, sign, []string{"everything", "refunds", "not-bot"}},
		"a login server":                {access.User{ID: "login"}, codes, []string{"everything", "codes"}},
		"an approver":                   {access.User{ID: "ann", Tags: []string{"finance"}}, vote, []string{"payouts"}},
		"another approver":              {access.User{ID: "ben"}, vote, []string{"refunds"}},
		"an approver of nothing":        {access.User{ID: "cem"}, vote, nil},
		"an approver who may only sign": {access.User{ID: "ann", Tags: []string{"finance"}}, sign, []string{"everything", "not-bot"}},
		"a bot that signs and approves": {access.User{ID: "bot", Tags: []string{"finance"}}, slices.Concat(sign, vote), []string{"everything", "payouts"}},
		"all that need not be named":    {access.User{ID: "bot"}, nil, []string{"everything", "payouts", "codes"}},
	} {
		t.Run(name, func(t *testing.T) {
			key := enginetest.NewAPIKey(t).Config()
			key.Activities = test.may
			organization := access.OrganizationConfig{ID: "org", Users: []access.UserConfig{{ID: test.user.ID, Name: test.user.ID, Tags: test.user.Tags, APIKeys: []access.APIKeyConfig{key}}}}
			members, err := organization.Members()
			testenv.Must(t, err)
			var names []string
			for _, rule := range file.PoliciesOf(&access.Organization{ID: "org"}, &members[0]) {
				names = append(names, rule.Name)
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("listed %q, want %q", names, test.want)
			}
		})
	}
	if all := file.PoliciesOf(&access.Organization{ID: "org"}, nil); len(all) != 5 {
		t.Errorf("%d rules without a member", len(all))
	}
}
