package loopback

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

// Vault speaks the calls of Vault that the package vaulttransit makes. It checks the requests
// against the fields of pathSign and pathKeys, and answers like pathSignWrite and
// formatKeyPolicy, in builtin/logical/transit of hashicorp/vault v1.21.4; OpenBao's pathSign
// (commit 0eb9732d) has the same fields. The answers about tokens are those that Vault's
// client, vault/api v1.23.0, reads. All were looked at on 26 November 2026. Versions of a key
// are keys of their own, named NAME-vVERSION; version 1 is the name alone.
type Vault struct {
	*httptest.Server
	script
	Keys *remotetest.Keys

	t       testing.TB
	mu      sync.Mutex
	renewed int
	ttl     int    // seconds, also after a renewal
	refusal int    // if set, calls about the token get this status
	prefix  string // of signatures, in place of the right one
	seen    []string
}

// Token is the token that the server accepts.
const Token = "hvs.test"

// NewVault starts a server, which ends with the test.
func NewVault(t testing.TB) *Vault {
	t.Helper()
	v := &Vault{t: t, Keys: remotetest.NewKeys(), ttl: 3600}
	v.Server = httptest.NewServer(v)
	t.Cleanup(v.Close)
	return v
}

// SetTTL sets the lifetime of the token in seconds, which a renewal gives it again.
func (v *Vault) SetTTL(seconds int) { v.with(func() { v.ttl = seconds }) }

// RefuseToken answers calls about the token with a status from now on; 0 ends it.
func (v *Vault) RefuseToken(status int) { v.with(func() { v.refusal = status }) }

// SetPrefix has signatures begin with something else than vault:vVERSION:.
func (v *Vault) SetPrefix(prefix string) { v.with(func() { v.prefix = prefix }) }

func (v *Vault) with(do func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	do()
}

// Renewed returns how often the token was renewed.
func (v *Vault) Renewed() (times int) {
	v.with(func() { times = v.renewed })
	return times
}

// Seen returns the requests since it was last called, with their namespaces.
func (v *Vault) Seen() (seen []string) {
	v.with(func() { seen, v.seen = v.seen, nil })
	return seen
}

// Environment returns the variables that have Vault's client find this server.
func (v *Vault) Environment() map[string]string {
	return map[string]string{"VAULT_ADDR": v.URL, "VAULT_TOKEN": Token, "VAULT_NAMESPACE": "", "VAULT_CACERT": "",
		"VAULT_AGENT_ADDR": "", "VAULT_PROXY_ADDR": ""}
}

// Use sets the environment of a server for the rest of a test.
func Use(t testing.TB, server interface{ Environment() map[string]string }) {
	for name, value := range server.Environment() {
		t.Setenv(name, value)
	}
}

// ServeHTTP implements http.Handler.
func (v *Vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.with(func() { v.seen = append(v.seen, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Vault-Namespace")) })
	if r.Header.Get("X-Vault-Token") != Token || r.Header.Get("X-Vault-Request") != "true" {
		v.refuse(w, http.StatusForbidden, "permission denied")
		return
	}
	if v.answered(w, r.Method+" "+r.URL.Path) {
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	if strings.HasPrefix(path, "auth/token/") {
		v.token(w, path)
		return
	}
	if v.misbehave(w, r) {
		return
	}
	mount, rest, _ := strings.Cut(path, "transit/")
	if mount != "" && mount != "team/" {
		v.refuse(w, http.StatusNotFound, "no handler for route")
		return
	}
	call, name, _ := strings.Cut(rest, "/")
	var input map[string]any
	if body, err := io.ReadAll(r.Body); err != nil || len(body) > 0 && json.Unmarshal(body, &input) != nil {
		v.t.Errorf("body %q: %v", body, err)
	}
	switch r.Method + " " + call {
	case "GET keys":
		v.read(w, name)
	case "PUT keys":
		v.create(w, name, input)
	case "PUT sign":
		v.sign(w, name, input)
	default:
		v.t.Errorf("%s %s", r.Method, path)
	}
}

func (v *Vault) refuse(w http.ResponseWriter, status int, errors ...string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": errors})
}

func (v *Vault) answer(w http.ResponseWriter, member string, value any) {
	_ = json.NewEncoder(w).Encode(map[string]any{"request_id": "1", "lease_id": "", "renewable": false, "lease_duration": 0, member: value})
}

func (v *Vault) misbehave(w http.ResponseWriter, r *http.Request) bool {
	fault, over := v.Keys.Fault()
	switch fault {
	case keystoretest.Throttled:
		v.refuse(w, http.StatusTooManyRequests, `request path "transit": rate limit quota exceeded`)
	case keystoretest.Denied:
		v.refuse(w, http.StatusForbidden, "1 error occurred: * permission denied")
	case keystoretest.Gone:
		v.refuse(w, http.StatusBadRequest, "signing key not found")
	case keystoretest.Away:
		panic(http.ErrAbortHandler)
	case keystoretest.Broken:
		v.refuse(w, http.StatusServiceUnavailable, "Vault is sealed")
	case keystoretest.Nonsense:
		_, _ = io.WriteString(w, "<html>captive portal</html>")
	case keystoretest.Slow:
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

func (v *Vault) token(w http.ResponseWriter, path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.refusal != 0:
		v.refuse(w, v.refusal, "as the test says")
	case path == "auth/token/lookup-self":
		v.answer(w, "data", map[string]any{"renewable": true, "ttl": v.ttl})
	case path == "auth/token/renew-self":
		v.renewed++
		v.answer(w, "auth", map[string]any{"client_token": Token, "renewable": true, "lease_duration": v.ttl})
	default:
		v.t.Errorf("path %s", path)
	}
}

// versioned returns the name of the key that has a version.
func versioned(name string, version int) string {
	if version == 1 {
		return name
	}
	return fmt.Sprintf("%s-v%d", name, version)
}

// vaultNames are the names of a key's versions, where they are not the type.
var vaultNames = map[remote.Scheme]string{remote.P256: "P-256"}

var vaultTypes = map[remote.Scheme]string{remote.Ed25519: "ed25519", remote.P256: "ecdsa-p256", remote.Secp256k1: "rsa-2048"}

func (v *Vault) read(w http.ResponseWriter, name string) {
	scheme, ok := v.Keys.Scheme(name)
	if !ok {
		v.refuse(w, http.StatusNotFound)
		return
	}
	v.answer(w, "data", v.policy(name, scheme))
}

// policy is what Vault says of a key.
func (v *Vault) policy(name string, scheme remote.Scheme) any {
	keys := map[string]any{}
	for version := 1; ; version++ {
		if _, ok := v.Keys.Scheme(versioned(name, version)); !ok {
			break
		}
		public := base64.StdEncoding.EncodeToString(v.Keys.Point(versioned(name, version)))
		if scheme == remote.P256 {
			public = string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: v.Keys.SPKI(versioned(name, version))}))
		}
		keys[strconv.Itoa(version)] = map[string]any{"name": cmp.Or(vaultNames[scheme], vaultTypes[scheme]),
			"public_key": public, "creation_time": "2026-11-26T00:00:00Z"}
	}
	return map[string]any{
		"name": name, "type": vaultTypes[scheme], "derived": false, "exportable": false, "allow_plaintext_backup": false,
		"deletion_allowed": false, "imported_key": false, "auto_rotate_period": 0,
		"min_available_version": 0, "min_decryption_version": 1, "min_encryption_version": 0, "latest_version": len(keys),
		"supports_encryption": false, "supports_decryption": false, "supports_derivation": scheme == remote.Ed25519,
		"supports_signing": true, "keys": keys,
	}
}

func (v *Vault) create(w http.ResponseWriter, name string, input map[string]any) {
	if input["exportable"] != false || input["allow_plaintext_backup"] != false || len(input) != 3 {
		v.t.Errorf("create %s: %v", name, input)
	}
	for scheme, kind := range vaultTypes {
		if input["type"] == kind {
			v.Keys.Generate(name, scheme)
			v.answer(w, "data", v.policy(name, scheme))
		}
	}
}

func (v *Vault) sign(w http.ResponseWriter, name string, input map[string]any) {
	version, _ := input["key_version"].(float64)
	scheme, ok := v.Keys.Scheme(versioned(name, int(version)))
	if !ok {
		v.refuse(w, http.StatusBadRequest, "signing key not found")
		return
	}
	encoded, _ := input["input"].(string)
	message, err := base64.StdEncoding.DecodeString(encoded)
	isProof := scheme == remote.P256
	if prehashed := input["prehashed"] == true && input["hash_algorithm"] == "sha2-256" &&
		len(message) == 32; err != nil || prehashed != isProof || !isProof && len(input) != 2 {
		v.t.Errorf("sign %s: %v: %v", name, input, err)
	}
	signature, err := v.Keys.Sign(versioned(name, int(version)), message, remotetest.DER)
	if err != nil {
		v.t.Error(err)
	}
	prefix := fmt.Sprintf("vault:v%d:", int(version))
	v.with(func() {
		if v.prefix != "" {
			prefix = v.prefix
		}
	})
	v.answer(w, "data", map[string]any{"signature": prefix + base64.StdEncoding.EncodeToString(signature), "key_version": version})
}
