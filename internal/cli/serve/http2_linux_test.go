//go:build !race

package serve_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// flood is what a stranger does on one connection, over HTTP/2 unless it says http1.
type flood struct {
	name  string
	http1 bool
	send  func(f *http2.Framer, raw io.Writer) error
}

// headOf is the head of a request by a stranger, with a stamp that is well-formed but of no user.
func headOf(more ...string) []byte {
	stamp := "eyJwdWJsaWNLZXkiOiIwMmFiIiwic2NoZW1lIjoiU0lHTkFUVVJFX1NDSEVNRV9US19BUElfUDI1NiIsInNpZ25hdHVyZSI6IjMwMDYwMjAxMDEwMjAxMDEifQ"
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	fields := append([]string{":method", "POST", ":scheme", "https", ":authority", "127.0.0.1", ":path", "/public/v1/submit/sign_transaction", "x-stamp", stamp}, more...)
	for i := 0; i < len(fields); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}) // to memory
	}
	return head.Bytes()
}

// streams sends requests on 250 streams, with bytes of a body each that has no end.
func streams(size int) func(*http2.Framer, io.Writer) error {
	return func(f *http2.Framer, _ io.Writer) error {
		head, body := headOf("content-length", "2000000"), bytes.Repeat([]byte(" "), size)
		for stream := uint32(1); stream < 500; stream += 2 {
			if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head, EndHeaders: true}); err != nil {
				return err
			}
			if err := f.WriteData(stream, false, body); err != nil {
				return err
			}
		}
		return nil
	}
}

// floods are the attacks of strangers.
var floods = []flood{
	{"unfinished bodies", false, streams(3900)},
	{"long unfinished bodies", false, streams(16 << 10)},
	{"bodies without a byte", false, streams(0)},
	{"resets", false, func(f *http2.Framer, _ io.Writer) error {
		head := headOf()
		for stream := uint32(1); stream < 4000; stream += 2 {
			if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head, EndHeaders: true}); err != nil {
				return err
			}
			if err := f.WriteRSTStream(stream, http2.ErrCodeCancel); err != nil {
				return err
			}
		}
		return nil
	}},
	{"announced frames", false, func(_ *http2.Framer, raw io.Writer) error {
		frame := binary.BigEndian.AppendUint32(nil, (1<<20-1)<<8|uint32(http2.FrameData))
		_, err := raw.Write(append(append(frame, 0, 0, 0, 0, 1), bytes.Repeat([]byte(" "), 4<<10)...))
		return err
	}},
	{"pings", false, func(f *http2.Framer, _ io.Writer) error { // whose answers are not read
		for range 40_000 {
			if err := f.WritePing(false, [8]byte{}); err != nil {
				return err
			}
		}
		return nil
	}},
	{"headers without end", false, func(f *http2.Framer, _ io.Writer) error {
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headOf()}); err != nil {
			return err
		}
		for range 100 {
			if err := f.WriteContinuation(1, false, bytes.Repeat([]byte{0x10, 1, 'x', 1, 'y'}, 1000)); err != nil {
				return err
			}
		}
		return nil
	}},
	{"HTTP/1.1, an unfinished body", true, func(_ *http2.Framer, raw io.Writer) error {
		_, err := fmt.Fprintf(raw, "POST /public/v1/query/whoami HTTP/1.1\r\nHost: a\r\nX-Stamp: x\r\nContent-Length: 200000\r\n\r\n%s", strings.Repeat(" ", 3900))
		return err
	}},
	{"HTTP/1.1, an unfinished head", true, func(_ *http2.Framer, raw io.Writer) error {
		_, err := fmt.Fprintf(raw, "POST /public/v1/query/whoami HTTP/1.1\r\nHost: a\r\nA: %s", strings.Repeat("a", 12_000))
		return err
	}},
}

// TestFloodsOfStrangers attacks a server with TLS from 200 connections, without a credential, and
// checks that its memory stays within what is documented, that honest requests are answered
// meanwhile, over HTTP/1.1 and HTTP/2, and that the log does not grow with the attack.
func TestFloodsOfStrangers(t *testing.T) {
	testenv.Slow(t)
	s := clitest.NewServed(t)
	trusted := &certificates{pool: x509.NewCertPool()}
	trusted.add(clitest.WriteCertificate(t, s.Dir))
	s.Edit(t, "# tls: {certFile: cert.pem, keyFile: key.pem}", "tls: {certFile: cert.pem, keyFile: key.pem}")
	n := s.Start(t, "--admin", "none")
	began := time.Now()
	address := strings.TrimPrefix(n.Base, "http://")
	honest := trusted.client(t, "https://"+address, filepath.Join(s.Dir, setup.APIKeyName))
	second := &http.Client{Timeout: testenv.Patience, Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: trusted.config(), DisableKeepAlives: true}}
	for _, flood := range floods {
		peak := resident(t, n)
		sent := make(chan *tls.Conn)
		const connections = 200
		for range connections {
			go func() { sent <- flood.attack(address) }()
		}
		var open []*tls.Conn
		for range connections {
			if conn := <-sent; conn != nil {
				open = append(open, conn)
			}
			peak = max(peak, resident(t, n))
		}
		if len(open) < connections/2 {
			t.Fatalf("%s: %d of %d connections", flood.name, len(open), connections)
		}
		for range 5 {
			if _, err := honest.WhoAmI(t.Context()); err != nil {
				t.Errorf("%s: an honest request: %v", flood.name, err)
			}
			response, err := second.Post("https://"+address+"/public/v1/query/whoami", "application/json", strings.NewReader("{}"))
			if err != nil {
				t.Errorf("%s: a request over HTTP/2: %v", flood.name, err)
			} else {
				if response.Body.Close(); response.ProtoMajor != 2 || response.StatusCode/100 != 4 {
					t.Errorf("%s: %s %s", flood.name, response.Proto, response.Status)
				}
			}
			peak = max(peak, resident(t, n))
		}
		for _, conn := range open {
			_ = conn.Close()
		}
		t.Logf("%s: %d MiB", flood.name, peak>>20)
		if peak > maxResident {
			t.Errorf("%s: the server keeps %d MiB in memory; %d are documented", flood.name, peak>>20, maxResident>>20)
		}
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d", status)
	}
	const perSecond = (1 << 20) / 60
	if size, most := len(n.Log.String()), 64<<10+perSecond*int(time.Since(began).Seconds()); size > most {
		t.Errorf("the log has %d bytes, want at most %d", size, most)
	}
	if strings.Contains(n.Log.String(), "chunks") {
		t.Error("the log says that chunks are malformed, and none were sent")
	}
}

// attack makes a connection and sends on it what the server takes. It returns the connection,
// which stays open, or nil.
func (a *flood) attack(address string) *tls.Conn {
	protocol := "h2"
	if a.http1 {
		protocol = "http/1.1"
	}
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}) //nolint:gosec // a stranger
	if err != nil {
		return nil
	}
	// What the server has not taken stays here: it would have 8 million pings before it when the honest ask,
	// who have five seconds to shake hands.
	if err := conn.NetConn().(*net.TCPConn).SetWriteBuffer(4 << 10); err != nil {
		_ = conn.Close()
		return nil
	}
	_ = conn.SetWriteDeadline(time.Now().Add(20 * time.Second)) // of what is not taken
	// A record of TLS for each frame would cost the stranger most.
	out := bufio.NewWriterSize(conn, 16<<10)
	framer := http2.NewFramer(out, conn)
	if !a.http1 {
		_, _ = io.WriteString(out, http2.ClientPreface)
		_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
	}
	if a.send(framer, out) == nil { // the server may close the connection at any time
		_ = out.Flush()
	}
	return conn
}
