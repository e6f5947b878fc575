// Package browser tests the approvals page in headless Chromium, with a virtual
// authenticator as passkey, and checks it with axe-core. It is a module of its own because
// of chromedp.
package browser
