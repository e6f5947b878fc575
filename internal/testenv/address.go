package testenv

import (
	"net"
	"testing"
)

// FreeAddress returns a loopback address, host and port, that nothing listens on, for
// programs that need one. Another process may take it first.
func FreeAddress(t testing.TB) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}
