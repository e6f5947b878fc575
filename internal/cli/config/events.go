package config

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/otp/webhook"
)

// Events configures what is told about activities, and to whom. Without a webhook only
// 'countersign events tail' sees them, and nothing is written to the store.
type Events struct {
	Webhook *eventsWebhook       `yaml:"webhook"`
	Types   []activity.EventType `yaml:"types"` // default: those about activities
}

// eventsWebhook is an endpoint that takes events, signed as Standard Webhooks says.
type eventsWebhook struct {
	URL        string `yaml:"url"`
	SecretFile string `yaml:"secretFile" path:"file"` // whsec_…, on two lines while it is being replaced
}

func (e *Events) check() error {
	if e == nil {
		return nil
	}
	if e.Types != nil && len(e.Types) == 0 {
		return errors.New("events.types: the list is empty: name at least one, or leave it out for those about activities")
	}
	for _, kind := range e.Types {
		if !slices.Contains(activity.EventTypes(), kind) {
			return fmt.Errorf("events.types: unknown type %q: use %q", kind, activity.EventTypes())
		}
	}
	if e.Webhook == nil {
		return nil
	}
	if err := webhook.CheckURL(e.Webhook.URL); err != nil {
		return fmt.Errorf("events.%w", err)
	}
	if e.Webhook.SecretFile == "" {
		return errors.New("events.webhook.secretFile is missing: 'echo \"whsec_$(openssl rand -base64 32)\"' writes a secret")
	}
	return nil
}

// Wanted returns the types of events that are told: none without a configuration.
func (e *Events) Wanted() []activity.EventType {
	switch {
	case e == nil:
		return nil
	case len(e.Types) > 0:
		return e.Types
	}
	return []activity.EventType{activity.EventWaiting, activity.EventCompleted, activity.EventRejected, activity.EventFailed}
}

// Delivered reports whether events go to an endpoint.
func (e *Events) Delivered() bool { return e != nil && e.Webhook != nil }
