package serve

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
)

type checked struct {
	Config        string   `json:"config"`
	Organizations int      `json:"organizations"`
	Warnings      int      `json:"warnings"`
	StoreCreated  bool     `json:"storeCreated,omitempty"`
	NotDone       []string `json:"notDone"`
	NotAsked      []string `json:"notAsked,omitempty"` // URIs of keys in key services
}

// report prints the result of --check for a configuration that serve would start with.
func (s *Server) report(cmd *cobra.Command) error {
	loaded, err := s.loader().Load(cmd)
	if err != nil {
		return err
	}
	loaded.Discard()
	for _, warning := range loaded.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", console.CleanText(warning))
	}
	if s.newStore {
		created, err := deployment.CreateStore(cmd.Context(), loaded.Configured)
		if err != nil {
			return err
		}
		if err := created.Close(); err != nil {
			return err
		}
	}
	if len(loaded.NotAsked) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(),
			"Not asked: the key services of %d keys. 'countersign keys check' has each key sign.\n", len(loaded.NotAsked))
	}
	notDone := append([]string{"open the store", "listen"}, loaded.NotDone...)
	if s.newStore {
		notDone = notDone[1:]
	}
	return console.PrintJSON(cmd.OutOrStdout(), checked{loaded.Configured.Path, len(loaded.Configured.Organizations),
		len(loaded.Warnings), s.newStore, notDone, loaded.NotAsked})
}
