package interop

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// oneOfFinance is a policy that requires a vote of finance for every transfer.
const oneOfFinance = `schema: countersign.policy/2
rules:
  - name: payouts
    allow: transfer
    when: effect.amount <= ether('1')
    approvals: [{count: 1, tag: finance, not: submitter}]
  - {name: gas, allow: fee, when: "effect.amount <= ether('0.1')"}
`

// onSolana is a policy that requires a vote for every payment on Solana.
const onSolana = `schema: countersign.policy/2
rules:
  - name: payouts
    allow: [transfer, fee]
    on: solana
    when: effect.amount <= sol('1')
    approvals: [{count: 1, tag: finance, not: submitter}]
`

// newVoters returns an engine with a policy, and the key of ann, who may vote.
func newVoters(t *testing.T, rules string) (*enginetest.Fixture, *enginetest.APIKey) {
	t.Helper()
	ann := enginetest.NewAPIKey(t)
	file := engines.Policy(t, rules, nil)
	fixture := enginetest.New(t, func(config *countersign.Config) { config.Policy, config.Now = file, time.Now })
	submitter, voter := fixture.APIKey.Config(), ann.Config()
	voter.Activities = []activity.Type{activity.TypeApproveActivity, activity.TypeRejectActivity}
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Name: "Example", Users: []access.UserConfig{
		{ID: "user-1", Name: "ci", APIKeys: []access.APIKeyConfig{submitter}},
		{ID: "ann", Name: "ann", Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{voter}},
	}}})
	testenv.Must(t, err)
	fixture.Config.Directory = directory
	fixture.Engine = fixture.Second(t)
	return fixture, ann
}

// newApprovers returns clients of such an engine, and the members of a request that make
// it ann's.
func newApprovers(t *testing.T, rules string) (*clients, map[string]any) {
	t.Helper()
	fixture, ann := newVoters(t, rules)
	return serveClients(t, fixture), map[string]any{"apiPublicKey": ann.PublicKey, "apiPrivateKey": ann.PrivateKey()}
}

// listed is an activity as clients return it.
type listed struct {
	ID, Fingerprint, Status string
	CanApprove, CanReject   bool
	Votes                   []struct{ Selection, UserID string }
	Result                  struct {
		SignTransactionResult *struct{ SignedTransaction string }
	}
	SignedTransaction    string // sdk-server and core copy it from the result
	Activity             *listed
	OrganizationID, Type string
}

// only lists the waiting activities by a client, and requires that there is one.
func (c *clients) only(t *testing.T, client string, as map[string]any) listed {
	t.Helper()
	var waiting []listed
	c.value(t, "activities", client, with(as, "statuses", []string{"ACTIVITY_STATUS_CONSENSUS_NEEDED"}), &waiting)
	if len(waiting) != 1 {
		t.Fatalf("%s lists %d waiting activities, want 1: %+v", client, len(waiting), waiting)
	}
	return waiting[0]
}

func with(line map[string]any, member string, value any) map[string]any {
	line = maps.Clone(line)
	if line == nil {
		line = map[string]any{}
	}
	line[member] = value
	return line
}

// TestClientsConsensusNeeded checks that the adapters for libraries throw an error with
// the activity's id, and the other clients return the waiting activity.
func TestClientsConsensusNeeded(t *testing.T) {
	c, ann := newApprovers(t, oneOfFinance)
	for client, name := range map[string]string{
		"poller": "TurnkeyActivityError", "viem": "TurnkeyConsensusNeededError",
		"viem over sdk-server": "TurnkeyConsensusNeededError", "ethers": "TurnkeyActivityConsensusNeededError",
	} {
		got := c.call(t, "sign", client, nil)
		waiting := c.only(t, "http", ann)
		if got.Name != name || got.ActivityID != waiting.ID {
			t.Errorf("%s: %+v, want %s of %s", client, got, name, waiting.ID)
		}
		c.value(t, "reject", "http", with(ann, "fingerprint", waiting.Fingerprint), new(listed))
	}
	for _, client := range []string{"http", "sdk-server", "core"} {
		var got listed
		c.value(t, "submitted", client, nil, &got)
		waiting := c.only(t, client, ann)
		if got.Activity == nil || got.Activity.ID != waiting.ID || got.Activity.Status != "ACTIVITY_STATUS_CONSENSUS_NEEDED" || got.SignedTransaction != "" {
			t.Errorf("%s: %+v", client, got)
		}
		c.value(t, "reject", client, with(ann, "fingerprint", waiting.Fingerprint), new(listed))
	}
	if made := c.fixture.Signing.Signatures.Load(); made != 0 {
		t.Errorf("%d signatures without a vote", made)
	}
}

// TestClientsVote has each client approve and reject what another user has submitted, and
// read the outcome.
func TestClientsVote(t *testing.T) {
	c, ann := newApprovers(t, oneOfFinance)
	for i, client := range []string{"http", "sdk-server", "core"} {
		for op, status := range map[string]string{"approve": "ACTIVITY_STATUS_COMPLETED", "reject": "ACTIVITY_STATUS_REJECTED"} {
			c.value(t, "submitted", client, nil, new(listed))
			waiting := c.only(t, client, ann)
			if !waiting.CanApprove || !waiting.CanReject || len(waiting.Votes) != 1 {
				t.Errorf("%s shows %+v", client, waiting)
			}
			if refused := c.call(t, op, client, map[string]any{"fingerprint": waiting.Fingerprint}); refused.Error == "" {
				t.Errorf("%s: the submitter's key, which may not vote, may %s", client, op)
			}
			var voted listed
			c.value(t, op, client, with(ann, "fingerprint", waiting.Fingerprint), &voted)
			for _, got := range append([]listed{voted}, c.read(t, waiting.ID)...) {
				if got.ID != waiting.ID || got.Status != status || got.CanApprove || got.CanReject {
					t.Errorf("%s by %s: %+v", op, client, got)
				}
				if result := got.Result.SignTransactionResult; op == "approve" && (result == nil || result.SignedTransaction != enginetest.Signed) || op == "reject" && result != nil {
					t.Errorf("%s by %s: the result is %+v", op, client, result)
				}
			}
		}
		if made := c.fixture.Signing.Signatures.Load(); made != int64(i+1) {
			t.Errorf("%d signatures after %d approvals", made, i+1)
		}
	}
}

// TestSolanaSignerWaits checks that, over each client, the signer throws an error with the
// activity's id. After the approval, the library's helper returns the signed transaction,
// whose signature verifies; after a rejection it throws.
func TestSolanaSignerWaits(t *testing.T) {
	c, ann := newApprovers(t, onSolana)
	for _, over := range []string{"http", "sdk-server", "core"} {
		for op, want := range map[string]answered{"approve": {Value: []byte(`"verifies"`)}, "reject": {Name: "TurnkeyActivityError", Status: "ACTIVITY_STATUS_REJECTED"}} {
			line := messageLine(t)
			line["over"], line["version"] = over, "v0"
			got := c.call(t, "sign", "solana", line)
			if got.ActivityID == "" {
				t.Fatalf("over %s: %+v", over, got)
			}
			waiting := c.only(t, "http", ann)
			if got.Name != "TurnkeyActivityConsensusNeededError" || got.ActivityID != waiting.ID || got.Status != waiting.Status {
				t.Errorf("over %s: %+v, want an error about %+v", over, got, waiting)
			}
			c.value(t, op, over, with(ann, "fingerprint", waiting.Fingerprint), new(listed))
			line["activityId"] = waiting.ID
			got = c.call(t, "signedSolana", over, line)
			if want.Name != got.Name || want.Status != got.Status || string(want.Value) != string(got.Value) || want.Name != "" && got.ActivityID != waiting.ID {
				t.Errorf("over %s, after %s: %+v, want %+v", over, op, got, want)
			}
		}
	}
}

// read returns an activity as each client returns it.
func (c *clients) read(t *testing.T, id string) (activities []listed) {
	t.Helper()
	for _, client := range []string{"http", "sdk-server", "core"} {
		var got listed
		c.value(t, "getActivity", client, map[string]any{"activityId": id}, &got)
		activities = append(activities, *got.Activity)
	}
	return activities
}

// TestClientsPolicies checks that each client gets the rules that concern it, and their
// approvals: a voter the rule that it can give a vote for.
func TestClientsPolicies(t *testing.T) {
	c, ann := newApprovers(t, oneOfFinance)
	for _, client := range []string{"http", "sdk-server", "core"} {
		var rules []struct{ PolicyName, Effect, Condition, Consensus string }
		c.value(t, "policies", client, ann, &rules)
		if len(rules) != 1 || rules[0].PolicyName != "payouts" || rules[0].Effect != "EFFECT_ALLOW" || rules[0].Condition != "effect.amount <= ether('1')" ||
			!strings.HasPrefix(rules[0].Consensus, "1 of tag finance") {
			t.Errorf("%s: %+v", client, rules)
		}
	}
}
