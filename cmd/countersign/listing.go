package main

import (
	"io"
	"strings"
	"text/tabwriter"
)

// listing prints items one by one: as a table, or as lines of JSON.
type listing[T any] struct {
	w     io.Writer
	table *tabwriter.Writer // nil for JSON
	cells func(T) []string
}

// newListing starts a listing. cells returns the row of an item.
func newListing[T any](w io.Writer, asTable bool, header []string, cells func(T) []string) *listing[T] {
	l := &listing[T]{w: w, cells: cells}
	if asTable {
		l.table = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		_ = l.row(header) // written to memory
	}
	return l
}

// print prints one item. The caller calls flush after the last one.
func (l *listing[T]) print(item T) error {
	if l.table == nil {
		return printJSON(l.w, item)
	}
	return l.row(l.cells(item))
}

func (l *listing[T]) row(cells []string) error {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = oneLine(cell)
	}
	_, err := io.WriteString(l.table, strings.Join(texts, "\t")+"\n")
	return err
}

func (l *listing[T]) flush() error {
	if l.table == nil {
		return nil
	}
	return l.table.Flush()
}

// oneLine returns a text of a server or a transaction on one line, for a cell of a table.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, cleanText(text))
}
