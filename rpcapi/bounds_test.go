package rpcapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/rpcapi"
)

// crowded is a keystore with many keys of which only the listing is asked.
type crowded struct {
	keystore.Keystore
	key  keystore.KeyInfo
	many int
}

func (c crowded) Keys(context.Context, string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		for range c.many {
			if !yield(c.key, nil) {
				return
			}
		}
	}
}

// TestLongAnswers checks that a small batch cannot ask for an answer without end, and that what
// is left out is not carried out.
func TestLongAnswers(t *testing.T) {
	s := newServerOf(t, func(o *rpcapi.Options) {
		for info, err := range o.Keystore.Keys(t.Context(), enginetest.Organization) {
			if err == nil && info.PublicKey.Curve() == keystore.CurveSecp256k1 {
				o.Keystore = crowded{o.Keystore, info, 20_000}
				return
			}
		}
	})
	batch := strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"eth_accounts"},`, 99) + `{"jsonrpc":"2.0","id":2,"method":"eth_signTransaction","params":[` + ordinary + `]}`
	_, text := s.post("[" + batch + "]")
	if len(text) > rpcapi.MaxAnswerBytes+(1<<20) {
		t.Errorf("an answer of %d bytes", len(text))
	}
	var answers []answered
	if err := json.Unmarshal([]byte(text), &answers); err != nil || len(answers) != 100 {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	last := answers[99]
	if last.Error == nil || !strings.Contains(last.Error.Message, "not carried out") || len(last.Result) != 0 {
		t.Errorf("the last answer is %+v", last)
	}
	if a := s.call("eth_signTransaction", "["+ordinary+"]"); a.Error != nil {
		t.Errorf("alone: %+v", a.Error)
	}
}

// broken is a directory with a defect.
type broken struct{ access.Users }

func (broken) User(context.Context, string, string) (*access.User, error) { panic("a defect") }

type observed func(countersign.Observation)

func (o observed) Observe(seen countersign.Observation) { o(seen) }

// TestPanics checks that a defect ends the call that met it, is counted, and nothing else, over
// HTTP and over a socket, whose connections have no server that would recover.
func TestPanics(t *testing.T) {
	var faults atomic.Int64
	s := newServerOf(t, func(o *rpcapi.Options) {
		o.Directory = broken{o.Directory}
		o.Observer = observed(func(seen countersign.Observation) {
			if seen.Reason == activity.ReasonInternal && seen.Operation == "eth_accounts" {
				faults.Add(1)
			}
		})
	})
	check := func(text string) {
		t.Helper()
		var a answered
		if err := json.Unmarshal([]byte(text), &a); err != nil || a.Error == nil || a.Error.Message != "internal error" {
			t.Errorf("%v: %s", err, text)
		}
	}
	const call = `{"jsonrpc":"2.0","id":1,"method":"eth_accounts"}`
	status, text := s.post(call)
	if check(text); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	connection := s.dial()
	answers := bufio.NewReader(connection)
	for range 2 {
		if _, err := io.WriteString(connection, call); err != nil {
			t.Fatal(err)
		}
		line, err := answers.ReadString('\n')
		testenv.Must(t, err)
		check(line)
	}
	if n := faults.Load(); n != 3 {
		t.Errorf("%d faults are counted, want 3", n)
	}
}

// TestSharesOfMemory checks that the slow bodies of one user leave room for those of others,
// and that bytes count, not lengths that are announced.
func TestSharesOfMemory(t *testing.T) {
	const limit = 1 << 20
	s := newServerOf(t, twoUsers(t, limit))
	long := `{"jsonrpc":"2.0","id":1,"method":"health_status","params":["` + strings.Repeat("x", limit/8) + `"]}`
	refused := 0
	for range 64 { // each sends half of what it announces, and waits
		if s.half(long) {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no slow body is refused")
	}
	if status, text := s.post(long, "Authorization", "Bearer "+otherToken); status != http.StatusOK {
		t.Errorf("another user's body: status %d: %s", status, text)
	}
}

// twoUsers are the options of a server with two users, who share so many bytes.
func twoUsers(t *testing.T, bytes int) func(*rpcapi.Options) {
	t.Helper()
	users, err := rpcapi.NewUsers([]rpcapi.User{
		{OrganizationID: enginetest.Organization, UserID: "user-1", Token: token},
		{OrganizationID: enginetest.Organization, UserID: "user-2", Token: otherToken},
	}, nil)
	testenv.Must(t, err)
	return func(o *rpcapi.Options) {
		o.MaxBufferedBytes = bytes
		o.Users = func() *rpcapi.Users { return users }
	}
}

// half sends half of a body, waits until the server has taken it or refused the request, and
// reports whether it has been refused.
func (s *server) half(body string) (refused bool) {
	s.t.Helper()
	before := s.handler.Buffered()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	testenv.Must(s.t, err)
	s.t.Cleanup(func() { _ = connection.Close() })
	host := strings.TrimPrefix(s.url, "http://")
	_, err = fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		host, token, len(body), body[:len(body)/2])
	testenv.Must(s.t, err)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = connection.Read(make([]byte, 1))
	}()
	testenv.Await(s.t, "an answer, or a buffer for the body", func() bool {
		select {
		case <-answered:
			refused = true
		default:
		}
		return refused || s.handler.Buffered() >= before+len(body)/4
	})
	return refused
}

// TestSocketBounds checks what one process can take of a socket: connections, and the length of
// what it sends.
func TestSocketBounds(t *testing.T) {
	s := newServer(t)
	s.dial()
	const health = `{"jsonrpc":"2.0","id":1,"method":"health_status"}`
	open := 1
	for range rpcapi.MaxSocketConnections {
		connection := s.dial()
		_, _ = io.WriteString(connection, health)
		if line, err := bufio.NewReader(connection).ReadString('\n'); err == nil && strings.Contains(line, `"ok"`) {
			open++
		}
	}
	if open != rpcapi.MaxSocketConnections/4 {
		t.Errorf("one process has %d connections, want a quarter of %d", open, rpcapi.MaxSocketConnections)
	}

	s = newServer(t)
	connection := s.dial()
	go func() { _, _ = io.Copy(connection, io.MultiReader(strings.NewReader(`["`), endless{})) }()
	answer, err := io.ReadAll(connection)
	if err != nil && !errors.Is(err, os.ErrClosed) && !strings.Contains(err.Error(), "reset") {
		t.Fatal(err)
	}
	if len(answer) > 0 && !strings.Contains(string(answer), "too long") {
		t.Errorf("a request without end is answered %s", answer)
	}
	if n := s.handler.Buffered(); n != 0 {
		t.Errorf("%d bytes are still held", n)
	}
}

// TestSocketPatience checks that a process which does not read its answers, one whose body stops
// and one that no user is recognized by do not hold the socket, and that an idle one is kept.
func TestSocketPatience(t *testing.T) {
	const health = `{"jsonrpc":"2.0","id":1,"method":"health_status"}` + "\n"
	soon := func(o *rpcapi.Options) { o.BodyTimeout, o.AnswerTimeout = 50*time.Millisecond, 50*time.Millisecond }
	s := newServerOf(t, soon)
	idle := s.dial()
	answers := bufio.NewReader(idle)
	ask := func() {
		t.Helper()
		_, _ = io.WriteString(idle, health)
		if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, `"ok"`) {
			t.Errorf("an idle connection: %s, %v", line, err)
		}
	}
	ask()
	_, _ = io.WriteString(idle, "\n \n") // begins no body

	deaf, half := s.dial(), s.dial()
	_ = deaf.SetDeadline(time.Now().Add(testenv.Patience))
	_ = half.SetDeadline(time.Now().Add(testenv.Patience))
	var err error
	for err == nil {
		_, err = io.WriteString(deaf, health)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a process that does not read its answers is waited for")
	}
	_, _ = io.WriteString(half, `{"jsonrpc":`)
	if answer, err := io.ReadAll(half); err != nil || !strings.Contains(string(answer), "in time") {
		t.Errorf("a body that stops: %s, %v", answer, err)
	}
	second := s.dial()
	_ = second.SetDeadline(time.Now().Add(testenv.Patience))
	_, _ = io.WriteString(second, health+`{"jsonrpc":`)
	if answers, err := io.ReadAll(second); err != nil || !strings.Contains(string(answers), `"ok"`) || !strings.Contains(string(answers), "in time") {
		t.Errorf("a body that stops, begun with the one before: %s, %v", answers, err)
	}
	ask()

	none, err := rpcapi.NewUsers(nil, nil)
	testenv.Must(t, err)
	s = newServerOf(t, func(o *rpcapi.Options) { o.Users = func() *rpcapi.Users { return none } })
	stranger := s.dial()
	_ = stranger.SetDeadline(time.Now().Add(testenv.Patience))
	_, _ = io.WriteString(stranger, `["`+strings.Repeat("x", 8<<10))
	if line, err := bufio.NewReader(stranger).ReadString('}'); err != nil || !strings.Contains(line, "too long") {
		t.Errorf("a stranger's long body: %s, %v", line, err)
	}
}

// TestBusyCallersAreKept checks that a connection whose call is carried out is not closed to
// make room for another one: an idle one is.
func TestBusyCallersAreKept(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s := newServer(t)
	s.Signing.Before = func(context.Context) error { close(entered); <-leave; return nil }
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	server := httpapi.NewServer(s.handler)
	go func() { _ = server.Serve(httpapi.LimitConnections(inner, 2)) }()
	defer server.Close()
	s.url = "http://" + inner.Addr().String()
	status := make(chan int, 1)
	go func() {
		got, _ := s.post(`{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[` + ordinary + `]}`)
		status <- got
	}()
	<-entered
	for range 2 { // the second takes the place of the first
		idle, err := net.Dial("tcp", inner.Addr().String())
		testenv.Must(t, err)
		defer idle.Close()
		_ = idle.SetDeadline(time.Now().Add(testenv.Patience))
		fmt.Fprintf(idle, "GET /upcheck HTTP/1.1\r\nHost: %s\r\n\r\n", inner.Addr())
		if line, err := bufio.NewReader(idle).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			t.Errorf("%s, %v", line, err)
		}
	}
	close(leave)
	if got := <-status; got != http.StatusOK {
		t.Errorf("the call that was being carried out: %d", got)
	}
}

type endless struct{}

func (endless) Read(into []byte) (int, error) {
	copy(into, bytes.Repeat([]byte("x"), len(into)))
	return len(into), nil
}

// dial returns a connection to a socket of the server.
func (s *server) dial() net.Conn {
	s.t.Helper()
	if s.socket == "" {
		s.socket = filepath.Join(s.t.TempDir(), "s")
		listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.socket, Net: "unix"})
		testenv.Must(s.t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = s.handler.ServeSocket(s.t.Context(), listener)
		}()
		s.t.Cleanup(func() {
			_ = listener.Close()
			<-done
		})
	}
	connection, err := net.Dial("unix", s.socket)
	testenv.Must(s.t, err)
	s.t.Cleanup(func() { _ = connection.Close() })
	return connection
}
