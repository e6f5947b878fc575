package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/inbound"
)

// statuses are the HTTP statuses of the codes that the API speaks.
var statuses = map[activity.Code]int{
	activity.CodeInvalidArgument:   http.StatusBadRequest,
	activity.CodeNotFound:          http.StatusNotFound,
	activity.CodePermissionDenied:  http.StatusForbidden,
	activity.CodeResourceExhausted: http.StatusTooManyRequests,
	activity.CodeInternal:          http.StatusInternalServerError,
	activity.CodeUnavailable:       http.StatusServiceUnavailable,
	activity.CodeUnauthenticated:   http.StatusUnauthorized,
}

// refuse answers with an error. An internal error is replaced by the request's id, under
// which the log has the cause.
func (h *handler) refuse(w http.ResponseWriter, id string, err error) {
	var refused *activity.Error
	if !errors.As(err, &refused) || refused.Code == activity.CodeInternal {
		refused = activity.NewError(activity.ReasonInternal, "", err, "internal error, incident %s", id)
	}
	if refused.RetryAfter > 0 {
		seconds := (refused.RetryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	status, ok := statuses[refused.Code]
	if refused.Code == activity.CodeUnauthenticated || refused == errNoPath || refused == errNoConsole ||
		refused == errMethod {
		w.Header().Set("Connection", "close") // do not keep connections of strangers
	}
	switch {
	case refused == errMethod:
		status = http.StatusMethodNotAllowed
		w.Header().Set("Allow", http.MethodPost)
	case !ok:
		status = http.StatusInternalServerError
	}
	write(w, status, refused.AppendJSON(nil))
}

func write(w http.ResponseWriter, status int, body []byte) {
	writeHead(w, status, len(body))
	_, _ = w.Write(body) // a client that is gone sends the request again
}

func writeHead(w http.ResponseWriter, status, length int) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(length))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
}

// PieceTimeout is how long a client may take to read each piece of a long answer. The
// server holds what the client has not read in memory.
const PieceTimeout = 5 * time.Second

func (h *handler) answer(w http.ResponseWriter, answer reply) {
	if answer.long == nil {
		write(w, http.StatusOK, answer.json)
		return
	}
	whole, size := answer.long.Answer()
	if whole != nil {
		write(w, http.StatusOK, whole)
		return
	}
	writeHead(w, http.StatusOK, size)
	_ = answer.long.WriteAnswer(pieces{w, http.NewResponseController(w)})
}

// pieces writes to a client that must read each piece within PieceTimeout.
type pieces struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (p pieces) Write(written []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(PieceTimeout))
	return p.w.Write(written)
}

// freeAnswer is how many bytes of records an answer may hold without counting against the budget.
const freeAnswer = 48 << 10

// records is the memory of the records in an answer.
type records struct {
	memory *inbound.Reservation
	read   int // bytes, including the free part
}

// room is access.Origin.Room: it reserves memory for records read from the store.
func (r *records) room(size int) (free func(), err error) {
	if r.read += size; r.read <= freeAnswer {
		return func() { r.read -= size }, nil
	}
	if !r.memory.Take(size) {
		r.read -= size
		return nil, errNoRoom()
	}
	return func() { r.read -= size; r.memory.Give(size) }, nil
}
