package browser_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// patience is the time after which a test fails because its page hangs.
const patience = 3 * time.Minute

// chromium is started by the first test that needs it, and ends after the last one: to start it
// takes longer than most tests. evil.example is the name of an attacker, who has rebound it.
var chromium struct {
	ctx context.Context
	end context.CancelFunc
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.ctx != nil {
		_ = chromedp.Cancel(chromium.ctx)
		chromium.end()
	}
	os.Exit(code)
}

// newBrowser returns a browser without history, storage or passkeys, in which tabs are created: a
// browser context of Chromium, which shares nothing with another.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	testenv.Slow(t)
	if chromium.ctx == nil {
		program := "chromium-headless-shell" // of Debian: the same engine without windows, a quarter of the work
		if _, err := exec.LookPath(program); err != nil {
			program = "chromium"
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(testenv.Tool(t, program)),
			chromedp.WindowSize(1000, 900),
			chromedp.WSURLReadTimeout(patience),
			chromedp.Flag("lang", "en-US"),
			chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"),
			chromedp.NoSandbox, // root and containers have no sandbox, and only our own page is opened
		)
		ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, _ = chromedp.NewContext(ctx)
		if err := chromedp.Run(ctx); err != nil {
			end()
			t.Fatal(err)
		}
		chromium.ctx, chromium.end = ctx, end
	}
	process := cdp.WithExecutor(chromium.ctx, chromedp.FromContext(chromium.ctx).Browser)
	id, err := target.CreateBrowserContext().Do(process)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = target.DisposeBrowserContext(id).Do(process) })
	_, err = target.CreateTarget("about:blank").WithBrowserContextID(id).WithNewWindow(true).Do(process) // tabs need one
	testenv.Must(t, err)
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithExistingBrowserContext(id))
	t.Cleanup(cancel)
	testenv.Must(t, chromedp.Run(ctx))
	return ctx
}

// tab is a browser tab.
type tab struct {
	t             *testing.T
	ctx           context.Context
	authenticator webauthn.AuthenticatorID
	problems      []string // exceptions and console errors
}

// newTab opens a blank tab with an authenticator. verified says whether the authenticator
// verifies its user, as with a PIN or a fingerprint.
func newTab(t *testing.T, browser context.Context, verified bool) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancelLate := context.WithTimeout(ctx, patience)
	t.Cleanup(cancelLate)
	p := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		switch event := event.(type) {
		case *runtime.EventExceptionThrown:
			p.problems = append(p.problems, event.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if event.Type == runtime.APITypeError {
				p.problems = append(p.problems, string(event.Args[0].Value))
			}
		}
	})
	p.run(webauthn.Enable(), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		p.authenticator, err = webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: verified, AutomaticPresenceSimulation: true,
		}).Do(ctx)
		return err
	}))
	return p
}

// run brings the tab to the front, since a hidden tab gets no touch, and runs actions.
func (p *tab) run(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, append([]chromedp.Action{page.BringToFront()}, actions...)...); err != nil {
		p.t.Fatalf("%v; the page reported %q", err, p.problems)
	}
}

// evaluate runs a script and returns its result.
func evaluate[T any](p *tab, script string) T {
	p.t.Helper()
	var result T
	p.run(chromedp.Evaluate(script, &result, func(params *runtime.EvaluateParams) *runtime.EvaluateParams {
		return params.WithAwaitPromise(true)
	}))
	return result
}

// text waits for an element and returns its text.
func (p *tab) text(selector string) string {
	p.t.Helper()
	var text string
	p.run(chromedp.WaitReady(selector, chromedp.ByQuery), chromedp.Evaluate("document.querySelector("+quote(selector)+").innerText", &text))
	return text
}

// await waits until an expression is true in the page.
func (p *tab) await(expression string) {
	p.t.Helper()
	p.run(chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(0), chromedp.WithPollingInterval(50*time.Millisecond)))
}

// window sets the size of the window, as on a desktop or a phone, and the color scheme.
func (p *tab) window(width, height int64, scheme string) {
	p.t.Helper()
	p.run(emulation.SetDeviceMetricsOverride(width, height, 1, width < 600),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// unverify makes the authenticator unable to verify its user.
func (p *tab) unverify() {
	p.t.Helper()
	p.run(webauthn.SetUserVerified(p.authenticator, false))
}
