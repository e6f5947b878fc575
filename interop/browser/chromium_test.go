package browser_test

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// patience is the time after which a test fails because its page hangs.
const patience = 3 * time.Minute

// newBrowser starts Chromium with a new profile, from which tabs are created.
func newBrowser(t *testing.T, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	testenv.Slow(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(testenv.Tool(t, "chromium")),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.WindowSize(1000, 900),
		chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("lang", "en-US"),
		chromedp.NoSandbox, // root and containers have no sandbox, and only our own page is opened
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	t.Cleanup(cancel)
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); cancelBrowser() })
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
