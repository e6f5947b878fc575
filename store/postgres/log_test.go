package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
	"github.com/countersign-dev/countersign/translog"
)

// TestTamperingIsNoticed has an administrator of the database change what is
// kept: the audit says what.
func TestTamperingIsNoticed(t *testing.T) {
	server := testenv.Postgres(t)
	for name, test := range map[string]struct {
		statement string
		is        error
		says      string
	}{
		"nothing":          {"SELECT 1", nil, ""},
		"one byte changed": {"UPDATE countersign_activities SET data = set_byte(data, 3, 0) WHERE id = 'three'", translog.ErrChanged, "the record of activity three is not the one that was logged"},
		"a record removed": {"DELETE FROM countersign_activities WHERE id = 'three'", translog.ErrMissing, "the record of activity three is gone"},
		"a leaf removed":   {"DELETE FROM countersign_log_leaves WHERE index = 2", translog.ErrMissing, "leaf 2"},
		"the newest cut":   {"DELETE FROM countersign_log_leaves WHERE index = 3", translog.ErrMissing, "leaf 3"},
		"leaves exchanged": {"UPDATE countersign_log_leaves SET index = CASE index WHEN 1 THEN -1 ELSE 1 END WHERE index IN (1, 2); UPDATE countersign_log_leaves SET index = 2 WHERE index = -1", translog.ErrChanged, "leaf 1"},
		"a hash changed":   {"UPDATE countersign_log_leaves SET hashes = set_byte(hashes, 0, 0) WHERE index = 2", translog.ErrChanged, "leaf 2"},
		"the head removed": {"DELETE FROM countersign_log_heads", translog.ErrShorter, "the newest were cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := schema(t, server)
			s := open(t, dsn)
			for _, body := range []string{"one", "two", "three", "four"} {
				completeLogged(t, s, body)
			}
			head, err := s.LogHead(t.Context(), "org")
			testenv.Must(t, err)
			execute(t, dsn, test.statement)
			err = audit(t, s, head.Tree())
			if !errors.Is(err, test.is) || test.is != nil && !strings.Contains(fmt.Sprint(err), test.says) {
				t.Errorf("%v, want %v: %s", err, test.is, test.says)
			}
		})
	}
}

// audit checks the log against a tree, and the records against the log.
func audit(t *testing.T, s *postgres.Store, tree tlog.Tree) error {
	t.Helper()
	_, err := translog.Audit(t.Context(), store.LogOf(s, "org"), &translog.Checkpoint{Tree: tree}, func(ctx context.Context, leaf translog.Leaf) ([]byte, error) {
		found, err := s.Get(ctx, leaf.Organization, leaf.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		return found.Data, err
	})
	return err
}

func completeLogged(t *testing.T, s store.Store, body string) {
	t.Helper()
	testenv.Must(t, s.Complete(t.Context(), take(t, s, body), loggedOf(t, body), nil))
}

// loggedOf is activityOf with its leaf.
func loggedOf(t *testing.T, body string) store.Activity {
	t.Helper()
	return loggedAs(t, body, activityOf(body).ID)
}

// loggedAs is loggedOf under another id.
func loggedAs(t *testing.T, body, id string) store.Activity {
	t.Helper()
	activity := activityOf(body)
	activity.ID = id
	leaf := translog.NewLeaf("org", activity.ID, claimOf(body).Fingerprint, activity.Data)
	var err error
	if activity.Leaf, err = leaf.Encode(); err != nil {
		t.Fatal(err)
	}
	return activity
}
