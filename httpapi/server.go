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

// Limits of a server made by NewServer.
const (
	ReadHeaderTimeout = 5 * time.Second
	ReadTimeout       = 15 * time.Second // headers and body; the handler has its own for the body
	WriteTimeout      = 60 * time.Second // from the end of the headers to the end of the answer
	IdleTimeout       = 90 * time.Second
	MaxHeaderBytes    = 16 << 10
)

// NewServer returns a server for a handler, with a bound on everything a client could delay.
// Use it with a listener of LimitConnections.
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

// unavailable returns the answer of /readyz while the engine is not ready. Unlike answers
// to clients, it includes the cause.
func unavailable(err error) []byte {
	cause := err
	if refused, ok := errors.AsType[*activity.Error](err); ok && errors.Unwrap(refused) != nil {
		cause = errors.Unwrap(refused)
	}
	body, _ := json.Marshal(struct {
		Status string `json:"status"`
		Cause  string `json:"cause"`
	}{"unavailable", cause.Error()}) // strings always marshal
	return body
}
