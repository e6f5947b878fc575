// Package libfuzzer stands in for package testing where targets are built for
// libFuzzer, which knows no *testing.F: the program that package harness writes
// imports it under the name testing. Of package testing it has what targets use.
//
// A target's function runs once, when the program starts, to make its seeds and
// what it needs; what it hands to F.Fuzz runs for every input. A failure is a
// panic, which libFuzzer reports as a crash.
package libfuzzer

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// TB is the interface of package testing itself, so that helpers outside of the
// targets take an F and a T.
type TB = testing.TB

// common is what F and T share. What it does not have, of the interface that it
// embeds, panics.
type common struct {
	testing.TB
	name     string
	cleanups []func()
}

func (c *common) Helper()                  {}
func (c *common) Name() string             { return c.name }
func (c *common) Context() context.Context { return context.Background() }
func (c *common) Cleanup(f func())         { c.cleanups = append(c.cleanups, f) }
func (c *common) Failed() bool             { return false } // who fails does not come back

func (c *common) Log(args ...any)                 { fmt.Fprintln(os.Stderr, args...) }
func (c *common) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (c *common) Error(args ...any)                 { panic(fmt.Sprint(args...)) }
func (c *common) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (c *common) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (c *common) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// TempDir makes a folder that is removed with the cleanups.
func (c *common) TempDir() string {
	dir, err := os.MkdirTemp("", "countersign-fuzz-")
	if err != nil {
		panic(err)
	}
	c.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// clean runs the cleanups, the last one first.
func (c *common) clean() {
	for len(c.cleanups) > 0 {
		last := c.cleanups[len(c.cleanups)-1]
		c.cleanups = c.cleanups[:len(c.cleanups)-1]
		last()
	}
}
