package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"strings"
	"syscall"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/httpapi/console"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/events"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/rpcapi"
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

// bindAdmin binds the admin address. If it is in use and --listen has moved the API away from its
// configured address, this is a second server with the same configuration, and a free port is used.
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

// Options returns the options of the API's handler.
func (s *Server) Options(configured *config.Config) httpapi.Options {
	proxies, _ := access.ParseNetworks(configured.ForwardedFrom) // checked when the file was read
	return httpapi.Options{
		MaxBufferedBytes: configured.Limits.RequestBytes,
		MaxAnswerBytes:   configured.Limits.AnswerBytes,
		Origins:          configured.Origins,
		ForwardedFrom:    proxies,
		ForwardedHeader:  configured.ForwardedHeader,
		Logger:           s.log,
		Observer:         s.observer,
	}
}

// withConsole serves the page under console.Path and the API everywhere else. It does not use
// http.ServeMux, which would redirect the doubled slashes that some clients send to the API.
func withConsole(page, api http.Handler) http.Handler {
	if page == nil {
		return api
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path+"/", console.Path) { // /console is redirected
			page.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

func (s *Server) adminPages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", httpapi.Admin(s.engine, s.observer.Handler()))
	if s.notifier.ring != nil {
		mux.Handle("GET "+events.Path, s.notifier.ring)
	}
	// Package net/http/pprof also adds its pages to http.DefaultServeMux, which nothing serves.
	if s.profile {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return s.UnlessDraining(s.withState(mux))
}

// UnlessDraining answers /readyz with 503 while the server drains.
func (s *Server) UnlessDraining(admin http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" && s.Draining.Load() {
			http.Error(w, `{"status":"draining"}`, http.StatusServiceUnavailable)
			return
		}
		admin.ServeHTTP(w, r)
	})
}

// ServerLog logs the complaints of an http.Server: failures to accept connections as warnings,
// everything else at level debug, because strangers cause it (broken handshakes and the like).
type ServerLog struct{ *slog.Logger }

func (l ServerLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.Contains(line, []byte("Accept error")) {
		level = slog.LevelWarn
	}
	l.Log(request.Stranger(context.Background()), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}

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
