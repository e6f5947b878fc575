package testenv

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Patience bounds every wait for another process, a device or a socket. It only ends
// tests that hang: it is long enough for a heavily overloaded machine. COUNTERSIGN_SLOWER is
// how many times slower than usual the machine is, if make load has measured it.
var Patience = 5 * time.Minute * time.Duration(slower())

func slower() int {
	factor, err := strconv.Atoi(os.Getenv("COUNTERSIGN_SLOWER"))
	if err != nil || factor < 1 {
		return 1
	}
	return factor
}

// Await polls until a condition holds: one that another process, a device or the kernel
// brings about, and that no event announces.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still waiting after %v: %s", Patience, what)
		}
	}
}
