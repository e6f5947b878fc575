package rpcapi

import "golang.org/x/sys/unix"

// uidAt returns the uid of the process at the other end of a unix socket.
func uidAt(fd int) (uint32, error) {
	credentials, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return credentials.Uid, nil
}
