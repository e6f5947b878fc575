package serve

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/httpapi/console"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/events"
	"github.com/countersign-dev/countersign/internal/request"
)

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

// withConsole serves the page under console.Path and the API everywhere else.
// It does not use http.ServeMux, which would redirect the doubled slashes that some
// clients send to the API.
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

// ServerLog logs the complaints of an http.Server: failures to accept connections
// as warnings, everything else at level debug, because strangers cause it (broken
// handshakes and the like).
type ServerLog struct{ *slog.Logger }

// Write implements io.Writer.
func (l ServerLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.Contains(line, []byte("Accept error")) {
		level = slog.LevelWarn
	}
	l.Log(request.Stranger(context.Background()), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}
