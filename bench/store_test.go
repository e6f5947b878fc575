package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// storeClients is the number of concurrent clients in the benchmarks of stores that wait
// for a disk.
const storeClients = 64

// recordSize is about that of a signed Ethereum transaction with its vote.
const recordSize = 2000

// storeBodies counts the bodies sent so far, so that no two are equal.
var storeBodies atomic.Uint64

func storeActivity(b *testing.B, s store.Store, i uint64, data []byte) {
	var body [8]byte
	binary.BigEndian.PutUint64(body[:], i)
	now := time.Now()
	claim := store.Claim{OrganizationID: "org", Fingerprint: sha256.Sum256(body[:]), At: now.UnixMilli(), LeaseTTL: time.Minute, Now: now, Size: recordSize}
	begun, err := s.Begin(b.Context(), claim, nil)
	if err != nil || begun.Lease == nil {
		b.Error(begun, err)
		return
	}
	activity := store.Activity{ID: fmt.Sprintf("%016d", i), SubmittedBy: "ci", Type: "SIGN", Status: "DONE", Data: data, KeepUntil: now.Add(time.Hour)}
	if err := s.Complete(b.Context(), *begun.Lease, activity, nil); err != nil {
		b.Error(err)
	}
}
