package serve

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/countersign-dev/countersign/internal/cli/config"
)

// addresses are the listeners of serve.
type addresses struct {
	api   net.Listener
	tls   *tls.Config  // of api; nil for plaintext
	admin net.Listener // nil if disabled
	rpc   *rpcServer   // nil if none is configured
}

func (a *addresses) close() {
	_ = a.api.Close() // Shutdown has done so already
	if a.admin != nil {
		_ = a.admin.Close()
	}
	a.rpc.close()
}

var errNoListen = errors.New("listen is missing: set it in the configuration, or pass --listen")

// bind binds the configured addresses. Flags take precedence.
func (c *Command) bind(configured *config.Config, protocol *tls.Config) (*addresses, error) {
	listen := cmp.Or(c.listen, configured.Listen)
	if listen == "" {
		return nil, errNoListen
	}
	api, err := c.bindOne(listen, protocol != nil)
	if err != nil {
		return nil, bindError("listen", err)
	}
	admin, err := c.bindAdmin(configured)
	if err != nil {
		return nil, errors.Join(bindError("admin", err), api.Close())
	}
	bound := &addresses{api: api, tls: protocol, admin: admin}
	if bound.rpc, err = c.bindRPC(configured); err != nil {
		bound.close()
		return nil, err
	}
	return bound, nil
}

// bindError names the member and the flag that set an address which cannot be
// bound. Both have the same name.
func bindError(name string, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s: %w: another process listens there: stop it, or choose another address with %[1]s in the configuration or --%[1]s", name, err)
}

// bindAdmin binds the admin address. If it is in use and --listen has moved the API
// away from its configured address, this is a second server with the same
// configuration, and a free port is used.
func (c *Command) bindAdmin(configured *config.Config) (net.Listener, error) {
	switch {
	case c.admin == "none", c.admin == "" && configured.Admin == "":
		return nil, nil
	case c.admin != "":
		return c.bindOne(c.admin, false)
	}
	bound, err := c.bindOne(configured.Admin, false)
	if c.listen == "" || !errors.Is(err, syscall.EADDRINUSE) {
		return bound, err
	}
	host, _, splitErr := net.SplitHostPort(configured.Admin)
	if splitErr != nil {
		return nil, splitErr
	}
	c.log.Warn("the admin address is in use, picking a free port", "address", configured.Admin)
	return c.bindOne(net.JoinHostPort(host, "0"), false)
}

// bindOne binds one address. It must be loopback unless it is secured by TLS.
func (c *Command) bindOne(address string, secured bool) (net.Listener, error) {
	resolved, err := c.resolve(address, secured)
	if err != nil {
		return nil, err
	}
	return net.Listen("tcp", resolved.String())
}

// resolve returns the address to bind, unless it may not be bound.
func (c *Command) resolve(address string, secured bool) (*net.TCPAddr, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("%q has no port: write HOST:PORT", address)
	}
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if secured || c.plaintext || resolved.IP.IsLoopback() {
		return resolved, nil
	}
	return nil, fmt.Errorf("%s is not a loopback address, and there is no TLS: configure tls, or pass --plaintext-beyond-loopback", address)
}

// checkAddresses refuses the addresses that bind refuses, without binding them.
func (c *Command) checkAddresses(configured *config.Config) error {
	listen := cmp.Or(c.listen, configured.Listen)
	if listen == "" {
		return errNoListen
	}
	api, err := c.resolve(listen, configured.TLS != nil)
	if err != nil {
		return bindError("listen", err)
	}
	if r := configured.RPC; r != nil && r.Listen != "" {
		if _, err := c.resolve(r.Listen, r.TLS != nil); err != nil {
			return bindError("rpc.listen", err)
		}
	}
	address := cmp.Or(c.admin, configured.Admin)
	if address == "" || address == "none" {
		return nil
	}
	admin, err := c.resolve(address, false)
	if err != nil {
		return bindError("admin", err)
	}
	if api.Port != 0 && api.String() == admin.String() {
		return fmt.Errorf("admin: %s is also the address of the API: choose another", address)
	}
	return nil
}
