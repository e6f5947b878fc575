package httpapi

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
)

// freeBody is how much of a body is read without asking whether there is room.
const freeBody = 4 << 10

// readBody reads a body within the bounds of its operation. What it reserves is
// released by the caller when the request is done with.
//
// The buffer grows with what has arrived, not with what the header announces,
// and beyond the free part only for a request with a well-formed stamp.
func (h *handler) readBody(w http.ResponseWriter, r *http.Request, most int, held *reservation) (body []byte, err error) {
	if r.ContentLength > int64(most) {
		w.Header().Set("Connection", "close")
		return nil, tooLarge(most)
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

	source := http.MaxBytesReader(w, r.Body, int64(most))
	body = make([]byte, 0, firstBuffer(r.ContentLength))
	for {
		n, readErr := source.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(readErr, io.EOF) {
			return body, nil
		}
		if readErr != nil {
			return nil, h.refuseBody(readErr, most)
		}
		if len(body) < cap(body) {
			continue
		}
		if len(body) == freeBody {
			if err := countersign.CheckStamps(stamps(r.Header)); err != nil {
				return nil, err
			}
		}
		if !held.take(cap(body)) {
			return nil, errNoRoom()
		}
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

func tooLarge(most int) error {
	return activity.NewError(activity.ReasonRequestInvalid, "", nil, "the body is longer than %d bytes", most)
}

func (h *handler) refuseBody(err error, most int) error {
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return tooLarge(most)
	}
	return activity.NewError(activity.ReasonRequestInvalid, "", err, "the body did not arrive whole within %s", h.options.BodyTimeout)
}

func errNoRoom() error {
	refused := activity.NewError(activity.ReasonUnavailable, "", nil, "too many long requests are under way: send this one again in a second")
	refused.RetryAfter = time.Second
	return refused
}
