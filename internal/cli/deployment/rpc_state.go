package deployment

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/rpcapi"
)

// RPCState is what SIGHUP changes of the JSON-RPC signer.
type RPCState struct {
	Users       *rpcapi.Users
	Certificate *tls.Certificate // nil without TLS
	hosts       []string
}

// newRPCState reads it. It is nil if no signer is configured.
func newRPCState(ctx context.Context, configured *config.Config) (*RPCState, error) {
	r := configured.RPC
	if r == nil {
		return nil, nil
	}
	users, err := RPCUsers(ctx, configured)
	if err != nil {
		return nil, configured.AtPath(err)
	}
	state := &RPCState{Users: users, hosts: r.Hosts}
	if r.TLS == nil {
		return state, nil
	}
	if state.Certificate, err = loadCertificate(&config.TLS{CertFile: r.TLS.CertFile, KeyFile: r.TLS.KeyFile}); err != nil {
		return nil, configured.At("rpc.tls", fmt.Errorf("rpc.tls: %w", err))
	}
	return state, nil
}

// Still returns the state without the callers that the next one lacks: all of them if it is
// nil, because the listeners stay until a restart.
func (s *RPCState) Still(next *RPCState) *RPCState {
	if s == nil {
		return nil
	}
	kept, users := *s, new(rpcapi.Users)
	if next != nil {
		users = next.Users
	}
	kept.Users = s.Users.Still(users)
	return &kept
}

// Serves reports whether a request's Host names this server: a name of loopback, one that is
// configured, or one of the certificate. A page that rebinds its own name to loopback sends
// that name.
func (s *RPCState) Serves(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if ip := net.ParseIP(name); name == "localhost" || ip != nil && ip.IsLoopback() {
		return true
	}
	if slices.ContainsFunc(s.hosts, func(host string) bool { return strings.EqualFold(host, name) }) {
		return true
	}
	return s.Certificate != nil && s.Certificate.Leaf != nil && s.Certificate.Leaf.VerifyHostname(name) == nil
}
