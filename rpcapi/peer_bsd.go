//go:build darwin || freebsd

package rpcapi

import "golang.org/x/sys/unix"

// uidAt returns the uid of the process at the other end of a unix socket.
func uidAt(fd int) (uint32, error) {
	credentials, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return credentials.Uid, nil
}
