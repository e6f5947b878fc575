package loopback

import (
	"context"
	"encoding/pem"
	"hash/crc32"
	"net"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/kms/apiv1/kmspb"
	"google.golang.org/api/option"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

// Google is a KeyManagementService of google.cloud.kms.v1 in this process, with the calls that
// the package gcpkms makes. Its messages are the generated ones of cloud.google.com/go/kms
// v1.37.0. What it checks and answers beyond their types, the checksums and that data excludes a
// digest, was compared with google/cloud/kms/v1/service.proto in googleapis/googleapis (commit
// 0c860e05) on 26 November 2026. Keys are named by the id of their CryptoKey.
type Google struct {
	kmspb.UnimplementedKeyManagementServiceServer
	Keys *remotetest.Keys

	address string
	t       testing.TB
	mu      sync.Mutex
	change  func(*kmspb.AsymmetricSignResponse)
	changed func(*kmspb.PublicKey)
	pending int // calls until a new version is enabled
}

// Ring is the key ring of the server.
const Ring = "projects/p/locations/europe-west1/keyRings/r"

// NewGoogle starts a server, which ends with the test.
func NewGoogle(t testing.TB) *Google {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &Google{t: t, Keys: remotetest.NewKeys(), address: listener.Addr().String()}
	server := grpc.NewServer()
	kmspb.RegisterKeyManagementServiceServer(server, g)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return g
}

// Options have a client talk to this server.
func (g *Google) Options() []option.ClientOption {
	return []option.ClientOption{
		option.WithEndpoint(g.address), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}
}

// ChangeSignatures has the answers to AsymmetricSign changed.
func (g *Google) ChangeSignatures(change func(*kmspb.AsymmetricSignResponse)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.change = change
}

// ChangePublicKeys has the answers to GetPublicKey changed.
func (g *Google) ChangePublicKeys(change func(*kmspb.PublicKey)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changed = change
}

// failure returns the error for the present fault, after the wait of Slow.
func (g *Google) failure(ctx context.Context, permission string) error {
	fault, over := g.Keys.Fault()
	switch fault {
	case keystoretest.Throttled:
		exhausted, err := status.New(codes.ResourceExhausted,
			"Quota exceeded").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(7e9)})
		if err != nil {
			g.t.Error(err)
		}
		return exhausted.Err()
	case keystoretest.Denied:
		return status.Errorf(codes.PermissionDenied, "Permission '%s' denied", permission)
	case keystoretest.Gone:
		return status.Error(codes.FailedPrecondition, "is not enabled, current state is: DESTROYED.")
	case keystoretest.Away:
		return status.Error(codes.Unavailable, "connection refused")
	case keystoretest.Broken, keystoretest.Nonsense:
		return status.Error(codes.Internal, "internal error")
	case keystoretest.Slow:
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
		}
	}
	return nil
}

// scheme returns the key of a version and its scheme.
func (g *Google) scheme(name string) (id string, scheme remote.Scheme, err error) {
	id, found := strings.CutPrefix(name, Ring+"/cryptoKeys/")
	id, version := strings.CutSuffix(id, "/cryptoKeyVersions/1")
	scheme, ok := g.Keys.Scheme(id)
	if !found || !version || !ok {
		return "", "", status.Errorf(codes.NotFound, "%s not found.", name)
	}
	return id, scheme, nil
}

var googleAlgorithms = map[remote.Scheme]kmspb.CryptoKeyVersion_CryptoKeyVersionAlgorithm{
	remote.Secp256k1: kmspb.CryptoKeyVersion_EC_SIGN_SECP256K1_SHA256,
	remote.Ed25519:   kmspb.CryptoKeyVersion_EC_SIGN_ED25519,
	remote.P256:      kmspb.CryptoKeyVersion_EC_SIGN_P256_SHA256,
}

func castagnoli(data []byte) *wrapperspb.Int64Value {
	return wrapperspb.Int64(int64(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))))
}

// GetPublicKey implements kmspb.KeyManagementServiceServer.
func (g *Google) GetPublicKey(ctx context.Context, in *kmspb.GetPublicKeyRequest) (*kmspb.PublicKey, error) {
	if err := g.failure(ctx, "cloudkms.cryptoKeyVersions.viewPublicKey"); err != nil {
		return nil, err
	}
	id, scheme, err := g.scheme(in.GetName())
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: g.Keys.SPKI(id)})
	answer := &kmspb.PublicKey{
		Pem: string(text), PemCrc32C: castagnoli(text), Algorithm: googleAlgorithms[scheme], Name: in.GetName(),
		ProtectionLevel: kmspb.ProtectionLevel_HSM,
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changed != nil {
		g.changed(answer)
	}
	return answer, nil
}

// AsymmetricSign implements kmspb.KeyManagementServiceServer.
func (g *Google) AsymmetricSign(ctx context.Context, in *kmspb.AsymmetricSignRequest) (*kmspb.AsymmetricSignResponse, error) {
	if err := g.failure(ctx, "cloudkms.cryptoKeyVersions.useToSign"); err != nil {
		return nil, err
	}
	id, scheme, err := g.scheme(in.GetName())
	if err != nil {
		return nil, err
	}
	message, sum := in.GetDigest().GetSha256(), in.GetDigestCrc32C()
	if scheme == remote.Ed25519 {
		message, sum = in.GetData(), in.GetDataCrc32C()
	}
	both := in.GetDigest() != nil && len(in.GetData()) > 0
	if sum == nil || sum.GetValue() != castagnoli(message).GetValue() || both || scheme != remote.Ed25519 && len(message) != 32 {
		g.t.Errorf("a request for a key on %s: %v", scheme, in)
	}
	signature, err := g.Keys.Sign(id, message, remotetest.DER)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	answer := &kmspb.AsymmetricSignResponse{
		Signature: signature, SignatureCrc32C: castagnoli(signature), Name: in.GetName(), ProtectionLevel: kmspb.ProtectionLevel_HSM,
		VerifiedDigestCrc32C: in.GetDigestCrc32C() != nil, VerifiedDataCrc32C: in.GetDataCrc32C() != nil,
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.change != nil {
		g.change(answer)
	}
	return answer, nil
}

// CreateCryptoKey implements kmspb.KeyManagementServiceServer.
func (g *Google) CreateCryptoKey(_ context.Context, in *kmspb.CreateCryptoKeyRequest) (*kmspb.CryptoKey, error) {
	template := in.GetCryptoKey().GetVersionTemplate()
	if in.GetParent() != Ring || in.GetCryptoKey().GetPurpose() != kmspb.CryptoKey_ASYMMETRIC_SIGN ||
		template.GetProtectionLevel() != kmspb.ProtectionLevel_HSM {
		g.t.Errorf("create %v", in)
	}
	if _, exists := g.Keys.Scheme(in.GetCryptoKeyId()); exists {
		return nil, status.Errorf(codes.AlreadyExists, "CryptoKey %s already exists.", in.GetCryptoKeyId())
	}
	for scheme, algorithm := range googleAlgorithms {
		if algorithm == template.GetAlgorithm() {
			g.Keys.Generate(in.GetCryptoKeyId(), scheme)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pending = 2
	in.CryptoKey.Name = in.GetParent() + "/cryptoKeys/" + in.GetCryptoKeyId()
	return in.GetCryptoKey(), nil
}

// GetCryptoKeyVersion implements kmspb.KeyManagementServiceServer.
func (g *Google) GetCryptoKeyVersion(_ context.Context, in *kmspb.GetCryptoKeyVersionRequest) (*kmspb.CryptoKeyVersion, error) {
	if _, _, err := g.scheme(in.GetName()); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending--; g.pending > 0 {
		return &kmspb.CryptoKeyVersion{Name: in.GetName(), State: kmspb.CryptoKeyVersion_PENDING_GENERATION}, nil
	}
	return &kmspb.CryptoKeyVersion{Name: in.GetName(), State: kmspb.CryptoKeyVersion_ENABLED}, nil
}
