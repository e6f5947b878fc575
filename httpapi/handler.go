package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
)

// Options are what can be set of the handler. The zero value stands for the
// defaults.
type Options struct {
	// MaxBody is how long a body may be, in bytes. Default: DefaultMaxBody.
	MaxBody int

	// MaxArriving is how much memory all bodies together may take, in bytes,
	// beside the first 4 KiB of each, which is more than most have. Beyond it
	// the longer ones are told to come back. Default: DefaultMaxArriving.
	MaxArriving int

	// BodyTimeout is how long a body may take to arrive.
	// Default: DefaultBodyTimeout.
	BodyTimeout time.Duration

	// Timeout is how long a request may take after that.
	// Default: DefaultTimeout.
	Timeout time.Duration

	// Origins are the origins whose pages may use the API from a browser
	// (CORS), such as "https://app.example.com". Default: none.
	Origins []string

	// Logger gets what does not come to the engine, which has its own.
	// Default: none.
	Logger *slog.Logger
}

// Defaults of Options.
const (
	DefaultMaxBody     = 2 << 20
	DefaultMaxArriving = 64 << 20
	DefaultBodyTimeout = 10 * time.Second
	DefaultTimeout     = 30 * time.Second
)

// handler is the API.
type handler struct {
	engine   *countersign.Engine
	options  Options
	arriving atomic.Int64 // bytes of bodies beyond what each has for free
}

// New returns a handler for the API.
func New(engine *countersign.Engine, options Options) http.Handler {
	options.MaxBody = orDefault(options.MaxBody, DefaultMaxBody)
	options.MaxArriving = orDefault(options.MaxArriving, DefaultMaxArriving)
	options.BodyTimeout = orDefault(options.BodyTimeout, DefaultBodyTimeout)
	options.Timeout = orDefault(options.Timeout, DefaultTimeout)
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	return &handler{engine: engine, options: options}
}

func orDefault[T int | time.Duration](value, other T) T {
	if value <= 0 {
		return other
	}
	return value
}

// RequestIDHeader holds the id under which a request stands in the log.
const RequestIDHeader = "X-Request-Id"

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := uuid.NewString()
	w.Header().Set(RequestIDHeader, id)
	defer h.recover(w, id)
	if h.cors(w, r) {
		return
	}
	operation, err := route(r)
	if err != nil {
		h.refuse(w, id, err)
		return
	}
	body, arrived, err := h.readBody(w, r)
	defer arrived()
	if err != nil {
		h.options.Logger.InfoContext(r.Context(), "body", "request", id, "path", r.URL.Path, "cause", err)
		h.refuse(w, id, err)
		return
	}
	ctx, cancel := context.WithTimeout(countersign.WithRequestID(r.Context(), id), h.options.Timeout)
	defer cancel()
	answer, err := operation(ctx, h.engine, countersign.SignedBody{Body: body, Stamps: stamps(r.Header)})
	if err != nil {
		h.refuse(w, id, err)
		return
	}
	write(w, http.StatusOK, answer)
}

// operation carries out what a path stands for, and returns the answer's JSON.
type operation func(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) ([]byte, error)

// operations are those behind /public/v1/.
var operations = func() map[string]operation {
	all := map[string]operation{"query/get_activity": getActivity, "query/whoami": whoAmI}
	for _, one := range activity.Operations() {
		all["submit/"+one.Path] = submit(one.Type)
	}
	return all
}()

func submit(kind activity.Type) operation {
	return func(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) ([]byte, error) {
		sent.Type = kind
		record, err := engine.Submit(ctx, sent)
		if err != nil {
			return nil, err
		}
		return answer(record), nil
	}
}

func getActivity(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) ([]byte, error) {
	record, err := engine.GetActivity(ctx, sent)
	if err != nil {
		return nil, err
	}
	return answer(record), nil
}

func whoAmI(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) ([]byte, error) {
	who, err := engine.WhoAmI(ctx, sent)
	if err != nil {
		return nil, err
	}
	return json.Marshal(who)
}

// answer renders a record. The body stands in it four times.
func answer(record *activity.Record) []byte {
	const rest = 4 << 10
	return record.AppendAnswer(make([]byte, 0, 4*len(record.Request.Body)+rest))
}

// route finds what a request's path stands for, behind any prefix; slashes
// that are doubled, as some clients send them, count once.
func route(r *http.Request) (operation, error) {
	path := r.URL.Path
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	const version = "/public/v1/"
	at := strings.LastIndex(path, version)
	if at < 0 {
		return nil, errNoPath
	}
	found, ok := operations[path[at+len(version):]]
	switch {
	case !ok:
		return nil, errNoPath
	case r.Method != http.MethodPost:
		return nil, errMethod
	case len(r.Header.Values("Content-Encoding")) > 0:
		return nil, activity.NewError(activity.ReasonRequestInvalid, "", nil,
			"Content-Encoding: the stamp covers the body as it is sent: send it without an encoding")
	}
	return found, nil
}

// Refusals that have HTTP statuses of their own.
var (
	errNoPath = activity.NewError(activity.ReasonNotFound, "", nil, "no operation is served at this path")
	errMethod = activity.NewError(activity.ReasonRequestInvalid, "", nil, "this path is served by POST")
)

// stamps collects all headers that hold a stamp, in whatever case they came.
func stamps(header http.Header) []stamp.Header {
	var all []stamp.Header
	for _, name := range [...]string{stamp.HeaderAPIKey, stamp.HeaderPasskey} {
		for _, value := range header.Values(name) {
			all = append(all, stamp.Header{Name: name, Value: value})
		}
	}
	return all
}

// recover answers a panic like any internal error. It is a fault in this
// program, and the log has where.
func (h *handler) recover(w http.ResponseWriter, id string) {
	fault := recover()
	if fault == nil {
		return
	}
	if err, ok := fault.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(fault)
	}
	h.options.Logger.Error("panic", "request", id, "fault", fault, "stack", string(debug.Stack()))
	h.refuse(w, id, errors.New("panic"))
}
