package browser_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/httpapi/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/stamp"
)

// rules require two approvals for transfers, by users other than the submitter.
const rules = `schema: countersign.policy/2
rules:
  - name: payouts
    allow: transfer
    when: effect.amount <= ether('10')
    approvals: [{count: 2, tag: finance, not: submitter}]
  - name: gas
    allow: fee
    when: effect.amount <= ether('1')
`

// house is a server with the approvals page, and its engine. It is the engine's directory,
// so that a test can register passkeys.
type house struct {
	*enginetest.Fixture
	t      *testing.T
	server *httptest.Server
	origin string

	mu        sync.Mutex
	directory access.Directory
	passkeys  map[string][]access.PasskeyConfig // by user
	untagged  map[string]bool                   // users who have lost the tag finance
	ann       *enginetest.APIKey                // may vote
	sent      []sentVote
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, passkeys: map[string][]access.PasskeyConfig{}, untagged: map[string]bool{}, ann: enginetest.NewAPIKey(t)}
	file := engines.Policy(t, rules, nil)
	h.Fixture = enginetest.New(t, func(config *countersign.Config) {
		config.Directory, config.Policy, config.Now = h, file, time.Now
	}, enginetest.WithLog(1))
	h.register()
	listening := httptest.NewUnstartedServer(nil)
	h.server = listening
	_, port, _ := strings.Cut(listening.Listener.Addr().String(), ":")
	h.origin = "http://localhost:" + port
	page, err := console.New(console.Options{Origin: h.origin, RPID: "localhost"})
	testenv.Must(t, err)
	api := httpapi.New(h.Engine, httpapi.Options{})
	listening.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, console.Path) {
			page.ServeHTTP(w, r)
			return
		}
		h.record(r)
		api.ServeHTTP(w, r)
	})
	listening.Start()
	t.Cleanup(listening.Close)
	return h
}

// register rebuilds the directory: the submitter, ann, who votes with an API key, and the
// owners of passkeys.
func (h *house) register() {
	h.t.Helper()
	submitter, ann := h.APIKey.Config(), h.ann.Config()
	ann.Activities = []activity.Type{activity.TypeApproveActivity, activity.TypeRejectActivity}
	users := []access.UserConfig{
		{ID: "user-1", Name: "ci", APIKeys: []access.APIKeyConfig{submitter}},
		{ID: "ann", Name: "ann", Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{ann}},
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, passkeys := range h.passkeys {
		user := access.UserConfig{ID: name, Name: name, Tags: []string{"finance"}, Passkeys: passkeys}
		if h.untagged[name] {
			user.Tags = nil
		}
		users = append(users, user)
	}
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Name: "Example", Users: users}})
	testenv.Must(h.t, err)
	h.directory = directory
}

func (h *house) current() access.Directory {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.directory
}

// Organization implements access.Directory.
func (h *house) Organization(ctx context.Context, id string) (*access.Organization, error) {
	return h.current().Organization(ctx, id)
}

// Member implements access.Directory.
func (h *house) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	return h.current().Member(ctx, organizationID, id)
}

// sentVote is a request that the page sent.
type sentVote struct{ path, body, stamp string }

// record keeps a request of the page, for replaying it.
func (h *house) record(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		h.t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, sentVote{r.URL.Path, string(body), r.Header.Get(stamp.HeaderPasskey)})
}

// post sends a request and returns the status and the answer.
func (h *house) post(sent sentVote) (int, string) {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.server.URL+sent.path, strings.NewReader(sent.body))
	testenv.Must(h.t, err)
	request.Header.Set(stamp.HeaderPasskey, sent.stamp)
	response, err := http.DefaultClient.Do(request)
	testenv.Must(h.t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	testenv.Must(h.t, err)
	return response.StatusCode, string(answer)
}

// votes returns the votes that the page has sent.
func (h *house) votes() []sentVote {
	h.mu.Lock()
	defer h.mu.Unlock()
	var votes []sentVote
	for _, sent := range h.sent {
		if strings.Contains(sent.path, "/submit/") {
			votes = append(votes, sent)
		}
	}
	return votes
}

// open opens the page in a tab.
func (h *house) open(page *tab) {
	h.t.Helper()
	page.run(chromedp.Navigate("about:blank"), chromedp.Navigate(h.origin+console.Path+"#organization="+enginetest.Organization), chromedp.WaitReady("body", chromedp.ByQuery))
	page.await("document.body.dataset.ready")
}

// enroll creates a passkey on the page and registers it as the page prints it.
func (h *house) enroll(page *tab, name string) {
	h.t.Helper()
	page.run(
		chromedp.Click("#register summary", chromedp.ByQuery),
		chromedp.SendKeys("#name", name, chromedp.ByQuery),
		chromedp.Click("#create button", chromedp.ByQuery),
		chromedp.WaitVisible("#configuration", chromedp.ByQuery),
	)
	page.run(chromedp.Evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }", nil), chromedp.Click("#copy", chromedp.ByQuery))
	page.await(`window.copied === document.getElementById("configuration").textContent`)
	printed := strings.Fields(page.text("#configuration"))
	values := map[string]string{}
	for i, word := range printed[:len(printed)-1] {
		values[word] = printed[i+1]
	}
	spki, err := base64.RawURLEncoding.DecodeString(values["--public-key"])
	testenv.Must(h.t, err)
	cose, err := stamp.COSEKeyFromSPKI(spki)
	testenv.Must(h.t, err)
	h.mu.Lock()
	h.passkeys[name] = append(h.passkeys[name], access.PasskeyConfig{
		CredentialID: values["--credential-id"], PublicKey: base64.RawURLEncoding.EncodeToString(cose), RPID: values["--rp-id"],
		Origins: []string{values["--origin"]}, UserVerification: "required",
		Activities: []activity.Type{activity.TypeApproveActivity, activity.TypeRejectActivity, activity.TypeHalt, activity.TypeResume},
	})
	h.mu.Unlock()
	h.register()
}

// list opens the list, which takes one touch.
func (p *tab) list() {
	p.t.Helper()
	p.run(chromedp.Evaluate("document.getElementById('status').textContent = ''", nil), chromedp.Click("#open button", chromedp.ByQuery))
	p.await("document.getElementById('status').textContent !== ''")
}

// click clicks a button of the first activity, waits for the result, and returns what the
// page says.
func (p *tab) click(kind string) string {
	p.t.Helper()
	p.run(chromedp.Evaluate("document.getElementById('status').textContent = ''", nil),
		chromedp.Click("article button."+kind, chromedp.ByQuery))
	p.await("document.getElementById('status').textContent !== ''")
	return p.text("#status")
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// submit submits a transaction with an API key. The activity must wait for votes.
func (h *house) submit() *activity.Record {
	h.t.Helper()
	record, err := h.Submit(h.t, enginetest.Request{At: time.Now()})
	testenv.Must(h.t, err)
	if record.Status != activity.StatusConsensusNeeded {
		h.t.Fatalf("the activity is %s, want it to wait for votes", record.Status)
	}
	return record
}

// read returns an activity, queried with the submitter's key.
func (h *house) read(id string) *activity.Record {
	h.t.Helper()
	record, err := h.Engine.GetActivity(h.t.Context(), h.APIKey.Sign(fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, id)))
	testenv.Must(h.t, err)
	return record
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
