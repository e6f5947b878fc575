package docs_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// runs is a go test command that selects tests by name: the folder that it changes to, the
// flag, and the pattern, quoted or not.
var runs = regexp.MustCompile(`(?m)^\s*(?:cd (\S+) && )?.*go test.* -(run|skip|bench) ('[^']*'|\S+).*$`)

// TestPatternsSelectTests checks that each name in the patterns of the Makefile and of its
// scripts still selects a test: after a rename, a pattern would silently run nothing.
func TestPatternsSelectTests(t *testing.T) {
	checked := 0
	for _, file := range []string{"Makefile", "internal/testenv/portable.sh"} {
		text := testenv.Read(t, filepath.Join("..", file))
		commands := strings.ReplaceAll(expanded(string(text)), "\\\n", " ")
		for _, command := range runs.FindAllStringSubmatch(commands, -1) {
			names := testsIn(t, filepath.Join("..", command[1]), command[0])
			for _, pattern := range alternatives(strings.Trim(command[3], "'")) {
				if pattern == "^$" {
					continue // selects nothing on purpose
				}
				checked++
				if !matchesAny(t, pattern, names) {
					t.Errorf("%s: %s selects no test in %s", file, pattern, strings.TrimSpace(command[0]))
				}
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d patterns were found", checked)
	}
}

// expanded replaces variables of the Makefile that hold patterns, and the doubled $.
func expanded(text string) string {
	for _, variable := range regexp.MustCompile(`(?m)^(\w+) = (.*)$`).FindAllStringSubmatch(text, -1) {
		text = strings.ReplaceAll(text, "$("+variable[1]+")", variable[2])
	}
	return strings.ReplaceAll(text, "$$", "$")
}

// alternatives splits a pattern at | outside parentheses, without the names of subtests.
func alternatives(pattern string) []string {
	depth := 0
	split := strings.FieldsFunc(pattern, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == '|' && depth == 0
	})
	for i := range split {
		split[i], _, _ = strings.Cut(split[i], "/")
	}
	return split
}

var testDeclaration = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w*)\(`)

// testsIn returns the names of the tests in the packages that a command names.
func testsIn(t *testing.T, folder, command string) (names []string) {
	t.Helper()
	for word := range strings.FieldsSeq(command) {
		if word != "." && !strings.HasPrefix(word, "./") {
			continue
		}
		files, err := testFiles(filepath.Join(folder, word))
		testenv.Must(t, err)
		for _, file := range files {
			text := testenv.Read(t, file)
			for _, declared := range testDeclaration.FindAllStringSubmatch(string(text), -1) {
				names = append(names, declared[1])
			}
		}
	}
	return names
}

// testFiles returns the files with tests of a package, or of all below a folder if the path
// ends in "...".
func testFiles(path string) (files []string, err error) {
	folder, deep := strings.CutSuffix(path, "...")
	if !deep {
		return filepath.Glob(filepath.Join(folder, "*_test.go"))
	}
	err = filepath.WalkDir(filepath.Clean(folder), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && isMade(entry.Name()) {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// isMade reports whether a folder of this name has no sources: what other tests do there at the same time
// is no error.
func isMade(folder string) bool {
	return slices.Contains([]string{".git", "dist", "node_modules"}, folder)
}

func matchesAny(t *testing.T, pattern string, names []string) bool {
	t.Helper()
	compiled, err := regexp.Compile(pattern)
	testenv.Must(t, err)
	return slices.ContainsFunc(names, compiled.MatchString)
}

// TestLimits: every command of the Makefile that runs tests has one of its two limits, in place of
// Go's ten minutes.
func TestLimits(t *testing.T) {
	text := testenv.Read(t, filepath.Join("..", "Makefile"))
	others := regexp.MustCompile(`-bench|-fuzz|-list|-coverprofile|-man |go test -c `)
	limited := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "\t") || !strings.Contains(line, "go test ") || others.MatchString(line) {
			continue
		}
		if limited++; !strings.Contains(line, "go test $(LIMIT) ") && !strings.Contains(line, "go test $(LONGER) ") {
			t.Errorf("without $(LIMIT): %s", strings.TrimSpace(line))
		}
	}
	if limited < 15 {
		t.Errorf("only %d commands were found", limited)
	}
}
