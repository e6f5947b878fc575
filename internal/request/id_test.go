package request_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/request"
)

// TestNewID: ids are UUIDs of version 7 that say when they were made, in the order in which
// each goroutine makes them, and none comes twice.
func TestNewID(t *testing.T) {
	const goroutines, each = 8, 5000
	before := time.Now().Truncate(time.Millisecond)
	var ids [goroutines][each]string
	var made sync.WaitGroup
	for g := range goroutines {
		made.Go(func() {
			for i := range each {
				ids[g][i] = request.NewID()
			}
		})
	}
	made.Wait()
	latest := time.Now().Add(time.Second) // 40,000 ids may be ahead of the clock by 10 ms
	seen := map[string]bool{}
	for g := range goroutines {
		for i, text := range ids[g] {
			id, err := uuid.Parse(text)
			seconds, nanoseconds := id.Time().UnixTime()
			at := time.Unix(seconds, nanoseconds)
			if err != nil || id.Version() != 7 || id.Variant() != uuid.RFC4122 || id.String() != text || at.Before(before) || at.After(latest) {
				t.Fatalf("%s: %v, version %d at %v", text, err, id.Version(), at)
			}
			if seen[text] || i > 0 && text <= ids[g][i-1] {
				t.Fatalf("%s comes twice or is not after %s", text, ids[g][max(i-1, 0)])
			}
			seen[text] = true
		}
	}
}
