package rpcapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/inbound"
)

// MaxSocketConnections is how many connections a unix socket has at most. Processes of one uid
// have at most a third of what is then left, alone 64.
const MaxSocketConnections = 256

// ServeSocket serves a unix socket as go-ethereum's IPC does: a connection is a stream of
// JSON values, requests one way and answers the other, in their order. The caller is the
// user of the process at the other end. It returns when the listener is closed, after the
// requests in progress; a process that does not read their answers is not waited for longer
// than Options.AnswerTimeout.
func (h *Handler) ServeSocket(ctx context.Context, listener *net.UnixListener) error {
	var serving sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer serving.Wait()
	defer cancel()
	connections := inbound.NewBudget(MaxSocketConnections)
	for {
		connection, err := listener.AcceptUnix()
		if err != nil {
			return err
		}
		uid, err := peerOf(connection)
		room := connections.Reserve(uid)
		if err != nil || !room.Take(1) {
			_ = connection.Close()
			continue
		}
		serving.Go(func() {
			defer room.Release()
			defer func() { _ = connection.Close() }()
			defer context.AfterFunc(ctx, func() { _ = connection.CloseRead() })()
			h.serveConnection(context.WithoutCancel(ctx), connection, uid)
		})
	}
}

// serveConnection answers the requests of one connection of a process with a uid.
func (h *Handler) serveConnection(ctx context.Context, connection *net.UnixConn, uid uint32) {
	bounded := &counted{from: connection, memory: h.arriving.Reserve(uid), timeout: h.options.BodyTimeout}
	defer bounded.memory.Release()
	values := jsontext.NewDecoder(bounded, jsontext.AllowDuplicateNames(true)) // readBody refuses them, with a message
	for {
		bounded.left, bounded.begun = inbound.FreeBody, false // what no user is recognized by is only told so
		if _, known := h.options.Users().ofPeer(uid); known {
			bounded.left = MaxBodyBytes
		}
		_ = connection.SetReadDeadline(time.Time{})
		bounded.expect(values.UnreadBuffer()) // the body has begun if some of it came with the one before
		body, err := values.ReadValue()
		if err != nil {
			_, malformed := errors.AsType[*jsontext.SyntacticError](err)
			if malformed && !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, inbound.ErrNoRoom) ||
				errors.Is(err, inbound.ErrTooLong) {
				_ = h.send(connection, appendAnswer(nil, answer{id: nullID, fault: &fault{codeParse, err.Error(), nil}}))
			}
			return
		}
		answered := []byte(nil)
		if who, known := h.options.Users().ofPeer(uid); known {
			origin := access.Origin{RequestID: uuid.NewString(), Remote: who.scheme}
			answered = h.answer(access.WithOrigin(ctx, origin), who, body, bounded.memory)
		} else {
			answered = appendAnswer(nil, answer{id: nullID, fault: &fault{codeRefused, errUnknown.Error(), nil}})
		}
		if h.send(connection, append(answered, '\n')) != nil {
			return
		}
		bounded.memory.Release()
	}
}

// peerOf returns the uid of the process at the other end of a unix socket.
func peerOf(connection *net.UnixConn) (uid uint32, err error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) { uid, err = uidAt(int(fd)) }) //nolint:gosec // a file descriptor
	return uid, errors.Join(failed, err)
}

// send writes an answer, which the process must read in time.
func (h *Handler) send(connection *net.UnixConn, answer []byte) error {
	if err := connection.SetWriteDeadline(time.Now().Add(h.options.AnswerTimeout)); err != nil {
		return err
	}
	_, err := connection.Write(answer)
	return err
}

// counted reads at most left bytes, which are held until the reservation is released. Once a
// body has begun it must arrive in time; until then the connection may be idle.
type counted struct {
	from    *net.UnixConn
	memory  *inbound.Reservation
	timeout time.Duration
	left    int
	begun   bool
}

// expect sets the time by which the whole body must have arrived, once some of it has.
func (c *counted) expect(read []byte) {
	if !c.begun && len(bytes.TrimSpace(read)) > 0 {
		c.begun = true
		_ = c.from.SetReadDeadline(time.Now().Add(c.timeout))
	}
}

func (c *counted) Read(into []byte) (int, error) {
	if c.left <= 0 {
		return 0, inbound.ErrTooLong
	}
	n, err := c.from.Read(into[:min(len(into), c.left)])
	c.left -= n
	c.expect(into[:n])
	if !c.memory.Take(n) {
		return 0, inbound.ErrNoRoom
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, inbound.ErrLate
	}
	return n, err
}
