package logs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// LogVerify holds the flags of one call of log verify, and the log.
type LogVerify struct {
	*OpenedLog
	checkpointFile string
	unlogged       int // records known to have no leaf
}

// Run verifies a log and prints what was verified.
func (c *LogVerify) Run(cmd *cobra.Command) error {
	against, err := c.keptCheckpoint()
	if err != nil {
		return err
	}
	logged := map[string]struct{}{}
	seen, err := translog.Audit(cmd.Context(), store.LogOf(c, c.Organization), against, func(ctx context.Context,
		leaf translog.Leaf) ([]byte, error) {
		logged[leaf.ID] = struct{}{}
		return c.record(ctx, leaf)
	})
	if err != nil {
		return err
	}
	if err := c.findUnlogged(cmd.Context(), logged); err != nil {
		return err
	}
	if against == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "no --checkpoint: leaves cut off from the end cannot be detected")
	}
	return console.PrintJSON(cmd.OutOrStdout(), struct {
		Organization string `json:"organizationId"`
		Leaves       int64  `json:"leaves"`
		Records      int64  `json:"records"`
		Unlogged     int    `json:"unlogged,omitempty"`
	}{c.Organization, seen.Leaves, seen.Records, c.unlogged})
}

// record returns the record of a leaf, or nil if it is gone. A record that is the one logged
// must also be found by its request, or the request would be carried out again, and have the
// columns that decide who may see it and in which lists it is.
func (c *LogVerify) record(ctx context.Context, leaf translog.Leaf) ([]byte, error) {
	recorded, err := c.Get(ctx, c.Organization, leaf.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil || sha256.Sum256(recorded.Data) != leaf.Record { // which Audit reports
		return recorded.Data, err
	}
	record, err := activity.DecodeRecord(recorded.Data)
	if err != nil {
		return nil, err
	}
	latest, err := store.Recorded(ctx, c, store.Claim{OrganizationID: c.Organization, Fingerprint: leaf.Fingerprint,
		At: record.Request.TimestampMs, Now: time.Now()})
	if err != nil {
		return nil, err
	}
	if latest == nil || latest.ID != leaf.ID {
		return nil,
			fmt.Errorf("%w: the store does not find it by its fingerprint %x: its request could be carried out again",
				translog.ErrChanged, leaf.Fingerprint)
	}
	by := record.Submitter()
	if recorded.SubmittedBy != by.Credential || recorded.User != by.UserID || recorded.Type != string(record.Request.Type) ||
		recorded.Status != string(record.Status) || recorded.Waiting {
		return nil, fmt.Errorf("%w: the store lists it under another submitter, type or status than its record has", translog.ErrChanged)
	}
	return recorded.Data, nil
}

// keptCheckpoint reads the checkpoint that the log must extend. It returns nil without
// --checkpoint.
func (c *LogVerify) keptCheckpoint() (*translog.Checkpoint, error) {
	if c.checkpointFile == "" {
		return nil, nil
	}
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	signed, err := console.ReadText(c.checkpointFile, deployment.MaxNote)
	if err != nil {
		return nil, err
	}
	against, err := translog.OpenCheckpoint(signed, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.checkpointFile, err)
	}
	return against, nil
}

// maxNamed bounds how many records without a leaf an error names.
const maxNamed = 10

// findUnlogged returns an error unless exactly c.unlogged records have no leaf.
func (c *LogVerify) findUnlogged(ctx context.Context, logged map[string]struct{}) error {
	var names []string
	count := 0
	for filter := (store.Filter{Limit: store.MaxList}); ; {
		page, err := c.List(ctx, c.Organization, filter)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			if _, ok := logged[page[i].ID]; ok || page[i].Waiting {
				continue
			}
			_, err := c.LogIndex(ctx, c.Organization, page[i].ID) // a server may have added it since logged was built
			if err == nil {
				continue
			}
			if !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if count++; count <= maxNamed {
				names = append(names, console.CleanText(page[i].ID))
			}
		}
		filter.Before = page[len(page)-1].ID // the newest come first
	}
	if count == c.unlogged {
		return nil
	}
	if count < c.unlogged {
		return fmt.Errorf("log: records without a leaf: %d, but --unlogged says %d: some were removed, or the "+
			"number is wrong", count, c.unlogged)
	}
	if len(logged) == 0 {
		return fmt.Errorf("log: the log is empty, but there are records: %d; the next start of serve adds them", count)
	}
	if count > maxNamed {
		names = append(names, "…")
	}
	return fmt.Errorf("log: records without a leaf: %d, but --unlogged says %d: some were added behind the "+
		"server's back, or recorded while the log was off: %s",
		count, c.unlogged, strings.Join(names, ", "))
}
