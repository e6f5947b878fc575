package testenv

import (
	"testing"
	"time"
)

// Patience bounds every wait for another process, a device or a socket. It ends a
// test that hangs, and is long enough for a machine with many times more to do than
// it has processors.
const Patience = 5 * time.Minute

// Await waits until a condition holds that no event announces, because another
// process, a device or the kernel brings it about.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still waiting after %v: %s", Patience, what)
		}
	}
}
