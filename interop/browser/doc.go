// Package browser tests the approvals page in headless Chromium, with a virtual
// authenticator for passkeys, and checks its accessibility with axe-core. It is a module of
// its own, so that the library does not depend on chromedp.
package browser
