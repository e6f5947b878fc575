package console

import (
	"encoding/csv"
	"io"
	"strings"

	"github.com/countersign-dev/countersign/internal/cli/terminal"
)

// Listing prints items one by one: as a table, or as lines of JSON.
type Listing[T any] struct {
	w     io.Writer
	table *table // nil for JSON
	cells func(T) []string
}

// NewListing starts a listing. cells returns the row of an item.
func NewListing[T any](w io.Writer, asTable bool, header []string, cells func(T) []string) *Listing[T] {
	l := &Listing[T]{w: w, cells: cells}
	if asTable {
		l.table = &table{columns: terminal.Columns(w)}
		l.row(header)
	}
	return l
}

// Print prints one item. The caller calls flush after the last one.
func (l *Listing[T]) Print(item T) error {
	if l.table == nil {
		return PrintJSON(l.w, item)
	}
	l.row(l.cells(item))
	return nil
}

func (l *Listing[T]) row(cells []string) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = oneLine(cell)
	}
	l.table.rows = append(l.table.rows, texts)
}

// Flush writes what was printed, in columns.
func (l *Listing[T]) Flush() error {
	if l.table == nil {
		return nil
	}
	_, err := io.WriteString(l.w, l.table.render())
	return err
}

// oneLine returns a text of a server or a transaction on one line, for a cell of a table.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, CleanText(text))
}

// CSV prints rows of comma-separated values (RFC 4180) that a spreadsheet opens as text.
type CSV struct{ w *csv.Writer }

// NewCSV starts a file with its header.
func NewCSV(w io.Writer, header []string) *CSV {
	c := &CSV{csv.NewWriter(w)}
	_ = c.Row(header) // buffered
	return c
}

// Row adds a row. A cell that a spreadsheet would take for a formula gets an apostrophe.
func (c *CSV) Row(cells []string) error {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = oneLine(cell)
		if texts[i] != "" && strings.ContainsRune("=+-@", rune(texts[i][0])) {
			texts[i] = "'" + texts[i]
		}
	}
	return c.w.Write(texts)
}

// Flush writes the rows.
func (c *CSV) Flush() error {
	c.w.Flush()
	return c.w.Error()
}
