package stamp_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

// authenticator answers as an authenticator and a browser do. Tests change its answer.
type authenticator struct {
	coseKey []byte
	sign    func(message []byte) []byte

	clientData string
	data       []byte
}

const (
	rpID   = "example.com"
	origin = "https://app.example.com"
)

func newAuthenticator(body string) *authenticator {
	digest := sha256.Sum256([]byte(body))
	challenge := base64.RawURLEncoding.EncodeToString([]byte(hex.EncodeToString(digest[:])))
	rpIDHash := sha256.Sum256([]byte(rpID))
	return &authenticator{
		clientData: fmt.Sprintf(`{"type":"webauthn.get","challenge":%q,"origin":%q,"crossOrigin":false}`, challenge, origin),
		data:       append(rpIDHash[:], 0x05, 0, 0, 0, 0),
	}
}

func (a *authenticator) header(t testing.TB) stamp.Header {
	t.Helper()
	hash := sha256.Sum256([]byte(a.clientData))
	encode := base64.RawURLEncoding.EncodeToString
	text, err := json.Marshal(map[string]string{
		"authenticatorData": encode(a.data), "clientDataJson": encode([]byte(a.clientData)),
		"credentialId": encode([]byte("id")), "signature": encode(a.sign(slices.Concat(a.data, hash[:]))),
	})
	testenv.Must(t, err)
	return stamp.Header{Name: stamp.HeaderPasskey, Value: string(text)}
}

// rsaKey returns one key for all tests: to make one takes long.
var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// passkeys returns an authenticator of each algorithm.
func passkeys(t testing.TB, body string) map[string]*authenticator {
	t.Helper()
	all := map[string]*authenticator{"ES256": newAuthenticator(body), "RS256": newAuthenticator(body), "EdDSA": newAuthenticator(body)}

	ec, err := ecdsa.GenerateKey(p256, rand.Reader)
	testenv.Must(t, err)
	point, err := ec.PublicKey.Bytes()
	testenv.Must(t, err)
	all["ES256"].coseKey = coseP256(t, point[1:33], point[33:])
	all["ES256"].sign = hashing(t, ec)

	rs, err := rsaKey()
	testenv.Must(t, err)
	all["RS256"].coseKey = cose(t, map[int]any{1: 3, 3: -257, -1: rs.N.Bytes(), -2: []byte{1, 0, 1}})
	all["RS256"].sign = hashing(t, rs)

	pub, ed, err := ed25519.GenerateKey(rand.Reader)
	testenv.Must(t, err)
	all["EdDSA"].coseKey = cose(t, map[int]any{1: 1, 3: -8, -1: 6, -2: []byte(pub)})
	all["EdDSA"].sign = func(message []byte) []byte { return ed25519.Sign(ed, message) }
	return all
}

func hashing(t testing.TB, key crypto.Signer) func([]byte) []byte {
	return func(message []byte) []byte {
		digest := sha256.Sum256(message)
		signature, err := key.Sign(rand.Reader, digest[:], crypto.SHA256)
		testenv.Must(t, err)
		return signature
	}
}

func TestPasskeyAlgorithms(t *testing.T) {
	all := passkeys(t, body)
	for name, one := range all {
		credential := passkey(t, []byte("id"), one.coseKey, rpID, origin)
		if err := verify(credential, one.header(t), body); err != nil || !credential.IsPasskey() {
			t.Errorf("%s: %v", name, err)
		}
		if err := verify(credential, one.header(t), body+" "); !errors.Is(err, stamp.ErrSignature) {
			t.Errorf("%s over another body: %v", name, err)
		}
		for other, another := range all {
			if err := verify(passkey(t, []byte("id"), another.coseKey, rpID), one.header(t), body); other != name && !errors.Is(err, stamp.ErrSignature) {
				t.Errorf("%s under a key of %s: %v", name, other, err)
			}
		}
	}
}

// TestPasskeyRefused: assertions with a valid signature are refused for everything else.
func TestPasskeyRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(a *authenticator)
		problem string
	}{
		"made for registration":  {clientData("webauthn.get", "webauthn.create"), `client data of type "webauthn.create"`},
		"another challenge":      {clientData(`"challenge":"`, `"challenge":"A`), "the challenge is for another body"},
		"padded challenge":       {clientData(`","origin"`, `=","origin"`), "the challenge is for another body"},
		"another origin":         {clientData("https://app", "https://evil"), `origin "https://evil.example.com" is not on the credential's list`},
		"origin as a prefix":     {clientData("example.com", "example.com.evil.org"), "not on the credential's list"},
		"origin in another case": {clientData("https://app", "https://App"), "not on the credential's list"},
		"another relying party":  {func(a *authenticator) { a.data[0] ^= 1 }, "for another relying party"},
		"embedded by a page":     {clientData(`"crossOrigin":false`, `"crossOrigin":true`), "another origin has embedded"},
		"embedded, and by which": {clientData(`"crossOrigin":false`, `"topOrigin":"https://evil.example"`), "another origin has embedded"},
		"backed up, ineligible":  {func(a *authenticator) { a.data[32] |= 0x10 }, "backed up without being eligible"},
		"no user present":        {func(a *authenticator) { a.data[32] = 0x04 }, "no user was present"},
		"attested data":          {func(a *authenticator) { a.data[32] |= 0x40 }, "attested credential data"},
		"bytes behind the data":  {func(a *authenticator) { a.data = append(a.data, 0xa0) }, "1 bytes follow"},
		"short data":             {func(a *authenticator) { a.data = a.data[:36] }, "36 bytes, want 37"},
		"no data to speak of":    {func(a *authenticator) { a.data = a.data[:1] }, "1 bytes"},
		"no extensions":          {func(a *authenticator) { a.data[32] |= 0x80 }, "extensions"},
		"extensions an integer":  {extensions(0x05), "the extensions are not one CBOR map"},
		"extensions a string":    {extensions(0x61, 'a'), "the extensions are not one CBOR map"},
		"extensions an array":    {extensions(0x80), "the extensions are not one CBOR map"},
		"extensions a tagged":    {extensions(0xc1, 0xa0), "the extensions are not one CBOR map"},
		"extensions true":        {extensions(0xf5), "the extensions are not one CBOR map"},
		"bytes behind them":      {extensions(0xa0, 0), "the extensions are not one CBOR map"},
	} {
		one := passkeys(t, body)["ES256"]
		before := one.clientData + string(one.data)
		test.change(one)
		if before == one.clientData+string(one.data) {
			t.Fatalf("%s: the test changes nothing", name)
		}
		err := verify(passkey(t, []byte("id"), one.coseKey, rpID, origin), one.header(t), body)
		if !errors.Is(err, stamp.ErrSignature) || !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: %v, want %s", name, err, test.problem)
		}
	}
}

func clientData(old, new string) func(*authenticator) {
	return func(a *authenticator) { a.clientData = strings.Replace(a.clientData, old, new, 1) }
}

// extensions sets the flag of extensions and appends them.
func extensions(data ...byte) func(*authenticator) {
	return func(a *authenticator) {
		a.data[32] |= 0x80
		a.data = append(a.data, data...)
	}
}

func TestPasskeyAccepted(t *testing.T) {
	for name, change := range map[string]func(a *authenticator){
		"user verified, backed up, counting": func(a *authenticator) { a.data[32] = 0x1d; a.data[36] = 9 },
		"extensions":                         extensions(0xa1, 0x61, 'a', 0xf5),
		"no crossOrigin, as browsers once":   clientData(`,"crossOrigin":false`, ``),
		"members that browsers add":          clientData(`{`, `{"other_keys_can_be_added_here":"do not compare clientDataJSON against a template","topOrigin":null,`),
	} {
		one := passkeys(t, body)["ES256"]
		change(one)
		if err := verify(passkey(t, []byte("id"), one.coseKey, rpID, origin), one.header(t), body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	present := passkeys(t, body)["ES256"]
	present.data[32] = 0x01
	clientData(`"crossOrigin":false`, `"crossOrigin":true`)(present)
	credential := passkey(t, []byte("id"), present.coseKey, rpID, origin)
	credential.AllowCrossOrigin = true
	if err := verify(credential, present.header(t), body); err != nil {
		t.Errorf("embedded, where that is allowed: %v", err)
	}
	credential.RequireUserVerification = true
	if err := verify(credential, present.header(t), body); !errors.Is(err, stamp.ErrSignature) || !strings.Contains(err.Error(), "the user was not verified") {
		t.Errorf("present but not verified: %v", err)
	}
	present.data[32] |= 0x04
	if err := verify(credential, present.header(t), body); err != nil {
		t.Errorf("verified, where that is required: %v", err)
	}
	one := passkeys(t, body)["ES256"]
	clientData("https://app", "https://elsewhere")(one)
	if err := verify(passkey(t, []byte("id"), one.coseKey, rpID), one.header(t), body); err != nil {
		t.Errorf("without a list of origins: %v", err)
	}
}

func TestClientDataRefused(t *testing.T) {
	for name, change := range map[string]func(*authenticator){
		"type twice":           clientData(`{`, `{"type":"webauthn.create",`),
		"challenge twice":      clientData(`{`, `{"challenge":"x",`),
		"origin a number":      clientData(`"`+origin+`"`, `1`),
		"no origin":            clientData(`"origin"`, `"Origin"`),
		"empty type":           clientData(`"webauthn.get"`, `""`),
		"empty challenge":      clientData(`"challenge":"`, `"challenge":"","x":"`),
		"empty origin":         clientData(`"`+origin+`"`, `""`),
		"not an object":        func(a *authenticator) { a.clientData = `"x"` },
		"data behind it":       func(a *authenticator) { a.clientData += "x" },
		"a byte-order mark":    func(a *authenticator) { a.clientData = "\ufeff" + a.clientData },
		"inside another array": func(a *authenticator) { a.clientData = "[" + a.clientData + "]" },
	} {
		one := passkeys(t, body)["ES256"]
		change(one)
		if _, err := stamp.Parse(one.header(t)); !errors.Is(err, stamp.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPasskeyBase64: the members of a passkey's stamp are in either alphabet, not in a
// mixture, with or without padding.
func TestPasskeyBase64(t *testing.T) {
	data := []byte{0xfb, 0xff, 0xfe, 0xff} // has both characters in which the alphabets differ
	for text, valid := range map[string]bool{
		base64.StdEncoding.EncodeToString(data): true, base64.RawStdEncoding.EncodeToString(data): true,
		base64.URLEncoding.EncodeToString(data): true, base64.RawURLEncoding.EncodeToString(data): true,
		"+_/+/w": false, "-//-_w": false, "+//+/w=": false, "+//+/x": false, "+//+/w==\n": false,
	} {
		sent, err := stamp.Parse(stamp.Header{Name: stamp.HeaderPasskey, Value: fmt.Sprintf(
			`{"credentialId":%q,"signature":"AA","authenticatorData":"AA","clientDataJson":%q}`, text,
			base64.RawURLEncoding.EncodeToString([]byte(newAuthenticator(body).clientData)))})
		if (err == nil) != valid || valid && sent.CredentialID() != stamp.PasskeyID(data) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCOSEKeysRefused(t *testing.T) {
	good := passkeys(t, body)
	x, y := make([]byte, 32), append(make([]byte, 31), 1)
	modulus := new(big.Int).SetBit(big.NewInt(1), 2047, 1).Bytes()
	for name, key := range map[string][]byte{
		"empty":                {},
		"not CBOR":             []byte("\xff\xff"),
		"bytes behind it":      append(slices.Clone(good["ES256"].coseKey), 0),
		"cut short":            good["ES256"].coseKey[:40],
		"not a map":            {0x80},
		"indefinite length":    append(append([]byte{0xbf}, good["EdDSA"].coseKey[1:]...), 0xff),
		"tagged":               append([]byte{0xc1}, good["EdDSA"].coseKey...),
		"member twice":         {0xa6, 1, 2, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x41, 0, 0x22, 0x41, 0},
		"private part":         cose(t, map[int]any{1: 2, 3: -7, -1: 1, -2: x, -3: y, -4: x}),
		"P-384":                cose(t, map[int]any{1: 2, 3: -35, -1: 2, -2: make([]byte, 48), -3: make([]byte, 48)}),
		"ES256 on P-521":       cose(t, map[int]any{1: 2, 3: -7, -1: 3, -2: x, -3: y}),
		"ES256K":               cose(t, map[int]any{1: 2, 3: -47, -1: 8, -2: x, -3: y}),
		"not on the curve":     coseP256(t, x, y),
		"the point at 0":       coseP256(t, x, x),
		"compressed":           cose(t, map[int]any{1: 2, 3: -7, -1: 1, -2: x, -3: true}),
		"Ed448":                cose(t, map[int]any{1: 1, 3: -8, -1: 7, -2: make([]byte, 57)}),
		"Ed25519 with y":       cose(t, map[int]any{1: 1, 3: -8, -1: 6, -2: y, -3: y}),
		"RSA of 1024 bits":     cose(t, map[int]any{1: 3, 3: -257, -1: modulus[128:], -2: []byte{1, 0, 1}}),
		"RSA of 8192 bits":     cose(t, map[int]any{1: 3, 3: -257, -1: append(modulus, make([]byte, 768)...), -2: []byte{1, 0, 1}}),
		"even modulus":         cose(t, map[int]any{1: 3, 3: -257, -1: append(modulus[:255:255], 2), -2: []byte{1, 0, 1}}),
		"exponent 1":           cose(t, map[int]any{1: 3, 3: -257, -1: modulus, -2: []byte{1}}),
		"even exponent":        cose(t, map[int]any{1: 3, 3: -257, -1: modulus, -2: []byte{4}}),
		"huge exponent":        cose(t, map[int]any{1: 3, 3: -257, -1: modulus, -2: []byte{1, 0, 0, 0, 1}}),
		"exponent with a zero": cose(t, map[int]any{1: 3, 3: -257, -1: modulus, -2: []byte{0, 1, 0, 1}}),
		"PS256":                cose(t, map[int]any{1: 3, 3: -37, -1: modulus, -2: []byte{1, 0, 1}}),
	} {
		if _, err := stamp.NewPasskey([]byte("id"), key, rpID); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for want, key := range map[string][]byte{
		"COSE key: expected a CBOR map": {},
		"COSE key: cbor":                append(slices.Clone(good["ES256"].coseKey), 0),
		"expected curve 1":              cose(t, map[int]any{1: 2, 3: -7, -1: 3, -2: good["ES256"].coseKey[10:42], -3: y}),
		"expected curve 6":              cose(t, map[int]any{1: 1, 3: -8, -1: "6", -2: good["EdDSA"].coseKey[10:42]}),
		"expected x and y of":           cose(t, map[int]any{1: 2, 3: -7, -1: 1, -2: make([]byte, 31), -3: y}),
		"x and y of 32 bytes":           cose(t, map[int]any{1: 2, 3: -7, -1: 1, -2: x, -3: make([]byte, 33)}),
		"n and e, and nothing":          cose(t, map[int]any{1: 3, 3: -257, -1: modulus, -2: []byte{1, 0, 1}, -3: y}),
		"key type 2 with algorithm -47": cose(t, map[int]any{1: 2, 3: -47, -1: 8, -2: x, -3: y}),
		"n and e, and nothing ":         cose(t, map[int]any{1: 3, 3: -257, -1: 65537, -2: []byte{1, 0, 1}}),
	} {
		if _, err := stamp.NewPasskey([]byte("id"), key, rpID); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := stamp.NewPasskey(nil, good["ES256"].coseKey, rpID); err == nil {
		t.Error("accepted without a credential id")
	}
	if _, err := stamp.NewPasskey([]byte("id"), good["ES256"].coseKey, ""); err == nil {
		t.Error("accepted without a relying party")
	}
}

// TestCOSEKeySizes: a coordinate has exactly 32 bytes and the curve is that of the algorithm.
func TestCOSEKeySizes(t *testing.T) {
	good := passkeys(t, body)
	var ec, ed struct {
		X []byte `cbor:"-2,keyasint"`
		Y []byte `cbor:"-3,keyasint"`
	}
	testenv.Must(t, errors.Join(cbor.Unmarshal(good["ES256"].coseKey, &ec), cbor.Unmarshal(good["EdDSA"].coseKey, &ed)))
	point := append(ec.X, ec.Y...)
	for curve := -1; curve < 10; curve++ {
		for x := 31; x <= 33; x++ {
			for y := 31; y <= 33 && x+y <= 64; y++ {
				key := cose(t, map[int]any{1: 2, 3: -7, -1: curve, -2: point[:x], -3: point[x : x+y]})
				if _, err := stamp.NewPasskey([]byte("id"), key, rpID); (err == nil) != (curve == 1 && x == 32 && y == 32) {
					t.Errorf("ES256 on curve %d with x of %d bytes and y of %d: %v", curve, x, y, err)
				}
			}
			key := cose(t, map[int]any{1: 1, 3: -8, -1: curve, -2: append(ed.X, 0)[:x]})
			if _, err := stamp.NewPasskey([]byte("id"), key, rpID); (err == nil) != (curve == 6 && x == 32) {
				t.Errorf("EdDSA on curve %d with x of %d bytes: %v", curve, x, err)
			}
		}
	}
}

// TestRSAKeys: the modulus is odd and has 2048 to 4096 bits, the exponent is odd and from 3
// to 2^31, and neither has a leading zero.
func TestRSAKeys(t *testing.T) {
	for _, bits := range []int{2041, 2047, 2048, 2049, 2055, 2056, 2057, 3072, 4095, 4096, 4097, 4104} {
		for _, low := range []int64{0, 1} {
			for _, exponent := range []int64{0, 1, 2, 3, 4, 255, 65537, 1<<31 - 1, 1 << 31, 1<<31 + 1} {
				for zeros := range 4 {
					modulus := new(big.Int).SetBit(big.NewInt(low), bits-1, 1)
					key := cose(t, map[int]any{
						1: 3, 3: -257,
						-1: append(make([]byte, zeros&1), modulus.Bytes()...),
						-2: append(make([]byte, zeros>>1), big.NewInt(exponent).Bytes()...),
					})
					valid := bits >= 2048 && bits <= 4096 && low == 1 && exponent >= 3 && exponent < 1<<31 && exponent%2 == 1 && zeros == 0
					if _, err := stamp.NewPasskey([]byte("id"), key, rpID); (err == nil) != valid {
						t.Errorf("modulus of %d bits ending in %d, exponent %d, leading zeros %02b: %v", bits, low, exponent, zeros, err)
					}
				}
			}
		}
	}
	for bits, want := range map[int]string{2047: "2048 to 4096 bits, not of 2047", 4097: "2048 to 4096 bits, not of 4097"} {
		modulus := new(big.Int).SetBit(big.NewInt(1), bits-1, 1)
		_, err := stamp.NewPasskey([]byte("id"), cose(t, map[int]any{1: 3, 3: -257, -1: modulus.Bytes(), -2: []byte{3}}), rpID)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
