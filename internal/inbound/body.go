package inbound

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"
)

// FreeBody is how many bytes of a body may be held without counting against the budget.
const FreeBody = 4 << 10

// Why a body is not read.
var (
	ErrTooLong   = errors.New("the body is too long")
	ErrLate      = errors.New("the body did not arrive in time")
	ErrCutOff    = errors.New("the body ended early: the connection was closed")
	ErrMalformed = errors.New("the body's chunks are malformed")
	ErrNoRoom    = errors.New("too many long requests are in flight: send this one again in a second")
)

// Body bounds a body.
type Body struct {
	Limit   int           // bytes
	Timeout time.Duration // for its arrival
	Memory  *Reservation  // which the caller releases when the request is done

	// Long is asked before more than FreeBody bytes are held; nil refuses none.
	Long func() error
}

// Read reads the body of a request. The error is of this package, or of Long.
//
// The buffer grows with the bytes that have arrived, not with the announced length.
func (b Body) Read(w http.ResponseWriter, r *http.Request) (body []byte, err error) {
	if r.ContentLength > int64(b.Limit) {
		w.Header().Set("Connection", "close")
		return nil, ErrTooLong
	}
	// http.Server.ReadTimeout would keep running after the body has arrived and end the request's
	// context, so set a deadline here and clear it afterwards. If the body does not arrive, the
	// deadline stays, and bounds how long the server drains the rest.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(b.Timeout))
	defer func() {
		if err != nil {
			w.Header().Set("Connection", "close")
			return
		}
		_ = control.SetReadDeadline(time.Time{})
	}()

	source := http.MaxBytesReader(w, r.Body, int64(b.Limit))
	size := FreeBody
	if 0 <= r.ContentLength && r.ContentLength < FreeBody {
		size = int(r.ContentLength) + 1 // one byte in which to detect the end
	}
	body = make([]byte, 0, size)
	for {
		n, readErr := source.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(readErr, io.EOF) {
			return body, nil
		}
		if readErr != nil {
			return nil, reason(readErr, r)
		}
		if len(body) < cap(body) {
			continue
		}
		if len(body) == FreeBody && b.Long != nil {
			if err := b.Long(); err != nil {
				return nil, err
			}
		}
		if !b.Memory.Take(cap(body)) {
			return nil, ErrNoRoom
		}
		body = append(make([]byte, 0, 2*cap(body)), body...)
	}
}

// reason returns the error of this package for one of reading.
func reason(err error, r *http.Request) error {
	_, long := errors.AsType[*http.MaxBytesError](err)
	_, network := errors.AsType[net.Error](err)
	chunked := slices.Contains(r.TransferEncoding, "chunked") // HTTP/1.1 only
	switch {
	case long:
		return ErrTooLong
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrLate
	case errors.Is(err, io.ErrUnexpectedEOF), network, !chunked: // of HTTP/2, a stream that was reset
		return ErrCutOff
	}
	return ErrMalformed
}
