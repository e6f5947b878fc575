package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/inbound"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/stamp"
)

// Options configures the handler that New returns. Zero values select the defaults.
type Options struct {
	// MaxBody is the maximum length of the body of a request to sign transactions, in bytes. For
	// votes it is MaxVote, and for all other requests MaxOtherBody, or MaxBody if that is less.
	// Default: DefaultMaxBody.
	MaxBody int

	// MaxBufferedBytes bounds the memory of all bodies together, in bytes, not
	// counting the first 4 KiB of each. Requests beyond it get 503 with Retry-After.
	// An address that is neither loopback nor private, and once its stamp is verified a
	// credential, may hold a third of what it leaves free: alone a quarter.
	// Default: DefaultMaxBufferedBytes.
	MaxBufferedBytes int

	// MaxAnswerBytes bounds the memory of all answers in the same way, not counting the
	// first 48 KiB of each. An answer counts while it is read from the store and written;
	// a listing holds about a megabyte while it is read. An eighth is kept for votes.
	// Default: DefaultMaxAnswerBytes.
	MaxAnswerBytes int

	// BodyTimeout is how long a body may take to arrive.
	// Default: DefaultBodyTimeout.
	BodyTimeout time.Duration

	// Timeout is how long a request may take after its body has arrived.
	// Default: DefaultTimeout.
	Timeout time.Duration

	// Origins are the origins whose pages may use the API from a browser
	// (CORS), such as "https://app.example.com": exactly as browsers send them, without a
	// path, a wildcard or a default port. Any other form matches nothing. Default: none.
	Origins []string

	// ForwardedFrom are the networks of the proxies in front of the server, each of which appends
	// the address of its peer to ForwardedHeader. The address of a request, which the lists
	// of credentials are about, is then the right-most one that is no proxy. Requests with several
	// such headers, and those with one that do not come from a proxy, are refused.
	// Default: none; the address is that of the connection's peer.
	ForwardedFrom []netip.Prefix

	// ForwardedHeader is the one header that ForwardedFrom is about.
	// Default: DefaultForwardedHeader.
	ForwardedHeader string

	// Observer counts requests that the engine does not see or cannot count: those
	// whose path or method is not served, with the reason NotServed, those whose
	// body is refused, and panics. The engine has its own Observer for all others.
	// Default: none.
	Observer countersign.Observer

	// Logger logs requests that do not reach the engine, which has its own Logger.
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

// MaxOtherBody is the maximum length of the body of a request without a transaction, in bytes.
const MaxOtherBody = 256 << 10

// MaxVote is the maximum length of the body of a vote, in bytes: what a body may hold without a
// part of MaxBufferedBytes, so that no one can use up what votes need.
const MaxVote = inbound.FreeBody

// handler is the API.
type handler struct {
	engine   *countersign.Engine
	options  Options
	arriving *inbound.Budget // memory of bodies, beyond the free part of each
	leaving  *inbound.Budget // memory of answers
}

// New returns a handler for the API.
func New(engine *countersign.Engine, options Options) http.Handler {
	options.MaxBody = cmp.Or(max(options.MaxBody, 0), DefaultMaxBody)
	options.MaxBufferedBytes = cmp.Or(max(options.MaxBufferedBytes, 0), DefaultMaxBufferedBytes)
	options.MaxAnswerBytes = cmp.Or(max(options.MaxAnswerBytes, 0), DefaultMaxAnswerBytes)
	options.BodyTimeout = cmp.Or(max(options.BodyTimeout, 0), DefaultBodyTimeout)
	options.Timeout = cmp.Or(max(options.Timeout, 0), DefaultTimeout)
	options.ForwardedHeader = cmp.Or(options.ForwardedHeader, DefaultForwardedHeader)
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	return &handler{
		engine: engine, options: options,
		arriving: inbound.NewBudget(options.MaxBufferedBytes), leaving: inbound.NewBudget(options.MaxAnswerBytes).KeepForVotes(),
	}
}

// NotServed is the reason that Options.Observer sees for a request whose path or method is
// not served.
const NotServed = "NOT_SERVED"

// observe counts a request that the engine does not count.
func (h *handler) observe(operation string, reason activity.Reason) {
	if h.options.Observer != nil {
		h.options.Observer.Observe(countersign.Observation{Operation: operation, Reason: reason})
	}
}

// RequestIDHeader is the header of an answer that holds the id of the request in the log.
const RequestIDHeader = "X-Request-Id"

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := uuid.NewString()
	w.Header().Set(RequestIDHeader, id)
	var asked operation
	defer func() { h.recover(w, id, asked.name, recover()) }()
	if h.cors(w, r) {
		return
	}
	asked, err := route(r)
	if err != nil {
		const maxPath = 200 // bytes: a stranger chose the path
		h.options.Logger.InfoContext(request.Stranger(r.Context()), "not served", "request", id, "method", r.Method,
			"path", r.URL.Path[:min(len(r.URL.Path), maxPath)], "remote", r.RemoteAddr, "cause", err)
		h.observe("", NotServed)
		h.refuse(w, id, err)
		return
	}
	network := sharedBy(r)
	arriving, leaving := h.arriving.Reserve(network...), h.leaving.Reserve(network...)
	defer arriving.Release()
	defer leaving.Release()
	if asked.vote {
		leaving.Vote()
	}
	address, err := h.options.addressOf(r)
	var body []byte
	if err == nil {
		body, err = h.readBody(w, r, h.bound(asked), arriving)
	}
	if err != nil {
		h.options.Logger.InfoContext(request.Stranger(r.Context()), "request rejected", "request", id,
			"path", r.URL.Path, "cause", err)
		if refused, ok := errors.AsType[*activity.Error](err); ok {
			h.observe(asked.name, refused.Reason)
		}
		h.refuse(w, id, err)
		return
	}
	defer inbound.Begin(r)()
	asking := access.Origin{RequestID: id, Remote: r.RemoteAddr, Address: address}
	asking.Room = (&records{memory: leaving}).room
	asking.Verified = func(by access.Holder) error {
		if !inbound.Hold(r, by) || !arriving.ShareWith(by) || !leaving.ShareWith(by) {
			return errNoRoom()
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(access.WithOrigin(r.Context(), asking), h.options.Timeout)
	defer cancel()
	answer, err := asked.do(ctx, h.engine, countersign.SignedBody{Body: body, Stamps: stamps(r.Header)})
	if err != nil {
		h.refuse(w, id, err)
		return
	}
	h.answer(w, answer)
}

// bound returns the maximum length of the body of an operation.
func (h *handler) bound(o operation) int {
	switch {
	case o.transaction:
		return h.options.MaxBody
	case o.vote:
		return MaxVote
	}
	return min(h.options.MaxBody, MaxOtherBody)
}

// operation is what a path serves.
type operation struct {
	name        string // the last element of its path
	transaction bool   // the body carries a transaction, and may be long
	vote        bool   // it is short, and memory is kept for it
	do          serve
}

// serve carries out an operation.
type serve func(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) (reply, error)

// reply is an answer: JSON, or one that may be too long to hold in memory and is written in pieces.
type reply struct {
	long interface {
		Answer() (whole []byte, size int)
		WriteAnswer(w io.Writer) error
	}
	json []byte
}

// operations are the operations by their paths below /public/v1/.
var operations = func() map[string]operation {
	all := map[string]operation{
		"query/get_activity": {name: "get_activity", do: getActivity}, "query/whoami": {name: "whoami", do: whoAmI},
		"query/list_activities": {name: "list_activities", do: listActivities},
		"query/list_policies":   {name: "list_policies", do: listPolicies},
	}
	for _, path := range activity.InventoryQueries() {
		all["query/"+path] = operation{name: path, do: inventory(path)}
	}
	for _, registered := range activity.Operations() {
		all["submit/"+registered.Path] = operation{name: registered.Path, do: submit(registered.Path),
			transaction: registered.Type.SignsTransactions(),
			vote:        registered.Type == activity.TypeApproveActivity || registered.Type == activity.TypeRejectActivity}
	}
	return all
}()

func submit(path string) serve {
	return func(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) (reply, error) {
		sent.Path = path
		record, err := engine.Submit(ctx, sent)
		return reply{long: record}, err
	}
}

func inventory(path string) serve {
	return func(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) (reply, error) {
		answer, err := engine.Inventory(ctx, path, sent)
		return reply{json: answer}, err
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
	return reply{json: activity.AppendPolicies(nil, rules)}, err
}

func whoAmI(ctx context.Context, engine *countersign.Engine, sent countersign.SignedBody) (reply, error) {
	who, err := engine.WhoAmI(ctx, sent)
	if err != nil {
		return reply{}, err
	}
	encoded, err := json.Marshal(who)
	return reply{json: encoded}, err
}

// route returns the operation of a request's path, behind any prefix. Doubled slashes, as
// some clients send them, count once.
func route(r *http.Request) (routed operation, err error) {
	path := r.URL.Path
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	const version = "/public/v1/"
	slash := strings.LastIndex(path, version)
	if slash < 0 && strings.HasPrefix(path, "/console") {
		return routed, errNoConsole
	}
	if slash < 0 {
		return routed, errNoPath
	}
	routed, ok := operations[path[slash+len(version):]]
	switch {
	case !ok:
		return routed, errNoPath
	case r.Method != http.MethodPost:
		return routed, errMethod
	case len(r.Header.Values("Content-Encoding")) > 0:
		return routed, activity.NewError(activity.ReasonRequestInvalid, "", nil,
			"Content-Encoding is not supported, because the stamp covers the body as sent: send it without an encoding")
	}
	return routed, nil
}

// Refusals with HTTP statuses of their own.
var (
	errNoPath = activity.NewError(activity.ReasonNotFound, "", nil, "this path is not served: the paths below "+
		"/public/v1/ are %s", strings.Join(slices.Sorted(maps.Keys(operations)), ", "))
	errNoConsole = activity.NewError(activity.ReasonNotFound, "", nil,
		"the approvals page is not served: set console in the configuration, or mount package httpapi/console")
	errMethod = activity.NewError(activity.ReasonRequestInvalid, "", nil, "this path is served by POST")
)

// stamps returns all headers that hold a stamp, whatever the case of their names.
func stamps(header http.Header) []stamp.Header {
	var all []stamp.Header
	for _, name := range [...]string{stamp.HeaderAPIKey, stamp.HeaderPasskey} {
		for _, value := range header.Values(name) {
			all = append(all, stamp.Header{Name: name, Value: value})
		}
	}
	return all
}

// recover answers a panic like any other internal error, counts it, and logs the stack.
func (h *handler) recover(w http.ResponseWriter, id, operation string, fault any) {
	if fault == nil {
		return
	}
	if err, ok := fault.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(fault)
	}
	h.options.Logger.Error("panic", "request", id, "fault", fault, "stack", string(debug.Stack()))
	h.observe(operation, activity.ReasonInternal)
	h.refuse(w, id, errors.New("panic"))
}
