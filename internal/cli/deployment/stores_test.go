package deployment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/translog"
)

// TestAssignStores: a reload puts no organization into another store than the one that the
// configuration names, also if that store is new in it.
func TestAssignStores(t *testing.T) {
	several, err := store.NewSharded(t.Context(), map[string]store.Full{"": memory.New(0), "eu": memory.New(0)}, nil)
	testenv.Must(t, err)
	configured := func(name string, stores ...string) *config.Config {
		c := &config.Config{Store: "postgres://db/a", Stores: map[string]string{}, Organizations: []access.OrganizationConfig{{ID: "acme", Store: name}}}
		for _, known := range stores {
			c.Stores[known] = "postgres://db/" + known
		}
		return c
	}
	elsewhere := configured("eu", "eu")
	elsewhere.Stores["eu"] = "postgres://other/eu"
	another := configured("eu", "eu")
	another.Store = "postgres://other/a"
	for _, test := range []struct {
		opened      store.Store
		first, next *config.Config
		want        string
	}{
		{memory.New(0), configured(""), configured(""), ""},
		{memory.New(0), configured(""), configured("eu", "eu"), "restart"},
		{several, configured("", "eu"), configured("us", "eu", "us"), "restart"},
		{several, configured("", "eu"), configured("us", "eu"), `stores has no "us"`},
		{several, configured("", "eu"), elsewhere, "restart"},
		{several, configured("", "eu"), another, "restart"},
		{several, configured("", "eu"), configured("eu", "eu"), ""},
		{several, configured("", "eu"), configured("", "eu"), `"acme" in the store "eu"`},
		{several, configured("", "eu"), configured(""), "restart"},
	} {
		err := deployment.AssignStores(t.Context(), test.opened, test.first, test.next)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.next, err, test.want)
		}
	}
}

// TestAssignHoldsBack: what was asked for counts in the store that an organization is in, also if the
// table has it only since this reload.
func TestAssignHoldsBack(t *testing.T) {
	eu, now := memory.New(0), time.Now()
	begun, err := eu.Begin(t.Context(), store.Claim{OrganizationID: "acme", LeaseTTL: time.Minute, Now: now, LiveUntil: now.Add(time.Hour)}, nil)
	testenv.Must(t, err)
	asked := func([]translog.Stop) ([]translog.Stop, error) {
		return []translog.Stop{{Subject: translog.PolicySubject(strings.Repeat("0", 64))}}, nil
	}
	testenv.Must(t, eu.Complete(t.Context(), *begun.Lease,
		store.Activity{ID: "1", Leaf: []byte("leaf"), KeepUntil: now.Add(time.Hour), Stops: asked}, nil))
	several, err := store.NewSharded(t.Context(), map[string]store.Full{"": memory.New(0), "eu": eu}, nil)
	testenv.Must(t, err)
	file, err := policy.Parse("policy.yaml", []byte("schema: countersign.policy/2\nrules:\n  - {name: no, deny: transfer}\n"), deployment.PolicyOptions(nil))
	testenv.Must(t, err)
	first := &config.Config{Store: "postgres://db/a", Stores: map[string]string{"eu": "postgres://db/eu"}}
	next := *first
	next.Organizations = []access.OrganizationConfig{{ID: "acme", Store: "eu", Policy: "policy.yaml"}}
	next.Organizations[0].Policies.Widening.Approvals = 2
	inForce := &deployment.LoadedPolicies{Organizations: policy.NewOrganizations(nil), Configured: first}
	err = inForce.Assign(t.Context(), several, first, &deployment.Loaded{Configured: first},
		&deployment.Loaded{Configured: &next, Policies: map[string]*policy.File{"acme": file}})
	if err == nil || !strings.Contains(err.Error(), "is held back") {
		t.Errorf("it is in force, or: %v", err)
	}
}

// TestMoveNeedsLog: the hold of an organization is in its log, which every server reads that keeps one.
func TestMoveNeedsLog(t *testing.T) {
	configured := &config.Config{Store: "postgres://db/a", Stores: map[string]string{"eu": "postgres://db/eu"}, Log: config.Log{Off: true},
		Organizations: []access.OrganizationConfig{{ID: "acme"}}}
	err := deployment.MoveOrganization(t.Context(), configured, "acme", "eu", func(string) { t.Error("it began") })
	if err == nil || !strings.Contains(err.Error(), "log.off") {
		t.Errorf("without a log: %v", err)
	}
}
