package serve

import (
	"cmp"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"syscall"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
)

type addresses struct {
	api   net.Listener
	tls   *tls.Config  // of api; nil for plaintext
	admin net.Listener // nil if disabled
	rpc   rpcServer
}

// close closes those that are bound. Shutting down the servers has done so already.
func (a *addresses) close() error {
	for _, listener := range []net.Listener{a.api, a.admin} {
		if listener != nil {
			_ = listener.Close()
		}
	}
	a.rpc.close()
	return nil
}

// bind binds the configured addresses, of which those of flags take precedence. The caller
// closes what is bound, also after an error.
func (a *addresses) bind(at deployment.Addresses, configured *config.Config, log *slog.Logger) (err error) {
	listen := cmp.Or(at.Listen, configured.Listen)
	if listen == "" {
		return deployment.ErrNoListen
	}
	if a.api, err = bindOne(at, listen, a.tls != nil); err != nil {
		return deployment.BindError("listen", err)
	}
	if a.admin, err = bindAdmin(at, configured, log); err != nil {
		return deployment.BindError("admin", err)
	}
	return a.rpc.bind(at, configured.RPC)
}

// bindAdmin binds the admin address. If it is in use and --listen has moved the API
// away from its configured address, this is a second server with the same
// configuration, and a free port is used.
func bindAdmin(at deployment.Addresses, configured *config.Config, log *slog.Logger) (net.Listener, error) {
	switch {
	case at.Admin == "none", at.Admin == "" && configured.Admin == "":
		return nil, nil
	case at.Admin != "":
		return bindOne(at, at.Admin, false)
	}
	bound, err := bindOne(at, configured.Admin, false)
	if at.Listen == "" || !errors.Is(err, syscall.EADDRINUSE) {
		return bound, err
	}
	host, _, splitErr := net.SplitHostPort(configured.Admin)
	if splitErr != nil {
		return nil, splitErr
	}
	log.Warn("the admin address is in use, picking a free port", "address", configured.Admin)
	return bindOne(at, net.JoinHostPort(host, "0"), false)
}

// bindOne binds one address. It must be loopback unless it is secured by TLS.
func bindOne(at deployment.Addresses, address string, secured bool) (net.Listener, error) {
	resolved, err := at.Resolve(address, secured)
	if err != nil {
		return nil, err
	}
	return net.Listen("tcp", resolved.String())
}
