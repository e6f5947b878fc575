package awskms_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/awskms"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// BenchmarkClients has 64 clients sign while the service takes its time for each signature, and
// reports the throughput relative to a bare loop: 64 goroutines that call the SDK, and take
// what it returns.
func BenchmarkClients(b *testing.B) {
	for _, latency := range []time.Duration{50 * time.Millisecond, 2 * time.Second} {
		b.Run(fmt.Sprint(latency), func(b *testing.B) { benchmarkClients(b, latency) })
	}
}

const clients = 64

func benchmarkClients(b *testing.B, latency time.Duration) {
	aws := loopback.NewAWS(b)
	loopback.Use(b, aws)
	aws.Keys.Generate("hot", remote.Secp256k1)
	pin := remote.Pin{URI: "awskms:hot" + inRegion, PublicKey: aws.Keys.Public("hot").Signing, OrganizationID: "org"}
	store, err := remote.Open(b.Context(), remote.Services{awskms.Scheme: awskms.New()}, []remote.Pin{pin}, remote.Options{})
	testenv.Must(b, err)
	defer store.Close()
	key, err := store.Find(b.Context(), "org", keystore.ByID(remote.IDOf(pin.PublicKey)))
	testenv.Must(b, err)
	sign := func(ctx context.Context) {
		if _, err := key.(keystore.ECDSASigner).SignECDSA(ctx, [32]byte{1}); err != nil {
			b.Error(err)
		}
	}
	bareKey, err := awskms.New().Open(b.Context(), pin.URI)
	testenv.Must(b, err)
	loop := func(ctx context.Context) {
		if _, err := bareKey.Sign(ctx, remote.Secp256k1, make([]byte, 32)); err != nil {
			b.Error(err)
		}
	}
	aws.Keys.SetDelay(latency)
	var ours, bare time.Duration
	for range b.N { // alternating, so that both have the same neighbors
		bare += together(b.Context(), 4*clients, loop)
		ours += together(b.Context(), 4*clients, sign)
	}
	b.ReportMetric(float64(4*clients*b.N)/ours.Seconds(), "signatures/s")
	b.ReportMetric(bare.Seconds()/ours.Seconds(), "of-a-bare-loop")
}

// together does something a number of times by 64 goroutines, and returns how long it took.
func together(ctx context.Context, times int, do func(context.Context)) time.Duration {
	var left atomic.Int64
	left.Store(int64(times))
	var done sync.WaitGroup
	start := time.Now()
	for range clients {
		done.Go(func() {
			for left.Add(-1) >= 0 {
				do(ctx)
			}
		})
	}
	done.Wait()
	return time.Since(start)
}
