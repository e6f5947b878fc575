package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
)

// addresses are what serve listens on.
type addresses struct {
	api   net.Listener
	tls   *tls.Config  // of api; nil: none
	admin net.Listener // nil: none
}

func (a *addresses) close() {
	_ = a.api.Close() // Shutdown has done so already
	if a.admin != nil {
		_ = a.admin.Close()
	}
}

// bind binds the addresses of the configuration, or of the flags.
func (c *serveCommand) bind(configured *config.Config, protocol *tls.Config) (*addresses, error) {
	listen := configured.Listen
	if c.listen != "" {
		listen = c.listen
	}
	if listen == "" {
		return nil, errors.New("listen is missing: name an address in the configuration, or with --listen")
	}
	api, err := c.bindOne(listen, protocol != nil)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", sayTaken(err, "listen", "--listen"))
	}
	admin, err := c.bindAdmin(configured)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("admin: %w", sayTaken(err, "admin", "--admin")), api.Close())
	}
	return &addresses{api, protocol, admin}, nil
}

// sayTaken adds what helps to the error of an address that is taken.
func sayTaken(err error, member, flag string) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	return fmt.Errorf("%w: another process listens there: end it, or name another address with %s in the configuration or %s", err, member, flag)
}

// bindAdmin binds the admin address. If it is taken, and --listen has moved the
// API away from its configured address too, a free port does: this is a second
// server by one configuration.
func (c *serveCommand) bindAdmin(configured *config.Config) (net.Listener, error) {
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
	c.log.Warn("the admin address is taken; another port is used", "address", configured.Admin)
	return c.bindOne(net.JoinHostPort(host, "0"), false)
}

// bindOne binds one address. Unless it is secured, it must be loopback.
func (c *serveCommand) bindOne(address string, secured bool) (net.Listener, error) {
	bound, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	tcp, ok := bound.Addr().(*net.TCPAddr)
	if secured || c.plaintext || ok && tcp.IP.IsLoopback() {
		return bound, nil
	}
	return nil, errors.Join(
		fmt.Errorf("%s is not a loopback address, and there is no TLS: configure tls, or pass --plaintext-beyond-loopback", address),
		bound.Close())
}
