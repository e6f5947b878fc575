package stamp_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/stamp"
)

// schemeStamp is a valid stamp and the credential that it is by.
type schemeStamp struct {
	credential *stamp.Credential
	header     stamp.Header
}

// stampsOfSchemes returns a stamp over a body by each scheme.
func stampsOfSchemes(b *testing.B, over string) map[string]schemeStamp {
	b.Helper()
	all := map[string]schemeStamp{}
	for _, curve := range []stamp.Curve{stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519} {
		secret := sha256.Sum256([]byte(curve))
		key, err := stamp.NewSigner(curve, secret[:])
		if err != nil {
			b.Fatal(err)
		}
		credential, err := stamp.NewAPIKey(curve, key.PublicKey())
		if err != nil {
			b.Fatal(err)
		}
		header, err := key.Stamp([]byte(over))
		if err != nil {
			b.Fatal(err)
		}
		all["API key "+string(curve)] = schemeStamp{credential, header}
	}
	for kind, one := range passkeys(b, over) {
		all["passkey "+kind] = schemeStamp{passkey(b, []byte("id"), one.coseKey, rpID, origin), one.header(b)}
	}
	return all
}

// BenchmarkSchemes measures the verification of a stamp by each scheme, from its header, over a
// body of 400 bytes: the table in docs/performance.md.
func BenchmarkSchemes(b *testing.B) {
	over := strings.Repeat("x", 400)
	for name, sent := range stampsOfSchemes(b, over) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				parsed, err := stamp.Parse(sent.header)
				if err != nil {
					b.Fatal(err)
				}
				if err := sent.credential.Verify(parsed, []byte(over), time.Time{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
