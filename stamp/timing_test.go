package stamp_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

// BenchmarkRegistered reports, for each way to present a known public key, the ratio of the
// median refusal times of a registered and an unregistered credential, over 3,000 refusals
// each. A ratio far from 1 would reveal which keys an organization has.
func BenchmarkRegistered(b *testing.B) {
	cases := map[string]struct {
		credential *stamp.Credential
		sent       *stamp.Stamp
	}{}
	credential, key := p256Credential(b)
	for _, scheme := range []stamp.Scheme{stamp.SchemeP256, stamp.SchemeSecp256k1} {
		text := fmt.Sprintf(`{"publicKey":%q,"scheme":%q,"signature":"3006020101020101"}`, key, scheme)
		cases["P-256 key, "+string(scheme)] = struct {
			credential *stamp.Credential
			sent       *stamp.Stamp
		}{credential, parsed(b, stamp.Header{Name: stamp.HeaderAPIKey, Value: base64.RawURLEncoding.EncodeToString([]byte(text))})}
	}
	keys := passkeys(b, body)
	for kind, one := range keys {
		for as, other := range keys {
			presented := *one
			presented.sign = other.sign
			cases[kind+" passkey, signature like "+as] = struct {
				credential *stamp.Credential
				sent       *stamp.Stamp
			}{passkey(b, []byte("id"), one.coseKey, rpID, origin), parsed(b, presented.header(b))}
		}
	}
	for name, one := range cases {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				other := []byte("another body")
				registered := func() { _ = one.credential.Verify(one.sent, other, time.Time{}) }
				unregistered := func() { _ = stamp.VerifyDummy(one.sent, other) }
				b.ReportMetric(ratioOfMedians(registered, unregistered), "registered/unregistered")
			}
		})
	}
}

// ratioOfMedians alternates the two functions, so that other load affects both.
func ratioOfMedians(one, other func()) float64 {
	const runs = 3000
	var times [2][]time.Duration
	for range runs {
		for i, run := range [...]func(){one, other} {
			started := time.Now()
			run()
			times[i] = append(times[i], time.Since(started))
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	return float64(times[0][runs/2]) / float64(times[1][runs/2])
}

func p256Credential(b *testing.B) (*stamp.Credential, string) {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testenv.Must(b, err)
	public := compressed(key)
	credential, err := stamp.NewAPIKey(stamp.CurveP256, public)
	testenv.Must(b, err)
	return credential, hex.EncodeToString(public)
}

func parsed(b *testing.B, header stamp.Header) *stamp.Stamp {
	b.Helper()
	sent, err := stamp.Parse(header)
	testenv.Must(b, err)
	return sent
}
