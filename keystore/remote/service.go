package remote

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-dev/countersign/keystore"
)

// Scheme is a kind of signature.
type Scheme string

// The schemes. The text is that of errors and metrics.
const (
	Secp256k1 Scheme = "secp256k1" // ECDSA over a digest of 32 bytes
	Ed25519   Scheme = "Ed25519"   // RFC 8032 over a whole message, without pre-hash
	P256      Scheme = "P-256"     // ECDSA over a digest of 32 bytes, for the app-proof key
)

// SchemeOf returns the scheme of a curve.
func SchemeOf(curve keystore.Curve) Scheme {
	if curve == keystore.CurveEd25519 {
		return Ed25519
	}
	return Secp256k1
}

// Service is a kind of key service.
type Service interface {
	// Check refuses a URI, scheme included, that cannot name a key. It asks no one.
	Check(uri string) error

	// Open returns the key that a URI names. It may read credentials, but need not ask the
	// service, whose answers belong into the methods of Key.
	Open(ctx context.Context, uri string) (Key, error)
}

// Key is a key at a service. Its errors are those of package keystore, each with the
// service's own words and, if a right is missing, its name in the vendor's language. Its
// methods must obey their context, and be safe for concurrent use.
type Key interface {
	// PublicKey asks the service for the public key.
	PublicKey(ctx context.Context) (Public, error)

	// Sign asks for a signature, of a digest for ECDSA, which is returned as r ‖ s or as DER,
	// and of a whole message for Ed25519. It need not be verified. A message that is too long
	// for the service is keystore.ErrUnsupported.
	Sign(ctx context.Context, scheme Scheme, message []byte) ([]byte, error)
}

// Generator is a Service that creates keys.
type Generator interface {
	// Generate creates a key that cannot leave the service, in hardware if the service has
	// any, and returns the URI to pin it by. uri says where, as the service's documentation
	// describes it, and name what to call it.
	Generate(ctx context.Context, uri, name string, scheme Scheme) (created string, err error)
}

// Sited is a Service with several sites, such as regions or vaults, each of which can fail alone. The
// bound on calls is one for each site, so that one that hangs does not keep the others' keys
// from signing.
type Sited interface {
	// Site names the site of a URI that Check accepts. It asks no one.
	Site(uri string) string
}

// site is a part of a service that can fail alone: what calls share a bound with.
type site struct{ scheme, name string }

// Keeper is a Service with work to do while none of its keys is used, such as to renew a token
// before it expires.
type Keeper interface {
	// Keep does the work until the context ends. It is called for each open Store and
	// ProofSigner that uses the service, so several calls may be under way at a time.
	Keep(ctx context.Context)
}

// keep runs Keep in the background if the service is a Keeper.
func keep(ctx context.Context, running *sync.WaitGroup, service Service) {
	if keeper, ok := service.(Keeper); ok {
		running.Go(func() { keeper.Keep(ctx) })
	}
}

// Services are services by the scheme of their URIs, such as "awskms".
type Services map[string]Service

// Of returns the service for a URI, and its scheme.
func (s Services) Of(uri string) (Service, string, error) {
	scheme, _, found := strings.Cut(uri, ":")
	if service, ok := s[scheme]; ok && found {
		return service, scheme, nil
	}
	if len(s) == 0 {
		return nil, "",
			fmt.Errorf("%q: this program has no key services: countersign-kms has awskms, vaulttransit, gcpkms and azurekms", uri)
	}
	return nil, "", fmt.Errorf("%q: unknown scheme: this program has %s", uri, strings.Join(slices.Sorted(maps.Keys(s)), ", "))
}

// Public is the public key of a key at a service: one of two kinds.
type Public struct {
	Signing keystore.PublicKey // on a curve of package keystore
	Proof   *ecdsa.PublicKey   // on P-256
}

// String says which key it is.
func (p Public) String() string {
	if p.Proof != nil {
		return "a key on P-256"
	}
	return p.Signing.String()
}

// The object identifiers of SubjectPublicKeyInfo (RFC 5480, RFC 8410, SEC 2).
var (
	oidEC        = asn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1}
	oidSecp256k1 = asn1.ObjectIdentifier{1, 3, 132, 0, 10}
	oidEd25519   = asn1.ObjectIdentifier{1, 3, 101, 112}
)

// subjectPublicKeyInfo is
//
//	SEQUENCE { SEQUENCE { algorithm OID, parameters ANY OPTIONAL }, BIT STRING }
type subjectPublicKeyInfo struct {
	Algorithm struct {
		Algorithm  asn1.ObjectIdentifier
		Parameters asn1.RawValue `asn1:"optional"`
	}
	PublicKey asn1.BitString
}

// ParseSPKI reads a SubjectPublicKeyInfo in DER, as most services return it, of a key on
// secp256k1, Ed25519 or P-256.
func ParseSPKI(der []byte) (Public, error) {
	var info subjectPublicKeyInfo
	if rest, err := asn1.Unmarshal(der, &info); err != nil || len(rest) > 0 {
		return Public{}, errors.New("the public key is no SubjectPublicKeyInfo")
	}
	point, curve := info.PublicKey.RightAlign(), asn1.ObjectIdentifier{}
	switch {
	case info.PublicKey.BitLength%8 != 0:
		return Public{}, errors.New("the public key is no SubjectPublicKeyInfo")
	case info.Algorithm.Algorithm.Equal(oidEd25519):
		return ParsePoint(Ed25519, point)
	case info.Algorithm.Algorithm.Equal(oidEC):
		_, _ = asn1.Unmarshal(info.Algorithm.Parameters.FullBytes, &curve) // else it is no curve that follows
	}
	if curve.Equal(oidSecp256k1) {
		return ParsePoint(Secp256k1, point)
	}
	if parsed, err := x509.ParsePKIXPublicKey(der); err == nil {
		if proof, ok := parsed.(*ecdsa.PublicKey); ok && proof.Curve == elliptic.P256() {
			return Public{Proof: proof}, nil
		}
	}
	return Public{}, fmt.Errorf("%w: it is on neither secp256k1, Ed25519 nor P-256", keystore.ErrUnsupported)
}

// ParsePoint reads a point, in the forms of keystore.ParsePublicKey, or uncompressed on P-256.
func ParsePoint(scheme Scheme, point []byte) (Public, error) {
	switch scheme {
	case Secp256k1:
		parsed, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, point)
		return Public{Signing: parsed}, err
	case Ed25519:
		parsed, err := keystore.ParsePublicKey(keystore.CurveEd25519, point)
		return Public{Signing: parsed}, err
	}
	proof, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	return Public{Proof: proof}, err
}
