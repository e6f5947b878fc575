package deployment

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/events"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp/webhook"
	"github.com/countersign-dev/countersign/store"
)

// OpenEvents opens the sender of events, nil if the configuration has no endpoint for them.
func OpenEvents(ctx context.Context, configured *config.Events, outbox store.Outbox, logger *slog.Logger) (*events.Sender, error) {
	if !configured.Delivered() {
		return nil, nil
	}
	secrets, err := eventSecrets(ctx, configured)
	if err != nil {
		return nil, err
	}
	sender, err := events.New(events.Config{Outbox: outbox, URL: configured.Webhook.URL, Secrets: secrets, Logger: logger, Now: time.Now})
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return sender, nil
}

func eventSecrets(ctx context.Context, configured *config.Events) (webhook.Secrets, error) {
	secrets, err := readSecrets(ctx, configured.Webhook.SecretFile)
	if err != nil {
		return nil, fmt.Errorf("events: webhook: secretFile: %w", err)
	}
	return secrets, nil
}

// readSecrets reads a file of secrets that sign requests to an endpoint.
func readSecrets(ctx context.Context, path string) (webhook.Secrets, error) {
	content, err := console.ReadSecretFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(content)
	secrets, err := webhook.ParseSecrets(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return secrets, nil
}
