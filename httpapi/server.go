package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/inbound"
	"github.com/countersign-dev/countersign/translog"
)

// Limits of a server made by NewServer.
const (
	ReadHeaderTimeout = 5 * time.Second
	ReadTimeout       = 15 * time.Second // headers and body; the handler has its own for the body
	WriteTimeout      = 60 * time.Second // from the end of the headers to the end of the answer
	IdleTimeout       = 90 * time.Second
	MaxHeaderBytes    = 16 << 10
)

// DefaultMaxConnections is how many connections LimitConnections keeps open by default,
// unless the process may open fewer files.
const DefaultMaxConnections = inbound.DefaultMaxConnections

// LimitConnections returns a listener that keeps at most limit connections open. Zero
// means DefaultMaxConnections, or what the limit of open files leaves after reserving 64
// for other uses, whichever is less. When the listener is full, a new connection replaces
// the one that has been idle longest, that is, without a request in flight: one whose body
// still arrives is not. A server made by NewServer reports requests to the listener;
// connections of other servers always count as idle.
//
// One credential may have as many connections with requests in flight as it leaves to others,
// idle or not yet open: alone half of the limit. It always may have one. Over HTTP/2 a
// connection has at most 8 requests at a time, and all of them together 4,096: beyond that,
// one whose bodies still arrive is closed as above.
func LimitConnections(inner net.Listener, limit int) net.Listener {
	return inbound.LimitConnections(inner, limit)
}

// windowOfHTTP2 is how many bytes a client may send of its requests before they are read, on
// one connection: the initial window of RFC 9113, and the least that there can be.
const windowOfHTTP2 = 64 << 10

// NewServer returns a server for a handler, with a bound on everything a client could delay.
// Use it with a listener of LimitConnections.
func NewServer(handler http.Handler) *http.Server {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: ReadHeaderTimeout,
		ReadTimeout:       ReadTimeout,
		WriteTimeout:      WriteTimeout,
		IdleTimeout:       IdleTimeout,
		MaxHeaderBytes:    MaxHeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          inbound.MaxStreamsOfConnection,
			MaxReadFrameSize:              16 << 10, // a connection keeps a buffer as large as its longest frame
			MaxReceiveBufferPerConnection: windowOfHTTP2,
			MaxReceiveBufferPerStream:     windowOfHTTP2,
			WriteByteTimeout:              PieceTimeout, // else 10,000 answers to pings wait for a client that reads none
		},
	}
	inbound.Serve(server)
	return server
}

// ReadyTimeout is how long a readiness check may take.
const ReadyTimeout = 2 * time.Second

// Admin returns a handler for the admin address:
//
//	/healthz                       200 while the process is alive
//	/readyz                        200 while requests can be carried out, otherwise 503 with the cause
//	/metrics                       the given handler, if it is not nil
//	/log/ORGANIZATION/checkpoint   the checkpoint of a log; with ?old=SIZE, for witnesses,
//	                               proof that it extends that of SIZE leaves
//	/log/ORGANIZATION/proof/ID     proof that an activity is in the log
func Admin(engine *countersign.Engine, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, []byte(`{"status":"ok"}`))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), ReadyTimeout)
		defer cancel()
		if err := engine.Ready(ctx); err != nil {
			if refused, ok := errors.AsType[*activity.Error](err); ok && errors.Unwrap(refused) != nil {
				err = errors.Unwrap(refused) // unlike answers to clients, this one includes the cause
			}
			body, _ := json.Marshal(struct {
				Status string `json:"status"`
				Cause  string `json:"cause"`
			}{"unavailable", err.Error()}) // strings always marshal
			write(w, http.StatusServiceUnavailable, body)
			return
		}
		write(w, http.StatusOK, []byte(`{"status":"ready"}`))
	})
	mux.HandleFunc("GET /log/{organization}/checkpoint", checkpoint(engine))
	mux.HandleFunc("GET /log/{organization}/proof/{id...}", proof(engine))
	if metrics != nil {
		mux.Handle("GET /metrics", metrics)
	}
	return mux
}

// checkpoint answers GET /log/{organization}/checkpoint with the signed checkpoint of the
// log (C2SP tlog-checkpoint). With ?old=SIZE the answer is for a witness that has seen SIZE
// leaves, and proves that the log extends them. The status is 404 if there is no such log
// or no key for it, and 409 if the log has fewer leaves.
func checkpoint(engine *countersign.Engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		old, err := int64(0), error(nil)
		if query.Has("old") {
			old, err = strconv.ParseInt(query.Get("old"), 10, 64)
		}
		if err != nil || old < 0 {
			http.Error(w, "old: expected a number of leaves", http.StatusBadRequest)
			return
		}
		advance, err := engine.Log().Advance(r.Context(), r.PathValue("organization"), old)
		if err != nil {
			logRefused(w, err)
			return
		}
		answer := advance.Checkpoint
		if query.Has("old") {
			answer = advance.Encode()
		}
		writeNote(w, answer)
	}
}

// proof answers GET /log/{organization}/proof/{id} with the proof that an activity is in the log
// (C2SP tlog-proof). The status is 404 if it is not, or if there is no such log or no key for it.
func proof(engine *countersign.Engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		proof, err := engine.Log().Proof(r.Context(), r.PathValue("organization"), r.PathValue("id"))
		if err != nil {
			logRefused(w, err)
			return
		}
		writeNote(w, proof.Encode())
	}
}

func logRefused(w http.ResponseWriter, err error) {
	refused, _ := errors.AsType[*activity.Error](err)
	switch {
	case errors.Is(err, translog.ErrShorter):
		http.Error(w, err.Error(), http.StatusConflict)
	case refused != nil && refused.Reason == activity.ReasonNotFound:
		http.Error(w, refused.Message, http.StatusNotFound)
	default:
		http.Error(w, "the log cannot be read at present", http.StatusServiceUnavailable)
	}
}

func writeNote(w http.ResponseWriter, note []byte) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(note) // a client that is gone does not need it
}
