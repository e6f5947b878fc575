package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
)

// Bounds of NewServer.
const (
	ReadHeaderTimeout = 5 * time.Second
	ReadTimeout       = 15 * time.Second // headers and body; the handler has its own for the body
	WriteTimeout      = 60 * time.Second // from the end of the headers to the end of the answer
	IdleTimeout       = 90 * time.Second
	MaxHeaderBytes    = 16 << 10
)

// NewServer returns a server for a handler, with a bound on everything that a
// client could draw out. Listen with LimitConnections.
func NewServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: ReadHeaderTimeout,
		ReadTimeout:       ReadTimeout,
		WriteTimeout:      WriteTimeout,
		IdleTimeout:       IdleTimeout,
		MaxHeaderBytes:    MaxHeaderBytes,
		ConnContext:       withConnection,
		ConnState:         connectionState,
	}
}

// ReadyTimeout is how long the engine may take to say that it is ready.
const ReadyTimeout = 2 * time.Second

// Admin returns a handler for the address of those who run the server:
// /healthz answers 200 as long as the process does, /readyz 200 while a request
// could be carried out, and 503 with the cause otherwise, /metrics what the given handler
// says; it may be nil. /log/ORGANIZATION/checkpoint answers with the checkpoint of a log, and
// with ?old=SIZE proves that it extends one of that size: for witnesses.
// /log/ORGANIZATION/proof/ID proves that an activity is in it.
func Admin(engine *countersign.Engine, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, []byte(`{"status":"ok"}`))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), ReadyTimeout)
		defer cancel()
		if err := engine.Ready(ctx); err != nil {
			write(w, http.StatusServiceUnavailable, unavailable(err))
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

// unavailable says to those who run the server why the engine is not ready: what
// clients are not told too.
func unavailable(err error) []byte {
	cause := err
	if refused, ok := errors.AsType[*activity.Error](err); ok && errors.Unwrap(refused) != nil {
		cause = errors.Unwrap(refused)
	}
	body, _ := json.Marshal(struct {
		Status string `json:"status"`
		Cause  string `json:"cause"`
	}{"unavailable", cause.Error()}) // texts can always be marshalled
	return body
}
