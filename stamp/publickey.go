package stamp

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"

	"github.com/fxamacker/cbor/v2"

	"github.com/countersign-dev/countersign/internal/edwards25519"
)

// COSEKeyFromSPKI converts a SubjectPublicKeyInfo (RFC 5280) in DER, which
// AuthenticatorAttestationResponse.getPublicKey() returns in a browser, to a COSE key for
// [NewPasskey]. Keys on P-256 become ES256, RSA keys RS256, and Ed25519 keys EdDSA.
func COSEKeyFromSPKI(der []byte) ([]byte, error) {
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("SPKI: %w", err)
	}
	var members map[int]any // as listed at coseKey
	switch key := parsed.(type) {
	case *ecdsa.PublicKey:
		point, err := key.Bytes()
		if err != nil || key.Curve != elliptic.P256() {
			return nil, errors.New("SPKI: expected an elliptic-curve key on P-256")
		}
		members = map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]}
	case ed25519.PublicKey:
		members = map[int]any{1: 1, 3: -8, -1: 6, -2: []byte(key)}
	case *rsa.PublicKey:
		members = map[int]any{1: 3, 3: -257, -1: key.N.Bytes(), -2: big.NewInt(int64(key.E)).Bytes()}
	default:
		return nil, fmt.Errorf("SPKI: expected an ECDSA key on P-256, an RSA key or an Ed25519 key, not a %T", key)
	}
	mode, err := cbor.CTAP2EncOptions().EncMode()
	if err != nil {
		return nil, err
	}
	encoded, err := mode.Marshal(members)
	if err != nil {
		return nil, err
	}
	if _, err := parseCOSEKey(encoded); err != nil {
		return nil, err
	}
	return encoded, nil
}

// coseKey is a COSE key (RFC 9052, section 7; parameters by RFC 9053 and 8230):
//
//	1  kty   1 OKP        2 EC2       3 RSA
//	3  alg  −8 EdDSA     −7 ES256  −257 RS256
//	−1       crv 6        crv 1       n
//	−2       x            x           e
//	−3       –            y           –
type coseKey struct {
	Type      int64           `cbor:"1,keyasint"`
	Algorithm int64           `cbor:"3,keyasint"`
	First     cbor.RawMessage `cbor:"-1,keyasint"`
	Second    []byte          `cbor:"-2,keyasint"`
	Third     []byte          `cbor:"-3,keyasint,omitempty"`
}

// coseMode decodes strictly: no duplicate or unknown members, no indefinite lengths, no
// tags.
var coseMode = func() cbor.DecMode {
	mode, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		MaxNestedLevels:   4,
		MaxMapPairs:       16,
		MaxArrayElements:  16,
	}.DecMode()
	if err != nil {
		panic("stamp: CBOR options: " + err.Error())
	}
	return mode
}()

// mapMajorType begins, in its upper bits, a map in CBOR.
const mapMajorType = 5

// parseCOSEKey parses a public key of one of the three algorithms of passkeys.
func parseCOSEKey(encoded []byte) (verifier, error) {
	if len(encoded) == 0 || encoded[0]>>5 != mapMajorType {
		return nil, errors.New("COSE key: expected a CBOR map")
	}
	var key coseKey
	if err := coseMode.Unmarshal(encoded, &key); err != nil {
		return nil, fmt.Errorf("COSE key: %w", err)
	}
	type kind struct{ keyType, algorithm int64 }
	switch (kind{key.Type, key.Algorithm}) {
	case kind{1, -8}:
		return key.ed25519()
	case kind{2, -7}:
		return key.p256()
	case kind{3, -257}:
		return key.rsa()
	}
	return nil, fmt.Errorf("COSE key: key type %d with algorithm %d: expected ES256 (2, -7), RS256 (3, -257) or "+
		"EdDSA (1, -8)", key.Type, key.Algorithm)
}

func (k *coseKey) onCurve(want int64) error {
	var curve int64
	if err := coseMode.Unmarshal(k.First, &curve); err != nil || curve != want {
		return fmt.Errorf("COSE key: expected curve %d", want)
	}
	return nil
}

func (k *coseKey) ed25519() (verifier, error) {
	if err := k.onCurve(6); err != nil {
		return nil, err
	}
	if len(k.Second) != 32 || k.Third != nil {
		return nil, errors.New("COSE key on Ed25519: expected x of 32 bytes and no y")
	}
	if edwards25519.SmallOrder(k.Second) {
		return nil, errors.New("COSE key: a point of small order: anyone could sign under it")
	}
	return ed25519Key(k.Second), nil
}

func (k *coseKey) p256() (verifier, error) {
	if err := k.onCurve(1); err != nil {
		return nil, err
	}
	if len(k.Second) != 32 || len(k.Third) != 32 {
		return nil, errors.New("COSE key on P-256: expected x and y of 32 bytes each")
	}
	point := append(append([]byte{4}, k.Second...), k.Third...)
	pub, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil, errors.New("COSE key: not a point on P-256")
	}
	return p256Key{pub}, nil
}

// Bounds of RSA keys, in bits. Shorter keys are weak, longer ones slow to verify.
const (
	minRSABits = 2048
	maxRSABits = 4096
)

func (k *coseKey) rsa() (verifier, error) {
	var modulus []byte
	if err := coseMode.Unmarshal(k.First, &modulus); err != nil || k.Third != nil {
		return nil, errors.New("COSE key: an RSA key has n and e, and nothing else")
	}
	n, e := new(big.Int).SetBytes(modulus), new(big.Int).SetBytes(k.Second)
	switch {
	case n.BitLen() < minRSABits || n.BitLen() > maxRSABits || n.Bit(0) == 0:
		return nil, fmt.Errorf("COSE key: expected an odd RSA modulus of %d to %d bits, not of %d", minRSABits,
			maxRSABits, n.BitLen())
	case len(modulus) != (n.BitLen()+7)/8 || len(k.Second) != (e.BitLen()+7)/8:
		return nil, errors.New("COSE key: n or e has a leading zero")
	case e.BitLen() > 31 || e.Int64() < 3 || e.Bit(0) == 0:
		return nil, errors.New("COSE key: expected an odd RSA exponent from 3 to 2^31")
	}
	return rsaKey{&rsa.PublicKey{N: n, E: int(e.Int64())}}, nil
}
