package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
)

// freeBody is how many bytes of a body may be held without counting against the budget.
const freeBody = 4 << 10

// readBody reads a body of at most limit bytes. The caller releases memory when the request
// is done.
//
// The buffer grows with the bytes that have arrived, not with the announced length, and
// beyond freeBody only for a request with a well-formed stamp.
func (h *handler) readBody(w http.ResponseWriter, r *http.Request, limit int, memory *reservation) (body []byte, err error) {
	if r.ContentLength > int64(limit) {
		w.Header().Set("Connection", "close")
		return nil, tooLarge(limit)
	}
	// http.Server.ReadTimeout would keep running after the body has arrived and end the
	// request's context, so set a deadline here and clear it afterwards. If the body
	// does not arrive, the deadline stays, and bounds how long the server drains the
	// rest.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(h.options.BodyTimeout))
	defer func() {
		if err != nil {
			w.Header().Set("Connection", "close")
			return
		}
		_ = control.SetReadDeadline(time.Time{})
	}()

	source := http.MaxBytesReader(w, r.Body, int64(limit))
	body = make([]byte, 0, firstBuffer(r.ContentLength))
	for {
		n, readErr := source.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(readErr, io.EOF) {
			return body, nil
		}
		if readErr != nil {
			return nil, h.refuseBody(readErr, limit)
		}
		if len(body) < cap(body) {
			continue
		}
		if len(body) == freeBody {
			if _, err := access.ParseStamp(stamps(r.Header)); err != nil {
				return nil, err
			}
		}
		if !memory.take(cap(body)) {
			return nil, errNoRoom()
		}
		body = append(make([]byte, 0, 2*cap(body)), body...)
	}
}

// firstBuffer returns the initial size of a body's buffer: freeBody, or for a shorter body
// its length and one byte, in which to detect the end.
func firstBuffer(length int64) int {
	if 0 <= length && length < freeBody {
		return int(length) + 1
	}
	return freeBody
}

func tooLarge(limit int) error {
	return activity.NewError(activity.ReasonRequestInvalid, "", nil, "the body is longer than %d bytes: split what it asks for; a PSBT is shorter with fewer inputs, or with taproot inputs, which need no previous transactions, and 'countersign sign' takes up to 32 MiB", limit)
}

func (h *handler) refuseBody(err error, limit int) error {
	_, long := errors.AsType[*http.MaxBytesError](err)
	switch {
	case long:
		return tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return activity.NewError(activity.ReasonRequestInvalid, "", err, "the body did not arrive completely within %s", h.options.BodyTimeout)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return activity.NewError(activity.ReasonRequestInvalid, "", err, "the body ended early: the connection was closed")
	}
	return activity.NewError(activity.ReasonRequestInvalid, "", err, "the body's chunks are malformed")
}

func errNoRoom() error {
	refused := activity.NewError(activity.ReasonUnavailable, "", nil, "too many long requests are in flight: send this one again in a second")
	refused.RetryAfter = time.Second
	return refused
}
