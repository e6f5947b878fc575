package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// TestServer builds the server of embedding.md and lets it sign. It must answer the same
// after a restart, and fail if it cannot listen.
func TestServer(t *testing.T) {
	testenv.Slow(t)
	folder := t.TempDir()
	build(t, filepath.Join(folder, "server"), "./server")
	fillServerFolder(t, folder)
	apiKey := enginetest.NewAPIKey(t)
	body := fmt.Sprintf(`{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"%d","organizationId":%q,"parameters":{"signWith":%q,"unsignedTransaction":%q,"type":"TRANSACTION_TYPE_ETHEREUM"}}`,
		time.Now().UnixMilli(), enginetest.Organization, enginetest.Address, enginetest.Unsigned)
	first := serveOnce(t, folder, apiKey, body)
	var answer struct {
		Activity struct {
			Result struct {
				SignTransactionResult struct{ SignedTransaction string }
			}
		}
	}
	if err := json.Unmarshal(first, &answer); err != nil || answer.Activity.Result.SignTransactionResult.SignedTransaction != enginetest.Signed {
		t.Fatalf("%v: %s", err, first)
	}
	if second := serveOnce(t, folder, apiKey, body); !bytes.Equal(first, second) {
		t.Errorf("after a restart the answer is\n%s\nand was\n%s", second, first)
	}
	failWhereTaken(t, folder, apiKey)
}

// build builds a command of this module.
func build(t *testing.T, binary, source string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// failWhereTaken starts the server on an address where another one listens: its exit
// status must report that.
func failWhereTaken(t *testing.T, folder string, apiKey *enginetest.APIKey) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	defer listener.Close()
	server := exec.CommandContext(t.Context(), filepath.Join(folder, "server"), listener.Addr().String(), enginetest.Organization, apiKey.PublicKey)
	server.Dir = folder
	if out, err := server.CombinedOutput(); err == nil || !strings.Contains(string(out), "address already in use") {
		t.Errorf("%v: %s", err, out)
	}
}

// fillServerFolder creates the files that the server expects.
func fillServerFolder(t *testing.T, folder string) {
	t.Helper()
	testenv.Write(t, filepath.Join(folder, "passphrase"), []byte("correct horse\n"))
	keys, err := file.Create(filepath.Join(folder, "keys"), []byte("correct horse"), file.Options{WorkFactor: 1})
	testenv.Must(t, err)
	secret := testenv.Hex(t, enginetest.Secret)
	if _, err := keys.Add(t.Context(), enginetest.Organization, keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		t.Fatal(err)
	}
	testenv.Must(t, keys.Close())
}

// serveOnce runs the server for one request.
func serveOnce(t *testing.T, folder string, apiKey *enginetest.APIKey, body string) []byte {
	t.Helper()
	address := testenv.FreeAddress(t)
	server := exec.CommandContext(t.Context(), filepath.Join(folder, "server"), address, enginetest.Organization, apiKey.PublicKey)
	server.Dir = folder
	var log bytes.Buffer
	server.Stderr = &log
	testenv.Must(t, server.Start())
	answer, err := postUntilServed(t, "http://"+address+"/public/v1/submit/sign_transaction", apiKey, body)
	if err != nil {
		t.Errorf("%v; the server says: %s", err, log.String())
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("%v: %s", err, log.String())
	}
	return answer
}

// postUntilServed sends a stamped body as soon as the server listens.
func postUntilServed(t *testing.T, url string, apiKey *enginetest.APIKey, body string) (answer []byte, err error) {
	t.Helper()
	header := apiKey.Header([]byte(body))
	testenv.Await(t, "a server listens at "+url, func() bool {
		request, requestErr := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(body)))
		if requestErr != nil {
			t.Fatal(requestErr)
		}
		request.Header.Set(header.Name, header.Value)
		response, sendErr := http.DefaultClient.Do(request)
		if sendErr != nil {
			return false
		}
		answer, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
		return true
	})
	return answer, err
}
