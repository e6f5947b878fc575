package store_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// The same body is carried out once; when it is sent again, it is answered from
// the record.
func ExampleAcquire() {
	ctx, s := context.Background(), memory.New(0)
	body := []byte(`{"type":"…"}`)
	for range 2 {
		claim := store.Claim{OrganizationID: "org", Fingerprint: sha256.Sum256(body), LeaseTTL: time.Minute}
		begun, err := store.Acquire(ctx, s, claim, time.Now, nil)
		switch {
		case err != nil:
			fmt.Println(err)
		case begun.Recorded != nil:
			fmt.Printf("recorded: %s\n", begun.Recorded.Data)
		default:
			err := s.Complete(ctx, *begun.Lease, store.Activity{
				ID: "01999999-0000-7000-8000-000000000000", Data: []byte("the answer"), KeepUntil: time.Now().Add(time.Hour),
			}, nil)
			fmt.Println("completed:", err)
		}
	}
	// Output:
	// completed: <nil>
	// recorded: the answer
}
