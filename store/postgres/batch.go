package postgres

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/batch"
)

// How many calls share a statement, and how long the first waits for other calls in
// flight.
const (
	maxBatch = 256
	gather   = 2 * time.Millisecond
)

// newNonce returns a random number that distinguishes a lease from one with the same
// token, which a crash may issue twice.
func newNonce() uint64 {
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // never fails
	return binary.BigEndian.Uint64(nonce[:])
}

// put passes a call to a writer and returns its answer. If the context ends first, the
// answer goes to abandoned, unless that is nil.
func put[T, A any](ctx context.Context, s *Store, w *batch.Writer[T], item T, answer <-chan A, abandoned func(A)) (answered A, err error) {
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	if err := w.Put(ctx, item); err != nil {
		if errors.Is(err, batch.ErrStopped) {
			err = store.ErrClosed
		}
		return answered, err
	}
	select {
	case answered = <-answer:
		return answered, nil
	case <-ctx.Done():
		if abandoned != nil {
			go func() { abandoned(<-answer) }()
		}
		return answered, ctx.Err()
	}
}

// byRequest orders the calls of a batch by their rows: two nodes that write rows in
// different orders could deadlock.
func byRequest(organization, otherOrganization string, fingerprint, other *store.Fingerprint) int {
	if order := strings.Compare(organization, otherOrganization); order != 0 {
		return order
	}
	return slices.Compare(fingerprint[:], other[:])
}

// forms are the two forms of a statement over rows that are passed as arguments: many has
// an array for each column, one has the values of a single row. The latter is planned and
// executed in a fraction of the time, and most calls come alone.
type forms struct{ one, many string }

// over returns both forms of a statement that has a %s in place of the rows, whose columns
// have these names and types. A further column, n, numbers the rows from 1.
func over(statement, rows string, columns ...[2]string) forms {
	var names, values, arrays []string
	for i, column := range columns {
		names = append(names, column[0])
		values = append(values, fmt.Sprintf("$%d::%s", i+1, column[1]))
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, column[1]))
	}
	as := fmt.Sprintf("AS %s (%s, n)", rows, strings.Join(names, ", "))
	return forms{
		one:  fmt.Sprintf(statement, "(VALUES ("+strings.Join(values, ", ")+", 1)) "+as),
		many: fmt.Sprintf(statement, "unnest("+strings.Join(arrays, ", ")+") WITH ORDINALITY "+as),
	}
}

// of returns the form for a number of rows, and its arguments. Each column is a slice.
func (f forms) of(rows int, columns ...any) (sql string, arguments []any) {
	if rows > 1 {
		return f.many, columns
	}
	values := make([]any, len(columns))
	for i, column := range columns {
		values[i] = reflect.ValueOf(column).Index(0).Interface()
	}
	return f.one, values
}

// ofOneRow reports whether the database refused a statement because of the contents of a
// row: error classes "data exception" and "integrity constraint violation".
func ofOneRow(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(refused.Code, "22") || strings.HasPrefix(refused.Code, "23"))
}
