package httpapi

import (
	"net/http"
	"slices"
)

// allowedHeaders are the headers that a page in a browser may send.
const allowedHeaders = "content-type, x-stamp, x-stamp-webauthn, x-client-version"

// cors lets pages of the configured origins use the API (Fetch, section 3.2). It reports
// whether the request was a preflight, which it then has answered. Credentials are not
// allowed: only the stamp identifies the caller.
func (h *handler) cors(w http.ResponseWriter, r *http.Request) (answered bool) {
	if len(h.options.Origins) == 0 {
		return false
	}
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(h.options.Origins, origin) {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Set("Access-Control-Expose-Headers", RequestIDHeader+", Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
	w.Header().Set("Access-Control-Allow-Headers", allowedHeaders)
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
