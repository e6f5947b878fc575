package deployment

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/countersign-dev/countersign/internal/cli/config"
)

// Addresses are where serve listens: those of its flags, otherwise those configured.
type Addresses struct {
	Listen, Admin string // of the flags; empty: the configured ones. Admin none: no such address
	Plaintext     bool   // beyond loopback, without TLS
	Serve         bool   // there must be one to listen on
}

// ErrNoListen is the error if there is no address to listen on.
var ErrNoListen = errors.New("listen is missing: set it in the configuration, or pass --listen")

// Check refuses addresses that cannot be bound, without binding them.
func (a Addresses) Check(configured *config.Config) error {
	listen := cmp.Or(a.Listen, configured.Listen)
	if listen == "" && a.Serve {
		return fmt.Errorf("%s: %w", configured.Path, ErrNoListen)
	}
	taken := map[string]string{}
	check := func(member, address, flag string, secured bool) error {
		if address == "" || address == "none" && member == "admin" {
			return nil
		}
		bound, err := a.Resolve(address, secured)
		if err == nil && bound.Port != 0 {
			if other, is := taken[bound.String()]; is {
				err = fmt.Errorf("%s is also the address of %s: choose another", address, other)
			}
			taken[bound.String()] = member
		}
		if err == nil || flag != "" { // a flag has no place in the file
			return BindError(member, err)
		}
		return configured.At(member, BindError(member, err))
	}
	err := check("listen", listen, a.Listen, configured.TLS != nil)
	if r := configured.RPC; r != nil && err == nil {
		err = check("rpc.listen", r.Listen, "", r.TLS != nil)
	}
	if err != nil {
		return err
	}
	return check("admin", cmp.Or(a.Admin, configured.Admin), a.Admin, false)
}

// Resolve returns the address to bind, unless it may not be bound: it must be loopback
// unless it is secured by TLS.
func (a Addresses) Resolve(address string, secured bool) (*net.TCPAddr, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("%q has no port: write HOST:PORT", address)
	}
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if secured || a.Plaintext || resolved.IP.IsLoopback() {
		return resolved, nil
	}
	return nil, fmt.Errorf("%s is not a loopback address, and there is no TLS: configure tls, or pass --plaintext-beyond-loopback", address)
}

// BindError names the member and the flag that set an address which cannot be bound. Both
// have the same name. Without an error there is none.
func BindError(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s: %w: another process listens there: stop it, or choose another address with %[1]s in the "+
		"configuration or --%[1]s", name, err)
}
