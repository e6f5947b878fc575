package httpapi_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestBodiesWithoutStamp checks that strangers who announce long bodies without a plausible
// stamp are refused after the free 4 KiB, and that an honest body still finds room.
func TestBodiesWithoutStamp(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{MaxBufferedBytes: 1 << 20})
	for i := range 60 {
		conn := dial(t, server)
		stamp := map[int]string{0: "", 1: "X-Stamp: e30\r\n", 2: "X-Stamp: a\r\nX-Stamp: a\r\n"}[i%3]
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\n%sContent-Length: 1048577\r\n\r\n%s", signPath, stamp, strings.Repeat(" ", 8<<10))
		response, answer := answerOn(t, conn)
		if response.StatusCode != http.StatusUnauthorized || !response.Close {
			t.Fatalf("%s, close %t: %s", response.Status, response.Close, answer)
		}
	}
	long := f.Body(enginetest.Request{}) + strings.Repeat(" ", 6<<10)
	if response, answer := stamped(t, f, server.URL+signPath, long); response.StatusCode != http.StatusOK {
		t.Errorf("an honest body: %s %s", response.Status, answer)
	}
}

// TestBodyLimitByOperation checks that only a transaction may be as long as MaxBody.
func TestBodyLimitByOperation(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{})
	for path, limit := range map[string]int{
		"/public/v1/query/whoami": httpapi.MaxOtherBody, "/public/v1/query/get_activity": httpapi.MaxOtherBody,
		"/public/v1/submit/init_otp_auth": httpapi.MaxOtherBody, "/public/v1/submit/verify_otp": httpapi.MaxOtherBody,
		signPath: httpapi.DefaultMaxBody,
	} {
		_, answer := stamped(t, f, server.URL+path, strings.Repeat(" ", limit))
		if strings.Contains(string(answer), "longer than") {
			t.Errorf("%s: %d bytes: %s", path, limit, answer)
		}
		response, answer := stamped(t, f, server.URL+path, strings.Repeat(" ", limit+1))
		checkError(t, response, answer, http.StatusBadRequest, "REQUEST_INVALID")
		if !strings.Contains(string(answer), fmt.Sprintf("longer than %d bytes", limit)) {
			t.Errorf("%s: %s", path, answer)
		}
	}
}

// pipes is a listener of unbuffered connections: the server holds whatever the client does
// not read.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// dial returns the client's end.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// answering reports when a handler has begun to answer.
type answering struct {
	http.ResponseWriter
	begun func()
}

func (a *answering) WriteHeader(status int) {
	a.begun()
	a.ResponseWriter.WriteHeader(status)
}

func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// TestUnreadAnswers checks the memory held for a hundred clients that query a record of 2 MiB,
// whose answer has 12 MB, and read nothing.
func TestUnreadAnswers(t *testing.T) {
	f := enginetest.New(t)
	record, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(longBody(f, 2<<20-1000, 0)))
	testenv.Must(t, err)
	doNotRead(t, f, "get_activity", fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, record.ID), 100)
}

// TestUnreadListings checks the memory held for hundreds of clients that list a hundred
// records of 6 KiB, an answer of 3 MB, or of 200 KiB, and read nothing.
func TestUnreadListings(t *testing.T) {
	testenv.Slow(t)
	for size, clients := range map[int]int{6 << 10: 400, 200 << 10: 100} {
		f := enginetest.New(t)
		for i := range activity.MaxPage {
			if _, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(longBody(f, size, i))); err != nil {
				t.Fatal(err)
			}
		}
		doNotRead(t, f, "list_activities", fmt.Sprintf(`{"organizationId":%q,"paginationOptions":{"limit":"100"}}`, enginetest.Organization), clients)
	}
}

// longBody returns a request body with the given amount of white space.
func longBody(f *enginetest.Fixture, spaces, number int) string {
	body := f.Body(enginetest.Request{At: f.Clock.Now().Add(time.Duration(number) * time.Millisecond)})
	return strings.Replace(body, `"parameters":{`, `"parameters":{`+strings.Repeat("\n", spaces), 1)
}

// doNotRead makes clients send a query and read nothing of the answer, and checks that the
// server's memory stays bounded.
func doNotRead(t *testing.T, f *enginetest.Fixture, path, query string, clients int) {
	const bound = 128 << 20
	// What counts is what the server holds, not how late garbage is collected.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(bound * 3 / 4))
	var answered sync.WaitGroup
	answered.Add(clients)
	api := httpapi.New(f.Engine, httpapi.Options{})
	server := httpapi.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(&answering{w, sync.OnceFunc(answered.Done)}, r)
	}))
	listener := newPipes()
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	ctx, stop := context.WithCancel(t.Context())
	peak := make(chan uint64)
	go watchMemory(ctx, peak)
	stamp := f.APIKey.Header([]byte(query))
	for range clients {
		conn := listener.dial()
		defer conn.Close()
		go fmt.Fprintf(conn, "POST /public/v1/query/%s HTTP/1.1\r\nHost: a\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s", path, stamp.Name, stamp.Value, len(query), query)
	}
	answered.Wait()
	stop()
	if most := <-peak; most > bound {
		t.Errorf("%d MiB were in use", most>>20)
	} else {
		t.Logf("%d MiB were in use", most>>20)
	}
}

// watchMemory sends the most memory that a collection has found in use, once the context ends.
func watchMemory(ctx context.Context, peak chan<- uint64) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var most uint64
	for {
		metrics.Read(live)
		most = max(most, live[0].Value.Uint64())
		if ctx.Err() != nil {
			peak <- most
			return
		}
		runtime.Gosched()
	}
}
