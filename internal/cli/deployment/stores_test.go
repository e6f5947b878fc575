package deployment_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// TestAssignStores: a reload puts no organization into another store than the one that the
// configuration names, also if that store is new in it.
func TestAssignStores(t *testing.T) {
	several, err := store.NewSharded(t.Context(), map[string]store.Full{"": memory.New(0), "eu": memory.New(0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	configured := func(name string, stores ...string) *config.Config {
		c := &config.Config{Store: "postgres://db/a", Stores: map[string]string{}, Organizations: []access.OrganizationConfig{{ID: "acme", Store: name}}}
		for _, known := range stores {
			c.Stores[known] = "postgres://db/" + known
		}
		return c
	}
	for _, test := range []struct {
		opened store.Store
		config *config.Config
		want   string
	}{
		{memory.New(0), configured(""), ""},
		{memory.New(0), configured("eu", "eu"), "restart"},
		{memory.New(0), configured("eu"), `stores has no "eu"`},
		{several, configured("us", "eu", "us"), `the store "us": there is none of this name`},
		{several, configured("eu", "eu"), ""},
		{several, configured("", "eu"), `"acme" in the store "eu"`},
		{several, configured(""), `"acme" in the store "eu"`},
	} {
		err := deployment.AssignStores(t.Context(), test.opened, test.config)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.config.Organizations[0], err, test.want)
		}
	}
}
