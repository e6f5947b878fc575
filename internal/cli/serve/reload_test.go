package serve_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains/descriptors"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/serve"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/policy"
)

// TestReloadAtomic checks that an unreadable certificate also keeps new users out, and that
// the old certificate and users stay.
func TestReloadAtomic(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	first := clitest.WriteCertificate(t, s.Dir)
	s.Edit(t, "# tls: {certFile: cert.pem, keyFile: key.pem}", "tls: {certFile: cert.pem, keyFile: key.pem}")
	l := clitest.NewLive(t, s)
	protocol := l.TLSConfig()
	served := func() string {
		certificate, err := protocol.GetCertificate(nil)
		testenv.Must(t, err)
		return certificate.Leaf.SerialNumber.String() + string(certificate.Leaf.Signature)
	}
	serial := func() string { return first.SerialNumber.String() + string(first.Signature) }
	if served() != serial() || !l.Expiry().Equal(first.NotAfter) {
		t.Error("the first certificate is not served")
	}
	before := l.Current.Load()
	s.Edit(t, "name: Example", "name: Renamed")
	clitest.WritePrivate(t, filepath.Join(s.Dir, "cert.pem"), "not a certificate")
	if err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}); err == nil || !strings.Contains(err.Error(), "tls: ") || l.Current.Load() != before || served() != serial() {
		t.Errorf("a bad certificate: %v", err)
	}
	testenv.Must(t, os.Remove(filepath.Join(s.Dir, "cert.pem")))
	testenv.Must(t, os.Remove(filepath.Join(s.Dir, "key.pem")))
	first = clitest.WriteCertificate(t, s.Dir)
	if err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}); err != nil || served() != serial() {
		t.Errorf("the renewed certificate is not served: %v", err)
	}
	organization, err := l.InForce.Organization(t.Context(), s.By.OrganizationID)
	if err != nil || organization.Name != "Renamed" {
		t.Errorf("%v, %v", organization, err)
	}
	s.Edit(t, "name: Renamed", "nme: Renamed")
	if err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}); err == nil || served() != serial() {
		t.Errorf("an unknown member: %v", err)
	}
}

// TestReloadLookupTable checks that a lookup table is known from the first reload after its
// file was pinned until the first after it was unpinned.
func TestReloadLookupTable(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	table := `{"lookupTableAddress":"BLbDu5FZUdSfLrGejhuaWw5iMJBo3j3TVRyPv9rfJyMA","deactivationSlot":18446744073709551615,"lastExtendedSlot":1,"addresses":["4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi"]}`
	testenv.Must(t, os.Mkdir(filepath.Join(s.Dir, "folder"), 0o700))
	clitest.WritePrivate(t, filepath.Join(s.Dir, "folder", "table.json"), table)
	s.Edit(t, "organizations:", "descriptors: {folder: folder, pins: pins.txt}\norganizations:")
	l := clitest.NewLive(t, s)
	at, pins := bytes.Repeat([]byte{0x99}, 32), filepath.Join(s.Dir, "pins.txt")
	known := func() int {
		testenv.Must(t, l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}))
		found, _ := l.InForce.LookupTable(at)
		return len(found.Addresses)
	}
	if known() != 0 {
		t.Error("known before it is pinned")
	}
	folder, err := deployment.OpenDescriptors(&config.Descriptors{Folder: filepath.Join(s.Dir, "folder")}, nil)
	testenv.Must(t, err)
	pinned := &descriptors.Pins{}
	pinned.Add(folder.Files()[0])
	clitest.WritePrivate(t, pins, string(pinned.Encode()))
	if found, _ := l.InForce.LookupTable(at); found.Addresses != nil {
		t.Error("known before the reload")
	}
	if known() != 1 {
		t.Error("not known once it is pinned")
	}
	testenv.Must(t, os.Remove(pins))
	if known() != 0 {
		t.Error("known after the pin was taken back")
	}
}

// TestReloadNeedsRestart checks that a reload names changed members that need a restart.
func TestReloadNeedsRestart(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	l := clitest.NewLive(t, s)
	clitest.WriteCertificate(t, s.Dir)
	s.Edit(t, "# tls: {certFile: cert.pem, keyFile: key.pem}", "tls: {certFile: cert.pem, keyFile: key.pem}")
	s.Edit(t, "store: bolt:state.db", "store: bolt:other.db")
	if err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}); err == nil || !strings.Contains(err.Error(), "other.db does not exist") {
		t.Errorf("a store that is not there: %v", err)
	}
	testenv.Must(t, os.Rename(filepath.Join(s.Dir, "state.db"), filepath.Join(s.Dir, "other.db")))
	var members []string
	err := l.Reload(clitest.InCommand(t), s.Config(), func(changed []string) { members = changed })
	if err != nil || !slices.Equal(members, []string{"tls", "store"}) {
		t.Errorf("%q, %v", members, err)
	}
	if l.TLSConfig() != nil {
		t.Error("TLS began while it listens without")
	}
}

// TestReloadPolicy checks that an invalid policy keeps new users out, since users and
// policies change together, and that an organization's first policy takes effect.
func TestReloadPolicy(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	l := clitest.NewLive(t, s)
	before := l.Current.Load()
	l.Policies = &deployment.LoadedPolicies{Organizations: policy.NewOrganizations(nil), Configured: before.Configured}
	s.Edit(t, "name: Example", "name: Renamed\n    policy: policy.yaml")
	if err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}); err == nil || !strings.Contains(err.Error(), "policy of organization") || l.Current.Load() != before {
		t.Errorf("a policy that is not there: %v", err)
	}
	clitest.WritePrivate(t, filepath.Join(s.Dir, "policy.yaml"), "schema: countersign.policy/2\nrules: [{name: gas, allow: fee}]\n")
	if err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {}); err != nil || l.Current.Load() == before {
		t.Fatalf("the first policy: %v", err)
	}
	if in := l.Policies.File(&access.Organization{ID: s.By.OrganizationID}); in == nil || in.Rules()[0] != "gas" {
		t.Error("the first policy is not in force")
	}
}

// TestReloadOnSIGHUP checks that a server lets a new user in on SIGHUP, and keeps the old
// configuration if the new one is invalid.
func TestReloadOnSIGHUP(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	n := s.Start(t, "--admin", "none")
	file := filepath.Join(s.Dir, "ci.json")
	lines := s.Run(t, "apikey", "new", "--name", "ci", "--org", s.By.OrganizationID, "--out", file, "--expires", "90d")
	content, err := os.ReadFile(file)
	testenv.Must(t, err)
	added := n.Client
	if added.By, err = api.ParseKey([]byte(strings.TrimSpace(string(content)))); err != nil {
		t.Fatal(err)
	}
	whoami := func(c deployment.Client) error {
		_, err := c.Post(t.Context(), "query/whoami", []byte(`{"organizationId":"`+s.By.OrganizationID+`"}`))
		return err
	}
	if err := whoami(added); err == nil {
		t.Error("a user was let in before the configuration was read again")
	}
	s.Edit(t, "    users:\n", "    users:\n"+string(lines))
	hangUp := func() {
		testenv.Must(t, n.Command.Process.Signal(syscall.SIGHUP))
	}
	hangUp()
	testenv.Await(t, "the new user is let in", func() bool { return whoami(added) == nil })
	s.Edit(t, "    users:\n", "    usrs:\n")
	hangUp()
	if err := whoami(n.Client); err != nil {
		t.Errorf("the old user: %v", err)
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess || !strings.Contains(n.Log.String(), `"msg":"reloaded"`) {
		t.Errorf("exit status %d: %s", status, n.Log)
	}
}

// TestReadinessWhileDraining checks that /readyz answers 503 while the server drains, and
// /healthz still answers 200.
func TestReadinessWhileDraining(t *testing.T) {
	var c serve.Server
	admin := c.UnlessDraining(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	status := func(path string) int {
		answer := httptest.NewRecorder()
		admin.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		return answer.Code
	}
	if status("/readyz") != http.StatusOK {
		t.Error("not ready before")
	}
	c.Draining.Store(true)
	if ready, health := status("/readyz"), status("/healthz"); ready != http.StatusServiceUnavailable || health != http.StatusOK {
		t.Errorf("/readyz %d, /healthz %d", ready, health)
	}
}

// TestHealth checks the probe of containers.
func TestHealth(t *testing.T) {
	code := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	defer server.Close()
	if err := serve.Health(t.Context(), server.URL+"/"); err != nil {
		t.Error(err)
	}
	code = http.StatusServiceUnavailable
	if err := serve.Health(t.Context(), server.URL); err == nil || !strings.Contains(err.Error(), "503") {
		t.Error(err)
	}
}

// TestParseDays checks days and Go durations.
func TestParseDays(t *testing.T) {
	for text, want := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "12h": 12 * time.Hour, "0d": 0, "-1h": 0, "d": 0, "": 0, "99999999d": 0, "1w": 0} {
		if got, err := console.ParseDays(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
