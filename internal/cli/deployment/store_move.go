package deployment

import (
	"context"
	"maps"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
)

// MoveOrganization moves an organization from the store that the configuration names to the one of a
// name: see store.Move.
func MoveOrganization(ctx context.Context, configured *config.Config, organization, to string,
	told func(step string)) error {
	if err := checkStores(configured); err != nil {
		return err
	}
	of, err := configured.Organization(organization)
	if err != nil {
		return console.Usagef("%v", err)
	}
	uris := map[string]string{"": configured.Store}
	maps.Copy(uris, configured.Stores)
	if uris[to] == "" && to == "store" {
		to = ""
	}
	switch {
	case configured.Log.Off:
		return console.Usagef("log.off: without a log a server without stores goes on where %s was", organization)
	case len(uris) == 1 || uris[to] == "":
		return console.Usagef("--to: stores has no %q: name it there, and restart every server", to)
	case uris[of.Store] == uris[to]:
		return console.Usagef("--to: configure the store that %s leaves, or was to reach", organization)
	}
	var opened []*postgres.Store
	for _, name := range []string{of.Store, to} {
		one, err := openStore(ctx, "", uris[name])
		if err != nil {
			return err
		}
		defer func() { _ = one.Close() }()
		opened = append(opened, one.(*postgres.Store)) // since checkStores takes no others
	}
	return store.Move(ctx, organization, opened[0], opened[1], of.Store, to, told)
}
