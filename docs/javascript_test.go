package docs_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestJavaScript runs the code of a public client in api.md against a server.
func TestJavaScript(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```js\n(.*?)```").FindAllStringSubmatch(read(t, "api.md"), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks were found: the first asks for a code, the second redeems it", len(blocks))
	}
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, enginetest.WithOTP(t, outbox), func(c *countersign.Config) { c.Now = time.Now })
	server := httptest.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
	t.Cleanup(server.Close)
	here := strings.NewReplacer("http://127.0.0.1:8080", server.URL, `"api-key.json"`, strconv.Quote(apiKeyFile(t, f.APIKey)))
	run := func(code string) []string {
		t.Helper()
		out, err := testenv.Node(t, "--input-type=module", "--eval", here.Replace(code)).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	first := run(blocks[0][1] + "console.log(signedTransaction, otpId);")
	if len(first) != 2 || !strings.HasPrefix(first[0], "02f8") {
		t.Fatalf("signed: %q", first)
	}
	given := "const otpId = " + strconv.Quote(first[1]) + ", otpCode = " + strconv.Quote(outbox.Code(t, first[1])) + ";\n"
	client, _, _ := strings.Cut(blocks[0][1], "const { signedTransaction }")
	if token := run(client + given + blocks[1][1] + "console.log(verificationToken);"); len(token) != 1 || strings.Count(token[0], ".") != 2 {
		t.Errorf("redeemed: %q", token)
	}
}

// apiKeyFile writes a key as init does.
func apiKeyFile(t *testing.T, key *enginetest.APIKey) string {
	t.Helper()
	content, err := json.Marshal(map[string]string{
		"organizationId": enginetest.Organization, "publicKey": key.PublicKey, "privateKey": key.PrivateKey(),
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "api-key.json")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestChatReceiver shows the receiver of events that interop runs.
func TestChatReceiver(t *testing.T) {
	shown := regexp.MustCompile("(?s)```js\n(.*?)```").FindStringSubmatch(read(t, "events.md"))
	content, err := os.ReadFile("../interop/chat.mjs")
	if err != nil || shown == nil || !strings.HasSuffix(string(content), shown[1]) {
		t.Errorf("events.md does not show interop/chat.mjs: %v", err)
	}
	if lines := strings.Count(strings.TrimSpace(shown[1]), "\n") + 1; lines > 25 {
		t.Errorf("the receiver has %d lines", lines)
	}
}
