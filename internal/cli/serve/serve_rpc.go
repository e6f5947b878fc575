package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/rpcapi"
)

// rpcServer is the JSON-RPC signer of serve.
type rpcServer struct {
	handler *rpcapi.Handler
	http    *http.Server
	tcp     net.Listener // nil if there is none
	socket  *net.UnixListener
	path    string // of the socket
}

// bindRPC binds the addresses of the signer. It returns nil if none is configured.
func (c *Command) bindRPC(configured *config.Config) (bound *rpcServer, err error) {
	r := configured.RPC
	if r == nil {
		return nil, nil
	}
	bound = &rpcServer{path: r.Socket}
	defer func() {
		if err != nil {
			bound.close()
		}
	}()
	if r.Listen != "" {
		if bound.tcp, err = c.bindOne(r.Listen, r.TLS != nil); err != nil {
			return nil, deployment.BindError("rpc.listen", err)
		}
	}
	if r.Socket != "" {
		if bound.socket, err = listenSocket(r.Socket); err != nil {
			return nil, fmt.Errorf("rpc.socket: %w", err)
		}
	}
	return bound, nil
}

// socketMode lets the owner and the group of the process connect. The uid of the process at
// the other end says which user it is.
const socketMode = 0o660

// listenSocket listens on a unix socket. It takes the place of one that no process listens
// on any more, and of nothing else.
func listenSocket(path string) (*net.UnixListener, error) {
	if err := deployment.CheckSocket(path); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		if other, err := net.Dial("unix", path); err == nil {
			_ = other.Close()
			return nil, fmt.Errorf("%s: another process listens there", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// prepare makes the servers over an engine.
func (b *rpcServer) prepare(c *Command, engine *countersign.Engine, configured *config.Config, observer countersign.Observer, state *Live) {
	if b == nil {
		return
	}
	rpc := func() *deployment.RPCState { return state.Current.Load().RPC }
	b.handler = rpcapi.New(engine, rpcapi.Options{
		Users: func() *rpcapi.Users { return rpc().Users }, Directory: &state.InForce, Keystore: state.keys,
		Host: func(host string) bool { return rpc().Serves(host) }, ChainID: configured.RPC.ChainID,
		Logger: c.log, Observer: observer,
	})
	b.http = httpapi.NewServer(b.handler)
	if rpc().Certificate == nil {
		return
	}
	b.http.TLSConfig = &tls.Config{
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: true, // a resumed session would keep a certificate that is revoked
		ClientAuth:             tls.RequestClientCert,
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return rpc().Certificate, nil },
		// Each request verifies the chain by the authorities of its time: see rpcapi.Users.
		// Here, clients are told early.
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if len(raw) == 0 && !rpc().Users.Token() {
				return errors.New("a client certificate is required")
			}
			return nil
		},
	}
	if configured.RPC.TLS.MinVersion == "1.2" {
		b.http.TLSConfig.MinVersion = tls.VersionTLS12
	}
}

// start starts the servers. Their ends are sent to failed.
func (b *rpcServer) start(ctx context.Context, c *Command, failed chan<- error) {
	if b == nil {
		return
	}
	if b.tcp != nil {
		startServer(c, b.http, httpapi.LimitConnections(b.tcp, 0), failed)
		c.log.Info("listening", "server", "rpc", "address", b.tcp.Addr().String(), "tls", b.http.TLSConfig != nil)
	}
	if b.socket != nil {
		go func() { failed <- b.handler.ServeSocket(ctx, b.socket) }()
		c.log.Info("listening", "server", "rpc", "socket", b.path)
	}
}

// shutDown stops accepting requests and finishes those in flight.
func (b *rpcServer) shutDown(ctx context.Context) error {
	if b == nil {
		return nil
	}
	if b.socket != nil {
		_ = b.socket.Close()
	}
	return b.http.Shutdown(ctx) // which closes the TCP listener: closing it twice is an error
}

// close closes the listeners. The socket's file goes with its listener.
func (b *rpcServer) close() {
	if b == nil {
		return
	}
	if b.tcp != nil {
		_ = b.tcp.Close() // Shutdown may have done so already
	}
	if b.socket != nil {
		_ = b.socket.Close()
	}
}
