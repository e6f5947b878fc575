package httpapi

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/activity"
)

// freeBody is how much of a body is read without asking whether there is room.
const freeBody = 4 << 10

// readBody reads a body within the bounds. arrived gives its memory back; it is
// called when the request is done with.
//
// The buffer grows with what has come, not with what the header says will: who
// wants memory here has to send as much.
func (h *handler) readBody(w http.ResponseWriter, r *http.Request) (body []byte, arrived func(), err error) {
	reserved := 0
	arrived = func() { h.arriving.Add(-int64(reserved)) }
	if r.ContentLength > int64(h.options.MaxBody) {
		w.Header().Set("Connection", "close")
		return nil, arrived, h.tooLarge()
	}
	// A server's own ReadTimeout would go on after the body is there and end
	// the request's context, so that this sets its own, and clears it then. If
	// the body does not arrive it stays, and bounds how long the server waits
	// for the rest.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(h.options.BodyTimeout))
	defer func() {
		if err != nil {
			w.Header().Set("Connection", "close")
			return
		}
		_ = control.SetReadDeadline(time.Time{})
	}()

	source := http.MaxBytesReader(w, r.Body, int64(h.options.MaxBody))
	body = make([]byte, 0, firstBuffer(r.ContentLength))
	for {
		n, readErr := source.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(readErr, io.EOF) {
			return body, arrived, nil
		}
		if readErr != nil {
			return nil, arrived, h.refuseBody(readErr)
		}
		if len(body) < cap(body) {
			continue
		}
		if !h.reserve(cap(body)) {
			return nil, arrived, errNoRoom()
		}
		reserved += cap(body)
		body = append(make([]byte, 0, 2*cap(body)), body...)
	}
}

// firstBuffer is how much memory a body begins with: what is free, or as much as
// a short one has, with a byte more in which to see its end.
func firstBuffer(length int64) int {
	if 0 <= length && length < freeBody {
		return int(length) + 1
	}
	return freeBody
}

// reserve takes memory for bodies, if there is that much.
func (h *handler) reserve(size int) bool {
	if h.arriving.Add(int64(size)) <= int64(h.options.MaxArriving) {
		return true
	}
	h.arriving.Add(-int64(size))
	return false
}

func (h *handler) tooLarge() error {
	return activity.NewError(activity.ReasonRequestInvalid, "", nil, "the body is longer than %d bytes", h.options.MaxBody)
}

func (h *handler) refuseBody(err error) error {
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return h.tooLarge()
	}
	return activity.NewError(activity.ReasonRequestInvalid, "", err, "the body did not arrive whole within %s", h.options.BodyTimeout)
}

func errNoRoom() error {
	refused := activity.NewError(activity.ReasonUnavailable, "", nil, "too many long bodies are arriving: send this one again in a second")
	refused.RetryAfter = time.Second
	return refused
}
