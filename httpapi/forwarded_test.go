package httpapi_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// listed returns a fixture whose API key, which may vote too, may be used from some networks.
func listed(t *testing.T, addresses ...string) *enginetest.Fixture {
	t.Helper()
	key := enginetest.NewAPIKey(t)
	config := key.Config()
	config.Addresses, config.Activities = addresses, activity.Types()
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Resume: access.ResumeConfig{Approvals: 1},
		Users: []access.UserConfig{{ID: "user-1", Name: "ci", APIKeys: []access.APIKeyConfig{config}}}}})
	testenv.Must(t, err)
	f := enginetest.New(t, func(c *countersign.Config) { c.Directory = directory })
	f.APIKey = key
	return f
}

// asked posts a stamped body from a peer, and returns the status and the answer.
func asked(f *enginetest.Fixture, options httpapi.Options, path, body, peer string, header http.Header) (int, string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.RemoteAddr = peer
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	stamped := f.APIKey.Header([]byte(body))
	r.Header.Set(stamped.Name, stamped.Value)
	w := httptest.NewRecorder()
	httpapi.New(f.Engine, options).ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestAddresses sends requests of a credential with a list from many places. Whatever a client
// writes into the header, it cannot choose the address that counts.
func TestAddresses(t *testing.T) {
	f := listed(t, "192.0.2.0/24", "2001:db8::/32")
	proxies := httpapi.Options{ForwardedFrom: []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("203.0.113.9/32")}}
	named := proxies
	named.ForwardedHeader = "X-Real-Ip"
	forwarded := func(values ...string) http.Header { return http.Header{"X-Forwarded-For": values} }
	const (
		signed  = http.StatusOK
		refused = http.StatusForbidden
		bad     = http.StatusBadRequest
	)
	for _, test := range []struct {
		name    string
		options httpapi.Options
		peer    string
		header  http.Header
		want    int
	}{
		{"a listed peer", httpapi.Options{}, "192.0.2.7:1", nil, signed},
		{"IPv6", httpapi.Options{}, "[2001:db8::1]:1", nil, signed},
		{"IPv4-mapped is IPv4", httpapi.Options{}, "[::ffff:192.0.2.7]:1", nil, signed},
		{"another peer", httpapi.Options{}, "198.51.100.1:1", nil, refused},
		{"a unix socket", httpapi.Options{}, "@", nil, refused},
		{"within the process", httpapi.Options{}, "in-process", nil, refused},
		{"no peer", httpapi.Options{}, "", nil, refused},
		{"a header that no option names", httpapi.Options{}, "198.51.100.1:1", forwarded("192.0.2.7"), refused},
		{"a header that changes nothing", httpapi.Options{}, "192.0.2.7:1", forwarded("198.51.100.1"), signed},

		{"behind a proxy", proxies, "10.0.0.1:1", forwarded("192.0.2.7"), signed},
		{"behind an IPv4-mapped proxy", proxies, "[::ffff:10.0.0.1]:1", forwarded("192.0.2.7"), signed},
		{"behind two proxies", proxies, "10.0.0.1:1", forwarded("192.0.2.7, 203.0.113.9,10.3.3.3"), signed},
		{"IPv4-mapped in the header", proxies, "10.0.0.1:1", forwarded("::ffff:192.0.2.7"), signed},
		{"a mapped proxy in the header", proxies, "10.0.0.1:1", forwarded("192.0.2.7, ::ffff:10.0.0.2"), signed},
		{"a client that prepends", proxies, "10.0.0.1:1", forwarded("192.0.2.7, 198.51.100.1"), refused},
		{"a client that prepends a proxy", proxies, "10.0.0.1:1", forwarded("192.0.2.7, 10.0.0.2, 198.51.100.1"),
			refused},
		{"prepended nonsense is not read", proxies, "10.0.0.1:1", forwarded("nonsense,, 192.0.2.7"), signed},
		{"a direct client of the list", proxies, "192.0.2.7:1", nil, signed},
		{"the header from elsewhere", proxies, "192.0.2.7:1", forwarded("192.0.2.7"), bad},
		{"the header from a socket", proxies, "@", forwarded("192.0.2.7"), bad},
		{"two headers", proxies, "10.0.0.1:1", forwarded("192.0.2.7", "192.0.2.7"), bad},
		{"an empty header", proxies, "10.0.0.1:1", forwarded(""), bad},
		{"no address", proxies, "10.0.0.1:1", forwarded("192.0.2.7, unknown"), bad},
		{"a port", proxies, "10.0.0.1:1", forwarded("192.0.2.7:80"), bad},
		{"a trailing comma", proxies, "10.0.0.1:1", forwarded("192.0.2.7,"), bad},
		{"a proxy that says nothing", proxies, "10.0.0.1:1", nil, refused},
		{"proxies only", proxies, "10.0.0.1:1", forwarded("10.0.0.3, 10.0.0.2"), refused},

		{"the named header", named, "10.0.0.1:1", http.Header{"X-Real-Ip": {"192.0.2.7"}}, signed},
		{"another header", named, "10.0.0.1:1", forwarded("192.0.2.7"), refused},
		{"both headers", named, "10.0.0.1:1", http.Header{"X-Real-Ip": {"198.51.100.1"},
			"X-Forwarded-For": {"192.0.2.7"}}, refused},
	} {
		got, answer := asked(f, test.options, signPath, f.Body(enginetest.Request{}), test.peer, test.header)
		if got != test.want {
			t.Errorf("%s: %d, want %d: %s", test.name, got, test.want, answer)
		}
	}
}

// TestProxyOnTheList: a list that names the proxy itself does not let its clients in.
func TestProxyOnTheList(t *testing.T) {
	f := listed(t, "10.0.0.0/8")
	options := httpapi.Options{ForwardedFrom: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}
	for _, client := range []string{"", "198.51.100.1", "10.0.0.1"} {
		header := http.Header{"X-Forwarded-For": {client}}
		if client == "" {
			header = nil
		}
		got, answer := asked(f, options, signPath, f.Body(enginetest.Request{}), "10.0.0.1:1", header)
		if got != http.StatusForbidden {
			t.Errorf("%v: %d %s", header, got, answer)
		}
	}
}

// TestAddressesOfEverything: votes and queries are judged as submissions are, and a body that was
// answered is not answered to another address.
func TestAddressesOfEverything(t *testing.T) {
	f := listed(t, "192.0.2.0/24")
	vote := strings.NewReplacer("ACTIVITY_TYPE_SIGN_TRANSACTION_V2", string(activity.TypeApproveActivity)).
		Replace(f.Body(enginetest.Request{}))
	parameters := strings.Index(vote, `"parameters":{`)
	vote = vote[:parameters] + `"parameters":{"fingerprint":"sha256:` + strings.Repeat("0", 64) + `"}}`
	for _, test := range []struct {
		path, body string
		inside     int
	}{
		{signPath, f.Body(enginetest.Request{}), http.StatusOK},
		{"/public/v1/submit/approve_activity", vote, http.StatusNotFound},
		{"/public/v1/query/whoami", `{"organizationId":"` + enginetest.Organization + `"}`, http.StatusOK},
		{"/public/v1/query/list_activities", `{"organizationId":"` + enginetest.Organization + `"}`, http.StatusOK},
	} {
		for peer, want := range map[string]int{"192.0.2.7:1": test.inside, "198.51.100.1:1": http.StatusForbidden} {
			if got, answer := asked(f, httpapi.Options{}, test.path, test.body, peer, nil); got != want {
				t.Errorf("%s from %s: %d, want %d: %s", test.path, peer, got, want, answer)
			}
		}
	}
	_, answer := asked(f, httpapi.Options{}, signPath, f.Body(enginetest.Request{}), "198.51.100.1:1", nil)
	if !strings.Contains(answer, "may not be used from 198.51.100.1") || strings.Contains(answer, "192.0.2") {
		t.Errorf("the refusal names the client's address, and not those of the list: %s", answer)
	}
}

// TestAddressesOnSocket asks over a unix socket.
func TestAddressesOnSocket(t *testing.T) {
	f := listed(t, "0.0.0.0/0", "::/0")
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	testenv.Must(t, err)
	server := httpapi.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}}
	body := f.Body(enginetest.Request{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://unix"+signPath, strings.NewReader(body))
	testenv.Must(t, err)
	stamped := f.APIKey.Header([]byte(body))
	r.Header.Set(stamped.Name, stamped.Value)
	response, err := client.Do(r)
	testenv.Must(t, err)
	response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("a socket matches a list: %s", response.Status)
	}
	client.CloseIdleConnections()
	testenv.Must(t, server.Close())
	<-done
}
