package rpcapi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/inbound"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/stamp"
)

// MaxBodyBytes is the length of the longest body: six blobs with their proofs are 1.6 MB.
const MaxBodyBytes = 4 << 20

// MaxAnswerBytes is the length of a batch's answer at which the calls that are left are not
// carried out.
const MaxAnswerBytes = 8 << 20

// What an Options that is zero means.
const (
	DefaultMaxBufferedBytes = 64 << 20 // of all bodies that are held at a time
	DefaultBodyTimeout      = 10 * time.Second
	DefaultTimeout          = 30 * time.Second
	DefaultAnswerTimeout    = 10 * time.Second
)

// Options configure a Handler. All up to Host are required.
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

	ChainID          uint64        // that eth_chainId answers; 0: the method is refused
	MaxBufferedBytes int           // 0: DefaultMaxBufferedBytes
	BodyTimeout      time.Duration // for the arrival of a body; 0: DefaultBodyTimeout
	Timeout          time.Duration // for each call; 0: DefaultTimeout
	AnswerTimeout    time.Duration // for a process to read an answer from a unix socket; 0: DefaultAnswerTimeout

	// Logger gets the faults of the server itself, with their cause. Default: none.
	Logger *slog.Logger

	// Observer counts those faults. Default: none.
	Observer countersign.Observer
}

// Handler serves the methods. Use it with a server of httpapi.NewServer, or for a unix
// socket with ServeSocket.
type Handler struct {
	engine   *countersign.Engine
	options  Options
	arriving *inbound.Budget
}

// New returns a handler over an engine, which must have a Store and a Directory.
func New(engine *countersign.Engine, options Options) *Handler {
	options.MaxBufferedBytes = cmp.Or(options.MaxBufferedBytes, DefaultMaxBufferedBytes)
	options.BodyTimeout = cmp.Or(options.BodyTimeout, DefaultBodyTimeout)
	options.Timeout = cmp.Or(options.Timeout, DefaultTimeout)
	options.AnswerTimeout = cmp.Or(options.AnswerTimeout, DefaultAnswerTimeout)
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	return &Handler{engine: engine, options: options, arriving: inbound.NewBudget(options.MaxBufferedBytes)}
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
	memory := h.arriving.Reserve([2]string{who.organizationID, who.userID}) // the user, by whatever it is recognized
	defer memory.Release()
	body, err := inbound.Body{Limit: MaxBodyBytes, Timeout: h.options.BodyTimeout, Memory: memory}.Read(w, r)
	if err != nil {
		refuseBody(w, err)
		return
	}
	defer inbound.Begin(r)()
	holder := access.Holder{OrganizationID: who.organizationID, CredentialID: stamp.ID("user " + who.userID)}
	if !inbound.Hold(r, holder) {
		refuseBody(w, inbound.ErrNoRoom)
		return
	}
	ctx := access.WithOrigin(r.Context(), access.Origin{RequestID: uuid.NewString(), Remote: r.RemoteAddr})
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(h.answer(ctx, who, body, memory))
}

// refuseBody answers a body that is not read.
func refuseBody(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, inbound.ErrTooLong):
		refuse(w, http.StatusRequestEntityTooLarge, "the body has more than 4 MiB: send fewer requests in a batch")
	case errors.Is(err, inbound.ErrNoRoom):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, err.Error())
	default:
		refuse(w, http.StatusBadRequest, err.Error())
	}
}

// answer answers a body: a request, or a batch. The answer is a part of memory, until that is
// released.
func (h *Handler) answer(ctx context.Context, who identity, body []byte, memory *inbound.Reservation) []byte {
	requests, batch, err := readBody(body)
	if err != nil {
		return appendAnswer(nil, answer{id: nullID, fault: faultOf(err)})
	}
	if !batch {
		out := appendAnswer(nil, h.carryOut(ctx, who, &requests[0], memory))
		memory.Take(len(out) - min(len(out), freeBuilt)) // it is made already: what is not left is not taken
		return out
	}
	out, full := []byte{'['}, false
	for i := range requests {
		if i > 0 {
			out = append(out, ',')
		}
		before := max(len(out), freeBuilt)
		switch {
		case len(out) > MaxAnswerBytes:
			out = appendAnswer(out, answer{id: requests[i].id, fault: &fault{codeRefused,
				"not carried out: the answers before this one have more than 8 MiB: send it in a batch of its own", nil}})
		case full:
			out = appendAnswer(out, answer{id: requests[i].id, fault: errNoRoom()})
		default:
			out = appendAnswer(out, h.carryOut(ctx, who, &requests[i], memory))
		}
		full = full || !memory.Take(max(len(out), freeBuilt)-before)
	}
	return append(out, ']')
}

// gate refuses what a page in a browser sends: every one of them can reach loopback, and a
// form or an image needs no permission. Browsers add Origin to each POST and
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
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); len(r.Header.Values("Content-Type")) > 1 ||
		err != nil || kind != "application/json" {
		return http.StatusUnsupportedMediaType, "Content-Type: expected one, application/json"
	}
	if len(r.Header.Values("Content-Encoding")) > 0 {
		return http.StatusUnsupportedMediaType, "Content-Encoding is not supported: send the body without an encoding"
	}
	return 0, ""
}

func refuse(w http.ResponseWriter, status int, problem string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(appendAnswer(nil, answer{id: nullID, fault: &fault{codeRefused, problem, nil}}))
}
