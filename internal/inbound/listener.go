package inbound

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"github.com/countersign-dev/countersign/access"
)

// DefaultMaxConnections is how many connections LimitConnections keeps open by default,
// unless the process may open fewer files.
const DefaultMaxConnections = 1024

// keptDescriptors is how many file descriptors are reserved for the store, the admin
// address and everything else.
const keptDescriptors = 64

// MaxStreams is how many requests a listener has at most whose handlers have not ended. Over
// HTTP/2, a connection has up to MaxStreamsOfConnection of them.
const (
	MaxStreams             = 4096
	MaxStreamsOfConnection = 8
)

// LimitConnections is httpapi.LimitConnections.
func LimitConnections(inner net.Listener, limit int) net.Listener {
	if limit <= 0 {
		limit = DefaultMaxConnections
		if files := openFiles(); files > 0 {
			limit = max(1, min(limit, files-keptDescriptors))
		}
	}
	return &limited{Listener: inner, limit: limit, changed: make(chan struct{}, 1), done: make(chan struct{}),
		held: map[access.Holder]int{}}
}

// limited is a listener with a bound on its connections.
type limited struct {
	net.Listener
	limit   int
	changed chan struct{} // a connection was closed, or became idle
	done    chan struct{}
	closing sync.Once

	mu      sync.Mutex
	open    int
	streams int                   // requests whose handlers have not ended
	idle    list.List             // of *connection, longest idle first
	held    map[access.Holder]int // how many connections are busy for a credential
}

func (l *limited) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for !l.makeRoom() {
		select {
		case <-l.changed:
		case <-l.done:
			_ = inner.Close()
			return nil, net.ErrClosed
		}
	}
	c := &connection{Conn: inner, of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	c.idleAt = l.idle.PushBack(c)
	return c, nil
}

// makeRoom closes the connection that has been idle longest if the listener is full. It
// reports whether there is room for one more.
func (l *limited) makeRoom() bool {
	l.mu.Lock()
	if l.open < l.limit {
		l.mu.Unlock()
		return true
	}
	oldest := l.idle.Front()
	l.mu.Unlock()
	if oldest == nil {
		return false
	}
	_ = oldest.Value.(*connection).Close()
	return true
}

func (l *limited) Close() error {
	l.closing.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// connection is a connection that the listener counts.
type connection struct {
	net.Conn
	of *limited

	// Guarded by of.mu.
	streams  int           // requests whose handlers have not ended, bodies that arrive too
	requests int           // in flight
	quiet    bool          // the server waits for the next request
	idleAt   *list.Element // nil while a request is in flight
	holder   access.Holder // for which it is busy; zero for none
	closed   bool
}

func (c *connection) Close() error {
	c.of.mu.Lock()
	if !c.closed {
		c.closed = true
		c.of.open--
		c.unlist()
		c.letGo()
		c.of.notify()
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}

func (c *connection) unlist() {
	if c.idleAt != nil {
		c.of.idle.Remove(c.idleAt)
		c.idleAt = nil
	}
}

func (l *limited) notify() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// enter counts a request whose handler begins; the connection counts as idle from then on, until
// the body has arrived. If there are MaxStreams, enter closes the connection with requests that
// has been idle longest; it reports false if there is none.
func (c *connection) enter() bool {
	var oldest *connection
	c.of.mu.Lock()
	if c.of.streams >= MaxStreams {
		for e := c.of.idle.Front(); e != nil && oldest == nil; e = e.Next() {
			if other := e.Value.(*connection); other.streams > 0 {
				oldest = other
			}
		}
		if oldest == nil {
			c.of.mu.Unlock()
			return false
		}
	}
	if c.streams == 0 && c.idleAt != nil {
		c.of.idle.MoveToBack(c.idleAt)
	}
	c.of.streams++
	c.streams++
	c.of.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return true
}

// leave ends enter. The connection becomes idle if bodies of other requests still arrive; or once
// the server waits for the next request, because the last answer may not have been written yet.
// Over HTTP/2 it may wait already: a client that resets its streams leaves their requests to
// end later.
func (c *connection) leave() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.streams--
	c.streams--
	c.becomeIdle()
}

// becomeIdle marks the connection as idle if nothing of it is in flight. The caller holds of.mu.
func (c *connection) becomeIdle() {
	if !c.closed && (c.quiet || c.streams > 0) && c.requests == 0 && c.idleAt == nil {
		c.idleAt = c.of.idle.PushBack(c)
		c.letGo()
		c.of.notify()
	}
}

// hold makes the connection busy for a credential, and reports whether that one may have
// another. A connection with several requests in flight is that of the first.
func (c *connection) hold(by access.Holder) bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.closed || c.holder != (access.Holder{}) {
		return true
	}
	busy := c.of.open - c.of.idle.Len()
	if has := c.of.held[by]; has > 0 && has+1 > c.of.limit-busy {
		return false
	}
	c.holder = by
	c.of.held[by]++
	return true
}

// letGo ends hold.
func (c *connection) letGo() {
	if c.of.held[c.holder]--; c.of.held[c.holder] <= 0 {
		delete(c.of.held, c.holder)
	}
	c.holder = access.Holder{}
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

// Serve has a server report its connections and requests to a listener of LimitConnections. A
// request for which there is no room is answered 503.
func Serve(server *http.Server) {
	handler := server.Handler
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if counted := connectionOf(c); counted != nil {
			return context.WithValue(ctx, connectionKey{}, counted)
		}
		return ctx
	}
	server.ConnState = func(c net.Conn, state http.ConnState) { // idle once its answers have been written
		if counted := connectionOf(c); counted != nil && (state == http.StateIdle || state == http.StateActive) {
			counted.of.mu.Lock()
			counted.quiet = state == http.StateIdle
			counted.becomeIdle()
			counted.of.mu.Unlock()
		}
	}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
			if !c.enter() {
				w.Header().Set("Retry-After", "1")
				http.Error(w, ErrNoRoom.Error(), http.StatusServiceUnavailable)
				return
			}
			defer c.leave()
		}
		handler.ServeHTTP(w, r)
	})
}

// connectionOf returns the listener's connection beneath c, or nil.
func connectionOf(c net.Conn) *connection {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	counted, _ := c.(*connection)
	return counted
}

// Begin keeps a request's connection from being closed to make room until done has been
// called and the answer written.
func Begin(r *http.Request) (done func()) {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return func() {}
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.requests++
	c.unlist()
	return func() {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.requests--
	}
}

// Hold makes the connection of a request busy for the user or the credential that sent it. It
// reports whether that one may have another.
func Hold(r *http.Request, by access.Holder) bool {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	return !ok || c.hold(by)
}
