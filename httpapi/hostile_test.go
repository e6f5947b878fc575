package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// stillServes checks that another client is served.
func stillServes(t *testing.T, f *enginetest.Fixture, server *httptest.Server) {
	t.Helper()
	f.Clock.Advance(time.Millisecond) // another body
	if response, answer := stamped(t, f, server.URL+signPath, f.Body(enginetest.Request{})); response.StatusCode != http.StatusOK {
		t.Errorf("others are served %s: %s", response.Status, answer)
	}
}

// endless is a body that sends spaces until left bytes have been read.
type endless struct{ left atomic.Int64 }

func (e *endless) Read(into []byte) (int, error) {
	left := e.left.Load()
	if left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(into)), left)
	for i := range into[:n] {
		into[i] = ' '
	}
	e.left.Add(-n)
	return int(n), nil
}

// wellFormed sets a stamp that is well-formed but not of this body.
func wellFormed(f *enginetest.Fixture, header http.Header) {
	stamp := f.APIKey.Header([]byte("another body"))
	header.Set(stamp.Name, stamp.Value)
}

// TestHugeBody sends 1 GiB, with and without Content-Length.
func TestHugeBody(t *testing.T) {
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, length := range []int64{1 << 30, -1} {
		body := new(endless)
		body.left.Store(1 << 30)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+signPath, body)
		testenv.Must(t, err)
		request.ContentLength = length
		wellFormed(f, request.Header)
		response, err := http.DefaultClient.Do(request)
		if err == nil { // else the connection was closed while the body was being sent
			answer, _ := io.ReadAll(response.Body)
			response.Body.Close()
			checkError(t, response, answer, http.StatusBadRequest, "REQUEST_INVALID")
		}
		if sent := 1<<30 - body.left.Load(); sent > 64<<20 {
			t.Errorf("%d bytes were taken in", sent)
		}
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<20 {
		t.Errorf("%d bytes were allocated", allocated)
	}
	stillServes(t, f, server)
}

// TestLongBodyRefusedEarly checks that the rest of an overlong body is not waited for, nor any
// of it if the header announces its length.
func TestLongBodyRefusedEarly(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{MaxBody: 10_000, BodyTimeout: time.Hour})
	header := http.Header{}
	wellFormed(f, header)
	for name, sent := range map[string]string{
		"by its header": "Content-Length: 10001\r\n\r\n",
		"in chunks":     "Transfer-Encoding: chunked\r\n\r\n2711\r\n" + strings.Repeat(" ", 10_001) + "\r\n",
	} {
		conn := dial(t, server)
		testenv.Must(t, conn.SetDeadline(time.Now().Add(testenv.Patience)))
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nX-Stamp: %s\r\n%s", signPath, header.Get("X-Stamp"), sent)
		response, answer := answerOn(t, conn)
		checkError(t, response, answer, http.StatusBadRequest, "REQUEST_INVALID")
		if !strings.Contains(string(answer), "longer than 10000 bytes") || !response.Close {
			t.Errorf("%s: close %t, %s", name, response.Close, answer)
		}
	}
	body := f.Body(enginetest.Request{})
	if response, answer := stamped(t, f, server.URL+signPath, body+strings.Repeat(" ", 10_000-len(body))); response.StatusCode != http.StatusOK {
		t.Errorf("10,000 bytes: %s %s", response.Status, answer)
	}
}

// answerOn reads an answer.
func answerOn(t testing.TB, conn net.Conn) (*http.Response, []byte) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	testenv.Must(t, err)
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	return response, answer
}

// TestBodyMemory checks that slowly arriving bodies share a bounded amount of memory, and that
// short bodies are served meanwhile.
func TestBodyMemory(t *testing.T) {
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{MaxBufferedBytes: 64 << 10, BodyTimeout: time.Hour})
	header := http.Header{}
	wellFormed(f, header)
	hold := func() net.Conn { // holds 28 KiB beyond its first 4 while it stalls
		conn := dial(t, server)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nX-Stamp: %s\r\nContent-Length: 30000\r\n\r\n%s", signPath, header.Get("X-Stamp"), strings.Repeat(" ", 20<<10))
		return conn
	}
	holder := hold()
	long := f.Body(enginetest.Request{}) + strings.Repeat(" ", 60<<10)
	testenv.Await(t, "the long body is refused for lack of room", func() bool {
		response, answer := stamped(t, f, server.URL+signPath, long)
		if response.StatusCode == http.StatusOK { // the holder has not arrived yet, or was itself refused
			_ = holder.SetReadDeadline(time.Now().Add(time.Millisecond))
			if n, _ := holder.Read(make([]byte, 1)); n > 0 {
				_ = holder.Close()
				holder = hold()
			}
			return false
		}
		checkError(t, response, answer, http.StatusServiceUnavailable, "UNAVAILABLE")
		if response.Header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", response.Header.Get("Retry-After"))
		}
		return true
	})
	stillServes(t, f, server)
	_ = holder.Close()
	testenv.Await(t, "the memory is given back", func() bool {
		response, _ := stamped(t, f, server.URL+signPath, long)
		return response.StatusCode == http.StatusOK
	})
}

// TestMalformedChunks checks that a body whose chunks are malformed, or that ends early, is called
// that: it was not slow.
func TestMalformedChunks(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{BodyTimeout: time.Hour})
	for name, test := range map[string]struct{ body, want string }{
		"a size that is no number": {"xyz\r\n{}\r\n0\r\n\r\n", "chunks are malformed"},
		"a negative size":          {"-2\r\n{}\r\n0\r\n\r\n", "chunks are malformed"},
		"a size beyond 64 bits":    {"fffffffffffffffff\r\n{}", "chunks are malformed"},
		"no size":                  {"\r\n{}\r\n0\r\n\r\n", "chunks are malformed"},
		"a bare line feed":         {"2\n{}\r\n0\r\n\r\n", "chunks are malformed"},
		"more than its size":       {"2\r\n{}{}\r\n0\r\n\r\n", "chunks are malformed"},
		"an endless extension":     {"2;" + strings.Repeat("a", 8<<10) + "\r\n{}\r\n0\r\n\r\n", "chunks are malformed"},
		"many empty extensions":    {strings.Repeat("1;"+strings.Repeat("a", 2000)+"\r\n{\r\n", 100), "chunks are malformed"},
		"an end that is missing":   {"2\r\n{}\r\n", "ended early"},
		"half a chunk":             {"20\r\n{}", "ended early"},
	} {
		conn := dial(t, server)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%s", signPath, test.body)
		if test.want == "ended early" { // the others are answered before their end, and may be closed by now
			testenv.Must(t, conn.(*net.TCPConn).CloseWrite())
		}
		response, answer := answerOn(t, conn)
		if response.StatusCode != http.StatusBadRequest || !strings.Contains(string(answer), test.want) || !response.Close {
			t.Errorf("%s: %s, close %v: %s", name, response.Status, response.Close, answer)
		}
	}
}

// TestSlowBody checks that a body must arrive within BodyTimeout, and that the work may take
// longer than that.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := enginetest.New(t)
		server := httpapi.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
		listener := newPipes()
		go func() { _ = server.Serve(listener) }()
		defer server.Close()
		ask := func(length int, sent string) (*http.Response, []byte) {
			conn := listener.dial()
			defer conn.Close()
			header := f.APIKey.Header([]byte(sent))
			go fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s", signPath, header.Name, header.Value, length, sent)
			return answerOn(t, conn)
		}
		started := time.Now()
		response, answer := ask(100, "{")
		checkError(t, response, answer, http.StatusBadRequest, "REQUEST_INVALID")
		if took := time.Since(started); took != httpapi.DefaultBodyTimeout {
			t.Errorf("the body was waited for %v", took)
		}

		f.Signing.Before = func(context.Context) error { time.Sleep(2 * httpapi.DefaultBodyTimeout); return nil }
		body := f.Body(enginetest.Request{})
		if response, answer := ask(len(body), body); response.StatusCode != http.StatusOK {
			t.Errorf("work of twice BodyTimeout: %s %s", response.Status, answer)
		}
	})
}

func dial(t testing.TB, server *httptest.Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	testenv.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestEndlessHeader sends a header that does not end, and checks that others are served.
func TestEndlessHeader(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{})
	conn := dial(t, server)
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\n", signPath)
	sent := 0
	for ; sent < 1<<20; sent += 1024 {
		if _, err := fmt.Fprintf(conn, "X-%04d: %s\r\n", sent/1024, strings.Repeat("a", 1000)); err != nil {
			break
		}
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		response.Body.Close()
		if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("an endless header: %s", response.Status)
		}
	}
	stillServes(t, f, server)
}

func TestDeepJSON(t *testing.T) {
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{})
	body := f.Body(enginetest.Request{})
	deep := strings.Repeat(`{"a":`, 200_000)
	for _, changed := range []string{
		strings.Replace(body, `"parameters":{`, `"parameters":`+deep, 1),
		deep,
		strings.Repeat("[", 2<<20-1),
	} {
		response, answer := stamped(t, f, server.URL+signPath, changed)
		checkError(t, response, answer, http.StatusBadRequest, "REQUEST_INVALID")
		if len(answer) > 1000 {
			t.Errorf("the refusal has %d bytes", len(answer))
		}
	}
	stillServes(t, f, server)
}

// TestIdleConnections opens ten thousand idle connections, or as many as the process may.
func TestIdleConnections(t *testing.T) {
	testenv.Slow(t)
	var limit syscall.Rlimit
	testenv.Must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	count := int(min(10_000, (limit.Cur-200)/2)) // both ends are ours
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range count {
		fmt.Fprintf(dial(t, server), "POST %s HTTP/1.1\r\n", signPath)
	}
	stillServes(t, f, server)
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapInuse+after.StackInuse) - int64(before.HeapInuse+before.StackInuse)
	t.Logf("%d idle connections: %d bytes each, both ends", count, grown/int64(count))
	if grown > int64(count)*64<<10 {
		t.Errorf("%d bytes for %d connections", grown, count)
	}
}
