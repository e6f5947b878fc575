// Package azurekms signs with keys in Azure Key Vault and in Azure Managed HSM.
//
//	azurekms:my-vault.vault.azure.net/keys/hot/9885aa558e8d448789683188f8c194b0
//
// The name is the key's identifier without https://, with a version. Credentials come from
// DefaultAzureCredential: environment, workload identity, managed identity, the Azure command
// line. Tokens are renewed by the SDK.
//
//	curve      JWK curve   algorithm   value              signature
//	secp256k1  P-256K      ES256K      digest, 32 bytes   r ‖ s
//	P-256      P-256       ES256       digest, 32 bytes   r ‖ s
//
// Vaults have no Ed25519. The facts are those of azkeys v1.5.0 and of the REST reference of Key
// Vault's sign (api-version 2025-07-01), looked at on 26 November 2026.
package azurekms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azkeys"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/internal/retryafter"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// Scheme is the scheme of URIs.
const Scheme = "azurekms"

// Options are for other credentials and transports than the default ones.
type Options struct {
	Credential azcore.TokenCredential // default: DefaultAzureCredential
	Transport  policy.Transporter     // default: one with enough idle connections

	// AnyDomain has tokens sent to a vault whose domain is not the one that its challenge names.
	AnyDomain bool
}

// Service is the vaults that the credentials may use. New returns one.
type Service struct {
	options Options
	mu      sync.Mutex
	clients map[string]*azkeys.Client // by host
}

var (
	_ remote.Service   = (*Service)(nil)
	_ remote.Generator = (*Service)(nil)
	_ remote.Sited     = (*Service)(nil)
)

// New returns the service. It reads no credentials yet.
func New(options Options) *Service {
	return &Service{options: options, clients: map[string]*azkeys.Client{}}
}

// identifier is the identifier of a key, with a version but for a new one.
var identifier = regexp.MustCompile(`^([a-zA-Z0-9.-]+(?::[0-9]+)?)/keys/([a-zA-Z0-9-]+)(?:/([0-9a-zA-Z]+))?$`)

// place is where a key is.
type place struct{ host, name, version string }

func (s *Service) Check(uri string) error {
	at, err := parse(uri)
	if err == nil && at.version == "" {
		err = fmt.Errorf("%s: add the version, as in azurekms:VAULT.vault.azure.net/keys/NAME/VERSION: the latest one changes", uri)
	}
	return err
}

// Site implements remote.Sited: a vault.
func (s *Service) Site(uri string) string {
	at, _ := parse(uri)
	return strings.ToLower(at.host)
}

func parse(text string) (at place, err error) {
	uri, err := remote.ParseURI(text)
	if err != nil {
		return at, err
	}
	parts := identifier.FindStringSubmatch(uri.Name)
	if parts == nil {
		return at, fmt.Errorf("%s: write azurekms:VAULT.vault.azure.net/keys/NAME/VERSION", text)
	}
	return place{parts[1], parts[2], parts[3]}, nil
}

func (s *Service) Open(_ context.Context, uri string) (remote.Key, error) {
	if err := s.Check(uri); err != nil {
		return nil, err
	}
	at, err := parse(uri)
	if err != nil {
		return nil, err
	}
	client, err := s.client(at.host)
	if err != nil {
		return nil, err
	}
	return &key{client, at}, nil
}

func (s *Service) client(host string) (*azkeys.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if client := s.clients[host]; client != nil {
		return client, nil
	}
	if s.options.Credential == nil {
		credential, err := azidentity.NewDefaultAzureCredential(nil)
		if err != nil {
			return nil, fmt.Errorf("%w: Azure credentials: %w", keystore.ErrDenied, err)
		}
		s.options.Credential = credential
	}
	if s.options.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = remote.DefaultConcurrency
		s.options.Transport = &http.Client{Transport: remote.Bounded(transport)}
	}
	options := &azkeys.ClientOptions{DisableChallengeResourceVerification: s.options.AnyDomain}
	options.Transport = s.options.Transport
	// Without 429, which the caller is told about instead of waiting for it here.
	options.Retry = policy.RetryOptions{
		MaxRetries: 2, RetryDelay: 100 * time.Millisecond, MaxRetryDelay: time.Second,
		StatusCodes: []int{http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout},
	}
	client, err := azkeys.NewClient("https://"+host, s.options.Credential, options)
	if err != nil {
		return nil, fmt.Errorf("%w: Azure: %w", keystore.ErrDenied, err)
	}
	s.clients[host] = client
	return client, nil
}

type key struct {
	client *azkeys.Client
	at     place
}

func (k *key) PublicKey(ctx context.Context) (remote.Public, error) {
	answer, err := k.client.GetKey(ctx, k.at.name, k.at.version, nil)
	if err != nil {
		return remote.Public{}, explain(rightGet, err)
	}
	if answer.Attributes != nil && answer.Attributes.Enabled != nil && !*answer.Attributes.Enabled {
		return remote.Public{}, fmt.Errorf("%w: this version of the key is disabled", keystore.ErrKeyNotFound)
	}
	jwk := answer.Key
	if jwk == nil || jwk.KID == nil || jwk.Crv == nil || len(jwk.X) > 32 || len(jwk.Y) > 32 || jwk.KID.Version() != k.at.version {
		return remote.Public{},
			fmt.Errorf("%w: Azure: %s: an answer without this version's public key on an elliptic curve", keystore.ErrUnavailable, rightGet)
	}
	scheme, ok := schemes[*jwk.Crv]
	if !ok {
		return remote.Public{}, fmt.Errorf("%w: a key on %s: only P-256K and, for the proof key, P-256", keystore.ErrUnsupported, *jwk.Crv)
	}
	point := make([]byte, 65)
	point[0] = 4
	copy(point[33-len(jwk.X):], jwk.X)
	copy(point[65-len(jwk.Y):], jwk.Y)
	return remote.ParsePoint(scheme, point)
}

// The rights, as access policies and as roles call them.
const (
	rightGet    = "keys/get (Microsoft.KeyVault/vaults/keys/read)"
	rightSign   = "keys/sign (Microsoft.KeyVault/vaults/keys/sign/action)"
	rightCreate = "keys/create (Microsoft.KeyVault/vaults/keys/create/action)"
)

var schemes = map[azkeys.CurveName]remote.Scheme{azkeys.CurveNameP256K: remote.Secp256k1, azkeys.CurveNameP256: remote.P256}

// algorithms are the algorithm and the curve by scheme.
var algorithms = map[remote.Scheme]azkeys.SignatureAlgorithm{remote.Secp256k1: azkeys.SignatureAlgorithmES256K,
	remote.P256: azkeys.SignatureAlgorithmES256}

// noEd25519 says what vaults cannot do.
const noEd25519 = "Azure Key Vault has no Ed25519: use AWS KMS, Google Cloud KMS, Vault, an HSM or a file for Solana"

func (k *key) Sign(ctx context.Context, scheme remote.Scheme, message []byte) ([]byte, error) {
	algorithm, ok := algorithms[scheme]
	if !ok {
		return nil, fmt.Errorf("%w: %s", keystore.ErrUnsupported, noEd25519)
	}
	answer, err := k.client.Sign(ctx, k.at.name, k.at.version, azkeys.SignParameters{Algorithm: to.Ptr(algorithm), Value: message}, nil)
	if err != nil {
		return nil, explain(rightSign, err)
	}
	if answer.KID == nil || answer.KID.Name() != k.at.name || answer.KID.Version() != k.at.version {
		return nil, fmt.Errorf("%w: Azure: %s: the answer is of another key or version", keystore.ErrSignatureCheck, rightSign)
	}
	return answer.Result, nil
}

// Generate implements remote.Generator: it creates a key azurekms:VAULT/keys/NAME in the HSM of
// the vault, which must be of the tier Premium, or of a Managed HSM.
func (s *Service) Generate(ctx context.Context, uri, _ string, scheme remote.Scheme) (string, error) {
	at, err := parse(uri)
	if err != nil {
		return "", err
	}
	curves := map[remote.Scheme]azkeys.CurveName{remote.Secp256k1: azkeys.CurveNameP256K, remote.P256: azkeys.CurveNameP256}
	switch {
	case curves[scheme] == "":
		return "", fmt.Errorf("%w: %s", keystore.ErrUnsupported, noEd25519)
	case at.version != "":
		return "", fmt.Errorf("%s: Azure chooses the versions of keys: leave it out", uri)
	}
	client, err := s.client(at.host)
	if err != nil {
		return "", err
	}
	existing, err := client.GetKey(ctx, at.name, "", nil)
	switch {
	case err == nil && existing.Key == nil:
		return "", fmt.Errorf("%w: Azure: %s: an answer without a key", keystore.ErrUnavailable, rightGet)
	case err == nil:
		return "", fmt.Errorf("%w: the vault has a key %s", keystore.ErrKeyExists, at.name)
	}
	if err := explain(rightGet, err); !errors.Is(err, keystore.ErrKeyNotFound) {
		return "", err
	}
	made, err := client.CreateKey(ctx, at.name, azkeys.CreateKeyParameters{
		Kty: to.Ptr(azkeys.KeyTypeECHSM), Curve: to.Ptr(curves[scheme]),
		KeyOps: []*azkeys.KeyOperation{to.Ptr(azkeys.KeyOperationSign), to.Ptr(azkeys.KeyOperationVerify)},
	}, nil)
	if err != nil {
		return "", fmt.Errorf("create a key in an HSM: %w", explain(rightCreate, err))
	}
	if made.Key == nil || made.Key.KID == nil {
		return "", fmt.Errorf("%w: Azure: %s: an answer without the version of a key, which may have been created",
			keystore.ErrUnavailable, rightCreate)
	}
	return Scheme + ":" + at.host + "/keys/" + at.name + "/" + made.Key.KID.Version(), nil
}

// explain classifies an error and names the permission that the call needs, for access policies
// and for roles.
func explain(right string, err error) error {
	_, failed := errors.AsType[*azidentity.AuthenticationFailedError](err)
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	switch {
	case failed, strings.Contains(err.Error(), "DefaultAzureCredential: failed to acquire a token"):
		return fmt.Errorf("%w: no Azure credentials were found: %w", keystore.ErrDenied, err)
	case !ok:
		return fmt.Errorf("%w: Azure: %s: %w", keystore.ErrUnavailable, right, err)
	}
	header := http.Header{}
	if answer.RawResponse != nil {
		header = answer.RawResponse.Header
	}
	switch {
	case retryafter.Throttled(answer.StatusCode, header):
		return &keystore.ThrottledError{RetryAfter: retryafter.Of(header, vaultPeriod), Err: fmt.Errorf("from Azure: %s: %w", right, err)}
	case answer.StatusCode == http.StatusForbidden && isDisabled(answer):
		return fmt.Errorf("%w: this version of the key is disabled: %w", keystore.ErrKeyNotFound, err)
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: the permission %s is missing, or the vault's firewall refuses: %w", keystore.ErrDenied, right, err)
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", keystore.ErrKeyNotFound, err)
	case http.StatusBadRequest, http.StatusConflict:
		return fmt.Errorf("%w: %w", keystore.ErrUnsupported, err)
	}
	return fmt.Errorf("%w: Azure: %s: %w", keystore.ErrUnavailable, right, err)
}

// vaultPeriod is the time over which vaults count their transactions.
const vaultPeriod = 10 * time.Second

// isDisabled reports whether a vault refuses to use a key that is disabled: the error's code is
// Forbidden then, as for a missing permission, and that of its innererror KeyDisabled.
func isDisabled(answer *azcore.ResponseError) bool {
	if answer.RawResponse == nil {
		return false
	}
	body, err := runtime.Payload(answer.RawResponse)
	var said struct {
		Error struct {
			InnerError struct {
				Code string `json:"code"`
			} `json:"innererror"`
		} `json:"error"`
	}
	return err == nil && json.Unmarshal(body, &said) == nil && said.Error.InnerError.Code == "KeyDisabled"
}
