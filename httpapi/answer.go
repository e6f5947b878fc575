package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/activity"
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

// refuse answers with an error. What an internal one was stands in the log,
// under the id that the answer gives.
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
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // who is not there to read it asks again
}
