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
)

// MaxSocketConnections is how many connections a unix socket has at most.
const MaxSocketConnections = 64

// ServeSocket serves a unix socket as go-ethereum's IPC does: a connection is a stream of
// JSON values, requests one way and answers the other, in their order. The caller is the
// user of the process at the other end. It returns when the listener is closed, after the
// requests in progress.
func (h *Handler) ServeSocket(ctx context.Context, listener *net.UnixListener) error {
	var serving sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer serving.Wait()
	defer cancel()
	room := make(chan struct{}, MaxSocketConnections)
	for {
		room <- struct{}{}
		connection, err := listener.AcceptUnix()
		if err != nil {
			return err
		}
		serving.Go(func() {
			stop := context.AfterFunc(ctx, func() { _ = connection.CloseRead() })
			defer stop()
			defer func() {
				_ = connection.Close()
				<-room
			}()
			h.serveConnection(context.WithoutCancel(ctx), connection)
		})
	}
}

// serveConnection answers the requests of one connection.
func (h *Handler) serveConnection(ctx context.Context, connection *net.UnixConn) {
	uid, err := peerOf(connection)
	if err != nil {
		return
	}
	bounded := &io.LimitedReader{R: connection}
	values := jsontext.NewDecoder(bounded, jsontext.AllowDuplicateNames(true)) // readBody refuses them, with a message
	for {
		bounded.N = MaxBodyBytes
		body, err := values.ReadValue()
		if err != nil {
			if _, malformed := errors.AsType[*jsontext.SyntacticError](err); malformed && !errors.Is(err, io.ErrUnexpectedEOF) {
				_, _ = connection.Write(appendAnswer(nil, answer{id: nullID, fault: &fault{codeParse, err.Error(), nil}}))
			}
			return
		}
		free, ok := h.reserve(int64(len(body)))
		if !ok {
			return
		}
		out := h.answerPeer(ctx, uid, body)
		free()
		if _, err := connection.Write(append(out, '\n')); err != nil {
			return
		}
	}
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
