package browser_test

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/httpapi/console"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// hostile is text that an attacker might use: markup, a script, a character that reverses
// text (U+202E), a line break, and letters, marks and spaces that are invisible.
const hostile = "<img src=x onerror=\"window.owned=1\"><script>window.owned=1</script>\u202etxet\n! no hazards ${window.owned=1}\u3164\u034f\u2800\u2003\ufe0f\u200b"

// TestInjection checks that hostile text stays text, wherever text from outside is shown:
// nothing runs, nothing is loaded, and no character breaks or reverses a line.
func TestInjection(t *testing.T) {
	browser := newBrowser(t)
	fake := newFake(t, hostileActivity(t))
	page := newTab(t, browser, true)
	fake.open(page)
	page.list()
	if shown := evaluate[int](page, `document.querySelectorAll("article").length`); shown != 1 {
		t.Fatalf("%d activities are shown, want 1; the page says %q", shown, page.text("#status"))
	}
	if open := evaluate[int](page, `[...document.querySelectorAll("article details[open]")].filter((d) => d.textContent.startsWith("Details")).length`); open != 1 {
		t.Error("the details of a call that is not decoded are closed")
	}
	page.run(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil))
	for expression, want := range map[string]int{
		`window.owned || 0`: 0,
		`document.querySelectorAll("article img, article script, article iframe, article a").length`:                                                  0,
		`[...document.querySelectorAll("article")].filter((a) => /[\u202a-\u202e\u2066-\u2069]/.test(a.textContent)).length`:                          0,
		`[...document.querySelectorAll("article")].filter((a) => /[\u3164\u034f\u2800\u2003\ufe0f\u200b]/.test(a.textContent)).length`:                0,
		`performance.getEntriesByType("resource").filter((r) => !r.name.startsWith(location.origin)).length`:                                          0,
		`[...document.querySelectorAll(".sentences li")].filter((li) => li.textContent.includes("<img") && li.textContent.includes("\\u{a}")).length`: 1,
	} {
		if got := evaluate[int](page, expression); got != want {
			t.Errorf("%s: %d, want %d", expression, got, want)
		}
	}
	if status := page.text("#status"); status != "1 activity." {
		t.Errorf("the status of a short list is %q", status)
	}
	if blocked := evaluate[string](page, `(() => { try { document.body.insertAdjacentHTML("beforeend", "<b>x</b>"); return "assigned"; } catch (refused) { return refused.name; } })()`); blocked != "TypeError" {
		t.Errorf("inserting markup from a string: %s, want TypeError: trusted types are not enforced", blocked)
	}
}

// TestLies checks that the page warns about an activity whose summary, effects, keys,
// readings or request do not match its digests, and offers no vote on it.
func TestLies(t *testing.T) {
	browser := newBrowser(t)
	for member, lie := range map[string]func(review map[string]any, votes []any){
		"summary":       func(review map[string]any, _ []any) { review["summary"] = `{"fields":[]}` },
		"effects":       func(review map[string]any, _ []any) { review["effects"] = `[]` },
		"keyIds":        func(review map[string]any, _ []any) { review["keyIds"] = []string{"another"} },
		"readings":      func(review map[string]any, _ []any) { review["readings"] = `[]` },
		"shown":         func(review map[string]any, _ []any) { review["shown"] = strings.Repeat("0", 64) },
		"summaryDigest": func(review map[string]any, _ []any) { review["summaryDigest"] = strings.Repeat("0", 64) },
		"message":       func(_ map[string]any, votes []any) { votes[0].(map[string]any)["message"] = "{}" },
	} {
		told := hostileActivity(t)
		lie(told["review"].(map[string]any), told["votes"].([]any))
		page := newTab(t, browser, true)
		newFake(t, told).open(page)
		page.list()
		if alerts := evaluate[int](page, `document.querySelectorAll("article [role=alert]").length`); alerts != 1 {
			t.Errorf("%s: %d alerts, want 1", member, alerts)
		}
		if buttons := evaluate[int](page, `document.querySelectorAll("article .votes button").length`); buttons != 0 {
			t.Errorf("%s: the page offers a vote", member)
		}
	}
}

// hostileActivity returns an activity as the API answers it, hostile in every text and with
// digests that match.
func hostileActivity(t *testing.T) map[string]any {
	t.Helper()
	summary, err := json.Marshal(map[string]any{"schema": hostile, "fields": []any{
		map[string]any{"label": hostile, "type": "text", "value": hostile, "note": hostile, "symbol": hostile},
		map[string]any{"label": hostile, "type": "list", "fields": []any{map[string]any{"label": hostile, "type": "amount", "value": "12345", "decimals": 3, "symbol": hostile}}},
	}})
	testenv.Must(t, err)
	effects, keyIDs := `[{"kind":"call"}]`, []string{hostile}
	read := testenv.Encode(t, []any{map[string]any{"intent": hostile, "function": hostile, "owner": hostile, "trust": hostile, "args": []any{map[string]any{"name": hostile, "value": hostile}}}})
	readings := string(read)
	review := activity.Review{Summary: string(summary), Effects: effects, KeyIDs: keyIDs}
	shown := activity.ShownDigest(review.Summary, effects, keyIDs, readings)
	body := "{\"memo\":" + string(summary) + "}"
	at := map[string]any{"seconds": "1745383555", "nanos": "0"}
	return map[string]any{
		"id": "activity-1", "organizationId": "org", "status": "ACTIVITY_STATUS_CONSENSUS_NEEDED", "type": "ACTIVITY_TYPE_" + hostile,
		"fingerprint": "sha256:" + digest(body), "canApprove": true, "canReject": true, "createdAt": at, "updatedAt": at,
		"failure": map[string]any{"message": hostile},
		"votes":   []any{map[string]any{"user": map[string]any{"userName": hostile}, "message": body, "selection": hostile, "createdAt": at}},
		"review": map[string]any{
			"shown": hex.EncodeToString(shown[:]), "summaryDigest": digest(review.Summary), "summary": review.Summary, "effects": effects, "keyIds": keyIDs, "readings": readings,
			"sentences": []any{"! " + hostile}, "hazards": []any{map[string]any{"name": hostile, "detail": hostile}}, "rules": []any{hostile}, "limits": []any{hostile},
			"missing":      []any{map[string]any{"rule": hostile, "count": 1, "tag": hostile, "users": []any{hostile}, "missing": 1}},
			"policyDigest": hostile, "reason": hostile, "expiresAt": hostile,
		},
	}
}

// fake is a server with the page and an API that lists the given activities.
type fake struct{ origin string }

func newFake(t *testing.T, listed ...map[string]any) fake {
	t.Helper()
	answer := testenv.Encode(t, map[string]any{"activities": listed})
	server := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	f := fake{"http://localhost:" + port}
	page, err := console.New(console.Options{Origin: f.origin, RPID: "localhost"})
	testenv.Must(t, err)
	mux := http.NewServeMux()
	mux.Handle(console.Path, page)
	mux.HandleFunc("/public/v1/query/list_activities", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
	server.Config.Handler = mux
	server.Start()
	t.Cleanup(server.Close)
	return f
}

// open opens the page and creates a passkey, which opening the list needs.
func (f fake) open(page *tab) {
	page.t.Helper()
	page.run(
		chromedp.Navigate(f.origin+console.Path+"#organization=org"), chromedp.Poll("document.body.dataset.ready", nil, chromedp.WithPollingInterval(50*time.Millisecond)),
		chromedp.Click("#register summary", chromedp.ByQuery), chromedp.SendKeys("#name", "eve", chromedp.ByQuery),
		chromedp.Click("#create button", chromedp.ByQuery), chromedp.WaitVisible("#configuration", chromedp.ByQuery),
		chromedp.Evaluate(`document.getElementById("status").textContent = ""`, nil),
	)
}

// TestFullList checks that the page does not present a full page of activities as all of
// them.
func TestFullList(t *testing.T) {
	browser := newBrowser(t)
	page := newTab(t, browser, true)
	newFake(t, slices.Repeat([]map[string]any{hostileActivity(t)}, activity.MaxPage)...).open(page)
	page.list()
	if status := page.text("#status"); !strings.Contains(status, "there may be older ones") {
		t.Errorf("the status of a full list is %q", status)
	}
}

// TestRegistrationCommand checks that the command for the operator, pasted into a shell,
// runs nothing that was entered as a name.
func TestRegistrationCommand(t *testing.T) {
	browser := newBrowser(t)
	page := newTab(t, browser, true)
	newFake(t, hostileActivity(t)).open(page)
	const name = `o'hara $(echo x) ` + "`echo x`" + ` "!"\`
	page.run(chromedp.SetValue("#name", name, chromedp.ByQuery), chromedp.Click("#create button", chromedp.ByQuery))
	page.await(`document.getElementById("configuration").textContent.includes("hara")`)
	shell := exec.Command("sh", "-c", "countersign() { for word; do printf '%s\\n' \"$word\"; done; }\n"+page.text("#configuration"))
	words, err := shell.Output()
	testenv.Must(t, err)
	if passed := strings.Split(string(words), "\n"); !slices.Contains(passed, name) {
		t.Errorf("the shell passes %q, not the name %q", passed, name)
	}
}
