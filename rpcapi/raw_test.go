package rpcapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestRawRequests sends heads over which two readers could differ. None is carried out, and
// what follows it on the connection is no second request.
func TestRawRequests(t *testing.T) {
	s := newServer(t)
	call := `{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[` + ordinary + `]}`
	host := strings.TrimPrefix(s.url, "http://")
	usual := fmt.Sprintf("Host: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n", host, token)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(call))
	for name, head := range map[string]string{
		"two lengths":            "POST / HTTP/1.1\r\n" + usual + length + "Content-Length: 3\r\n",
		"a signed length":        "POST / HTTP/1.1\r\n" + usual + fmt.Sprintf("Content-Length: +%d\r\n", len(call)),
		"two encodings":          "POST / HTTP/1.1\r\n" + usual + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
		"an unknown encoding":    "POST / HTTP/1.1\r\n" + usual + length + "Transfer-Encoding: xchunked\r\n",
		"both, without chunks":   "POST / HTTP/1.1\r\n" + usual + length + "Transfer-Encoding: chunked\r\n",
		"a space before a colon": "POST / HTTP/1.1\r\n" + usual + strings.Replace(length, ":", " :", 1),
		"no host":                "POST / HTTP/1.1\r\n" + strings.SplitN(usual, "\r\n", 2)[1] + length,
		"two hosts":              "POST / HTTP/1.1\r\n" + usual + length + "Host: evil.example\r\n",
		"another host's target":  "POST http://evil.example/ HTTP/1.1\r\n" + usual + length,
		"two tokens":             "POST / HTTP/1.1\r\n" + usual + length + "Authorization: Bearer x\r\n",
		"two content types":      "POST / HTTP/1.1\r\n" + usual + length + "Content-Type: text/plain\r\n",
		"the same type twice":    "POST / HTTP/1.1\r\n" + usual + length + "Content-Type: application/json\r\n",
		"a body in gzip":         "POST / HTTP/1.1\r\n" + usual + length + "Content-Encoding: gzip\r\n",
		"HEAD":                   "HEAD / HTTP/1.1\r\n" + usual + length,
		"OPTIONS":                "OPTIONS / HTTP/1.1\r\n" + usual + length,
		"CONNECT":                "CONNECT / HTTP/1.1\r\n" + usual + length,
	} {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(testenv.Patience))
		_, _ = io.WriteString(conn, head+"\r\n"+call)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil {
			if response.StatusCode < 400 {
				t.Errorf("%s: %s", name, response.Status)
			}
		}
		_ = conn.Close()
	}
	s.WantSignatures(t, 0)
}
