package client

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// inProcess is the URL of a client with a Handler.
const inProcess = "http://in-process"

// handlerTransport is an http.RoundTripper whose server is a handler of this process. The
// handler runs in the caller's goroutine, with its context.
type handlerTransport struct{ http.Handler }

func (t handlerTransport) RoundTrip(request *http.Request) (response *http.Response, err error) {
	received := request.Clone(request.Context())
	if received.Body == nil {
		received.Body = http.NoBody
	}
	defer func() { _ = received.Body.Close() }()
	received.RequestURI = request.URL.RequestURI()
	received.RemoteAddr = "in-process"
	answer := &answerWriter{header: http.Header{}}
	if err := t.serve(answer, received); err != nil {
		return nil, err
	}
	if err := request.Context().Err(); err != nil && answer.status != http.StatusOK {
		return nil, err // as if the connection had been closed
	}
	answer.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", answer.status, http.StatusText(answer.status)), StatusCode: answer.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.header, Body: io.NopCloser(&answer.body), ContentLength: int64(answer.body.Len()), Request: request,
	}, nil
}

// serve runs the handler. A server would close the connection of one that aborts.
func (t handlerTransport) serve(answer http.ResponseWriter, request *http.Request) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			if cause, ok := fault.(error); !ok || !errors.Is(cause, http.ErrAbortHandler) {
				panic(fault)
			}
			err = io.ErrUnexpectedEOF
		}
	}()
	t.ServeHTTP(answer, request)
	return nil
}

// answerWriter holds an answer in memory.
type answerWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *answerWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. Only the first call counts.
func (w *answerWriter) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
}

func (w *answerWriter) Write(part []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(part)
}
