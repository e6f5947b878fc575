package stamp_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	secp256k1 "github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

const body = `{"organizationId":"o"}`

// header returns the header of a stamp with these members.
func header(publicKey []byte, scheme stamp.Scheme, signature []byte) stamp.Header {
	text := fmt.Sprintf(`{"publicKey":"%x","scheme":"%s","signature":"%x"}`, publicKey, scheme, signature)
	return stamp.Header{Name: "X-Stamp", Value: base64.RawURLEncoding.EncodeToString([]byte(text))}
}

// der encodes (r, s) canonically.
func der(r, s *big.Int) []byte {
	return sequence(integer(r), integer(s))
}

func integer(value *big.Int) []byte {
	raw := value.Bytes()
	if len(raw) == 0 || raw[0] >= 0x80 {
		raw = append([]byte{0}, raw...)
	}
	return append([]byte{2, byte(len(raw))}, raw...)
}

func sequence(parts ...[]byte) []byte {
	var inner []byte
	for _, part := range parts {
		inner = append(inner, part...)
	}
	return append([]byte{0x30, byte(len(inner))}, inner...)
}

// signer signs digests.
type signer struct {
	scheme    stamp.Scheme
	curve     stamp.Curve
	order     *big.Int
	publicKey []byte
	sign      func(digest []byte) (r, s *big.Int)
}

func signers(t *testing.T) []signer {
	t.Helper()
	p, err := ecdsa.GenerateKey(p256, rand.Reader)
	testenv.Must(t, err)
	k, err := secp256k1.GenerateKey()
	testenv.Must(t, err)
	return []signer{
		{stamp.SchemeP256, stamp.CurveP256, p256.Params().N, compressed(p), func(digest []byte) (r, s *big.Int) {
			r, s, err := ecdsa.Sign(rand.Reader, p, digest)
			testenv.Must(t, err)
			return r, s
		}},
		{stamp.SchemeSecp256k1, stamp.CurveSecp256k1, secp256k1.S256().Params().N, secp256k1.CompressPubkey(&k.PublicKey), func(digest []byte) (r, s *big.Int) {
			raw, err := secp256k1.Sign(digest, k)
			testenv.Must(t, err)
			return new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:64])
		}},
	}
}

// compressed returns the public key as a compressed point.
func compressed(key *ecdsa.PrivateKey) []byte {
	point, err := key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	return append([]byte{2 + point[64]&1}, point[1:33]...)
}

// TestECDSAEncodings: low and high s are valid; encodings other than DER and scalars out of
// range are not.
func TestECDSAEncodings(t *testing.T) {
	for _, by := range signers(t) {
		t.Run(string(by.scheme), func(t *testing.T) {
			credential := apiKey(t, by.curve, by.publicKey)
			digest := sha256.Sum256([]byte(body))
			r, s := by.sign(digest[:])
			other := new(big.Int).Sub(by.order, s)
			for _, s := range []*big.Int{s, other} {
				if err := verify(credential, header(by.publicKey, by.scheme, der(r, s)), body); err != nil {
					t.Errorf("s %x: %v", s, err)
				}
			}
			for name, signature := range malformed(by.order, r, s) {
				err := verify(credential, header(by.publicKey, by.scheme, signature), body)
				if !errors.Is(err, stamp.ErrSignature) {
					t.Errorf("%s: %v, want a wrong signature", name, err)
				}
			}
		})
	}
}

func malformed(order, r, s *big.Int) map[string][]byte {
	good := der(r, s)
	zero := new(big.Int)
	long := append([]byte{0x30, 0x81, good[1]}, good[2:]...)
	raw := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return map[string][]byte{
		"empty":                       {},
		"raw r ‖ s":                   raw,
		"length in the long form":     long,
		"indefinite length":           append(append([]byte{0x30, 0x80}, good[2:]...), 0, 0),
		"length too long":             append([]byte{0x30, good[1] + 1}, good[2:]...),
		"length too short":            append([]byte{0x30, good[1] - 1}, good[2:]...),
		"bytes behind it":             append(append([]byte{}, good...), 0),
		"bytes inside it":             sequence(integer(r), integer(s), []byte{5, 0}),
		"a third integer":             sequence(integer(r), integer(s), integer(s)),
		"one integer":                 sequence(integer(r)),
		"set instead of sequence":     append([]byte{0x31}, good[1:]...),
		"octets instead of integer":   append([]byte{0x30, good[1], 4}, good[3:]...),
		"leading zero":                sequence(append([]byte{2, byte(1 + len(integer(r)) - 2), 0}, integer(r)[2:]...), integer(s)),
		"negative r":                  sequence(negative(r), integer(s)),
		"negative s":                  sequence(integer(r), negative(s)),
		"empty integer":               sequence([]byte{2, 0}, integer(s)),
		"r is 0":                      der(zero, s),
		"s is 0":                      der(r, zero),
		"r and s are 0":               der(zero, zero),
		"r is the order":              der(order, s),
		"s is the order":              der(r, order),
		"r + order":                   der(new(big.Int).Add(r, order), s),
		"s + order":                   der(r, new(big.Int).Add(s, order)),
		"r and s exchanged":           der(s, r),
		"r and s are 1":               der(big.NewInt(1), big.NewInt(1)),
		"two signatures":              append(append([]byte{}, good...), good...),
		"wrapped in another sequence": sequence(good),
	}
}

// negative encodes the negated integer.
func negative(value *big.Int) []byte {
	modulus := new(big.Int).Lsh(big.NewInt(1), 264)
	raw := new(big.Int).Sub(modulus, value).Bytes()
	return append([]byte{2, byte(len(raw))}, raw...)
}

func TestEd25519(t *testing.T) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	testenv.Must(t, err)
	credential := apiKey(t, stamp.CurveEd25519, pub)
	signature := ed25519.Sign(key, []byte(body))
	testenv.Must(t, verify(credential, header(pub, stamp.SchemeEd25519, signature), body))
	// s + l is accepted by verifiers that reduce s.
	l, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := new(big.Int).Add(littleEndian(signature[32:]), l)
	raised := append(append([]byte{}, signature[:32]...), reversed(s.FillBytes(make([]byte, 32)))...)
	for name, changed := range map[string][]byte{"s + l": raised, "short": signature[:63], "long": append(signature, 0), "empty": {}} {
		if err := verify(credential, header(pub, stamp.SchemeEd25519, changed), body); !errors.Is(err, stamp.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func littleEndian(raw []byte) *big.Int { return new(big.Int).SetBytes(reversed(raw)) }

func reversed(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := range raw {
		out = append(out, raw[len(raw)-1-i])
	}
	return out
}

// TestSmallOrderKeys: keys under which signatures need no secret cannot be registered.
func TestSmallOrderKeys(t *testing.T) {
	identity := make([]byte, 32)
	identity[0] = 1
	forged := append(append([]byte{}, identity...), make([]byte, 32)...) // R = identity, s = 0
	if !ed25519.Verify(identity, []byte(body), forged) {
		t.Fatal("the attack does not work, so the test shows nothing")
	}
	for _, text := range []string{
		"0100000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000080",
		"0000000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	} {
		if _, err := stamp.NewAPIKey(stamp.CurveEd25519, testenv.Hex(t, text)); err == nil || !strings.Contains(err.Error(), "small order") {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := stamp.NewPasskey([]byte{1}, cose(t, map[int]any{1: 1, 3: -8, -1: 6, -2: testenv.Hex(t, text)}), "a"); err == nil {
			t.Errorf("%s: accepted as a passkey", text)
		}
	}
}

// TestSchemeAndCurve: the scheme must be of the registered curve, and a signature of one
// scheme is not valid under another.
func TestSchemeAndCurve(t *testing.T) {
	digest := sha256.Sum256([]byte(body))
	for _, by := range signers(t) {
		r, s := by.sign(digest[:])
		credential := apiKey(t, by.curve, by.publicKey)
		for _, scheme := range []stamp.Scheme{stamp.SchemeP256, stamp.SchemeSecp256k1, stamp.SchemeSecp256k1EIP191, stamp.SchemeEd25519} {
			err := verify(credential, header(by.publicKey, scheme, der(r, s)), body)
			if (err == nil) != (scheme == by.scheme) {
				t.Errorf("key on %s, scheme %s: %v", by.curve, scheme, err)
			}
		}
	}
	// 33 bytes that are a point of both curves, registered on one of them.
	for x := byte(1); x < 255; x++ {
		point := append([]byte{2}, make([]byte, 32)...)
		point[32] = x
		_, errP := stamp.NewAPIKey(stamp.CurveP256, point)
		_, errK := stamp.NewAPIKey(stamp.CurveSecp256k1, point)
		if errP == nil && errK == nil {
			err := verify(apiKey(t, stamp.CurveP256, point), header(point, stamp.SchemeSecp256k1, der(big.NewInt(1), big.NewInt(1))), body)
			if !errors.Is(err, stamp.ErrMismatch) {
				t.Errorf("a key on P-256 under a scheme of secp256k1: %v", err)
			}
			return
		}
	}
	t.Fatal("no point of both curves")
}

func TestExpiry(t *testing.T) {
	vector := vectors(t)["apikey_p256"]
	for after, valid := range map[time.Duration]bool{time.Nanosecond: true, 0: false, -time.Hour: false} {
		credential := vector.credential(t)
		credential.ExpiresAt = now.Add(after)
		err := verify(credential, vector.header(), vector.Body)
		if valid != (err == nil) || !valid && (!errors.Is(err, stamp.ErrExpired) || !strings.HasSuffix(err.Error(), credential.ExpiresAt.Format(time.RFC3339))) {
			t.Errorf("%v before its expiry: %v", after, err)
		}
	}
}

func TestAllows(t *testing.T) {
	credential := apiKey(t, stamp.CurveP256, testenv.Hex(t, vectors(t)["apikey_p256"].Decoded.PublicKey))
	if !credential.Allows("A") {
		t.Error("without a list everything must be allowed")
	}
	credential.Activities = []string{"A"}
	if !credential.Allows("A") || credential.Allows("B") || credential.Allows("") {
		t.Error("with a list only its types must be allowed")
	}
}

func TestNewAPIKeyRefuses(t *testing.T) {
	generator := testenv.Hex(t, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
	for name, test := range map[string]struct {
		curve   stamp.Curve
		key     []byte
		problem string
	}{
		"unknown curve":  {"API_KEY_CURVE_P384", generator, "unknown curve"},
		"short":          {stamp.CurveP256, generator[:32], "32 bytes, want 33"},
		"uncompressed":   {stamp.CurveP256, append([]byte{4}, make([]byte, 64)...), "65 bytes, want 33"},
		"hybrid":         {stamp.CurveP256, append([]byte{6}, generator[1:]...), "not a point"},
		"not a point":    {stamp.CurveP256, append([]byte{2}, strings.Repeat("\xff", 32)...), "not a point"},
		"of secp256k1":   {stamp.CurveSecp256k1, append([]byte{2}, strings.Repeat("\xff", 32)...), "not a point"},
		"33 on Ed25519":  {stamp.CurveEd25519, generator, "33 bytes, want 32"},
		"empty, Ed25519": {stamp.CurveEd25519, nil, "0 bytes, want 32"},
	} {
		if _, err := stamp.NewAPIKey(test.curve, test.key); err == nil || !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: %v, want %s", name, err, test.problem)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	vector := vectors(t)["apikey_p256"]
	text := string(unbase64(t, vector.HeaderValue))
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for name, test := range map[string]struct{ header, value, problem string }{
		"empty":              {"X-Stamp", "", "missing"},
		"not base64":         {"X-Stamp", "!!", "base64"},
		"line break":         {"X-Stamp", vector.HeaderValue[:8] + "\n" + vector.HeaderValue[8:], "line break"},
		"two values":         {"X-Stamp", vector.HeaderValue + ", " + vector.HeaderValue, "base64"},
		"another header":     {"Authorization", vector.HeaderValue, `header "Authorization": use X-Stamp or X-Stamp-Webauthn`},
		"API key, plain":     {"X-Stamp", text, "base64url"},
		"wrong header":       {"X-Stamp-Webauthn", vector.HeaderValue, "send it as X-Stamp"},
		"unknown scheme":     {"X-Stamp", encode(strings.Replace(text, "P256", "P521", 1)), "unknown scheme"},
		"upper-case key":     {"X-Stamp", encode(strings.Replace(text, vector.Decoded.PublicKey, strings.ToUpper(vector.Decoded.PublicKey), 1)), "lower-case hex"},
		"unknown member":     {"X-Stamp", encode(strings.Replace(text, "{", `{"x":1,`, 1)), "unknown member"},
		"member twice":       {"X-Stamp", encode(strings.Replace(text, "{", `{"scheme":"a",`, 1)), "appears twice"},
		"both, by publicKey": {"X-Stamp", `{"credentialId":"AA","publicKey":"00","signature":"AA"}`, "together with credentialId"},
		"both, by scheme":    {"X-Stamp", `{"credentialId":"AA","scheme":"x","signature":"AA"}`, "together with credentialId"},
		"both kinds":         {"X-Stamp", encode(strings.Replace(text, "{", `{"credentialId":"AA",`, 1)), "together with credentialId"},
		"half a passkey":     {"X-Stamp", encode(strings.Replace(text, "{", `{"clientDataJson":"AA",`, 1)), "without its credentialId"},
		"no signature":       {"X-Stamp", encode(`{"publicKey":"","scheme":""}`), "signature"},
		"short key":          {"X-Stamp", encode(strings.Replace(text, vector.Decoded.PublicKey, vector.Decoded.PublicKey[2:], 1)), "66 lower-case hex digits"},
		"too long":           {"X-Stamp", strings.Repeat("A", stamp.MaxHeader+1), "8193 bytes, at most 8192 are allowed"},
		"passkey cut short":  {"X-Stamp", `{"credentialId":"AA","signature":"AA","authenticatorData":"AA"}`, "clientDataJson"},
	} {
		_, err := stamp.Parse(stamp.Header{Name: test.header, Value: test.value})
		if !errors.Is(err, stamp.ErrMalformed) || !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: %v, want %s", name, err, test.problem)
		}
	}
}

// TestLongestHeader: a stamp may have MaxHeader bytes.
func TestLongestHeader(t *testing.T) {
	vector := vectors(t)["webauthn"]
	value := vector.HeaderValue + strings.Repeat(" ", stamp.MaxHeader-len(vector.HeaderValue))
	if _, err := stamp.Parse(stamp.Header{Name: vector.HeaderName, Value: value}); err != nil {
		t.Error(err)
	}
}

func TestVerifyDummy(t *testing.T) {
	for name, vector := range vectors(t) {
		sent, err := stamp.Parse(vector.header())
		testenv.Must(t, err)
		if err := stamp.VerifyDummy(sent, []byte(vector.Body)); !errors.Is(err, stamp.ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The decoys' secret is 1: knowing it must not help.
	generator := testenv.Hex(t, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
	key, err := ecdsa.ParseRawPrivateKey(p256, append(make([]byte, 31), 1))
	testenv.Must(t, err)
	digest := sha256.Sum256([]byte(body))
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	testenv.Must(t, err)
	sent, err := stamp.Parse(header(generator, stamp.SchemeP256, signature))
	testenv.Must(t, err)
	if err := stamp.VerifyDummy(sent, []byte(body)); err == nil {
		t.Error("a stamp by a decoy was accepted")
	}
}

func TestTextsOfRecord(t *testing.T) {
	vector := vectors(t)["apikey_p256"]
	sent, err := stamp.Parse(vector.header())
	testenv.Must(t, err)
	credential := vector.credential(t)
	if credential.PublicKeyText() != vector.Decoded.PublicKey || !strings.HasPrefix(sent.SignatureText(), "3044") || sent.Scheme() != stamp.SchemeP256 {
		t.Errorf("%s %s %s", credential.PublicKeyText(), sent.SignatureText(), sent.Scheme())
	}
	if _, err := hex.DecodeString(sent.SignatureText()); err != nil {
		t.Error(err)
	}
	webauthn := vectors(t)["webauthn"]
	if sent, err = stamp.Parse(webauthn.header()); err != nil {
		t.Fatal(err)
	}
	if sent.SignatureText() != webauthn.HeaderValue || sent.Scheme() != stamp.SchemeWebAuthn || sent.CredentialID() != webauthn.credential(t).ID() {
		t.Errorf("%s %s %s", sent.SignatureText(), sent.Scheme(), sent.CredentialID())
	}
}
