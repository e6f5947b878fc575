// Package awskms signs with keys in AWS KMS.
//
//	awskms:alias/hot?region=eu-central-1
//	awskms:1234abcd-12ab-34cd-56ef-1234567890ab?region=eu-central-1
//	awskms:arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab
//
// The name is whatever KMS takes as a KeyId. The parameters are region, which an ARN has already
// and which otherwise comes from the environment or the profile, and profile. Credentials come from
// the default chain of the AWS SDK: environment, shared files, SSO, web identity (IRSA), ECS and
// EC2. AWS_ENDPOINT_URL_KMS names another endpoint, such as one of a VPC.
//
//	curve      key spec                 signing algorithm   message
//	secp256k1  ECC_SECG_P256K1          ECDSA_SHA_256       DIGEST, 32 bytes
//	Ed25519    ECC_NIST_EDWARDS25519    ED25519_SHA_512     RAW, at most 4,096 bytes
//	P-256      ECC_NIST_P256            ECDSA_SHA_256       DIGEST, 32 bytes
//
// ECDSA signatures are DER, with s in either half. The facts are those of the API model behind
// github.com/aws/aws-sdk-go-v2/service/kms v1.62.6, looked at on 26 November 2026.
package awskms

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// Scheme is the scheme of URIs.
const Scheme = "awskms"

// MaxMessage is how many bytes of a message KMS signs with Ed25519.
const MaxMessage = 4096

// Service is AWS KMS. New returns one.
type Service struct {
	mu      sync.Mutex
	clients map[account]*kms.Client
}

// account selects credentials and a region; empty members come from the environment.
type account struct{ region, profile string }

var (
	_ remote.Service   = (*Service)(nil)
	_ remote.Generator = (*Service)(nil)
	_ remote.Sited     = (*Service)(nil)
)

// New returns the service. It reads no credentials yet.
func New() *Service { return &Service{clients: map[account]*kms.Client{}} }

func (s *Service) Check(uri string) error {
	_, _, err := parse(uri)
	return err
}

// Site implements remote.Sited: a region, and the profile that its credentials come from.
func (s *Service) Site(uri string) string {
	_, at, _ := parse(uri)
	return at.region + " " + at.profile
}

// parse returns the KeyId of a URI and where the key is.
func parse(text string) (keyID string, at account, err error) {
	uri, err := remote.ParseURI(text, "region", "profile")
	if err != nil {
		return "", at, err
	}
	at = account{uri.Params["region"], uri.Params["profile"]}
	if arn, isARN := strings.CutPrefix(uri.Name, "arn:"); isARN {
		// arn:PARTITION:kms:REGION:ACCOUNT:key/… or alias/…
		parts := strings.SplitN(arn, ":", 5)
		switch {
		case len(parts) != 5 || parts[1] != "kms" || parts[2] == "" || !strings.HasPrefix(parts[4], "key/") &&
			!strings.HasPrefix(parts[4], "alias/"):
			return "", at, fmt.Errorf("%s: not the ARN of a key or alias: arn:aws:kms:REGION:ACCOUNT:key/ID", text)
		case at.region != "" && at.region != parts[2]:
			return "", at, fmt.Errorf("%s: the ARN is of region %s, and the parameter says %s", text, parts[2], at.region)
		}
		at.region = parts[2]
		return uri.Name, at, nil
	}
	if strings.ContainsAny(uri.Name, ":%") || strings.Contains(uri.Name, "/") && !strings.HasPrefix(uri.Name, "alias/") {
		return "", at, fmt.Errorf("%s: write awskms:ID, awskms:alias/NAME or awskms:ARN", text)
	}
	return uri.Name, at, nil
}

func (s *Service) Open(ctx context.Context, uri string) (remote.Key, error) {
	keyID, at, err := parse(uri)
	if err != nil {
		return nil, err
	}
	client, err := s.client(ctx, at)
	if err != nil {
		return nil, err
	}
	return &key{client, keyID}, nil
}

// client returns the client for an account, with credentials of the default chain.
func (s *Service) client(ctx context.Context, at account) (*kms.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if client := s.clients[at]; client != nil {
		return client, nil
	}
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		// The default of 10 would have every further signature that is under way pay for
		// a TLS handshake.
		t.MaxIdleConnsPerHost = remote.DefaultConcurrency
	})
	options := []func(*config.LoadOptions) error{config.WithHTTPClient(transport), config.WithRetryer(newRetryer)}
	if at.region != "" {
		options = append(options, config.WithRegion(at.region))
	}
	if at.profile != "" {
		options = append(options, config.WithSharedConfigProfile(at.profile))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("%w: AWS configuration: %w", keystore.ErrDenied, err)
	}
	if loaded.Region == "" {
		return nil, fmt.Errorf("%w: no AWS region: add ?region=REGION to the URI, or set AWS_REGION", keystore.ErrDenied)
	}
	client := kms.NewFromConfig(loaded)
	s.clients[at] = client
	return client, nil
}

type key struct {
	client *kms.Client
	id     string
}

func (k *key) PublicKey(ctx context.Context) (remote.Public, error) {
	answer, err := k.client.GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: &k.id})
	if err != nil {
		return remote.Public{}, explain("kms:GetPublicKey", err)
	}
	if answer.KeyUsage == "" || len(answer.PublicKey) == 0 {
		return remote.Public{}, unusable("kms:GetPublicKey", "a public key")
	}
	if answer.KeyUsage != types.KeyUsageTypeSignVerify {
		return remote.Public{}, fmt.Errorf("%w: its KeyUsage is %s, not SIGN_VERIFY", keystore.ErrUnsupported, answer.KeyUsage)
	}
	public, err := remote.ParseSPKI(answer.PublicKey)
	if err != nil && !errors.Is(err, keystore.ErrUnsupported) {
		err = fmt.Errorf("%w: %w", unusable("kms:GetPublicKey", "a public key that can be read"), err)
	}
	return public, err
}

func (k *key) Sign(ctx context.Context, scheme remote.Scheme, message []byte) ([]byte, error) {
	if len(message) > MaxMessage {
		return nil, fmt.Errorf("%w: AWS KMS signs messages of at most %d bytes, and this one has %d",
			keystore.ErrUnsupported, MaxMessage, len(message))
	}
	if message == nil {
		message = []byte{} // else the member is left out
	}
	input := &kms.SignInput{KeyId: &k.id, Message: message, MessageType: types.MessageTypeDigest,
		SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256}
	if scheme == remote.Ed25519 {
		input.MessageType, input.SigningAlgorithm = types.MessageTypeRaw, types.SigningAlgorithmSpecEd25519Sha512
	}
	answer, err := k.client.Sign(ctx, input)
	if err != nil {
		return nil, explain("kms:Sign", err)
	}
	if len(answer.Signature) == 0 {
		return nil, fmt.Errorf("%w: AWS KMS: kms:Sign: an answer without a signature", keystore.ErrSignatureCheck)
	}
	if answer.SigningAlgorithm != input.SigningAlgorithm {
		return nil, fmt.Errorf("%w: AWS KMS answered with a signature of %q to a request for %s",
			keystore.ErrSignatureCheck, answer.SigningAlgorithm, input.SigningAlgorithm)
	}
	return answer.Signature, nil
}

var keySpecs = map[remote.Scheme]types.KeySpec{
	remote.Secp256k1: types.KeySpecEccSecgP256k1, remote.Ed25519: types.KeySpecEccNistEdwards25519, remote.P256: types.KeySpecEccNistP256,
}

// Generate implements remote.Generator: keys of KMS are in hardware and cannot leave it. A URI
// awskms:alias/NAME also gets the alias; the key is pinned by its id, which cannot be moved.
func (s *Service) Generate(ctx context.Context, uri, name string, scheme remote.Scheme) (string, error) {
	alias, at, err := parse(uri)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(alias, "alias/") {
		return "", fmt.Errorf("%s: AWS KMS chooses the ids of keys: write awskms:alias/NAME for a new one", uri)
	}
	client, err := s.client(ctx, at)
	if err != nil {
		return "", err
	}
	input := &kms.CreateKeyInput{KeySpec: keySpecs[scheme], KeyUsage: types.KeyUsageTypeSignVerify, Origin: types.OriginTypeAwsKms}
	if name != "" {
		input.Description = &name
	}
	made, err := client.CreateKey(ctx, input)
	if err != nil {
		return "", explain("kms:CreateKey", err)
	}
	if made.KeyMetadata == nil || aws.ToString(made.KeyMetadata.KeyId) == "" {
		return "", unusable("kms:CreateKey", "the id of a key, which may have been created")
	}
	params := map[string]string{}
	for param, value := range map[string]string{"region": at.region, "profile": at.profile} {
		if value != "" {
			params[param] = value
		}
	}
	created := remote.URI{Scheme: Scheme, Name: aws.ToString(made.KeyMetadata.KeyId), Params: params}.String()
	if _, err := client.CreateAlias(ctx, &kms.CreateAliasInput{AliasName: &alias, TargetKeyId: made.KeyMetadata.KeyId}); err != nil {
		return "", fmt.Errorf("the key was created (%s), but not the alias: %w", created, explain("kms:CreateAlias", err))
	}
	return created, nil
}
