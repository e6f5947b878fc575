// Package console serves the page on which people approve and reject activities with passkeys. It
// consists of embedded static files: no framework, no build step, and nothing from third parties.
//
// The page uses the API like any other client. It lists the waiting activities, shows each
// with its sentences, details, hazards and digest, and stamps each vote with a touch. It
// computes the digests itself, and a vote commits to what was shown (POST
// submit/approve_activity, parameters fingerprint and shown). The browser stores nothing:
// stamps stay in memory, and the list closes after ten minutes.
//
// The Content-Security-Policy allows the page to run and fetch only its own files, forbids
// framing, and forbids markup from strings (trusted types).
package console

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/countersign-dev/countersign/internal/weborigin"
)

// Path is the path that the page is served under.
const Path = "/console/"

// Options configures the handler that New returns. Both members are required.
type Options struct {
	// Origin is the origin at which browsers open the page: scheme, host and port, such as
	// "https://sign.example.com". Passkeys work only over https and on localhost.
	Origin string

	// RPID is the domain that the passkeys belong to: the origin's host, or a domain above it.
	RPID string
}

//go:embed static
var static embed.FS

// policy is the page's Content-Security-Policy.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// New returns a handler for everything below [Path]. Its error names the invalid option.
func New(options Options) (http.Handler, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	files, err := fs.Sub(static, "static")
	if err != nil {
		return nil, err
	}
	settings, err := json.Marshal(map[string]string{"origin": options.Origin, "rpId": options.RPID})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, http.StripPrefix(Path, http.FileServerFS(files)))
	mux.HandleFunc("GET "+Path+"config.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(settings)
	})
	return guarded(mux), nil
}

// check refuses an origin that no browser would report, and a domain whose passkeys the
// page could not use.
func (o Options) check() error {
	origin, err := weborigin.Parse(o.Origin)
	if err != nil {
		return fmt.Errorf("origin: %w", err)
	}
	host := origin.Hostname()
	if origin.Scheme != "https" && (origin.Scheme != "http" || host != "localhost") {
		return fmt.Errorf("origin: %q: passkeys need https, or http://localhost", o.Origin)
	}
	if o.RPID == "" {
		return errors.New("rpId is missing: use the host of the origin, or a domain above it")
	}
	if host != o.RPID && !strings.HasSuffix(host, "."+o.RPID) {
		return fmt.Errorf("rpId: %q is neither the host of the origin, %s, nor a domain above it", o.RPID, host)
	}
	return nil
}

// guarded sets headers that isolate the page from other pages.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Permissions-Policy", "publickey-credentials-get=(self), publickey-credentials-create=(self)")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
