package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
)

// NewHealthCommand returns the command health.
func NewHealthCommand() *cobra.Command {
	var base string
	var wait time.Duration
	command := &cobra.Command{
		Use:   "health",
		Short: "Probe a server's readiness, for containers",
		Long: console.Paragraphs(`
Ask the admin address of a server whether it can carry out requests. The exit status is
0 if it can and 1 if not: while the server starts, while its store or HSM is unreachable
or its disk is full, and while it drains before it stops. Standard error has the cause.`),
		Example: console.Paragraphs(`
  countersign health --url http://127.0.0.1:8081
  countersign health --wait 1m`),
		RunE: func(cmd *cobra.Command, _ []string) error {
			end, ctx := time.Now().Add(wait), cmd.Context()
			for {
				err := Health(ctx, base)
				if err == nil || errors.As(err, new(*console.UsageError)) || !time.Now().Before(end) {
					return err
				}
				if sleep(ctx, healthInterval); ctx.Err() != nil {
					return ctx.Err()
				}
			}
		},
	}
	command.Flags().DurationVar(&wait, "wait", 0, "keep probing for up to this `TIME` until the server is ready")
	command.Flags().StringVar(&base, "url", "http://127.0.0.1:8081", "admin `URL` of the server")
	return command
}

// healthInterval is the pause between two probes.
const healthInterval = 100 * time.Millisecond

// healthTimeout bounds a probe.
const healthTimeout = 5 * time.Second

// Health asks a server whether it is ready.
func Health(ctx context.Context, base string) error {
	response, answer, err := deployment.GetAdmin(ctx, base, "/readyz", healthTimeout)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("not ready: %s: %s", response.Status, answer)
	}
	return err
}
