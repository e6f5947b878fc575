package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// program is the test program of one package, with all switches.
type program struct {
	importPath string
	dir        string // where its tests run
	binary     string
	tests      []*test
	skipped    map[string]int // how often tests were skipped, by reason
}

// test is one function of a test program that go test runs.
type test struct {
	name  string
	took  time.Duration
	meets map[int]bool // ids of the refusals that it triggers
}

// memoryLimit bounds the data segment of a test program, since a disabled bound may be
// the one on memory. Mapped files, such as those of bolt, do not count.
const memoryLimit = 8 << 20 // KiB

// build builds the test program of a package, or returns nil if it has no tests.
func build(ctx context.Context, p listed, overlay, binary string) (*program, error) {
	compile := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, p.ImportPath)
	if out, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test -c %s: %w\n%s", p.ImportPath, err, out)
	}
	if _, err := os.Stat(binary); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	built := &program{importPath: p.ImportPath, dir: p.Dir, binary: binary, skipped: map[string]int{}}
	list := built.command(ctx, 0, "", "-test.list", ".")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("tests of %s: %w", p.ImportPath, err)
	}
	for name := range strings.Lines(string(out)) {
		if name = strings.TrimSpace(name); !strings.HasPrefix(name, "Benchmark") {
			built.tests = append(built.tests, &test{name: name})
		}
	}
	return built, nil
}

// command returns a run of the program with a refusal disabled, unless off is 0. Unless
// met is empty, triggered refusals are recorded in that file.
func (p *program) command(ctx context.Context, off int, met string, arguments ...string) *exec.Cmd {
	limited := fmt.Sprintf(`ulimit -d %d; exec "$@"`, memoryLimit)
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", limited, "sh", p.binary}, arguments...)...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), envOff+"="+strconv.Itoa(off), envMet+"="+met)
	c.WaitDelay = time.Second
	return c
}

// skipReason matches what package testenv prints when it skips a test.
var skipReason = regexp.MustCompile(`left out: (.+)`)

// observe runs each test alone, with nothing disabled, to record which refusals it
// triggers. A test that fails then is an error.
func (p *program) observe(ctx context.Context) error {
	met := p.binary + ".met"
	for _, t := range p.tests {
		_ = os.Remove(met)
		start := time.Now()
		out, err := p.command(ctx, 0, met, "-test.v", "-test.run", only(t)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s of %s fails with nothing disabled: %w\n%s", t.name, filepath.Base(p.importPath), err, tail(out))
		}
		t.took = time.Since(start)
		for _, why := range skipReason.FindAllStringSubmatch(string(out), -1) {
			p.skipped[why[1]]++
		}
		if t.meets, err = readMet(met); err != nil {
			return err
		}
	}
	return nil
}

func readMet(name string) (map[int]bool, error) {
	meets := map[int]bool{}
	content, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return meets, nil
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		id, err := strconv.Atoi(lines.Text())
		if err != nil {
			return nil, err
		}
		meets[id] = true
	}
	return meets, err
}

// catches reports whether one of the tests fails, or takes much longer than before, with
// a refusal disabled.
func (p *program) catches(ctx context.Context, off int, tests []*test) outcome {
	limit := 30 * time.Second
	for _, t := range tests {
		limit += 5 * t.took
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := p.command(ctx, off, "", "-test.failfast", "-test.run", only(tests...)).Run()
	switch {
	case err == nil:
		return survived
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return outOfTime
	}
	return caught
}

// only returns the pattern that selects the tests.
func only(tests ...*test) string {
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = regexp.QuoteMeta(t.name)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

func tail(out []byte) []byte { return out[max(0, len(out)-2000):] }
