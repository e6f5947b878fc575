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

// How many calls share a statement, and how long the first waits for others that
// are under way.
const (
	maxBatch = 256
	gather   = time.Millisecond
)

// newNonce returns what tells a lease from one whose token came again.
func newNonce() uint64 {
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // never fails
	return binary.BigEndian.Uint64(nonce[:])
}

// put hands a call to a writer and returns its answer. The answer of a call whose
// context ends is left to abandoned, unless that is nil.
func put[T, A any](ctx context.Context, s *Store, w *batch.Writer[T], item T, answer <-chan A, abandoned func(A)) (answered A, err error) {
	s.underWay.Add(1)
	defer s.underWay.Add(-1)
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

// byRequest orders what is in a batch by the rows that it concerns: two nodes
// that wrote them in different orders could wait for each other.
func byRequest(organization, otherOrganization string, fingerprint, other *store.Fingerprint) int {
	if order := strings.Compare(organization, otherOrganization); order != 0 {
		return order
	}
	return slices.Compare(fingerprint[:], other[:])
}

// forms are two forms of a statement over rows from the program: the rows are arrays of
// which each has a column, or, of a single row, its values. The one is planned and
// executed in a fraction of the time, and alone is how most callers come.
type forms struct{ one, many string }

// over writes both forms of a statement that has a %s where it names the rows, whose
// columns have these names and types. One more column, n, numbers them from 1.
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

// of returns the form for rows, given as a slice for each column, and its arguments.
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

// ofOneRow reports whether the database refused a statement for what one of its
// rows holds: the classes "data exception" and "integrity constraint violation".
func ofOneRow(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(refused.Code, "22") || strings.HasPrefix(refused.Code, "23"))
}
