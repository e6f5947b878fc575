package interop

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestGoClient: the public Go client signs, asks, and finds every answer valid
// by its own Validate.
func TestGoClient(t *testing.T) {
	program := testenv.GoProgram(t, filepath.Join("interop", "gosdk"))
	fixture := enginetest.New(t, func(c *countersign.Config) { c.Now = time.Now })
	server := httptest.NewServer(httpapi.New(fixture.Engine, httpapi.Options{}))
	defer server.Close()
	question, err := json.Marshal(map[string]string{
		"host": strings.TrimPrefix(server.URL, "http://"), "organizationId": enginetest.Organization,
		"apiPrivateKey": fixture.APIKey.PrivateKey(), "signWith": enginetest.Address, "unsignedTransaction": enginetest.Unsigned,
	})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program)
	command.Stdin = strings.NewReader(string(question))
	out, err := command.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("%v: %s", err, failed.Stderr)
		}
		t.Fatal(err)
	}
	var got struct{ Signed, ActivityID, Found, Username, Refusal string }
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Signed != enginetest.Signed || got.Found != enginetest.Signed || got.Username != "ci" || got.ActivityID == "" {
		t.Errorf("answered %+v", got)
	}
	if !strings.Contains(got.Refusal, "ethereum: ") {
		t.Errorf("the refusal is shown as %s", got.Refusal)
	}
}
