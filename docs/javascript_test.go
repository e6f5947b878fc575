package docs_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http/httptest"
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
	if len(blocks) != 3 {
		t.Fatalf("%d blocks were found: the first signs, the second asks for a code, the third redeems it", len(blocks))
	}
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, enginetest.WithOTP(t, outbox), func(c *countersign.Config) { c.Now = time.Now })
	server := httptest.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
	t.Cleanup(server.Close)
	here := strings.NewReplacer("http://127.0.0.1:8080", server.URL, `"api-key.json"`, strconv.Quote(apiKeyFile(t, f.APIKey)))
	run := func(code string) []string {
		t.Helper()
		out, err := testenv.Node(t, "--input-type=module", "--eval", here.Replace(code)).Output()
		testenv.Must(t, err)
		return strings.Fields(string(out))
	}
	if signed := run(blocks[0][1] + "console.log(signedTransaction);"); len(signed) != 1 || !strings.HasPrefix(signed[0], "02f8") {
		t.Fatalf("signed: %q", signed)
	}
	client, _, _ := strings.Cut(blocks[0][1], "const { signedTransaction }")
	asked := run(client + blocks[1][1] + "console.log(otpId, JSON.stringify(otpEncryptionTargetBundle));")
	if len(asked) != 2 {
		t.Fatalf("asked for a code: %q", asked)
	}
	point, err := f.ProofKey.PublicKey.Bytes()
	testenv.Must(t, err)
	given := fmt.Sprintf("const otpId = %q, otpEncryptionTargetBundle = %s, code = %q, publicKey = %q, proofKey = %q;\n",
		asked[0], asked[1], outbox.Code(t, asked[0]), f.APIKey.PublicKey, hex.EncodeToString(point))
	redeemed := run(client + given + blocks[2][1] + "console.log(verificationToken, claims.contact);")
	if len(redeemed) != 2 || strings.Count(redeemed[0], ".") != 2 || redeemed[1] != "user@example.com" {
		t.Errorf("redeemed: %q", redeemed)
	}
}

// apiKeyFile writes a key as init does.
func apiKeyFile(t *testing.T, key *enginetest.APIKey) string {
	t.Helper()
	content, err := json.Marshal(map[string]string{
		"organizationId": enginetest.Organization, "publicKey": key.PublicKey, "privateKey": key.PrivateKey(),
	})
	testenv.Must(t, err)
	path := filepath.Join(t.TempDir(), "api-key.json")
	testenv.Write(t, path, content)
	return path
}
