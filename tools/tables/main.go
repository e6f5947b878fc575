// Command tables writes the tables of docs/performance.md that are made of recorded figures,
// and the machine that they come from.
//
//	go run ./tables ../docs/performance.md ../bench/results/*.txt
//
// A table stands between <!-- figures NAME --> and <!-- end -->; what the page has there is
// replaced. Each figure is the median of its samples. A file of results can have several
// sections, each beginning with its date; a row comes from the last section of the last file that
// has it, and from those of the same commit on the same machine.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: tables PAGE RESULTS…")
	}
	if err := update(os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

// update rewrites a page from files of results.
func update(page string, results []string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	from, err := load(results)
	if err != nil {
		return err
	}
	written, err := rewrite(text, from)
	if err != nil || bytes.Equal(written, text) {
		return err
	}
	return os.WriteFile(page, written, 0o644)
}

// load reads files of results, the newest of which is last.
func load(paths []string) (*recording, error) {
	r := newRecording()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := r.read(string(text), filepath.Base(path)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// block is a part of a page that this program writes.
var block = regexp.MustCompile(`(?s)(<!-- figures (\w+) -->\n).*?(<!-- end -->)`)

// rewrite returns the page with the tables of a recording.
func rewrite(page []byte, from *recording) ([]byte, error) {
	var failed error
	found := map[string]bool{}
	written := block.ReplaceAllFunc(page, func(old []byte) []byte {
		parts := block.FindSubmatch(old)
		name := string(parts[2])
		found[name] = true
		content, err := from.content(name)
		if err != nil && failed == nil {
			failed = err
		}
		return fmt.Appendf(nil, "%s%s%s", parts[1], content, parts[3])
	})
	for _, name := range names() {
		if !found[name] && failed == nil {
			failed = fmt.Errorf("the page has no <!-- figures %s -->", name)
		}
	}
	return written, failed
}

// names returns what the page must have: the list at its beginning, where its picture comes from,
// and every table.
func names() []string {
	all := []string{"Short", "Picture"}
	for _, t := range tables {
		all = append(all, t.name)
	}
	return all
}
