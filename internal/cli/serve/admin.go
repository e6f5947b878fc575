package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/events"
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
	switch {
	case err != nil || response.StatusCode == http.StatusOK:
		return err
	case response.StatusCode != http.StatusServiceUnavailable:
		return fmt.Errorf("not ready: %s: %s is no server's admin address: pass it with --url", response.Status, base)
	}
	return fmt.Errorf("not ready: %s: %s", response.Status, answer)
}

// NewEventsCommand returns the command events.
func NewEventsCommand() *cobra.Command {
	return console.Group("events", "Show what happened on a server",
		"Show what happened on a server: activities that wait, were carried out, rejected or failed.",
		newEventsTailCommand())
}

// eventsInterval is the pause between two questions for events.
const eventsInterval = time.Second

func newEventsTailCommand() *cobra.Command {
	var base string
	var once bool
	command := &cobra.Command{
		Use:   "tail",
		Short: "Print the latest events of a server, and those that follow",
		Long: console.Paragraphs(`
Print the events of a server, one JSON object per line: its last 1,000 since it started, and
then each as it happens. The configuration needs the member events; "events: {}" is enough.
With several nodes, each has its own events.`),
		Example: "  countersign events tail --url http://127.0.0.1:8081",
		RunE:    func(cmd *cobra.Command, _ []string) error { return tailEvents(cmd, base, once) },
	}
	command.Flags().StringVar(&base, "url", "http://127.0.0.1:8081", "admin `URL` of the server")
	command.Flags().BoolVar(&once, "once", false, "print those of before, and exit")
	return command
}

func tailEvents(cmd *cobra.Command, base string, once bool) error {
	for after := uint64(0); cmd.Context().Err() == nil; {
		seen, err := eventsAfter(cmd, base, after)
		if err != nil {
			return err
		}
		for _, event := range seen {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", event.Event); err != nil {
				return err
			}
			after = event.Place
		}
		if len(seen) > 0 {
			continue
		}
		if once {
			return nil
		}
		sleep(cmd.Context(), eventsInterval)
	}
	return nil // interrupted
}

func eventsAfter(cmd *cobra.Command, base string, after uint64) (seen []events.Seen, err error) {
	response, answer, err := deployment.GetAdmin(cmd.Context(), base, fmt.Sprintf("%s?after=%d", events.Path, after), healthTimeout)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("the server tells no events: add 'events: {}' to its configuration")
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s", response.Status, answer)
	}
	if err := json.Unmarshal(answer, &seen); err != nil {
		return nil, fmt.Errorf("the answer is no list of events: %w", err)
	}
	return seen, nil
}
