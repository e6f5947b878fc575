package postgres

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// statement is SQL with its arguments, and the function that reads its rows and closes them.
type statement struct {
	sql       string
	arguments []any
	read      func(pgx.Rows) error
}

// nothingRead reads the answer of a statement that returns no rows.
func nothingRead(rows pgx.Rows) error {
	rows.Close()
	return rows.Err()
}

// do executes the statement by itself.
func (st *statement) do(ctx context.Context, q querier) error {
	rows, _ := q.Query(ctx, st.sql, st.arguments...) // read has the error
	return st.read(rows)
}

// querier is a connection or a transaction.
type querier interface {
	Exec(ctx context.Context, statement string, arguments ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, statement string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, statement string, arguments ...any) pgx.Row
}

type work func(ctx context.Context, q querier) error

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
