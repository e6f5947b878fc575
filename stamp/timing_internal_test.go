package stamp

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// counted is a decoy that counts its verifications.
type counted struct {
	verifier
	times *int
}

func (c counted) verify(scheme Scheme, message, signature []byte) bool {
	*c.times++
	return c.verifier.verify(scheme, message, signature)
}

// TestWorkOnAnotherCurve: refusing a key that is registered on another curve than its stamp
// takes as much work as refusing one that is not registered, so that timing does not reveal
// which keys exist.
func TestWorkOnAnotherCurve(t *testing.T) {
	real := decoys()
	defer func() { decoys = func() map[Curve]verifier { return real } }()
	var times int
	counting := map[Curve]verifier{}
	for curve, key := range real {
		counting[curve] = counted{key, &times}
	}
	decoys = func() map[Curve]verifier { return counting }
	const key = "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
	public := testenv.Hex(t, key)
	credential, err := NewAPIKey(CurveP256, public)
	testenv.Must(t, err)
	for _, scheme := range []Scheme{SchemeSecp256k1, SchemeSecp256k1EIP191} {
		text := fmt.Sprintf(`{"publicKey":%q,"scheme":%q,"signature":"3006020101020101"}`, key, scheme)
		sent, err := Parse(Header{Name: HeaderAPIKey, Value: base64.RawURLEncoding.EncodeToString([]byte(text))})
		testenv.Must(t, err)
		for name, refuse := range map[string]func() error{
			"registered":   func() error { return credential.Verify(sent, []byte("body"), time.Time{}) },
			"unregistered": func() error { return VerifyDummy(sent, []byte("body")) },
		} {
			times = 0
			if err := refuse(); err == nil || times != 1 {
				t.Errorf("%s: %v after %d verifications, want 1", name, err, times)
			}
		}
	}
}

// TestPasskeyDecoy: the decoy of a passkey's signature follows from its length alone, and a
// key verifies with the decoy as well exactly if the two are of different kinds.
func TestPasskeyDecoy(t *testing.T) {
	for n := range 600 {
		signature := make([]byte, n)
		decoy := passkeyDecoy(signature)
		want := "stamp.p256Key"
		switch {
		case n == 64:
			want = "stamp.ed25519Key"
		case n >= 256 && n <= 512:
			want = fmt.Sprintf("RSA %d", n)
		}
		if got := kindOf(decoy); got != want {
			t.Errorf("signature of %d bytes: %s, want %s", n, got, want)
		}
		if key, ok := decoy.(rsaKey); ok && (key.pub.N.BitLen() != 8*n || key.pub.N.TrailingZeroBits() != 0 || key.pub.E != 65537) {
			t.Errorf("the decoy for a signature of %d bytes: %d bits, exponent %d", n, key.pub.N.BitLen(), key.pub.E)
		}
	}
	kinds := []verifier{passkeyDecoy(nil), passkeyDecoy(make([]byte, 64)), passkeyDecoy(make([]byte, 256)), passkeyDecoy(make([]byte, 384))}
	for i, key := range kinds {
		for j, decoy := range kinds {
			if same := kindOf(key) == kindOf(decoy); same != (i == j) {
				t.Errorf("kinds %s and %s", kindOf(key), kindOf(decoy))
			}
		}
		var times int
		verifyAs(counted{key, &times}, counted{key, &times}, SchemeWebAuthn, nil, nil)
		if times != 1 {
			t.Errorf("%s: %d verifications with a decoy of its kind, want 1", kindOf(key), times)
		}
		times = 0
		verifyAs(key, counted{key, &times}, SchemeWebAuthn, nil, nil)
		if times != 1 {
			t.Errorf("%s: %d verifications with a decoy of another kind, want 1", kindOf(key), times)
		}
	}
}
