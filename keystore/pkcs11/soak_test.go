//go:build cgo

package pkcs11_test

import (
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// soakTime returns how long TestSoak runs. COUNTERSIGN_SOAK=60s makes it longer.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("COUNTERSIGN_SOAK")
	if text == "" {
		return 3 * time.Second
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("COUNTERSIGN_SOAK: %v", err)
	}
	return duration
}

// TestSoak signs from eight goroutines with four sessions. For half of the time, sessions are
// killed, logins lost, and signatures fail. No session may be used by two goroutines, and each
// error must name its cause.
func TestSoak(t *testing.T) {
	r := newRig(t, 4)
	end := time.Now().Add(soakTime(t))
	var done sync.WaitGroup
	for worker := range 8 {
		done.Go(func() {
			for time.Now().Before(end) {
				if _, err := sign(t.Context(), r.keys[worker%2]); err != nil && !errors.Is(err, keystore.ErrUnavailable) {
					t.Errorf("worker %d: %v", worker, err)
				}
			}
		})
	}
	done.Go(func() {
		for round := 0; time.Now().Before(end); round++ {
			time.Sleep(10 * time.Millisecond)
			if round/50%2 == 1 {
				[]func(int){r.proxy.KillSessions, r.proxy.LogOut, r.proxy.Break}[round%3](1)
			}
		}
	})
	done.Wait()
	r.proxy.KillSessions(0)
	r.proxy.LogOut(0)
	r.proxy.Break(0)
	r.mustSign(t, "after all that")
	if shared := r.proxy.Shared(); shared != 0 {
		t.Errorf("sessions were used by two threads at once, %d times", shared)
	}
	if open := r.proxy.Open(); open > 5 {
		t.Errorf("%d sessions are open, want 5 at most", open)
	}
	t.Logf("%d signatures, %d logins", r.proxy.Signed(), r.proxy.Logins())
}
