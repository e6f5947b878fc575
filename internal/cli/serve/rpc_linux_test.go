package serve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// rpcToken is a caller's token.
const rpcToken = "0123456789abcdef0123456789abcdef"

// appendConfig adds a section to the configuration.
func appendConfig(t *testing.T, s *clitest.Served, section string) {
	t.Helper()
	content := testenv.Read(t, s.Config())
	testenv.Write(t, s.Config(), append(content, section...))
}

// overHTTP makes a call with a token, and returns the status and the answer.
func overHTTP(t *testing.T, address, token, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address, strings.NewReader(body))
	testenv.Must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.SetBasicAuth("any", token)
	response, err := http.DefaultClient.Do(request)
	testenv.Must(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	testenv.Must(t, err)
	return response.StatusCode, string(answer)
}

// TestServeRPC signs over HTTP with a token and over the unix socket as the user of this
// process, and finds one record, since it is the same transaction by the same user. After a
// reload without the token's user, the token is refused.
func TestServeRPC(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	address, socket := testenv.FreeAddress(t), filepath.Join(s.Dir, "rpc.sock")
	clitest.WritePrivate(t, filepath.Join(s.Dir, "token"), rpcToken+"\n")
	token := "\n    - {user: admin, tokenFile: token}"
	appendConfig(t, s, fmt.Sprintf("rpc:\n  listen: %s\n  socket: rpc.sock\n  chainId: 1\n  users:\n    - {user: admin, uid: %d, tokenFile: token2}%s\n", address, os.Getuid(), ""))
	clitest.WritePrivate(t, filepath.Join(s.Dir, "token2"), rpcToken+"2\n")
	s.Edit(t, ", tokenFile: token2}", "}"+token+"\n    - {user: admin, tokenFile: token2}")
	n := s.Start(t, "--admin", "none")
	_, listed := overHTTP(t, address, rpcToken, `{"jsonrpc":"2.0","id":1,"method":"eth_accounts"}`)
	var accounts struct{ Result []string }
	if err := json.Unmarshal([]byte(listed), &accounts); err != nil || len(accounts.Result) != 1 {
		t.Fatalf("%s, %v", listed, err)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[{"from":%q,"to":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7","gas":"0xea60","gasPrice":"0x3b9aca00","value":"0x7b","nonce":"0x7","chainId":"0x1"}]}`, accounts.Result[0])
	_, first := overHTTP(t, address, rpcToken, body)
	connection, err := net.Dial("unix", socket)
	testenv.Must(t, err)
	defer connection.Close()
	if _, err := io.WriteString(connection, body+body); err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(connection)
	for range 2 {
		var again json.RawMessage
		if err := answers.Decode(&again); err != nil || string(again) != first || !strings.Contains(first, `"result":"0xf8`) {
			t.Errorf("over the socket %s, over HTTP %s, %v", again, first, err)
		}
	}
	s.Edit(t, token, "")
	reloads(t, n)
	testenv.Await(t, "the token is refused", func() bool {
		status, _ := overHTTP(t, address, rpcToken, body)
		return status == http.StatusUnauthorized
	})
	if _, kept := overHTTP(t, address, rpcToken+"2", body); kept != first {
		t.Errorf("the token that is left: %s", kept)
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, n.Log)
	}
	if out := s.Run(t, "activities", "list", "--config", s.Config(), "--json"); strings.Count(string(out), `"id":`) != 1 {
		t.Errorf("the records are %s", out)
	}
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is still there")
	}
}
