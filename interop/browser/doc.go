// Package browser drives the page of approvals in headless Chromium, with a
// virtual authenticator in place of a person's passkey, and checks it with
// axe-core. It is a module of its own because of chromedp.
package browser
