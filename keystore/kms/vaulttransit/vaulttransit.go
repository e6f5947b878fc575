// Package vaulttransit signs with keys in the transit engine of HashiCorp Vault or OpenBao.
//
//	vaulttransit:sol-hot?version=1
//	vaulttransit:team/transit/sol-hot?version=3&namespace=payments
//
// The name is the path at which the engine is mounted, transit if left out, and the name of the
// key. The parameters are version, which is required because transit signs with the latest one
// otherwise, and namespace. The address, the token and TLS come from the variables of Vault's
// own clients: VAULT_ADDR, VAULT_TOKEN or the file that 'vault login' writes, VAULT_NAMESPACE,
// VAULT_CACERT and others. A Vault Agent or Proxy with auto-auth needs only VAULT_ADDR.
//
//	curve    type         request                                                  signature
//	Ed25519  ed25519      input, key_version                                       64 bytes
//	P-256    ecdsa-p256   input, key_version, prehashed, hash_algorithm sha2-256   DER
//
// Signatures are written vault:vVERSION:BASE64. Transit has no secp256k1 (hashicorp/vault#4594,
// openbao/openbao#2618). The facts are those of path_sign_verify.go and path_keys.go in
// builtin/logical/transit of hashicorp/vault v1.21.4, looked at on 26 November 2026.
//
// A token that can be renewed is renewed after two thirds of its lifetime, by Keep, which an open
// store runs in the background, or else by the next call.
package vaulttransit

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/vault/api"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/internal/retryafter"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// Scheme is the scheme of URIs.
const Scheme = "vaulttransit"

// Service is the transit engines of the Vault that the environment names. New returns one.
type Service struct {
	mu     sync.Mutex
	client *api.Client
	lease  tokenLease
	retry  time.Duration
}

var (
	_ remote.Service   = (*Service)(nil)
	_ remote.Generator = (*Service)(nil)
	_ remote.Keeper    = (*Service)(nil)
)

// New returns the service. It reads no environment yet.
func New() *Service { return &Service{retry: renewRetry} }

// place is where a key is.
type place struct {
	mount, name, namespace string
	version                int
}

func (s *Service) Check(uri string) error {
	_, err := parse(uri)
	return err
}

func parse(text string) (at place, err error) {
	uri, err := remote.ParseURI(text, "version", "namespace")
	if err != nil {
		return at, err
	}
	at.mount, at.name, at.namespace = "transit", uri.Name, uri.Params["namespace"]
	if slash := strings.LastIndex(uri.Name, "/"); slash >= 0 {
		at.mount, at.name = uri.Name[:slash], uri.Name[slash+1:]
	}
	for _, part := range strings.Split(at.mount+"/"+at.name, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "%\\:") {
			return at, fmt.Errorf("%s: write vaulttransit:NAME or vaulttransit:MOUNT/NAME", text)
		}
	}
	at.version, err = strconv.Atoi(uri.Params["version"])
	if err != nil || at.version < 1 {
		return at,
			fmt.Errorf("%s: add ?version=NUMBER, 1 for a new key: transit signs with the latest version otherwise, "+
				"which a rotation changes", text)
	}
	return at, nil
}

func (s *Service) Open(_ context.Context, uri string) (remote.Key, error) {
	at, err := parse(uri)
	if err != nil {
		return nil, err
	}
	client, err := s.connect()
	if err != nil {
		return nil, err
	}
	if at.namespace != "" {
		client = client.WithNamespace(at.namespace)
	}
	return &key{s, client, at}, nil
}

// connect returns the client that the environment describes.
func (s *Service) connect() (*api.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	config := api.DefaultConfig()
	if config.Error != nil {
		return nil, fmt.Errorf("%w: the environment of Vault: %w", keystore.ErrDenied, config.Error)
	}
	config.MinRetryWait, config.MaxRetryWait, config.CheckRetry = 100*time.Millisecond, time.Second, again
	if transport, ok := config.HttpClient.Transport.(*http.Transport); ok {
		transport.MaxIdleConnsPerHost = remote.DefaultConcurrency
	}
	client, err := api.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("%w: the environment of Vault: %w", keystore.ErrDenied, err)
	}
	config.HttpClient.Transport = remote.Bounded(config.HttpClient.Transport)
	if home, err := os.UserHomeDir(); client.Token() == "" && err == nil {
		if token, err := os.ReadFile(filepath.Join(home, ".vault-token")); err == nil { // that 'vault login' wrote
			client.SetToken(strings.TrimSpace(string(token)))
		}
	}
	s.client = client
	return client, nil
}

type key struct {
	service *Service
	client  *api.Client
	at      place
}

// keyData is what transit says of a key.
type keyData struct {
	Type string `json:"type"`
	Keys map[string]struct {
		PublicKey string `json:"public_key"` // base64 of Ed25519, PEM of P-256
	} `json:"keys"`
	Derived bool `json:"derived"`
}

func (k *key) PublicKey(ctx context.Context) (remote.Public, error) {
	k.service.renew(ctx)
	path := k.at.mount + "/keys/" + k.at.name
	data, err := read(ctx, k.client, path)
	if err != nil {
		return remote.Public{}, err
	}
	version, ok := data.Keys[strconv.Itoa(k.at.version)]
	switch {
	case data.Type != "ed25519" && data.Type != "ecdsa-p256":
		return remote.Public{}, fmt.Errorf("%w: a key of type %s: %s", keystore.ErrUnsupported, data.Type, onlyEd25519)
	case data.Derived:
		return remote.Public{}, fmt.Errorf("%w: a derived key has no public key of its own", keystore.ErrUnsupported)
	case !ok:
		return remote.Public{}, fmt.Errorf("%w: it has no version %d", keystore.ErrKeyNotFound, k.at.version)
	case data.Type == "ed25519":
		point, err := base64.StdEncoding.DecodeString(version.PublicKey)
		if err != nil {
			return remote.Public{}, fmt.Errorf("%w: Vault: a public key that is not base64", keystore.ErrUnavailable)
		}
		return remote.ParsePoint(remote.Ed25519, point)
	}
	block, _ := pem.Decode([]byte(version.PublicKey))
	if block == nil {
		return remote.Public{}, fmt.Errorf("%w: Vault: a public key that is not PEM", keystore.ErrUnavailable)
	}
	return remote.ParseSPKI(block.Bytes)
}

// onlyEd25519 says what transit can be used for.
const onlyEd25519 = "transit has no secp256k1, only Ed25519 for Solana, and ecdsa-p256 for the proof key: use AWS " +
	"KMS, Google Cloud KMS, Azure Key Vault, an HSM or a file for the other chains"

// read asks what transit says of the key at a path. Only an answer with 404 means that there is none.
func read(ctx context.Context, client *api.Client, path string) (data keyData, err error) {
	answer, err := client.Logical().ReadRawWithContext(ctx, path)
	if answer != nil {
		defer func() { _ = answer.Body.Close() }()
	}
	switch {
	case answer != nil && answer.StatusCode == http.StatusNotFound:
		return data, fmt.Errorf("%w: Vault has nothing at %s", keystore.ErrKeyNotFound, path)
	case err != nil:
		return data, explain("read on "+path, err)
	}
	secret, err := api.ParseSecret(answer.Body)
	if err != nil {
		return data, explain("read on "+path, err)
	}
	if err := decode("read on "+path, secret, &data); err != nil {
		return data, err
	}
	if data.Type == "" {
		return data, unusable("read on "+path, "the type of the key")
	}
	return data, nil
}

// unusable is the error of an answer that lacks what the call is for.
func unusable(call, missing string) error {
	return fmt.Errorf("%w: Vault: %s: an answer without %s", keystore.ErrUnavailable, call, missing)
}

// decode reads the data of the answer to a call.
func decode(call string, secret *api.Secret, into any) error {
	if secret == nil || secret.Data == nil {
		return unusable(call, "data")
	}
	text, err := json.Marshal(secret.Data)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", unusable(call, "data that can be read"), err)
	}
	return nil
}

func (k *key) Sign(ctx context.Context, scheme remote.Scheme, message []byte) ([]byte, error) {
	if scheme == remote.Secp256k1 {
		return nil, fmt.Errorf("%w: %s", keystore.ErrUnsupported, onlyEd25519)
	}
	k.service.renew(ctx)
	input := map[string]any{"input": base64.StdEncoding.EncodeToString(message), "key_version": k.at.version}
	if scheme == remote.P256 {
		input["prehashed"], input["hash_algorithm"] = true, "sha2-256"
	}
	path := k.at.mount + "/sign/" + k.at.name
	secret, err := k.client.Logical().WriteWithContext(ctx, path, input)
	if err != nil {
		return nil, explain("update on "+path, err)
	}
	var answer struct {
		Signature string `json:"signature"`
	}
	if secret == nil || secret.Data == nil {
		return nil, fmt.Errorf("%w: Vault: update on %s: an answer without a signature", keystore.ErrSignatureCheck, path)
	}
	if err := decode("update on "+path, secret, &answer); err != nil {
		return nil, err
	}
	encoded, ok := strings.CutPrefix(answer.Signature, fmt.Sprintf("vault:v%d:", k.at.version))
	if !ok {
		return nil, fmt.Errorf("%w: Vault answered with a signature that is not of version %d", keystore.ErrSignatureCheck, k.at.version)
	}
	signature, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("%w: Vault answered with a signature that is not base64", keystore.ErrSignatureCheck)
	}
	return signature, nil
}

// Generate implements remote.Generator: the key cannot be exported, which is transit's default,
// and which it cannot turn back.
func (s *Service) Generate(ctx context.Context, uri, _ string, scheme remote.Scheme) (string, error) {
	at, err := parse(uri)
	if err != nil {
		return "", err
	}
	types := map[remote.Scheme]string{remote.Ed25519: "ed25519", remote.P256: "ecdsa-p256"}
	switch {
	case types[scheme] == "":
		return "", fmt.Errorf("%w: %s", keystore.ErrUnsupported, onlyEd25519)
	case at.version != 1:
		return "", fmt.Errorf("%s: a new key has version=1", uri)
	}
	opened, err := s.Open(ctx, uri)
	if err != nil {
		return "", err
	}
	client, path := opened.(*key).client, at.mount+"/keys/"+at.name
	// Creating a key that exists does nothing: the caller would get a key that others know.
	if _, err := read(ctx, client, path); err == nil {
		return "", fmt.Errorf("%w: Vault has a key at %s: 'countersign keys add' adds it", keystore.ErrKeyExists, path)
	} else if !errors.Is(err, keystore.ErrKeyNotFound) {
		return "", err
	}
	input := map[string]any{"type": types[scheme], "exportable": false, "allow_plaintext_backup": false}
	// Older versions answer with 204, so it is the next look that tells whether there is a key.
	if _, err := client.Logical().WriteWithContext(ctx, path, input); err != nil {
		return "", explain("create and update on "+path, err)
	}
	if _, err := read(ctx, client, path); err != nil {
		return "", fmt.Errorf("create and update on %s: the answer was a success, but: %w", path, err)
	}
	return uri, nil
}

// explain classifies an error and names the capability that the call needs.
func explain(right string, err error) error {
	if throttled, ok := errors.AsType[*keystore.ThrottledError](err); ok {
		return &keystore.ThrottledError{RetryAfter: throttled.RetryAfter, Err: fmt.Errorf("from Vault: %s: %w", right, throttled.Err)}
	}
	answer, ok := errors.AsType[*api.ResponseError](err)
	if !ok {
		return fmt.Errorf("%w: Vault: %s: %w", keystore.ErrUnavailable, right, err)
	}
	said := strings.Join(answer.Errors, ", ")
	switch {
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: the capability %s is missing in the policies of the token, or the token has "+
			"expired: %w", keystore.ErrDenied, right, err)
	case answer.StatusCode == http.StatusNotFound, answer.StatusCode == http.StatusBadRequest &&
		(strings.Contains(said, "not found") || strings.Contains(said, "version")):
		return fmt.Errorf("%w: %w", keystore.ErrKeyNotFound, err)
	case answer.StatusCode == http.StatusBadRequest:
		return fmt.Errorf("%w: %w", keystore.ErrUnsupported, err)
	}
	return fmt.Errorf("%w: Vault: %s: %w", keystore.ErrUnavailable, right, err)
}

// again decides whether a call is tried again, as Vault's clients do, but for throttling, which
// the caller is told about: waiting here would keep others from the place.
func again(ctx context.Context, answer *http.Response, err error) (bool, error) {
	if answer == nil || !retryafter.Throttled(answer.StatusCode, answer.Header) {
		return api.DefaultRetryPolicy(ctx, answer, err)
	}
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	_ = answer.Body.Close()
	return false, &keystore.ThrottledError{
		RetryAfter: retryafter.Of(answer.Header, time.Second), Err: fmt.Errorf("%s: %s", answer.Status, said),
	}
}
