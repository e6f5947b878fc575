package serve

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"syscall"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
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

// places are where the server listens.
func (c *Command) places() deployment.Addresses {
	return deployment.Addresses{Listen: c.listen, Admin: c.admin, Plaintext: c.plaintext, Serve: true}
}

// bind binds the configured addresses. Flags take precedence.
func (c *Command) bind(configured *config.Config, protocol *tls.Config) (*addresses, error) {
	listen := cmp.Or(c.listen, configured.Listen)
	if listen == "" {
		return nil, deployment.ErrNoListen
	}
	api, err := c.bindOne(listen, protocol != nil)
	if err != nil {
		return nil, deployment.BindError("listen", err)
	}
	admin, err := c.bindAdmin(configured)
	if err != nil {
		return nil, errors.Join(deployment.BindError("admin", err), api.Close())
	}
	bound := &addresses{api: api, tls: protocol, admin: admin}
	if bound.rpc, err = c.bindRPC(configured); err != nil {
		bound.close()
		return nil, err
	}
	return bound, nil
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
	resolved, err := c.places().Resolve(address, secured)
	if err != nil {
		return nil, err
	}
	return net.Listen("tcp", resolved.String())
}
