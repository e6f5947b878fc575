package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// logEntry is a leaf to append.
type logEntry struct {
	organization, id string
	leaf             []byte          // nil: nothing is appended
	of               *store.Activity // nil: of none
}

type logs struct {
	*database
	marks marks
}

// appendLeaves adds leaves to the logs of their organizations. It locks the logs until the
// transaction ends, so that nodes take turns. Its error is that of store.Admit if a log
// may not be extended.
func (l *logs) appendLeaves(ctx context.Context, q querier, entries []*logEntry) error {
	if len(entries) == 0 {
		return nil
	}
	heads := logHeads{}
	if err := heads.locked(entries).do(ctx, q); err != nil {
		return err
	}
	l.marks.learn(heads)
	if err := heads.admit(entries); err != nil {
		return err
	}
	return heads.extended(entries).do(ctx, q)
}

// admit returns the error of store.Admit if a log may not be extended by an entry, and makes
// the changes of stops.
func (heads logHeads) admit(entries []*logEntry) error {
	for _, entry := range entries {
		of := cmp.Or(entry.of, &store.Activity{})
		err := store.Admit(heads[entry.organization], of.Sent, of.Of)
		if err == nil {
			err = of.Restop(heads[entry.organization])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// locked returns the statement that locks the logs of entries, in the order of their
// organizations, creates missing ones, and fills in the heads.
func (heads logHeads) locked(entries []*logEntry) *statement {
	var organizations []string
	for _, entry := range entries {
		organizations = append(organizations, entry.organization)
	}
	slices.Sort(organizations)
	return &statement{`
		INSERT INTO countersign_log_heads AS held (organization_id, head)
		SELECT organization_id, '' FROM unnest($1::text[]) AS organization_id ORDER BY organization_id
		ON CONFLICT (organization_id) DO UPDATE SET head = held.head
		RETURNING organization_id, head`, []any{slices.Compact(organizations)},
		func(rows pgx.Rows) error {
			var organization string
			var encoded []byte
			_, err := pgx.ForEachRow(rows, []any{&organization, &encoded}, func() error {
				head, err := translog.ParseHead(encoded)
				heads[organization] = &head
				return err
			})
			return err
		}}
}

// extended returns the statement that writes entries together with the heads, which must be locked.
func (heads logHeads) extended(entries []*logEntry) *statement {
	entries = slices.DeleteFunc(slices.Clone(entries), func(entry *logEntry) bool { return entry.leaf == nil })
	var (
		organizations, ids = make([]string, len(entries)), make([]string, len(entries))
		indexes            = make([]int64, len(entries))
		leaves, hashes     = make([][]byte, len(entries)), make([][]byte, len(entries))
	)
	for i, entry := range entries {
		head := heads[entry.organization]
		organizations[i], ids[i], indexes[i] = entry.organization, entry.id, head.Size
		row := head.Append(entry.leaf)
		leaves[i], hashes[i] = row.Leaf, row.Hashes
	}
	moved, edges := make([]string, 0, len(heads)), make([][]byte, 0, len(heads))
	for organization, head := range heads {
		moved, edges = append(moved, organization), append(edges, head.Encode())
	}
	return &statement{`
		WITH moved AS (
			UPDATE countersign_log_heads AS held SET head = log.head
			FROM unnest($6::text[], $7::bytea[]) AS log (organization_id, head)
			WHERE held.organization_id = log.organization_id)
		INSERT INTO countersign_log_leaves (organization_id, index, id, leaf, hashes)
		SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bytea[], $5::bytea[])`,
		[]any{organizations, indexes, ids, leaves, hashes, moved, edges}, nothingRead}
}

const (
	appendStep      = 10_000    // leaves that one statement inserts
	adoptionTimeout = time.Hour // of an operation with more
)

func (l *logs) AppendLeaves(ctx context.Context, organizationID string, size int64,
	leaves []store.LogEntry) (index int64, err error) {
	if !isText(organizationID) {
		return 0, fmt.Errorf("store: organization %q cannot be stored as text", organizationID)
	}
	entries := make([]*logEntry, len(leaves))
	for i, entry := range leaves {
		entries[i] = &logEntry{organization: organizationID, id: entry.ID, leaf: entry.Leaf}
	}
	write := func(ctx context.Context, q querier) error {
		heads := logHeads{}
		if err := heads.locked([]*logEntry{{organization: organizationID}}).do(ctx, q); err != nil {
			return err
		}
		l.marks.learn(heads)
		if err := store.Admit(heads[organizationID], time.Time{}, nil); err != nil {
			return err
		}
		if index = heads[organizationID].Size; size >= 0 && index != size {
			return store.ErrChanged
		}
		for step := range slices.Chunk(entries, appendStep) {
			if err := l.appendLeaves(ctx, q, step); err != nil {
				return err
			}
		}
		return nil
	}
	limit := OperationTimeout
	if len(entries) > appendStep {
		limit = adoptionTimeout
	}
	err = l.transactIn(ctx, limit, write)
	return index, err
}

func (l *logs) LogHead(ctx context.Context, organizationID string) (head translog.Head, err error) {
	var encoded []byte
	err = l.scan(ctx, &encoded, `SELECT head FROM countersign_log_heads WHERE organization_id = $1`, organizationID)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return head, err
	}
	return translog.ParseHead(encoded)
}

func (l *logs) LogHeads(ctx context.Context, organizationIDs ...string) (map[string]translog.Head, error) {
	statement, arguments := `SELECT organization_id, head FROM countersign_log_heads`, []any(nil)
	if len(organizationIDs) > 0 {
		statement, arguments = statement+` WHERE organization_id = ANY ($1)`, []any{organizationIDs}
	}
	var heads map[string]translog.Head
	err := l.run(ctx, func(ctx context.Context, q querier) error {
		heads = map[string]translog.Head{}
		rows, _ := q.Query(ctx, statement, arguments...) // ForEachRow has the error
		var organization string
		var encoded []byte
		_, err := pgx.ForEachRow(rows, []any{&organization, &encoded}, func() (err error) {
			heads[organization], err = translog.ParseHead(encoded)
			return err
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	for organization, head := range heads {
		l.marks.set(organization, &head)
	}
	return heads, nil
}

func (l *logs) MarkConflict(ctx context.Context, organizationID string,
	conflict translog.Conflict) (translog.Head, error) {
	mark := func(_ context.Context, _ querier, head *translog.Head) ([]*logEntry, error) {
		store.Mark(head, conflict)
		return nil, nil
	}
	return l.changeHead(ctx, organizationID, mark)
}

// AcceptConflict implements store.Log. It goes by the later of both clocks.
func (l *logs) AcceptConflict(ctx context.Context, organizationID string,
	accepted store.Acceptance) (translog.Head, error) {
	accept := func(ctx context.Context, q querier, head *translog.Head) ([]*logEntry, error) {
		var now time.Time
		if err := q.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
			return nil, err
		}
		after := *head
		if _, err := accepted.Apply(&after, now); err != nil { // extended appends the leaf
			return nil, err
		}
		head.Conflict, head.Accepted = nil, after.Accepted
		return []*logEntry{{organization: organizationID, id: accepted.Leaf.ID, leaf: accepted.Leaf.Leaf}}, nil
	}
	return l.changeHead(ctx, organizationID, accept)
}

// changeHead changes the head of a log under its lock, appends the leaves that change
// returns, and returns the head.
func (l *logs) changeHead(ctx context.Context, organizationID string,
	change func(context.Context, querier, *translog.Head) ([]*logEntry, error)) (head translog.Head, err error) {
	if !isText(organizationID) {
		return head, fmt.Errorf("store: organization %q cannot be stored as text", organizationID)
	}
	heads := logHeads{}
	err = l.transact(ctx, func(ctx context.Context, q querier) error {
		if err := heads.locked([]*logEntry{{organization: organizationID}}).do(ctx, q); err != nil {
			return err
		}
		leaves, err := change(ctx, q, heads[organizationID])
		if err != nil {
			return err
		}
		return heads.extended(leaves).do(ctx, q)
	})
	if err != nil {
		return head, err
	}
	l.marks.learn(heads)
	return *heads[organizationID], nil
}

func (l *logs) LogRows(ctx context.Context, organizationID string, indexes []int64) (read []translog.Row, err error) {
	missing := error(nil)
	err = l.run(ctx, func(ctx context.Context, q querier) error {
		read, missing = nil, nil
		// OFFSET 0 makes the planner find each leaf by its key instead of joining the log.
		rows, _ := q.Query(ctx, `
			SELECT asked.index, leaf, hashes FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (index, n),
				LATERAL (SELECT leaf, hashes FROM countersign_log_leaves WHERE organization_id = $1
					AND index = asked.index OFFSET 0) AS row
			ORDER BY n`, organizationID, indexes) // ForEachRow has the error
		var index int64
		var leaf, hashes []byte
		_, err := pgx.ForEachRow(rows, []any{&index, &leaf, &hashes}, func() error {
			if missing == nil && index != indexes[len(read)] {
				missing = fmt.Errorf("%w: leaf %d", translog.ErrMissing, indexes[len(read)])
			}
			if missing == nil {
				read = append(read, translog.Row{Leaf: slices.Clone(leaf), Hashes: slices.Clone(hashes)})
			}
			return nil
		})
		return err
	})
	if err == nil && missing == nil && len(read) < len(indexes) {
		missing = fmt.Errorf("%w: leaf %d", translog.ErrMissing, indexes[len(read)])
	}
	return read, errors.Join(err, missing)
}

func (l *logs) LogIndex(ctx context.Context, organizationID, id string) (index int64, err error) {
	if !isText(organizationID) || !isText(id) {
		return 0, store.ErrNotFound
	}
	// The expressions keep the planner from scanning the log in the order of its index.
	err = l.scan(ctx, &index, `
		SELECT index FROM countersign_log_leaves WHERE organization_id || '' = $1 AND id = $2
			ORDER BY index + 0 LIMIT 1`, organizationID, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, store.ErrNotFound
	}
	return index, err
}
