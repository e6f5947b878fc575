package testenv

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddress returns a loopback address, host and port, that nothing listens on, for programs
// that need one. It is of this test until it ends: the port is none that the kernel gives to
// connections, and a UDP socket with the same number keeps other tests from it.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const first, last = 10_000, 32_767 // Linux gives ports from 32768 to connections, other systems higher ones
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(last-first+1))
		kept, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", address)
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = kept.Close() })
		if listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address); err == nil {
			Must(t, listener.Close())
			return address
		}
	}
	t.Fatal("100 ports are taken")
	return ""
}
