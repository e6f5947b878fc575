package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// outcome is the result of disabling a refusal.
type outcome int

const (
	unmet     outcome = iota // no test triggers it
	survived                 // tests trigger it, but none fails without it
	caught                   // a test failed
	outOfTime                // a test timed out
)

// campaign is one run of the command.
type campaign struct {
	refusals []*refusal
	programs []*program
	workers  int
}

// quick is the longest duration of tests that run before the others.
const quick = time.Second

// prepare builds the test programs of the packages matched by patterns and with, and
// records which refusals each test triggers.
func prepare(ctx context.Context, work string, patterns, with []string, workers int) (*campaign, error) {
	packages, err := load(ctx, patterns)
	if err != nil {
		return nil, err
	}
	c := &campaign{workers: workers}
	for _, l := range packages {
		c.refusals = append(c.refusals, find(l, len(c.refusals)+1)...)
	}
	if len(c.refusals) == 0 {
		return nil, fmt.Errorf("no refusals in %v", patterns)
	}
	replaced, err := overlay(work, packages, c.refusals)
	if err != nil {
		return nil, err
	}
	tested, err := goList(ctx, slices.Concat(patterns, with))
	if err != nil {
		return nil, err
	}
	c.programs = make([]*program, len(tested))
	err = c.each(len(tested), func(i int) (err error) {
		c.programs[i], err = build(ctx, tested[i], replaced, filepath.Join(work, fmt.Sprintf("%d.test", i)))
		if err != nil || c.programs[i] == nil {
			return err
		}
		return c.programs[i].observe(ctx)
	})
	c.programs = slices.DeleteFunc(c.programs, func(p *program) bool { return p == nil })
	return c, err
}

// try disables each refusal in turn. Its error is that of ctx.
func (c *campaign) try(ctx context.Context) error {
	return c.each(len(c.refusals), func(i int) error {
		r := c.refusals[i]
		r.outcome = c.outcome(ctx, r)
		return ctx.Err()
	})
}

// outcome disables a refusal and runs the tests that trigger it: those of its own
// package first, and in each package the quick ones first.
func (c *campaign) outcome(ctx context.Context, r *refusal) outcome {
	programs := slices.Clone(c.programs)
	slices.SortStableFunc(programs, func(a, b *program) int { return own(b, r) - own(a, r) })
	result := unmet
	for _, p := range programs {
		for _, tests := range p.batches(r.id) {
			if result = p.catches(ctx, r.id, tests); result != survived {
				return result
			}
		}
	}
	return result
}

func own(p *program, r *refusal) int {
	if p.importPath == r.place.ImportPath {
		return 1
	}
	return 0
}

// batches returns the tests that trigger a refusal: the quick ones together, then each
// of the others.
func (p *program) batches(id int) [][]*test {
	var first []*test
	var rest [][]*test
	for _, t := range p.tests {
		switch {
		case !t.meets[id]:
		case t.took <= quick:
			first = append(first, t)
		default:
			rest = append(rest, []*test{t})
		}
	}
	if len(first) > 0 {
		rest = append([][]*test{first}, rest...)
	}
	return rest
}

// each calls do for 0 to count-1, several concurrently, until one fails.
func (c *campaign) each(count int, do func(i int) error) error {
	var group sync.WaitGroup
	var failed sync.Once
	var first error
	stopped := make(chan struct{})
	next := make(chan int)
	for range max(1, c.workers) {
		group.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					failed.Do(func() { first = err; close(stopped) })
				}
			}
		})
	}
	for i := range count {
		select {
		case next <- i:
			continue
		case <-stopped:
		}
		break
	}
	close(next)
	group.Wait()
	return first
}
