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

// places are where the server listens.
func (s *Server) places() deployment.Addresses {
	return deployment.Addresses{Listen: s.listen, Admin: s.admin, Plaintext: s.plaintext, Serve: true}
}

// bind binds the configured addresses, until close. Flags take precedence.
func (s *Server) bind(configured *config.Config) (err error) {
	listen := cmp.Or(s.listen, configured.Listen)
	if listen == "" {
		return deployment.ErrNoListen
	}
	s.bound = &addresses{tls: s.current.TLSConfig()}
	s.ends = append(s.ends, s.bound.close)
	if s.bound.api, err = s.bindOne(listen, s.bound.tls != nil); err != nil {
		return deployment.BindError("listen", err)
	}
	if s.bound.admin, err = s.bindAdmin(configured); err != nil {
		return deployment.BindError("admin", err)
	}
	s.bound.rpc, err = s.bindRPC(configured)
	return err
}

// bindAdmin binds the admin address. If it is in use and --listen has moved the API
// away from its configured address, this is a second server with the same
// configuration, and a free port is used.
func (s *Server) bindAdmin(configured *config.Config) (net.Listener, error) {
	switch {
	case s.admin == "none", s.admin == "" && configured.Admin == "":
		return nil, nil
	case s.admin != "":
		return s.bindOne(s.admin, false)
	}
	bound, err := s.bindOne(configured.Admin, false)
	if s.listen == "" || !errors.Is(err, syscall.EADDRINUSE) {
		return bound, err
	}
	host, _, splitErr := net.SplitHostPort(configured.Admin)
	if splitErr != nil {
		return nil, splitErr
	}
	s.log.Warn("the admin address is in use, picking a free port", "address", configured.Admin)
	return s.bindOne(net.JoinHostPort(host, "0"), false)
}

// bindOne binds one address. It must be loopback unless it is secured by TLS.
func (s *Server) bindOne(address string, secured bool) (net.Listener, error) {
	resolved, err := s.places().Resolve(address, secured)
	if err != nil {
		return nil, err
	}
	return net.Listen("tcp", resolved.String())
}
