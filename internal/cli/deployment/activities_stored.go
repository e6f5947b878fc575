// Package deployment opens what a configuration names: keystore, store, policies, keys of
// logs and proofs, and the engine over them; and clients of a server.
package deployment

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/store"
)

// StoredActivities reads the activities of an organization from a store.
type StoredActivities struct {
	Store        store.Full
	Organization string
}

func (s *StoredActivities) ListActivities(ctx context.Context, options api.ListOptions) ([]*api.Activity, error) {
	filter := store.Filter{Before: options.Before, After: options.After, Limit: options.Limit}
	for _, status := range options.Statuses {
		filter.Statuses = append(filter.Statuses, string(status))
	}
	listed, err := s.Store.List(ctx, s.Organization, filter)
	if err != nil {
		return nil, err
	}
	page := make([]*api.Activity, len(listed))
	for i := range listed {
		if page[i], err = activityOf(listed[i]); err != nil {
			return nil, err
		}
	}
	return page, nil
}

func (s *StoredActivities) GetActivity(ctx context.Context, id string) (*api.Activity, error) {
	recorded, err := s.Store.Get(ctx, s.Organization, id)
	return s.found(id, recorded, err)
}

// FindWaiting implements activitySource. It also finds activities that have waited.
func (s *StoredActivities) FindWaiting(ctx context.Context, fingerprint activity.Fingerprint) (*api.Activity, error) {
	recorded, err := s.Store.Find(ctx, s.Organization, fingerprint)
	return s.found(fingerprint.String(), recorded, err)
}

func (s *StoredActivities) found(which string, recorded store.Activity, err error) (*api.Activity, error) {
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("organization %s has no activity %s", s.Organization, which)
	}
	if err != nil {
		return nil, err
	}
	return activityOf(recorded)
}

// activityOf reads a record with nothing hidden, as the owner of the store may see it.
// Without the directory and the policy, missing votes are not known.
func activityOf(recorded store.Activity) (*api.Activity, error) {
	record, err := activity.DecodeRecord(recorded.Data)
	if err != nil {
		return nil, fmt.Errorf("activity %s: %w", recorded.ID, err)
	}
	if reading := record.Reading; reading != nil && record.Status.Waits() {
		summary, shown := reading.SummaryDigest(), reading.Digest()
		record.Viewer.Review = &activity.Review{
			Shown: hex.EncodeToString(shown[:]), SummaryDigest: hex.EncodeToString(summary[:]),
			Summary: reading.Summary, Effects: reading.Effects, Hazards: reading.Hazards, Sentences: reading.Sentences,
			KeyIDs: reading.KeyIDs, Readings: reading.Readings,
			PolicyDigest: record.Decision.PolicyDigest, Rules: record.Decision.Rules, Reason: record.Decision.Reason,
			ExpiresAt: record.CreatedAt.Add(countersign.DefaultMaxWaiting), // serve has no other
		}
	}
	return api.ParseActivity(record.AppendAnswer(nil))
}
