//go:build unix

package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// limitedFiles makes this test binary the server of TestIdleStrangers.
const limitedFiles = "COUNTERSIGN_TEST_LIMITED_FILES"

// TestServeWithFewFiles is not a test but the server process of TestIdleStrangers: it serves
// the API and the admin address with 256 file descriptors.
func TestServeWithFewFiles(t *testing.T) {
	if os.Getenv(limitedFiles) == "" {
		return
	}
	testenv.Must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 256, Max: 256}))
	f := enginetest.New(t)
	api, admin := listen(t), listen(t)
	go func() {
		_ = httpapi.NewServer(httpapi.New(f.Engine, httpapi.Options{})).Serve(httpapi.LimitConnections(api, 0))
	}()
	go func() { _ = httpapi.NewServer(httpapi.Admin(f.Engine, nil)).Serve(admin) }()
	fmt.Printf("serving %s %s\n", api.Addr(), admin.Addr())
	_, _ = io.ReadAll(os.Stdin) // until the parent is done
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	return listener
}

// TestIdleStrangers opens 300 connections to a server with 256 file descriptors. They send
// nothing, half a header, half a body, or a request that is refused. The API and the admin
// address must keep answering.
func TestIdleStrangers(t *testing.T) {
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServeWithFewFiles$")
	command.Env = append(os.Environ(), limitedFiles+"=1")
	input, err := command.StdinPipe()
	testenv.Must(t, err)
	output, err := command.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, command.Start())
	defer func() { _, _ = input.Close(), command.Wait() }()
	var api, admin string
	if _, err := fmt.Fscanf(output, "serving %s %s\n", &api, &admin); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		conn, err := net.Dial("tcp", api)
		testenv.Must(t, err)
		defer conn.Close()
		switch i % 4 {
		case 1:
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nX-St", signPath)
		case 2:
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{", signPath)
		case 3:
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", signPath)
			// The connection may have been closed to make room for others.
			if response, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				response.Body.Close()
			}
		}
	}
	client := &http.Client{Timeout: testenv.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	for range 20 {
		for _, request := range []struct {
			method, url string
			status      int
		}{
			{http.MethodPost, "http://" + api + "/public/v1/query/whoami", http.StatusBadRequest},
			{http.MethodGet, "http://" + admin + "/healthz", http.StatusOK},
		} {
			made, err := http.NewRequestWithContext(t.Context(), request.method, request.url, strings.NewReader("{}"))
			testenv.Must(t, err)
			response, err := client.Do(made)
			if err != nil {
				t.Fatalf("%s: %v", request.url, err)
			}
			response.Body.Close()
			if response.StatusCode != request.status {
				t.Errorf("%s: %s", request.url, response.Status)
			}
		}
	}
}

// TestBusyConnectionsAreKept checks that a connection with a request in flight is not closed
// to make room: the next connection waits.
func TestBusyConnectionsAreKept(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	f := enginetest.New(t)
	f.Signing.Before = func(context.Context) error {
		close(entered)
		<-leave
		return nil
	}
	listener := httpapi.LimitConnections(listen(t), 1)
	server := httpapi.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	url := "http://" + listener.Addr().String()
	first := make(chan int, 1)
	go func() {
		response, _ := stamped(t, f, url+signPath, f.Body(enginetest.Request{}))
		first <- response.StatusCode
	}()
	<-entered
	second := make(chan int, 1)
	go func() {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		response, err := new(http.Transport).RoundTrip(request)
		if err != nil {
			second <- 0
			return
		}
		response.Body.Close()
		second <- response.StatusCode
	}()
	select {
	case status := <-second:
		t.Fatalf("the second connection was served before the first was done: %d", status)
	default:
	}
	close(leave)
	if status := <-first; status != http.StatusOK {
		t.Errorf("the first request: %d", status)
	}
	if status := <-second; status != http.StatusNotFound {
		t.Errorf("the second request: %d", status)
	}
}
