package rpcapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/keystore"
)

// MaxBodyBytes is the length of the longest body: six blobs with their proofs are 1.6 MB.
const MaxBodyBytes = 4 << 20

// DefaultMaxBufferedBytes bounds the memory of all bodies that are read at a time.
const DefaultMaxBufferedBytes = 64 << 20

// Options configure a Handler. All but ChainID and MaxBufferedBytes are required.
type Options struct {
	// Users returns who may call. It is asked at each request, so that users can be replaced
	// while the server runs.
	Users func() *Users

	// Directory finds the users, with their tags, by their ids.
	Directory access.Users

	// Keystore lists the keys for eth_accounts.
	Keystore keystore.Keystore

	// Host reports whether the server is meant by the Host of a request, which a page that
	// rebinds its own name to loopback cannot say.
	Host func(host string) bool

	ChainID          uint64 // that eth_chainId answers; 0: the method is refused
	MaxBufferedBytes int64  // 0: DefaultMaxBufferedBytes
}

// Handler serves the methods. Use it with a server of httpapi.NewServer, or for a unix
// socket with ServeSocket.
type Handler struct {
	engine   *countersign.Engine
	options  Options
	buffered atomic.Int64
}

// New returns a handler over an engine, which must have a Store and a Directory.
func New(engine *countersign.Engine, options Options) *Handler {
	if options.MaxBufferedBytes == 0 {
		options.MaxBufferedBytes = DefaultMaxBufferedBytes
	}
	return &Handler{engine: engine, options: options}
}

// ServeHTTP implements http.Handler. A request that a page in a browser could have sent is
// refused before anything of it is read.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, problem := h.gate(r); status != 0 {
		refuse(w, status, problem)
		return
	}
	if r.URL.Path == "/upcheck" && r.Method == http.MethodGet {
		_, _ = io.WriteString(w, "OK")
		return
	}
	if status, problem := isCall(r); status != 0 {
		refuse(w, status, problem)
		return
	}
	who, err := h.options.Users().of(r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, err.Error())
		return
	}
	free, ok := h.reserve(r.ContentLength)
	if !ok {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "too many long requests at a time: try again")
		return
	}
	defer free()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	if err != nil {
		if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
			refuse(w, http.StatusRequestEntityTooLarge, "the body has more than 4 MiB: send fewer requests in a batch")
			return
		}
		refuse(w, http.StatusBadRequest, "the body ended early")
		return
	}
	ctx := access.WithOrigin(r.Context(), access.Origin{RequestID: uuid.NewString(), Remote: r.RemoteAddr})
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(h.answer(ctx, who, body))
}

// reserve takes the memory of a body.
func (h *Handler) reserve(size int64) (free func(), ok bool) {
	if size < 0 || size > MaxBodyBytes {
		size = MaxBodyBytes
	}
	if h.buffered.Add(size) > h.options.MaxBufferedBytes {
		h.buffered.Add(-size)
		return nil, false
	}
	return func() { h.buffered.Add(-size) }, true
}

// answer answers a body: a request, or a batch.
func (h *Handler) answer(ctx context.Context, who identity, body []byte) []byte {
	requests, batch, err := readBody(body)
	if err != nil {
		return appendAnswer(nil, answer{id: nullID, fault: faultOf(err)})
	}
	if !batch {
		return appendAnswer(nil, h.carryOut(ctx, who, &requests[0]))
	}
	out := []byte{'['}
	for i := range requests {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendAnswer(out, h.carryOut(ctx, who, &requests[i]))
	}
	return append(out, ']')
}

// gate refuses what a page in a browser sends: every one of them can reach loopback, and a
// form or an image needs nobody's permission. Browsers add Origin to each POST and
// Sec-Fetch-Site to each request; programs send neither.
func (h *Handler) gate(r *http.Request) (status int, problem string) {
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		if len(r.Header.Values(name)) > 0 {
			return http.StatusForbidden, name + ": requests of browsers are refused"
		}
	}
	if !h.options.Host(r.Host) {
		return http.StatusForbidden, "Host: this server does not have that name"
	}
	return 0, ""
}

// isCall refuses what is no JSON-RPC call over HTTP.
func isCall(r *http.Request) (status int, problem string) {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed, "send a POST with a JSON-RPC request"
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return http.StatusUnsupportedMediaType, "Content-Type: expected application/json"
	}
	return 0, ""
}

func refuse(w http.ResponseWriter, status int, problem string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(appendAnswer(nil, answer{id: nullID, fault: &fault{codeRefused, problem, nil}}))
}
