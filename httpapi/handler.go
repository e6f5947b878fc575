package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
)

// Options configures the handler that New returns. The zero value stands for the
// defaults.
type Options struct {
	// MaxBody is how long the body of a sign_transaction request may be, in
	// bytes. Default: DefaultMaxBody. All other bodies may have
	// MaxOtherBody, or MaxBody if that is less.
	MaxBody int

	// MaxBufferedBytes bounds the memory of all bodies together, in bytes, beyond
	// the first 4 KiB of each, which is more than most have; requests beyond it
	// get 503 with Retry-After. One address has at most a quarter of it, unless
	// it is loopback or private. Default: DefaultMaxBufferedBytes.
	MaxBufferedBytes int

	// MaxAnswerBytes bounds the memory of all answers that are being read from the
	// store and written, in the same way, beyond 48 KiB of each. A listing holds a
	// megabyte while it is read.
	// Default: DefaultMaxAnswerBytes.
	MaxAnswerBytes int

	// BodyTimeout is how long a body may take to arrive.
	// Default: DefaultBodyTimeout.
	BodyTimeout time.Duration

	// Timeout is how long a request may take after that.
	// Default: DefaultTimeout.
	Timeout time.Duration

	// Origins are the origins whose pages may use the API from a browser
	// (CORS), such as "https://app.example.com". Default: none.
	Origins []string

	// Observer counts requests whose path or method is not served, with the
	// reason NotServed; the engine has its own for the others. Default: none.
	Observer countersign.Observer

	// Logger gets what does not come to the engine, which has its own.
	// Default: none.
	Logger *slog.Logger
}

// Defaults of Options.
const (
	DefaultMaxBody          = 2 << 20
	DefaultMaxBufferedBytes = 64 << 20
	DefaultMaxAnswerBytes   = 64 << 20
	DefaultBodyTimeout      = 10 * time.Second
	DefaultTimeout          = 30 * time.Second
)

// MaxOtherBody is how long the body of a request may be that carries no
// transaction, in bytes.
const MaxOtherBody = 256 << 10

// handler is the API.
type handler struct {
	engine   *countersign.Engine
	options  Options
	arriving *budget // of bodies, beyond what each has for free
	leaving  *budget // of answers
}

// New returns a handler for the API.
func New(engine *countersign.Engine, options Options) http.Handler {
	options.MaxBody = orDefault(options.MaxBody, DefaultMaxBody)
	options.MaxBufferedBytes = orDefault(options.MaxBufferedBytes, DefaultMaxBufferedBytes)
	options.MaxAnswerBytes = orDefault(options.MaxAnswerBytes, DefaultMaxAnswerBytes)
	options.BodyTimeout = orDefault(options.BodyTimeout, DefaultBodyTimeout)
	options.Timeout = orDefault(options.Timeout, DefaultTimeout)
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	return &handler{
		engine: engine, options: options,
		arriving: newBudget(options.MaxBufferedBytes), leaving: newBudget(options.MaxAnswerBytes),
	}
}

func orDefault[T int | time.Duration](value, other T) T {
	if value <= 0 {
		return other
	}
	return value
}

// NotServed is the outcome, in Options.Observer, of a request whose path or
// method is not served.
const NotServed = "NOT_SERVED"

// notServed logs and counts a request whose path or method is not served.
func (h *handler) notServed(r *http.Request, id string, cause error) {
	const most = 200 // bytes of the path: a stranger chose it
	h.options.Logger.InfoContext(r.Context(), "not served", "request", id, "method", r.Method,
		"path", r.URL.Path[:min(len(r.URL.Path), most)], "remote", r.RemoteAddr, "cause", cause)
	if h.options.Observer != nil {
		h.options.Observer.Observe(countersign.Observation{Reason: NotServed})
	}
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
		h.notServed(r, id, err)
		h.refuse(w, id, err)
		return
	}
	from := sharedBy(r)
	arriving, leaving := &reservation{of: h.arriving, from: from}, &reservation{of: h.leaving, from: from}
	defer arriving.release()
	defer leaving.release()
	body, err := h.readBody(w, r, h.bound(operation), arriving)
	if err != nil {
		h.options.Logger.InfoContext(r.Context(), "body", "request", id, "path", r.URL.Path, "cause", err)
		h.refuse(w, id, err)
		return
	}
	defer busy(r)()
	ctx := countersign.WithRemote(countersign.WithRequestID(r.Context(), id), r.RemoteAddr)
	ctx, cancel := context.WithTimeout(ctx, h.options.Timeout)
	defer cancel()
	ctx = countersign.WithRecordRoom(ctx, leaving.room)
	answer, err := operation.do(ctx, h.engine, countersign.SignedBody{Body: body, Stamps: stamps(r.Header)})
	if err != nil {
		h.refuse(w, id, err)
		return
	}
	h.answer(w, answer)
}

// bound returns how long the body of an operation may be.
func (h *handler) bound(o operation) int {
	if o.transaction {
		return h.options.MaxBody
	}
	return min(h.options.MaxBody, MaxOtherBody)
}

// operation is what a path stands for.
type operation struct {
	transaction bool // the body may be as long as a transaction
	do          func(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) (reply, error)
}

// reply is what is answered: JSON, or what may be so long that it is written in
// pieces.
type reply struct {
	long interface {
		Answer() (whole []byte, size int)
		WriteAnswer(w io.Writer) error
	}
	json []byte
}

// operations are those behind /public/v1/.
var operations = func() map[string]operation {
	all := map[string]operation{
		"query/get_activity": {do: getActivity}, "query/whoami": {do: whoAmI},
		"query/list_activities": {do: listActivities}, "query/list_policies": {do: listPolicies},
	}
	for _, one := range activity.Operations() {
		all["submit/"+one.Path] = operation{transaction: one.Type == activity.TypeSignTransaction, do: submit(one.Type)}
	}
	return all
}()

func submit(kind activity.Type) func(context.Context, *countersign.Engine, countersign.SignedBody) (reply, error) {
	return func(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) (reply, error) {
		sent.Type = kind
		record, err := engine.Submit(ctx, sent)
		return reply{long: record}, err
	}
}

func getActivity(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) (reply, error) {
	record, err := engine.GetActivity(ctx, sent)
	return reply{long: record}, err
}

func listActivities(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) (reply, error) {
	records, err := engine.ListActivities(ctx, sent)
	return reply{long: activity.Activities(records)}, err
}

func listPolicies(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) (reply, error) {
	rules, err := engine.ListPolicies(ctx, sent)
	if err != nil {
		return reply{}, err
	}
	return reply{json: activity.AppendPolicies(nil, rules)}, nil
}

func whoAmI(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) (reply, error) {
	who, err := engine.WhoAmI(ctx, sent)
	if err != nil {
		return reply{}, err
	}
	encoded, err := json.Marshal(who)
	return reply{json: encoded}, err
}

// route finds what a request's path stands for, behind any prefix; slashes
// that are doubled, as some clients send them, count once.
func route(r *http.Request) (found operation, err error) {
	path := r.URL.Path
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	const version = "/public/v1/"
	at := strings.LastIndex(path, version)
	if at < 0 {
		return found, errNoPath
	}
	found, ok := operations[path[at+len(version):]]
	switch {
	case !ok:
		return found, errNoPath
	case r.Method != http.MethodPost:
		return found, errMethod
	case len(r.Header.Values("Content-Encoding")) > 0:
		return found, activity.NewError(activity.ReasonRequestInvalid, "", nil,
			"Content-Encoding: the stamp covers the body as it is sent: send it without an encoding")
	}
	return found, nil
}

// Refusals that have HTTP statuses of their own.
var (
	errNoPath = activity.NewError(activity.ReasonNotFound, "", nil, "no operation is served at this path: %s", paths())
	errMethod = activity.NewError(activity.ReasonRequestInvalid, "", nil, "this path is served by POST")
)

// paths lists the paths of the operations, for one who asks at another.
func paths() string {
	var all []string
	for path := range operations {
		all = append(all, path)
	}
	slices.Sort(all)
	return "those under /public/v1/ are " + strings.Join(all, ", ")
}

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
