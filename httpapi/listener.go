package httpapi

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// DefaultMaxConnections is how many connections LimitConnections keeps unless
// the process may open fewer files.
const DefaultMaxConnections = 1024

// keptDescriptors is how many file descriptors are left to the store, the admin
// address and everything else.
const keptDescriptors = 64

// LimitConnections returns a listener that keeps at most most connections open;
// 0 means DefaultMaxConnections, or what the limit of open files leaves when 64
// are kept for other uses. When it is full, a new connection takes the place of
// the one that has waited longest without a request under way. A server made by
// NewServer tells it which those are; connections of other servers count as
// waiting.
func LimitConnections(inner net.Listener, most int) net.Listener {
	if most <= 0 {
		most = DefaultMaxConnections
		if files := openFiles(); files > 0 {
			most = max(1, min(most, files-keptDescriptors))
		}
	}
	return &limited{Listener: inner, most: most, changed: make(chan struct{}, 1), done: make(chan struct{})}
}

// limited is a listener with a bound on its connections.
type limited struct {
	net.Listener
	most    int
	changed chan struct{} // a connection was closed, or waits again
	done    chan struct{}
	closing sync.Once

	mu      sync.Mutex
	open    int
	waiting list.List // of *connection, that which has waited longest first
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
	c.waits = l.waiting.PushBack(c)
	return c, nil
}

// makeRoom closes the connection that has waited longest if there is no room
// for one more.
func (l *limited) makeRoom() bool {
	l.mu.Lock()
	if l.open < l.most {
		l.mu.Unlock()
		return true
	}
	oldest := l.waiting.Front()
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

// connection is one that the listener counts.
type connection struct {
	net.Conn
	of *limited

	// Guarded by of.mu.
	requests int // under way
	waits    *list.Element
	closed   bool
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	if !c.closed {
		c.closed = true
		c.of.open--
		c.unlist()
		c.of.notify()
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}

func (c *connection) unlist() {
	if c.waits != nil {
		c.of.waiting.Remove(c.waits)
		c.waits = nil
	}
}

func (l *limited) notify() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// begin counts one more request under way: the connection waits no longer.
func (c *connection) begin() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.requests++
	c.unlist()
}

// end counts one request less. The connection waits only from idle on: its last
// answer may not have left yet.
func (c *connection) end() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.requests--
}

// idle lets the connection wait again, if no request is under way.
func (c *connection) idle() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if !c.closed && c.requests == 0 && c.waits == nil {
		c.waits = c.of.waiting.PushBack(c)
		c.of.notify()
	}
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

// connectionState is a server's ConnState: a connection whose answers have been
// written waits again.
func connectionState(c net.Conn, state http.ConnState) {
	if counted := connectionOf(c); counted != nil && state == http.StateIdle {
		counted.idle()
	}
}

// connectionOf returns the listener's connection beneath c, nil if there is none.
func connectionOf(c net.Conn) *connection {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	counted, _ := c.(*connection)
	return counted
}

// busy keeps a request's connection from being closed to make room, until done is
// called and the answer has been written.
func busy(r *http.Request) (done func()) {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return func() {}
	}
	c.begin()
	return c.end
}
