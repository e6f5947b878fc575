package browser_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store/memory"
)

// rpcTarget is a JSON-RPC signer whose caller any request is, as if the browser had the
// certificate of a user and attached it: nothing but the rules about browsers protects it.
type rpcTarget struct {
	*enginetest.Fixture
	server *httptest.Server
	mu     sync.Mutex
	seen   []string // method, path, status
}

const rpcToken = "0123456789abcdef0123456789abcdef"

func newRPCTarget(t *testing.T) *rpcTarget {
	t.Helper()
	target := &rpcTarget{Fixture: enginetest.New(t, func(c *countersign.Config) { c.Store = memory.New(0) })}
	users, err := rpcapi.NewUsers([]rpcapi.User{{OrganizationID: enginetest.Organization, UserID: "user-1", Token: rpcToken}}, nil)
	testenv.Must(t, err)
	handler := rpcapi.New(target.Engine, rpcapi.Options{
		Users: func() *rpcapi.Users { return users }, Directory: target.Config.Directory.(access.Users), Keystore: target.Signing,
		Host: func(host string) bool {
			name, _, _ := net.SplitHostPort(host)
			return name == "127.0.0.1" || name == "localhost"
		},
	})
	target.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page" { // of the attacker, at a name that is rebound to this server
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<title>page</title>")
			return
		}
		r.Header.Set("Authorization", "Bearer "+rpcToken)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		target.mu.Lock()
		target.seen = append(target.seen, fmt.Sprintf("%s %s %d", r.Method, r.URL.Path, recorder.Code))
		target.mu.Unlock()
		for name, values := range recorder.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes())
	}))
	t.Cleanup(target.server.Close)
	return target
}

// rpcBody asks for a signature.
const rpcBody = `{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[{"from":"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56",` +
	`"to":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7","gas":"0xea60","maxFeePerGas":"0x4a817c800","maxPriorityFeePerGas":"0x3b9aca00","value":"0x7b","nonce":"0x7","chainId":"0x1"}]}`

// attacks are what a page can do to reach a server. Each returns what the page could read.
var attacks = map[string]string{
	"fetch, JSON":            `fetch(url, {method: "POST", headers: {"Content-Type": "application/json"}, body}).then(r => r.text())`,
	"fetch, credentials":     `fetch(url, {method: "POST", credentials: "include", headers: {"Content-Type": "application/json"}, body}).then(r => r.text())`,
	"fetch, simple":          `fetch(url, {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body}).then(r => r.text())`,
	"fetch, no content type": `fetch(url, {method: "POST", mode: "no-cors", body: new Blob([body])}).then(r => r.text())`,
	"fetch, keepalive":       `fetch(url, {method: "POST", mode: "no-cors", keepalive: true, referrerPolicy: "no-referrer", body}).then(r => r.text())`,
	"XMLHttpRequest":         `new Promise(done => { const x = new XMLHttpRequest(); x.onloadend = () => done(x.responseText); x.open("POST", url); x.setRequestHeader("Content-Type", "application/json"); x.send(body); })`,
	"beacon":                 `new Promise(done => { navigator.sendBeacon(url, new Blob([body], {type: "text/plain"})); setTimeout(() => done(""), 300); })`,
	"form":                   `new Promise(done => { const f = document.createElement("form"); f.method = "POST"; f.enctype = "text/plain"; f.action = url; f.target = "frame"; const i = document.createElement("input"); i.name = body.slice(0, -2) + ',"x":"'; i.value = '"}'; f.append(i); const frame = document.createElement("iframe"); frame.name = "frame"; frame.onload = () => done(""); document.body.append(frame, f); f.submit(); })`,
	"image":                  `new Promise(done => { const i = new Image(); i.onload = i.onerror = () => done(""); i.src = url + "?" + encodeURIComponent(body); })`,
	"script":                 `new Promise(done => { const s = document.createElement("script"); s.onload = s.onerror = () => done(""); s.src = url; document.body.append(s); })`,
	"sandboxed frame":        `new Promise(done => { const f = document.createElement("iframe"); f.sandbox = "allow-scripts"; addEventListener("message", e => done(String(e.data))); f.srcdoc = "<script>fetch(" + JSON.stringify(url) + ",{method:'POST',mode:'no-cors',body:" + JSON.stringify(body).replaceAll("<", "\\u003c").replaceAll('"', "&quot;") + "}).then(r => r.text()).catch(e => '').then(t => parent.postMessage(t, '*'))</" + "script>"; document.body.append(f); setTimeout(() => done(""), 2000); })`,
	"worker":                 `new Promise(done => { const w = new Worker(URL.createObjectURL(new Blob(["onmessage = e => fetch(e.data[0], {method: 'POST', mode: 'no-cors', body: e.data[1]}).then(r => r.text()).catch(() => '').then(postMessage)"]))); w.onmessage = e => done(e.data); w.postMessage([url, body]); })`,
}

// TestPagesCannotSign attacks the signer from a page of another origin, and from one whose
// name has been rebound to the signer's address, so that the signer is of its own origin.
// Nothing is signed and nothing can be read. The same body by a program is signed.
func TestPagesCannotSign(t *testing.T) {
	target := newRPCTarget(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>page</title>")
	}))
	t.Cleanup(elsewhere.Close)
	browser := newBrowser(t)
	_, port, err := net.SplitHostPort(target.server.Listener.Addr().String())
	testenv.Must(t, err)
	for from, url := range map[string][2]string{
		"another origin": {elsewhere.URL + "/page", target.server.URL + "/"},
		"localhost":      {elsewhere.URL + "/page", "http://localhost:" + port + "/"},
		"rebound name":   {"http://evil.example:" + port + "/page", "http://evil.example:" + port + "/"},
	} {
		page := newTab(t, browser, true)
		for name, attack := range attacks {
			page.run(chromedp.Navigate(url[0]))
			read := evaluate[string](page, fmt.Sprintf(`(async () => { const url = %s, body = %s; try { return String(await %s); } catch (e) { return ""; } })()`, quote(url[1]), quote(rpcBody), attack))
			if strings.Contains(read, "result") || strings.Contains(read, "0x02") {
				t.Errorf("%s, %s: the page read %s", from, name, read)
			}
		}
	}
	target.WantSignatures(t, 0)
	target.mu.Lock()
	seen := strings.Join(target.seen, "\n")
	target.mu.Unlock()
	if strings.Contains(seen, " 200") || strings.Count(seen, "POST / 403") < len(attacks) {
		t.Errorf("the signer answered\n%s", seen)
	}
	response, err := http.Post(target.server.URL, "application/json", strings.NewReader(rpcBody))
	testenv.Must(t, err)
	defer response.Body.Close()
	if answer, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(answer), enginetest.Signed) {
		t.Errorf("a program: %s, %v", answer, err)
	}
	target.WantSignatures(t, 1)
}
