package rpcapi

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"

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
// requests in progress.
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
	bounded := &counted{from: connection, memory: h.arriving.Reserve(uid)}
	defer bounded.memory.Release()
	values := jsontext.NewDecoder(bounded, jsontext.AllowDuplicateNames(true)) // readBody refuses them, with a message
	for {
		bounded.left = MaxBodyBytes
		body, err := values.ReadValue()
		if err != nil {
			_, malformed := errors.AsType[*jsontext.SyntacticError](err)
			if malformed && !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, inbound.ErrNoRoom) || errors.Is(err, inbound.ErrTooLong) {
				_, _ = connection.Write(appendAnswer(nil, answer{id: nullID, fault: &fault{codeParse, err.Error(), nil}}))
			}
			return
		}
		out := h.answerPeer(ctx, uid, body)
		bounded.memory.Release()
		if _, err := connection.Write(append(out, '\n')); err != nil {
			return
		}
	}
}

// counted reads at most left bytes, which are held until the reservation is released.
type counted struct {
	from   io.Reader
	memory *inbound.Reservation
	left   int
}

// Read implements io.Reader.
func (c *counted) Read(into []byte) (int, error) {
	if c.left <= 0 {
		return 0, inbound.ErrTooLong
	}
	n, err := c.from.Read(into[:min(len(into), c.left)])
	c.left -= n
	if !c.memory.Take(n) {
		return 0, inbound.ErrNoRoom
	}
	return n, err
}

// answerPeer answers a body from a process of a uid.
func (h *Handler) answerPeer(ctx context.Context, uid uint32, body []byte) []byte {
	who, known := h.options.Users().ofPeer(uid)
	if !known {
		return appendAnswer(nil, answer{id: nullID, fault: &fault{codeRefused, errUnknown.Error(), nil}})
	}
	ctx = access.WithOrigin(ctx, access.Origin{RequestID: uuid.NewString(), Remote: who.scheme})
	return h.answer(ctx, who, body)
}
