package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/rpcapi"
)

// rpcServer is the JSON-RPC signer of serve; zero if none is configured.
type rpcServer struct {
	handler *rpcapi.Handler
	http    *http.Server // nil before prepare
	tcp     net.Listener // nil if there is none
	socket  *net.UnixListener
	path    string        // of the socket
	file    os.FileInfo   // of the socket: only this one is removed
	served  chan struct{} // closed when the requests of the socket are answered; nil before start
}

// bind binds the addresses of the signer, if one is configured.
func (b *rpcServer) bind(at deployment.Addresses, r *config.RPC) (err error) {
	if r != nil && r.Listen != "" {
		if b.tcp, err = bindOne(at, r.Listen, r.TLS != nil); err != nil {
			return deployment.BindError("rpc.listen", err)
		}
	}
	if r != nil && r.Socket != "" {
		b.path = r.Socket
		if b.socket, b.file, err = listenSocket(r.Socket); err != nil {
			return fmt.Errorf("rpc.socket: %w", err)
		}
	}
	return nil
}

// socketMode lets the owner and the group of the process connect. The uid of the process at
// the other end says which user it is.
const socketMode = 0o660

// listenSocket listens on a unix socket. It takes the place of one that no process listens
// on any more, and of nothing else.
func listenSocket(path string) (*net.UnixListener, os.FileInfo, error) {
	if err := deployment.CheckSocket(path); err != nil {
		return nil, nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	listener.SetUnlinkOnClose(false) // another server may have taken the path by then: see closeSocket
	err = os.Chmod(path, socketMode)
	file, statErr := os.Lstat(path)
	if err = errors.Join(err, statErr); err != nil {
		return nil, nil, errors.Join(err, listener.Close(), os.Remove(path))
	}
	return listener, file, nil
}

// removeStale removes a socket that no process listens on: one that refuses a connection. Any
// other failure to connect, such as a full queue, does not show that.
func removeStale(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	other, err := net.Dial("unix", path)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%s: another process listens there", path), other.Close())
	case !errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: another process may listen there: remove it if none does: %w", path, err)
	}
	return os.Remove(path)
}

// prepare makes the servers over an engine.
func (b *rpcServer) prepare(s *Server, configured *config.Config) {
	if configured.RPC == nil {
		return
	}
	rpc := func() *deployment.RPCState { return s.loaded().RPC }
	b.handler = rpcapi.New(s.engine, rpcapi.Options{
		Users: s.current.callers, Directory: &s.current.InForce, Keystore: s.keys,
		Host: func(host string) bool { return rpc().Serves(host) }, ChainID: configured.RPC.ChainID,
		Logger: s.log, Observer: s.observer,
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
func (b *rpcServer) start(ctx context.Context, s *Server, failed chan<- error) {
	if b.tcp != nil {
		// First, because net/http sets the TLSConfig of a server that it serves.
		s.log.Info("listening", "server", "rpc", "address", b.tcp.Addr().String(), "tls", b.http.TLSConfig != nil)
		s.start(b.http, httpapi.LimitConnections(b.tcp, 0), failed)
	}
	if b.socket != nil {
		b.served = make(chan struct{})
		go func() {
			err := b.handler.ServeSocket(context.WithoutCancel(ctx), b.socket) // until shutDown, after the delay
			close(b.served)
			failed <- err
		}()
		s.log.Info("listening", "server", "rpc", "socket", b.path)
	}
}

func (b *rpcServer) shutDown(ctx context.Context) error {
	if b.http == nil {
		return nil
	}
	b.closeSocket()
	err := b.http.Shutdown(ctx) // which closes the TCP listener: closing it twice is an error
	if b.served == nil {
		return err
	}
	select {
	case <-b.served:
		return err
	case <-ctx.Done():
		return errors.Join(err, fmt.Errorf("rpc.socket: %w", ctx.Err()))
	}
}

// closeSocket removes the socket's file, unless it is another server's by now, and closes its listener.
func (b *rpcServer) closeSocket() {
	if b.socket != nil {
		if now, err := os.Lstat(b.path); err == nil && b.file != nil && os.SameFile(now, b.file) {
			_ = os.Remove(b.path)
		}
		b.file = nil
		_ = b.socket.Close() // shutDown may have done so already
	}
}

func (b *rpcServer) close() {
	if b.tcp != nil {
		_ = b.tcp.Close() // Shutdown may have done so already
	}
	b.closeSocket()
}
