package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestApproveWithPasskeys checks that a transaction submitted with an API key is signed
// after two people have registered passkeys on the page and approved there.
func TestApproveWithPasskeys(t *testing.T) {
	h, browser := newHouse(t), newBrowser(t)
	waiting := h.submit()
	first, second := newTab(t, browser, true), newTab(t, browser, true)
	for page, name := range map[*tab]string{first: "eve", second: "fay"} {
		h.open(page)
		h.enroll(page, name)
	}
	for i, page := range []*tab{first, second} {
		h.open(page)
		page.list()
		shown := page.text("article")
		for _, part := range []string{"send ", "rule payouts", "digest of the summary"} {
			if !strings.Contains(strings.ToLower(shown), part) {
				t.Errorf("the page does not show %q:\n%s", part, shown)
			}
		}
		if said := page.click("approve"); !strings.HasPrefix(said, "Approved.") {
			t.Fatalf("the page says %q", said)
		}
		want := [...]activity.Status{activity.StatusConsensusNeeded, activity.StatusCompleted}[i]
		if got := h.read(waiting.ID); got.Status != want {
			t.Fatalf("after vote %d: %s, want %s", i+1, got.Status, want)
		}
		if len(page.problems) > 0 {
			t.Errorf("the page reported %q", page.problems)
		}
	}
	done := h.read(waiting.ID)
	if done.Result != (activity.SignTransactionResult{SignedTransaction: enginetest.Signed}) || len(done.Votes) != 3 {
		t.Errorf("completed as %+v", done)
	}
	if shown := second.text("article"); !strings.Contains(second.text("article h3"), "signed") || !strings.Contains(shown, "send ") || !strings.Contains(shown, "payouts") {
		t.Errorf("after the last touch the page shows %q", shown)
	}
	if votes := h.votes(); len(votes) != 2 {
		t.Errorf("%d votes were sent, want one from each tab", len(votes))
	}
	replayed(t, h)
}

// replayed replays the votes of the page and checks that they change nothing.
func replayed(t *testing.T, h *house) {
	t.Helper()
	before := h.Signing.Signatures.Load()
	for _, vote := range h.votes() {
		status, answer := h.post(vote)
		if status != 200 || !strings.Contains(answer, "ACTIVITY_STATUS_COMPLETED") {
			t.Errorf("a replayed vote: %d, %s", status, answer)
		}
		vote.body = strings.Replace(vote.body, "APPROVE", "REJECT", 1)
		if status, _ := h.post(sentVote{strings.Replace(vote.path, "approve", "reject", 1), vote.body, vote.stamp}); status != 401 {
			t.Errorf("a stamp on another body: %d, want 401", status)
		}
	}
	if after := h.Signing.Signatures.Load(); after != before {
		t.Errorf("%d more signatures, want none", after-before)
	}
}

// TestReject checks that one rejection ends an activity.
func TestReject(t *testing.T) {
	h, browser := newHouse(t), newBrowser(t)
	waiting := h.submit()
	page := h.enlisted(t, browser)
	if said := page.click("reject"); !strings.Contains(said, "rejected") {
		t.Errorf("the page says %q", said)
	}
	if got := h.read(waiting.ID); got.Status != activity.StatusRejected {
		t.Errorf("the activity is %s, want it rejected", got.Status)
	}
}

// TestHalt halts and resumes with a passkey: meanwhile nothing is signed and no approval counts.
func TestHalt(t *testing.T) {
	h, browser := newHouse(t), newBrowser(t)
	waiting := h.submit()
	page := newTab(t, browser, true)
	h.open(page)
	h.enroll(page, "eve")
	h.open(page)
	page.run(chromedp.SetValue("organization", enginetest.Organization, chromedp.ByID), chromedp.Click("#halts summary", chromedp.ByQuery))
	press := func(kind, want string) {
		t.Helper()
		page.run(chromedp.Evaluate("document.getElementById('status').textContent = ''", nil),
			chromedp.Click("#halt button[value="+kind+"]", chromedp.ByQuery))
		page.await("document.getElementById('status').textContent !== ''")
		if said := page.text("#status"); said != want {
			t.Errorf("the page says %q, want %q", said, want)
		}
	}
	press("halt", "Signing is halted for the organization.")
	page.list()
	if said := page.click("approve"); !strings.Contains(said, "signing is halted for the organization") {
		t.Errorf("an approval: the page says %q", said)
	}
	h.waits(waiting.ID, 1)
	press("resume", "Signing is resumed for the organization.")
	press("resume", "signing is not halted for the organization")
	if said := page.click("approve"); !strings.Contains(said, "Approved") {
		t.Errorf("an approval after the end: the page says %q", said)
	}
}

// TestVotesThatDoNotCount checks that users cannot vote who have lost the tag, whose
// authenticator does not verify them, or whose passkey is not registered.
func TestVotesThatDoNotCount(t *testing.T) {
	h, browser := newHouse(t), newBrowser(t)
	h.submit()
	page := h.enlisted(t, browser)
	h.mu.Lock()
	h.untagged["eve"] = true
	h.mu.Unlock()
	h.register()
	if said := page.click("approve"); !strings.Contains(said, "authorized") && !strings.Contains(said, "no activity") {
		t.Errorf("to a user who lost the tag, the page says %q", said)
	}
	h.register()
	page.run(chromedp.Evaluate(`document.getElementById("organization").value = "6e1f8f5e-0000-4222-8333-444455556666"`, nil))
	page.list()
	if said := page.text("#status"); !strings.Contains(said, "not registered in this organization") {
		t.Errorf("of another organization, the page says %q", said)
	}
	page.unverify()
	h.open(page)
	page.list()
	if said := page.text("#status"); !strings.Contains(said, "not used") {
		t.Errorf("without user verification, the page says %q", said)
	}
	stranger := newTab(t, browser, true)
	h.open(stranger)
	stranger.list()
	if said := stranger.text("#status"); !strings.Contains(said, "not used") {
		t.Errorf("without a passkey, the page says %q", said)
	}
	if signed := h.Signing.Signatures.Load(); signed != 0 {
		t.Errorf("%d signatures, want none", signed)
	}
}

// TestAccessibility checks that axe-core finds no violation on a page with an activity, in
// light and dark, at the width of a desktop and a phone, and that every control can be
// reached with the keyboard.
func TestAccessibility(t *testing.T) {
	h, browser := newHouse(t), newBrowser(t)
	h.submit()
	page := h.enlisted(t, browser)
	page.run(chromedp.Click("article details summary", chromedp.ByQuery))
	axe := testenv.Read(t, testenv.NodeModule(t, "axe-core", "axe.min.js"))
	page.run(chromedp.Evaluate(string(axe), nil))
	for _, look := range []struct {
		width, height int64
		scheme        string
	}{{1000, 900, "light"}, {1000, 900, "dark"}, {360, 740, "light"}, {360, 740, "dark"}} {
		page.window(look.width, look.height, look.scheme)
		violations := evaluate[[]string](page, `axe.run().then(({violations}) => violations.map((v) => v.id + ": " + v.help + " " + v.nodes.map((n) => n.target).join(" ")))`)
		for _, violation := range violations {
			t.Errorf("%+v: %s", look, violation)
		}
		if wide := evaluate[int64](page, "document.documentElement.scrollWidth"); wide > look.width {
			t.Errorf("%+v: the page is %d pixels wide", look, wide)
		}
		page.screenshot(t, look.scheme, look.width)
	}
	reached := evaluate[bool](page, `[...document.querySelectorAll("button, input, select, summary")].every((control) => control.tabIndex >= 0)`)
	if !reached {
		t.Error("a control cannot be reached with the keyboard")
	}
}

// screenshot takes a screenshot. With COUNTERSIGN_UPDATE it updates those in docs/images.
func (p *tab) screenshot(t *testing.T, scheme string, width int64) {
	t.Helper()
	var picture []byte
	p.run(chromedp.FullScreenshot(&picture, 100))
	if len(picture) == 0 {
		t.Error("the screenshot is empty")
	}
	size := map[int64]string{1000: "wide", 360: "narrow"}[width]
	if shown := size + scheme; os.Getenv("COUNTERSIGN_UPDATE") == "" || shown != "widelight" && shown != "narrowdark" {
		return
	}
	path := filepath.Join(testenv.Root(), "docs", "images", "approvals-"+size+"-"+scheme+".png")
	testenv.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	testenv.Must(t, os.WriteFile(path, picture, 0o644))
}
