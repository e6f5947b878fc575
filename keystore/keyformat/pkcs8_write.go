package keyformat

import (
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	tag "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/countersign-dev/countersign/keystore"
)

// privateKeyInfo returns the DER that openssl writes for the key.
func (k Key) privateKeyInfo() ([]byte, error) {
	switch k.Curve {
	case keystore.CurveSecp256k1:
		return build(k.secp256k1Info)
	case keystore.CurveEd25519:
		return build(k.ed25519Info)
	}
	return nil, fmt.Errorf("pkcs8: %w: a key on %v", ErrUnsupported, k.Curve)
}

// maxInfo is room enough for any key, so that the builder's buffer never grows,
// which would leave a copy.
const maxInfo = 512

func build(content cryptobyte.BuilderContinuation) ([]byte, error) {
	b := cryptobyte.NewFixedBuilder(make([]byte, 0, maxInfo))
	b.AddASN1(tag.SEQUENCE, content)
	return b.Bytes()
}

func (k Key) secp256k1Info(b *cryptobyte.Builder) {
	b.AddASN1Int64(0)
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidECPublicKey)
		b.AddASN1ObjectIdentifier(oidSecp256k1)
	})
	b.AddASN1(tag.OCTET_STRING, func(b *cryptobyte.Builder) {
		b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1Int64(1)
			b.AddASN1OctetString(k.Secret)
			b.AddASN1(tag.Tag(1).Constructed().ContextSpecific(), func(b *cryptobyte.Builder) {
				point := k.PublicKey.Uncompressed()
				b.AddASN1BitString(point[:])
			})
		})
	})
}

func (k Key) ed25519Info(b *cryptobyte.Builder) {
	b.AddASN1Int64(0)
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidEd25519) })
	b.AddASN1(tag.OCTET_STRING, func(b *cryptobyte.Builder) { b.AddASN1OctetString(k.Secret) })
}
