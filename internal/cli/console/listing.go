package console

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode/utf8"

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

// The gap between two columns, and the indentation of the lines on which a row of a narrow
// window goes on.
const (
	tableGap    = 2
	tableIndent = 4
)

// leastLast is how wide the last column must be to be wrapped beside the others, and not below
// them: an address is not cut.
const leastLast = 44

// table is rows in columns. In a window that is too narrow the columns go on below, at the
// same places in each row, and the text of the last is wrapped: nothing is cut off.
type table struct {
	rows    [][]string
	columns int // of the window; 0 for no bound
}

func (t *table) render() string {
	widths := make([]int, len(t.rows[0])) // of the columns
	for _, row := range t.rows {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	var out strings.Builder
	for _, row := range t.rows {
		t.renderRow(&out, row, widths)
	}
	return out.String()
}

func (t *table) renderRow(out *strings.Builder, row []string, widths []int) {
	line, at := "", 0 // at is where the next column begins
	end := func() {
		out.WriteString(strings.TrimRight(line, " ") + "\n")
		line, at = strings.Repeat(" ", tableIndent), tableIndent
	}
	last := len(widths) - 1
	for i, width := range widths[:last] {
		if t.columns > 0 && i > 0 && at+width > t.columns {
			end()
		}
		line += row[i] + strings.Repeat(" ", width+tableGap-utf8.RuneCountInString(row[i]))
		at += width + tableGap
	}
	if t.columns > 0 && last > 0 && at > tableIndent && at+widths[last] > t.columns && at+leastLast > t.columns {
		end()
	}
	column := at
	for i, text := range t.wrapped(row[last], column) {
		if i > 0 {
			end()
			line = strings.Repeat(" ", column)
		}
		line += text
	}
	end()
}

// wrapped returns a text in pieces that fit between a column and the end of the window.
func (t *table) wrapped(text string, at int) (pieces []string) {
	room := max(t.columns-at, leastLast)
	if t.columns == 0 || utf8.RuneCountInString(text) <= room {
		return []string{text}
	}
	row := ""
	for _, word := range strings.Fields(text) {
		if row != "" && utf8.RuneCountInString(row)+1+utf8.RuneCountInString(word) > room {
			pieces = append(pieces, row)
			row = ""
		}
		row = strings.TrimPrefix(row+" "+word, " ")
	}
	return append(pieces, row)
}
