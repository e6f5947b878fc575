//go:build darwin || freebsd

package rpcapi

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf returns the uid of the process at the other end of a unix socket.
func peerOf(connection *net.UnixConn) (uid uint32, err error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return 0, err
	}
	var credentials *unix.Xucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		credentials, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED) //nolint:gosec // a file descriptor
	})
	if err != nil || failed != nil {
		return 0, errPeer
	}
	return credentials.Uid, nil
}
