package browser_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi/console"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// enlisted returns a tab of a browser in which eve has registered a passkey and opened the list.
func (h *house) enlisted(t *testing.T, browser context.Context) *tab {
	t.Helper()
	page := newTab(t, browser, true)
	h.open(page)
	h.enroll(page, "eve")
	h.open(page)
	page.list()
	return page
}

// waits checks that an activity waits and has a number of votes, and that nothing was
// signed.
func (h *house) waits(id string, votes int) {
	h.t.Helper()
	got := h.read(id)
	if got.Status != activity.StatusConsensusNeeded || len(got.Votes) != votes || h.Signing.Signatures.Load() != 0 {
		h.t.Errorf("the activity is %s with %d votes and %d signatures, want it to wait with %d votes and none", got.Status, len(got.Votes), h.Signing.Signatures.Load(), votes)
	}
}

// touches returns how often the passkey of a tab has signed.
func (p *tab) touches() int64 {
	p.t.Helper()
	return p.passkey().SignCount
}

func (p *tab) passkey() *webauthn.Credential {
	p.t.Helper()
	var found []*webauthn.Credential
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		found, err = webauthn.GetCredentials(p.authenticator).Do(ctx)
		return err
	}))
	if len(found) != 1 {
		p.t.Fatalf("the authenticator has %d passkeys, want 1", len(found))
	}
	return found[0]
}

// TestTouches checks that the list needs one touch, however often it is refreshed, and that
// each vote needs another.
func TestTouches(t *testing.T) {
	h := newHouse(t)
	h.submit()
	page := h.enlisted(t, newBrowser(t))
	before := page.touches()
	for range 3 {
		page.run(chromedp.Evaluate("document.getElementById('status').textContent = ''", nil), chromedp.Click("#refresh", chromedp.ByQuery))
		page.await("document.getElementById('status').textContent !== ''")
	}
	if after := page.touches(); after != before {
		t.Errorf("%d touches to refresh the list, want none", after-before)
	}
	if said := page.click("approve"); !strings.HasPrefix(said, "Approved.") {
		t.Fatalf("the page says %q", said)
	}
	if after := page.touches(); after != before+1 || len(h.votes()) != 1 {
		t.Errorf("%d touches and %d votes, want one of each", after-before, len(h.votes()))
	}
}

// TestTwoTabs votes in two tabs of one user, which show the same list. The second
// vote replaces the first and does not count twice.
func TestTwoTabs(t *testing.T) {
	h := newHouse(t)
	waiting := h.submit()
	one := h.enlisted(t, newBrowser(t))
	other := newTab(t, one.ctx, true)
	credential := one.passkey()
	other.run(webauthn.AddCredential(other.authenticator, credential))
	h.open(other)
	other.list()
	for _, page := range []*tab{one, other} {
		if said := page.click("approve"); !strings.HasPrefix(said, "Approved.") {
			t.Fatalf("the page says %q", said)
		}
		h.waits(waiting.ID, 2)
	}
	h.open(one)
	one.list()
	if buttons := evaluate[int](one, `document.querySelectorAll("button.approve").length`); buttons != 0 {
		t.Error("a user who has approved is offered to approve again")
	}
	if len(h.votes()) != 2 {
		t.Errorf("%d votes were sent, want one from each tab", len(h.votes()))
	}
}

// TestPhishedVote puts a copy of the page at another origin of the same domain, in front of
// the real server, where eve approves the real activity. Her passkey signs, but the server
// refuses the vote because of its origin.
func TestPhishedVote(t *testing.T) {
	h := newHouse(t)
	waiting := h.submit()
	page := h.enlisted(t, newBrowser(t))
	h.open(page)
	phisher := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(phisher.Listener.Addr().String(), ":")
	copied, err := console.New(console.Options{Origin: "http://localhost:" + port, RPID: "localhost"})
	testenv.Must(t, err)
	real, err := url.Parse(h.server.URL)
	testenv.Must(t, err)
	mux := http.NewServeMux()
	mux.Handle(console.Path, copied)
	mux.Handle("/", httputil.NewSingleHostReverseProxy(real))
	mux.HandleFunc("/public/v1/query/list_activities", func(w http.ResponseWriter, r *http.Request) {
		found, err := h.Engine.ListActivities(r.Context(), h.ann.Sign(`{"organizationId":"`+enginetest.Organization+`"}`))
		if err != nil {
			t.Error(err)
		}
		_ = activity.Activities(found).WriteAnswer(w)
	})
	phisher.Config.Handler = mux
	phisher.Start()
	t.Cleanup(phisher.Close)
	page.run(chromedp.Navigate("http://localhost:" + port + console.Path + "#organization=" + enginetest.Organization))
	page.await("document.body.dataset.ready")
	page.list()
	before := page.touches()
	if said := page.click("approve"); !strings.Contains(said, "stamp") && !strings.Contains(said, "signature") {
		t.Errorf("the page says %q", said)
	}
	if votes := h.votes(); page.touches() != before+1 || len(votes) != 1 || votes[0].stamp == "" {
		t.Fatalf("the passkey signed %d times and %d votes arrived, want one of each: no phishing was tried", page.touches()-before, len(votes))
	}
	h.waits(waiting.ID, 1)
}

// TestVoteWithoutVerification checks that a modified page that does not ask for user
// verification gets a signature from the authenticator, but no vote.
func TestVoteWithoutVerification(t *testing.T) {
	h := newHouse(t)
	waiting := h.submit()
	page := h.enlisted(t, newBrowser(t))
	page.unverify()
	page.run(chromedp.Evaluate(`(() => {
		const get = navigator.credentials.get.bind(navigator.credentials);
		navigator.credentials.get = (options) => get({ publicKey: { ...options.publicKey, userVerification: "discouraged" } });
	})()`, nil))
	before := page.touches()
	if said := page.click("approve"); !strings.Contains(said, "stamp") && !strings.Contains(said, "signature") {
		t.Errorf("the page says %q", said)
	}
	if votes := h.votes(); page.touches() != before+1 || len(votes) != 1 {
		t.Fatalf("the passkey signed %d times and %d votes arrived, want one of each", page.touches()-before, len(votes))
	}
	h.waits(waiting.ID, 1)
}
