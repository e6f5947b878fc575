// Package gcpkms signs with keys in Google Cloud KMS.
//
//	gcpkms:projects/P/locations/europe-west1/keyRings/R/cryptoKeys/hot/cryptoKeyVersions/1
//
// The name is the resource name of a version of a key, never of the key alone. Credentials are
// Application Default Credentials: GOOGLE_APPLICATION_CREDENTIALS, 'gcloud auth
// application-default login', workload identity, or the metadata server.
//
//	curve      algorithm                  request                signature
//	secp256k1  EC_SIGN_SECP256K1_SHA256   digest.sha256          DER
//	Ed25519    EC_SIGN_ED25519            data                   64 bytes
//	P-256      EC_SIGN_P256_SHA256        digest.sha256          DER
//
// The CRC32C of what is sent and of what comes back, and the name of the version that has
// signed, are checked. The facts are those of google.cloud.kms.v1 in cloud.google.com/go/kms
// v1.37.0, and of the reference of asymmetricSign, looked at on 26 November 2026.
package gcpkms

import (
	"context"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"
	"sync"
	"time"

	kms "cloud.google.com/go/kms/apiv1"
	"cloud.google.com/go/kms/apiv1/kmspb"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/api/option"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// Scheme is the scheme of URIs.
const Scheme = "gcpkms"

// Service is Google Cloud KMS. New returns one.
type Service struct {
	options []option.ClientOption
	mu      sync.Mutex
	clients map[string]*kms.KeyManagementClient // by site: those of one share their streams
}

var (
	_ remote.Service   = (*Service)(nil)
	_ remote.Generator = (*Service)(nil)
	_ remote.Sited     = (*Service)(nil)
)

// New returns the service. It reads no credentials yet. The options are for other endpoints.
func New(options ...option.ClientOption) *Service {
	return &Service{options: options, clients: map[string]*kms.KeyManagementClient{}}
}

// versionName is the resource name of a version.
var versionName = regexp.MustCompile(`^(projects/[^/]+/locations/[^/]+/keyRings/[^/]+)/cryptoKeys/([^/]+)/cryptoKeyVersions/([1-9][0-9]*)$`)

func (s *Service) Check(uri string) error {
	_, err := parse(uri)
	return err
}

// Site implements remote.Sited: a location of a project.
func (s *Service) Site(uri string) string {
	parts, err := parse(uri)
	if err != nil {
		return ""
	}
	location, _, _ := strings.Cut(parts[1], "/keyRings/")
	return location
}

// parse returns the name of the version, its key ring, its key, and its number.
func parse(text string) (parts []string, err error) {
	uri, err := remote.ParseURI(text)
	if err != nil {
		return nil, err
	}
	if parts = versionName.FindStringSubmatch(uri.Name); parts == nil {
		return nil,
			fmt.Errorf("%s: write gcpkms:projects/P/locations/L/keyRings/R/cryptoKeys/K/cryptoKeyVersions/1: a "+
				"version, because a key has several", text)
	}
	return parts, nil
}

func (s *Service) Open(_ context.Context, uri string) (remote.Key, error) {
	parts, err := parse(uri)
	if err != nil {
		return nil, err
	}
	client, err := s.connect(s.Site(uri))
	if err != nil {
		return nil, err
	}
	return &key{client, parts[0]}, nil
}

// connect returns the client of a site. Its connection outlives the call.
func (s *Service) connect(site string) (*kms.KeyManagementClient, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if client := s.clients[site]; client != nil {
		return client, nil
	}
	client, err := kms.NewKeyManagementClient(context.Background(), s.options...)
	if err != nil {
		return nil, fmt.Errorf("%w: Google credentials: %w", keystore.ErrDenied, err)
	}
	retries := gax.WithRetry(func() gax.Retryer { return &fewTries{left: 2} })
	client.CallOptions.AsymmetricSign = []gax.CallOption{retries}
	client.CallOptions.GetPublicKey = []gax.CallOption{retries}
	client.CallOptions.GetCryptoKeyVersion = []gax.CallOption{retries}
	client.CallOptions.CreateCryptoKey = nil // else the second try finds the key of the first
	s.clients[site] = client
	return client, nil
}

// fewTries tries a call again that the service did not get to. The SDK's default goes on until
// the context ends, when other callers want the place.
type fewTries struct{ left int }

func (f *fewTries) Retry(err error) (pause time.Duration, again bool) {
	f.left--
	return 100 * time.Millisecond, f.left >= 0 && status.Code(err) == codes.Unavailable
}

type key struct {
	client *kms.KeyManagementClient
	name   string
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(data []byte) *wrapperspb.Int64Value {
	return wrapperspb.Int64(int64(crc32.Checksum(data, castagnoli)))
}

var algorithms = map[remote.Scheme]kmspb.CryptoKeyVersion_CryptoKeyVersionAlgorithm{
	remote.Secp256k1: kmspb.CryptoKeyVersion_EC_SIGN_SECP256K1_SHA256,
	remote.Ed25519:   kmspb.CryptoKeyVersion_EC_SIGN_ED25519,
	remote.P256:      kmspb.CryptoKeyVersion_EC_SIGN_P256_SHA256,
}

// The permissions.
const (
	rightGet    = "cloudkms.cryptoKeyVersions.viewPublicKey"
	rightSign   = "cloudkms.cryptoKeyVersions.useToSign"
	rightCreate = "cloudkms.cryptoKeys.create"
	rightState  = "cloudkms.cryptoKeyVersions.get"
)

// unusable is the error of an answer that lacks what the call is for.
func unusable(call, missing string) error {
	return fmt.Errorf("%w: Google KMS: %s: an answer without %s", keystore.ErrUnavailable, call, missing)
}

func (k *key) PublicKey(ctx context.Context) (remote.Public, error) {
	answer, err := k.client.GetPublicKey(ctx, &kmspb.GetPublicKeyRequest{Name: k.name})
	if err != nil {
		return remote.Public{}, explain(rightGet, err)
	}
	if answer.GetPem() == "" {
		return remote.Public{}, unusable(rightGet, "a public key")
	}
	if answer.GetName() != k.name || answer.GetPemCrc32C().GetValue() != checksum([]byte(answer.GetPem())).GetValue() {
		return remote.Public{},
			fmt.Errorf("%w: Google KMS: %s: the public key was damaged on its way, or is of another version",
				keystore.ErrUnavailable, rightGet)
	}
	block, _ := pem.Decode([]byte(answer.GetPem()))
	if block == nil {
		return remote.Public{}, unusable(rightGet, "a public key in PEM")
	}
	return remote.ParseSPKI(block.Bytes)
}

func (k *key) Sign(ctx context.Context, scheme remote.Scheme, message []byte) ([]byte, error) {
	request := &kmspb.AsymmetricSignRequest{Name: k.name}
	if scheme == remote.Ed25519 {
		request.Data, request.DataCrc32C = message, checksum(message)
	} else {
		request.Digest = &kmspb.Digest{Digest: &kmspb.Digest_Sha256{Sha256: message}}
		request.DigestCrc32C = checksum(message)
	}
	answer, err := k.client.AsymmetricSign(ctx, request)
	if err != nil {
		return nil, explain(rightSign, err)
	}
	received := answer.GetVerifiedDigestCrc32C()
	if scheme == remote.Ed25519 {
		received = answer.GetVerifiedDataCrc32C()
	}
	switch {
	case len(answer.GetSignature()) == 0:
		return nil, fmt.Errorf("%w: Google KMS: %s: an answer without a signature", keystore.ErrSignatureCheck, rightSign)
	case answer.GetName() != k.name:
		return nil, fmt.Errorf("%w: Google KMS signed with %q", keystore.ErrSignatureCheck, answer.GetName())
	case !received:
		return nil, fmt.Errorf("%w: Google KMS did not verify the checksum of what it signed", keystore.ErrSignatureCheck)
	case answer.GetSignatureCrc32C().GetValue() != checksum(answer.GetSignature()).GetValue():
		return nil, fmt.Errorf("%w: the signature was damaged on its way from Google KMS", keystore.ErrSignatureCheck)
	}
	return answer.GetSignature(), nil
}

// Generate implements remote.Generator: it creates a key in an existing key ring with protection
// level HSM, and waits until its version 1 is enabled.
func (s *Service) Generate(ctx context.Context, uri, _ string, scheme remote.Scheme) (string, error) {
	parts, err := parse(uri)
	if err != nil {
		return "", err
	}
	if parts[3] != "1" {
		return "", fmt.Errorf("%s: a new key has version 1", uri)
	}
	client, err := s.connect(s.Site(uri))
	if err != nil {
		return "", err
	}
	made, err := client.CreateCryptoKey(ctx, &kmspb.CreateCryptoKeyRequest{Parent: parts[1], CryptoKeyId: parts[2],
		CryptoKey: &kmspb.CryptoKey{
			Purpose:         kmspb.CryptoKey_ASYMMETRIC_SIGN,
			VersionTemplate: &kmspb.CryptoKeyVersionTemplate{Algorithm: algorithms[scheme], ProtectionLevel: kmspb.ProtectionLevel_HSM},
		}})
	if err != nil {
		return "", fmt.Errorf("create a key with protection level HSM: %w", explain(rightCreate, err))
	}
	if made.GetName() == "" {
		return "", unusable(rightCreate, "the name of a key, which may have been created")
	}
	if err := enabled(ctx, client, parts[0]); err != nil {
		return "", fmt.Errorf("the key was created: 'countersign keys add' adds it once it is enabled: %w", err)
	}
	return uri, nil
}

// enabled waits until a version is enabled.
func enabled(ctx context.Context, client *kms.KeyManagementClient, name string) error {
	pause := time.NewTicker(200 * time.Millisecond)
	defer pause.Stop()
	for {
		version, err := client.GetCryptoKeyVersion(ctx, &kmspb.GetCryptoKeyVersionRequest{Name: name})
		if err != nil {
			return explain(rightState, err)
		}
		switch version.GetState() {
		case kmspb.CryptoKeyVersion_ENABLED:
			return nil
		case kmspb.CryptoKeyVersion_PENDING_GENERATION:
		case kmspb.CryptoKeyVersion_CRYPTO_KEY_VERSION_STATE_UNSPECIFIED:
			return unusable(rightState, "the state of the version")
		default:
			return fmt.Errorf("%w: Google KMS: %s: the new version is %s", keystore.ErrUnavailable, rightState, version.GetState())
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return fmt.Errorf("the new version is not enabled yet: Google KMS: %s: %w", rightState, ctx.Err())
		}
	}
}

// explain classifies an error and names the permission that the call needs.
func explain(right string, err error) error {
	found, ok := status.FromError(err)
	if !ok {
		return fmt.Errorf("%w: Google KMS: %s: %w", keystore.ErrUnavailable, right, err)
	}
	switch found.Code() {
	case codes.PermissionDenied, codes.Unauthenticated:
		return fmt.Errorf("%w: the permission %s is missing, or the credentials are: %w", keystore.ErrDenied, right, err)
	case codes.NotFound, codes.FailedPrecondition:
		return fmt.Errorf("%w: the version does not exist, is disabled or is destroyed: %w", keystore.ErrKeyNotFound, err)
	case codes.AlreadyExists:
		return fmt.Errorf("%w: %w", keystore.ErrKeyExists, err)
	case codes.InvalidArgument, codes.Unimplemented, codes.OutOfRange:
		return fmt.Errorf("%w: %w", keystore.ErrUnsupported, err)
	case codes.ResourceExhausted:
		return &keystore.ThrottledError{RetryAfter: retryAfter(found), Err: fmt.Errorf("from Google KMS: %s: %w", right, err)}
	case codes.DeadlineExceeded:
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return fmt.Errorf("%w: Google KMS: %s: %w", keystore.ErrUnavailable, right, err)
}

// retryAfter returns how long to wait: as the answer says, or a second.
func retryAfter(found *status.Status) time.Duration {
	for _, detail := range found.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok && info.GetRetryDelay().AsDuration() > 0 {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return time.Second
}
