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
	var credentials *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		credentials, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) //nolint:gosec // a file descriptor
	})
	if err != nil || failed != nil {
		return 0, errPeer
	}
	return credentials.Uid, nil
}
