package logs_test

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/logs"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// alteredStore is a store whose activities were changed outside their records.
type alteredStore struct {
	store.Full
	lost  bool // no activity is found by its fingerprint
	alter func(*store.Activity)
}

func (s *alteredStore) Get(ctx context.Context, organizationID, id string) (store.Activity, error) {
	found, err := s.Full.Get(ctx, organizationID, id)
	if s.alter != nil {
		s.alter(&found)
	}
	return found, err
}

func (s *alteredStore) Begin(ctx context.Context, claim store.Claim, change store.Change) (store.BeginResult, error) {
	if s.lost {
		return store.BeginResult{}, store.ErrStale
	}
	return s.Full.Begin(ctx, claim, change)
}

// TestLogVerifyColumns checks that log verify notices changes of what the store keeps next to
// a record: the fingerprint, without which a request is carried out again, and the columns
// that decide who may see it.
func TestLogVerifyColumns(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	n := s.Start(t)
	n.IssueCode(t, s)
	n.End(t, syscall.SIGTERM)
	opened, err := bolt.Open(filepath.Join(s.Dir, "state.db"))
	testenv.Must(t, err)
	defer opened.Close()
	const listed = "under another submitter, type or status"
	for name, test := range map[string]struct {
		store alteredStore
		want  string
	}{
		"unchanged":   {},
		"fingerprint": {alteredStore{lost: true}, "does not find it by its fingerprint"},
		"credential":  {alteredStore{alter: func(a *store.Activity) { a.SubmittedBy = "other" }}, listed},
		"user":        {alteredStore{alter: func(a *store.Activity) { a.User = "other" }}, listed},
		"type":        {alteredStore{alter: func(a *store.Activity) { a.Type = "other" }}, listed},
		"status":      {alteredStore{alter: func(a *store.Activity) { a.Status = "other" }}, listed},
		"waiting":     {alteredStore{alter: func(a *store.Activity) { a.Waiting = true }}, listed},
		"record":      {alteredStore{alter: func(a *store.Activity) { a.Data = append([]byte("x"), a.Data...) }}, "is not the one that was logged"},
	} {
		test.store.Full = opened
		verify := &logs.LogVerify{OpenedLog: &logs.OpenedLog{Full: &test.store, Organization: s.By.OrganizationID}}
		command := &cobra.Command{}
		command.SetContext(t.Context())
		command.SetOut(io.Discard)
		command.SetErr(io.Discard)
		err := verify.Run(command)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
