package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// healthTimeout bounds a probe.
const healthTimeout = 5 * time.Second

func newHealthCommand() *cobra.Command {
	var base string
	var wait time.Duration
	command := &cobra.Command{
		Use:   "health",
		Short: "Probe a server's readiness, for containers",
		Long: paragraphs(`
Ask the admin address of a server whether it could carry out a request. The exit
status is 0 if it could and 1 if not: while it starts, while its store or HSM is
away or its disk full, and while it drains before it stops. Standard error has the
cause.`),
		Example: paragraphs(`
  countersign health --url http://127.0.0.1:8081
  countersign health --wait 1m`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return healthWithin(cmd.Context(), base, wait) },
	}
	command.Flags().DurationVar(&wait, "wait", 0, "`TIME` to go on asking until the server is ready, as after its start")
	command.Flags().StringVar(&base, "url", "http://127.0.0.1:8081", "`URL` of the admin address")
	return command
}

// healthInterval is between two probes.
const healthInterval = 100 * time.Millisecond

// healthWithin probes until the server is ready or the time is over. It returns what the
// last probe said.
func healthWithin(ctx context.Context, base string, wait time.Duration) error {
	end := time.Now().Add(wait)
	for {
		err := health(ctx, base)
		if err == nil || errors.As(err, new(*usageError)) || !time.Now().Before(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(healthInterval):
		}
	}
}

func health(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/readyz", http.NoBody)
	if err != nil {
		return usagef("--url: %v", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	said, _ := io.ReadAll(io.LimitReader(response.Body, 4096)) // as much as came
	return fmt.Errorf("not ready: %s: %s", response.Status, cleanText(strings.TrimSpace(string(said))))
}
