package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
)

// TestConfiguredLimitOfConnections: the connection beyond it takes the place of the one
// that waits.
func TestConfiguredLimitOfConnections(t *testing.T) {
	s := newServed(t)
	s.edit(t, "otp:\n", "limits: {connections: 1}\notp:\n")
	n := s.start(t, "--admin", "none")
	address := strings.TrimPrefix(n.base, "http://")
	idle, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if status, _ := get(t, n.base+"/"); status == 0 {
		t.Error("the second connection was not served")
	}
	if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the first connection: %v", err)
	}
	if status := n.end(t, syscall.SIGTERM); status != exitSuccess {
		t.Errorf("exit status %d", status)
	}
}

// TestLimitsReachTheHandler, and what is too little for one request is refused.
func TestLimitsReachTheHandler(t *testing.T) {
	s := newServed(t)
	s.edit(t, "otp:\n", "limits: {requestBytes: 9000000, answerBytes: 10000000}\notp:\n")
	configured, err := config.Read(s.config())
	if err != nil {
		t.Fatal(err)
	}
	if made := new(serveCommand).options(configured, nil); made.MaxBufferedBytes != 9_000_000 || made.MaxAnswerBytes != 10_000_000 {
		t.Errorf("%+v", made)
	}
	for _, wrong := range []string{"requestBytes: 9000", "answerBytes: 9000", "connections: -1"} {
		s := newServed(t)
		s.edit(t, "otp:\n", "limits: {"+wrong+"}\notp:\n")
		if _, err := config.Read(s.config()); err == nil || !strings.Contains(err.Error(), "limits."+strings.Split(wrong, ":")[0]) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestServerLogLevels: that no more connections can be accepted is a warning, which is
// logged by default; what strangers cause is for debugging.
func TestServerLogLevels(t *testing.T) {
	var log bytes.Buffer
	written := serverLog{slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for line, level := range map[string]string{
		"http: Accept error: accept tcp 127.0.0.1:1: accept4: too many open files; retrying in 1s\n": "WARN",
		"http: TLS handshake error from 192.0.2.1:1: EOF\n":                                          "DEBUG",
	} {
		log.Reset()
		if n, err := written.Write([]byte(line)); err != nil || n != len(line) {
			t.Errorf("%d, %v", n, err)
		}
		if !strings.Contains(log.String(), `"level":"`+level+`"`) || !strings.Contains(log.String(), strings.TrimSpace(line)) {
			t.Errorf("want %s: %s", level, &log)
		}
	}
}
