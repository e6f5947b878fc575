package loopback

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

// Azure speaks the calls of Key Vault that the package azurekms makes, over TLS on loopback. It
// checks the requests of sign against its REST reference (api-version 2025-07-01), and those of
// getKey, sign and createKey against keys.json 7.4 and Keys/models.tsp in Azure/azure-rest-api-specs
// and the models of azkeys v1.5.0, which has that api-version. All were looked at on
// 26 November 2026. Every key has one version.
type Azure struct {
	*httptest.Server
	script
	Keys *remotetest.Keys

	t      testing.TB
	mu     sync.Mutex
	tokens int
	valid  string        // token
	life   time.Duration // of new tokens
	kid    string        // of signatures, in place of the right one
	off    bool          // every key is disabled
	slow   int           // calls that wait for the end of Slow
}

// AzureVersion is the version of every key.
const AzureVersion = "9885aa558e8d448789683188f8c194b0"

// NewAzure starts a server, which ends with the test.
func NewAzure(t testing.TB) *Azure {
	t.Helper()
	a := &Azure{t: t, Keys: remotetest.NewKeys(), life: time.Hour}
	a.Server = httptest.NewTLSServer(a)
	t.Cleanup(a.Close)
	return a
}

// Host returns the host and port of the vault.
func (a *Azure) Host() string { return strings.TrimPrefix(a.URL, "https://") }

// GetToken implements azcore.TokenCredential: each token is valid until the next one.
func (a *Azure) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tokens++
	a.valid = fmt.Sprintf("token-%d", a.tokens)
	return azcore.AccessToken{Token: a.valid, ExpiresOn: time.Now().Add(a.life)}, nil
}

// SetTokenLife sets how long tokens live that are asked for from now on.
func (a *Azure) SetTokenLife(life time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.life = life
}

// RevokeToken has the present token refused.
func (a *Azure) RevokeToken() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.valid = ""
}

// Tokens returns how many tokens were asked for.
func (a *Azure) Tokens() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tokens
}

// SetKID has signatures say that another key has made them.
func (a *Azure) SetKID(kid string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kid = kid
}

// Disable has every key disabled. Vaults still return a disabled key, with that attribute, and
// refuse to sign with it.
func (a *Azure) Disable(disabled bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.off = disabled
}

// Waiting returns how many calls wait for the end of the fault Slow.
func (a *Azure) Waiting() int { return a.wait(0) }

func (a *Azure) wait(more int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.slow += more
	return a.slow
}

func (a *Azure) isOff() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.off
}

// ServeHTTP implements http.Handler.
func (a *Azure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	authorized := a.valid != "" && r.Header.Get("Authorization") == "Bearer "+a.valid
	a.mu.Unlock()
	if !authorized {
		w.Header().Set("WWW-Authenticate",
			`Bearer authorization="https://login.microsoftonline.com/tenant", resource="https://vault.azure.net"`)
		a.refuse(w, http.StatusUnauthorized, "Unauthorized", "AKV10000: Request is missing a Bearer or PoP token.")
		return
	}
	if r.URL.Query().Get("api-version") == "" {
		a.t.Error("api-version is missing")
	}
	if a.answered(w, r.Method+" "+r.URL.Path) || a.misbehave(w, r) {
		return
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/keys/"), "/")
	name := parts[0]
	var input map[string]any
	if body, err := io.ReadAll(r.Body); err != nil || len(body) > 0 && json.Unmarshal(body, &input) != nil {
		a.t.Errorf("body %q: %v", body, err)
	}
	scheme, ok := a.Keys.Scheme(name)
	switch call := r.Method + " " + strings.Join(parts[1:], "/"); {
	case call == "POST create":
		a.create(w, name, input)
	case !ok:
		a.refuse(w, http.StatusNotFound, "KeyNotFound", "A key with (name/id) "+name+" was not found in this key vault.")
	case call == "GET ", call == "GET "+AzureVersion:
		a.answer(w, a.bundle(name, scheme))
	case call == "POST "+AzureVersion+"/sign":
		a.sign(w, name, scheme, input)
	default:
		a.refuse(w, http.StatusNotFound, "KeyNotFound", "no such version")
	}
}

func (a *Azure) answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(value)
}

func (a *Azure) refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": message}})
}

func (a *Azure) misbehave(w http.ResponseWriter, r *http.Request) bool {
	fault, over := a.Keys.Fault()
	switch fault {
	case keystoretest.Throttled:
		w.Header().Set("Retry-After", "7")
		a.refuse(w, http.StatusTooManyRequests, "Throttled", "Request was not processed because too many requests were received.")
	case keystoretest.Denied:
		a.refuse(w, http.StatusForbidden, "Forbidden", "Caller is not authorized to perform action on resource.")
	case keystoretest.Gone:
		a.refuse(w, http.StatusNotFound, "KeyNotFound", "was not found in this key vault.")
	case keystoretest.Away:
		panic(http.ErrAbortHandler)
	case keystoretest.Broken:
		a.refuse(w, http.StatusServiceUnavailable, "InternalServerError", "")
	case keystoretest.Nonsense:
		_, _ = io.WriteString(w, "<html>captive portal</html>")
	case keystoretest.Slow:
		a.wait(1)
		defer a.wait(-1)
		select {
		case <-r.Context().Done():
			return true
		case <-over:
			return false
		}
	default:
		return false
	}
	return true
}

var azureCurves = map[remote.Scheme][2]string{remote.Secp256k1: {"P-256K", "ES256K"}, remote.P256: {"P-256", "ES256"},
	remote.Ed25519: {"Ed25519", "EdDSA"}}

func (a *Azure) id(name string) string { return a.URL + "/keys/" + name + "/" + AzureVersion }

func (a *Azure) bundle(name string, scheme remote.Scheme) any {
	jwk := map[string]any{"kid": a.id(name), "kty": "EC-HSM", "crv": azureCurves[scheme][0], "key_ops": []string{"sign", "verify"}}
	if point := a.Keys.Point(name); len(point) == 65 {
		jwk["x"], jwk["y"] = base64.RawURLEncoding.EncodeToString(point[1:33]), base64.RawURLEncoding.EncodeToString(point[33:])
	}
	return map[string]any{"key": jwk, "attributes": map[string]any{"enabled": !a.isOff(), "exportable": false, "hsmPlatform": "1"}}
}

func (a *Azure) sign(w http.ResponseWriter, name string, scheme remote.Scheme, input map[string]any) {
	if a.isOff() {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w,
			`{"error":{"code":"Forbidden","message":"Operation sign is not allowed on a disabled key.",`+
				`"innererror":{"code":"KeyDisabled"}}}`)
		return
	}
	encoded, _ := input["value"].(string)
	digest, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || len(digest) != 32 || input["alg"] != azureCurves[scheme][1] || len(input) != 2 {
		a.t.Errorf("sign %s: %v: %v", name, input, err)
	}
	signature, err := a.Keys.Sign(name, digest, remotetest.Halves)
	if err != nil {
		a.t.Error(err)
	}
	a.mu.Lock()
	kid := a.kid
	a.mu.Unlock()
	if kid == "" {
		kid = a.id(name)
	}
	a.answer(w, map[string]any{"kid": kid, "value": base64.RawURLEncoding.EncodeToString(signature)})
}

func (a *Azure) create(w http.ResponseWriter, name string, input map[string]any) {
	ops, _ := input["key_ops"].([]any)
	if input["kty"] != "EC-HSM" || !slices.Contains(ops, "sign") {
		a.t.Errorf("create %s: %v", name, input)
	}
	for scheme, curve := range azureCurves {
		if input["crv"] == curve[0] {
			a.Keys.Generate(name, scheme)
			a.answer(w, a.bundle(name, scheme))
		}
	}
}
