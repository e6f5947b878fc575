package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// twoCredentials gives the fixture's organization a second user, and returns that one's key.
func twoCredentials(t *testing.T) (*enginetest.Fixture, *enginetest.APIKey) {
	t.Helper()
	second := enginetest.NewAPIKey(t)
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Users: []access.UserConfig{
		{Name: "ann", APIKeys: []access.APIKeyConfig{second.Config()}},
	}}})
	testenv.Must(t, err)
	return enginetest.New(t, func(config *countersign.Config) { config.Directory = both{config.Directory, directory} }), second
}

// ask sends a stamped query and returns the status of its answer, of which it reads nothing
// but the head.
func ask(t *testing.T, conn net.Conn, key *enginetest.APIKey, path, body string) int {
	t.Helper()
	stamp := key.Header([]byte(body))
	fmt.Fprintf(conn, "POST /public/v1/%s HTTP/1.1\r\nHost: a\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s", path, stamp.Name, stamp.Value, len(body), body)
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	testenv.Must(t, err)
	return response.StatusCode
}

// TestAnswersOfOneCredential checks that a credential that reads no answers, over as many
// connections from a private address as it likes, leaves room for the answers of another.
func TestAnswersOfOneCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no answer is given up while another is asked for
		f, other := twoCredentials(t)
		record, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(longBody(f, 200<<10, 0)))
		testenv.Must(t, err)
		query := fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, record.ID)
		listener := newPipes()
		server := httpapi.NewServer(httpapi.New(f.Engine, httpapi.Options{MaxAnswerBytes: 8 << 20}))
		go func() { _ = server.Serve(listener) }()
		defer server.Close()
		refused := 0
		for range 40 {
			conn := listener.dial()
			defer conn.Close()
			switch status := ask(t, conn, f.APIKey, "query/get_activity", query); status {
			case http.StatusServiceUnavailable:
				refused++
			case http.StatusOK:
			default:
				t.Fatalf("the attacker is answered %d", status)
			}
		}
		if refused == 0 {
			t.Error("one credential holds as many answers as it likes")
		}
		conn := listener.dial()
		defer conn.Close()
		if status := ask(t, conn, other, "query/get_activity", query); status != http.StatusOK {
			t.Errorf("the other credential is answered %d", status)
		}
	})
}

// TestConnectionsOfOneCredential checks that a credential whose requests take their time
// leaves connections to another, and may itself have some again when they are done.
func TestConnectionsOfOneCredential(t *testing.T) {
	const limit = 8
	f, other := twoCredentials(t)
	entered, leave := make(chan struct{}, limit), make(chan struct{})
	f.Signing.Before = func(context.Context) error {
		entered <- struct{}{}
		<-leave
		return nil
	}
	listener := httpapi.LimitConnections(listen(t), limit)
	server := httpapi.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	dialed := func() net.Conn {
		conn, err := net.Dial("tcp", listener.Addr().String())
		testenv.Must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	sign := func(number int) int {
		body := f.Body(enginetest.Request{At: f.Clock.Now().Add(time.Duration(number) * time.Millisecond)})
		return ask(t, dialed(), f.APIKey, "submit/sign_transaction", body)
	}
	done := make(chan int, limit/2)
	for i := range limit / 2 {
		go func() { done <- sign(i) }()
		<-entered
	}
	for i := range limit {
		if status := sign(limit + i); status != http.StatusServiceUnavailable {
			t.Errorf("request %d beyond its share is answered %d", i, status)
		}
	}
	whoami := fmt.Sprintf(`{"organizationId":%q}`, enginetest.Organization)
	if status := ask(t, dialed(), other, "query/whoami", whoami); status != http.StatusOK {
		t.Errorf("the other credential is answered %d", status)
	}
	close(leave)
	for range limit / 2 {
		if status := <-done; status != http.StatusOK {
			t.Errorf("a request within its share is answered %d", status)
		}
	}
	number := 3 * limit
	testenv.Await(t, "the share is given back", func() bool { // when the server sees the connections idle
		number++
		return sign(number) == http.StatusOK
	})
}
