package httpapi_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestResetStreams checks that a connection whose HTTP/2 client resets its streams gives way
// to others once their requests have ended: it does not stay busy.
func TestResetStreams(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	f := enginetest.New(t)
	f.Signing.Before = func(context.Context) error { close(entered); <-leave; return nil }
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpapi.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
	server.Listener = httpapi.LimitConnections(server.Listener, 1)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	trusted := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	conn, err := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{RootCAs: trusted, NextProtos: []string{"h2"}})
	testenv.Must(t, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testenv.Patience))
	send := func(err error) {
		t.Helper()
		testenv.Must(t, err)
	}
	_, err = conn.Write([]byte(http2.ClientPreface))
	send(err)
	framer := http2.NewFramer(conn, conn)
	send(framer.WriteSettings())
	body := []byte(f.Body(enginetest.Request{}))
	stamp := f.APIKey.Header(body)
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for _, field := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":authority", "a"}, {":path", signPath}, {"x-stamp", stamp.Value}} {
		send(encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
	}
	send(framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Bytes(), EndHeaders: true}))
	send(framer.WriteData(1, true, body))
	<-entered
	send(framer.WriteRSTStream(1, http2.ErrCodeCancel))
	send(framer.WritePing(false, [8]byte{1}))
	for acknowledged := false; !acknowledged; { // the reset has arrived, too
		frame, err := framer.ReadFrame()
		send(err)
		ping, ok := frame.(*http2.PingFrame)
		acknowledged = ok && ping.IsAck()
	}
	close(leave)
	client := &http.Client{Timeout: testenv.Patience, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	defer client.CloseIdleConnections()
	response, err := client.Get(server.URL)
	if err != nil {
		t.Fatalf("the next connection is not served: %v", err)
	}
	response.Body.Close()
}
