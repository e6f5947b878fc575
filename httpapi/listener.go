package httpapi

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

// LimitConnections returns a listener that keeps at most limit connections open. Zero
// means DefaultMaxConnections, or what the limit of open files leaves after reserving 64
// for other uses, whichever is less. When the listener is full, a new connection replaces
// the one that has been idle longest, that is, without a request in flight. A server made
// by NewServer reports requests to the listener; connections of other servers always count
// as idle.
//
// One credential may have as many connections with requests in flight as it leaves to others,
// idle or not yet open: alone half of the limit. It always may have one.
func LimitConnections(inner net.Listener, limit int) net.Listener {
	if limit <= 0 {
		limit = DefaultMaxConnections
		if files := openFiles(); files > 0 {
			limit = max(1, min(limit, files-keptDescriptors))
		}
	}
	return &limited{Listener: inner, limit: limit, changed: make(chan struct{}, 1), done: make(chan struct{}), held: map[access.Holder]int{}}
}

// limited is a listener with a bound on its connections.
type limited struct {
	net.Listener
	limit   int
	changed chan struct{} // a connection was closed, or became idle
	done    chan struct{}
	closing sync.Once

	mu   sync.Mutex
	open int
	idle list.List             // of *connection, longest idle first
	held map[access.Holder]int // how many connections are busy for a credential
}

// Accept implements net.Listener.
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

// Close implements net.Listener.
func (l *limited) Close() error {
	l.closing.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// connection is a connection that the listener counts.
type connection struct {
	net.Conn
	of *limited

	// Guarded by of.mu.
	requests int           // in flight
	quiet    bool          // the server waits for the next request
	idleAt   *list.Element // nil while a request is in flight
	holder   access.Holder // for which it is busy; zero for none
	closed   bool
}

// Close implements net.Conn.
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

// begin counts one more request in flight: the connection is no longer idle.
func (c *connection) begin() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.requests++
	c.unlist()
}

// end counts one request less. The connection becomes idle once the server waits for the next
// request, because the last answer may not have been written yet. Over HTTP/2 it may wait
// already: a client that resets its streams leaves their requests to end later.
func (c *connection) end() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.requests--
	c.becomeIdle()
}

// setQuiet says whether the server waits for the next request of the connection.
func (c *connection) setQuiet(quiet bool) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.quiet = quiet
	c.becomeIdle()
}

// becomeIdle marks the connection as idle if nothing of it is in flight. The caller holds of.mu.
func (c *connection) becomeIdle() {
	if !c.closed && c.quiet && c.requests == 0 && c.idleAt == nil {
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

// withConnection is a server's ConnContext.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if counted := connectionOf(c); counted != nil {
		return context.WithValue(ctx, connectionKey{}, counted)
	}
	return ctx
}

// connectionState is a server's ConnState: a connection becomes idle once its answers have
// been written.
func connectionState(c net.Conn, state http.ConnState) {
	if counted := connectionOf(c); counted != nil && (state == http.StateIdle || state == http.StateActive) {
		counted.setQuiet(state == http.StateIdle)
	}
}

// connectionOf returns the listener's connection beneath c, or nil.
func connectionOf(c net.Conn) *connection {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	counted, _ := c.(*connection)
	return counted
}

// busy keeps a request's connection from being closed to make room until done has been
// called and the answer written.
func busy(r *http.Request) (done func()) {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return func() {}
	}
	c.begin()
	return c.end
}

// holdBusy makes the connection of a request busy for the credential that signed it. It
// reports whether the credential may have another.
func holdBusy(r *http.Request, by access.Holder) bool {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	return !ok || c.hold(by)
}

// Busy keeps the connection of a request for a user, whom something other than a stamp made
// known, from being closed to make room until done has been called and the answer written. It
// reports whether the user may have another such connection; done must be called in any case.
// It does nothing unless the server is one of NewServer.
func Busy(r *http.Request, by access.Holder) (done func(), ok bool) {
	done = busy(r)
	return done, holdBusy(r, by)
}
