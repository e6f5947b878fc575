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
	var api *net.TCPAddr
	if listen != "" {
		var err error
		if api, err = a.Resolve(listen, configured.TLS != nil); err != nil {
			return at(configured, "listen", a.Listen, BindError("listen", err))
		}
	}
	if r := configured.RPC; r != nil && r.Listen != "" {
		if _, err := a.Resolve(r.Listen, r.TLS != nil); err != nil {
			return configured.At("rpc.listen", BindError("rpc.listen", err))
		}
	}
	address := cmp.Or(a.Admin, configured.Admin)
	if address == "" || address == "none" {
		return nil
	}
	admin, err := a.Resolve(address, false)
	if err != nil {
		return at(configured, "admin", a.Admin, BindError("admin", err))
	}
	if api != nil && api.Port != 0 && api.String() == admin.String() {
		return at(configured, "admin", a.Admin, fmt.Errorf("admin: %s is also the address of the API: choose another", address))
	}
	return nil
}

// at names the place of an address in the file, unless a flag set it.
func at(configured *config.Config, member, flag string, err error) error {
	if flag != "" {
		return err
	}
	return configured.At(member, err)
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
// have the same name.
func BindError(name string, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s: %w: another process listens there: stop it, or choose another address with %[1]s in the "+
		"configuration or --%[1]s", name, err)
}
