//go:build !race

package serve_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// maxResident is the documented bound of what a server of init's configuration keeps in memory
// that is not a file's: docs/operations.md.
const maxResident = 256 << 20

var residentLine = regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB$`)

// resident returns how many bytes of anonymous memory the process has.
func resident(t *testing.T, n *clitest.Node) int {
	t.Helper()
	status := testenv.Read(t, fmt.Sprintf("/proc/%d/status", n.Command.Process.Pid))
	found := residentLine.FindSubmatch(status)
	if found == nil {
		t.Skipf("this kernel does not say RssAnon:\n%s", status)
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	testenv.Must(t, err)
	return kilobytes << 10
}

// TestResidentMemory attacks a server of init's configuration, to which users were added, from
// many connections that ask for listings of 4 MB and read one byte of the answer, then from as
// many that send the beginning of a body, and checks that its memory stays within what is documented. Each connection has
// been answered, or has sent all that is taken from it, when the memory is read.
func TestResidentMemory(t *testing.T) {
	testenv.Slow(t)
	s := clitest.NewServed(t)
	keys := manyKeys(t, s, 12)
	n := s.Start(t, "--admin", "none", "--log-level", "error")
	for i := range 100 {
		body := clitest.SignBody(s.By.OrganizationID, s.Signer, clitest.NthTransaction(i), time.Now())
		body = bytes.Replace(body, []byte(`"parameters":{`), []byte(`"parameters":{`+strings.Repeat(" ", 20<<10)), 1)
		if _, err := n.Post(t.Context(), "submit/sign_transaction", body); err != nil {
			t.Fatal(err)
		}
	}
	peak := resident(t, n)
	const rounds, connections = 3, 400
	for range rounds {
		list := fmt.Sprintf(`{"organizationId":%q,"paginationOptions":{"limit":"100"}}`, s.By.OrganizationID)
		stopped := attack(t, n, keys, "query/list_activities", list, len(list), connections)
		for _, conn := range stopped {
			_, _ = io.ReadFull(conn, make([]byte, 1)) // fails for a connection that was closed
			peak = max(peak, resident(t, n))
		}
		begun := attack(t, n, keys, "submit/sign_transaction", strings.Repeat(" ", 60<<10), 2<<20, connections)
		for _, conn := range append(stopped, begun...) {
			peak = max(peak, resident(t, n))
			_ = conn.Close()
		}
	}
	t.Logf("%d MiB", peak>>20)
	if peak > maxResident {
		t.Errorf("the server keeps %d MiB in memory; %d are documented", peak>>20, maxResident>>20)
	}
}

// manyKeys adds users to the configuration and returns their keys.
func manyKeys(t *testing.T, s *clitest.Served, count int) (keys []*api.Key) {
	t.Helper()
	for i := range count {
		file := filepath.Join(s.Dir, fmt.Sprintf("user-%d.json", i))
		s.Edit(t, "    users:\n", "    users:\n"+string(s.Run(t, "apikey", "new", "--name", fmt.Sprint("user-", i), "--org", s.By.OrganizationID, "--out", file, "--expires", "90d")))
		content := testenv.Read(t, file)
		key, err := api.ParseKey(bytes.TrimSpace(content))
		testenv.Must(t, err)
		keys = append(keys, key)
	}
	return keys
}

// attack opens connections and sends a request on each, stamped with one of the keys, whose body may be longer
// than what is sent.
func attack(t *testing.T, n *clitest.Node, keys []*api.Key, path, body string, length, connections int) (open []net.Conn) {
	t.Helper()
	for i := range connections {
		stamp, err := keys[i%len(keys)].Stamp([]byte(body))
		testenv.Must(t, err)
		conn, err := net.Dial("tcp", strings.TrimPrefix(n.Base, "http://"))
		testenv.Must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		testenv.Must(t, conn.(*net.TCPConn).SetReadBuffer(4096))
		_, _ = fmt.Fprintf(conn, "POST /public/v1/%s HTTP/1.1\r\nHost: a\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s", path, stamp.Name, stamp.Value, length, body)
		open = append(open, conn)
	}
	return open
}
