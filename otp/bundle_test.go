package otp_test

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
)

const codeID = "0fcd14f5-dae7-4331-82ca-ebaddd849534"

func mustTarget(t testing.TB, service *otp.Service, organization, id string, signer crypto.Signer) string {
	t.Helper()
	bundle, err := service.TargetBundle(organization, id, signer)
	testenv.Must(t, err)
	return bundle
}

func mustEncrypt(t testing.TB, bundle string, trusted *ecdsa.PublicKey) string {
	t.Helper()
	encrypted, err := otp.Encrypt("123456", "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", bundle, trusted, org, codeID)
	testenv.Must(t, err)
	return encrypted
}

// TestBundle: what is encrypted to the bundle of one node can be read on another that shares
// the secret, and nowhere else. Each node signs with its own proof key, here in an HSM.
func TestBundle(t *testing.T) {
	key := newKey(t, elliptic.P256())
	one, _ := newService(t, nil)
	two, _ := newService(t, nil)
	bundle := mustTarget(t, one, org, codeID, hsm{key})
	encrypted := mustEncrypt(t, bundle, &key.PublicKey)
	for range 2 { // Open has no state
		typed, publicKey, err := two.Open(org, codeID, encrypted)
		if err != nil || typed != "123456" || publicKey != "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296" {
			t.Fatalf("%q, %q, %v", typed, publicKey, err)
		}
	}
	if strings.Contains(encrypted, "123456") || strings.Contains(encrypted, hex.EncodeToString([]byte("123456"))) {
		t.Error("the code can be read")
	}
	stranger, _ := newService(t, func(c *otp.Config) { c.Secret = secret(append(make([]byte, otp.MinSecretSize), 1)) })
	for name, open := range map[string]func() (string, string, error){
		"another code": func() (string, string, error) {
			return two.Open(org, "1fcd14f5-dae7-4331-82ca-ebaddd849534", encrypted)
		},
		"the id in other case": func() (string, string, error) { return two.Open(org, strings.ToUpper(codeID), encrypted) },
		"no id":                func() (string, string, error) { return two.Open(org, "", encrypted) },
		"another organization": func() (string, string, error) { return two.Open("other", codeID, encrypted) },
		"another secret":       func() (string, string, error) { return stranger.Open(org, codeID, encrypted) },
	} {
		_, _, err := open()
		requireBundleError(t, name, err, "it cannot be decrypted: encrypt the code to the otpEncryptionTargetBundle that init_otp answered with this otpId")
	}
}

func requireBundleError(t testing.TB, name string, err error, rule string) {
	t.Helper()
	var refused *otp.ParameterError
	if !errors.As(err, &refused) || refused.Parameter != "encryptedOtpBundle" || !strings.Contains(err.Error(), rule) {
		t.Errorf("%s: %v, want %q", name, err, rule)
	}
	if err != nil && strings.Contains(err.Error(), "123456") {
		t.Errorf("%s: the error has the code: %v", name, err)
	}
}

// TestTargetKeys: no two codes share a key, and none is the proof key.
func TestTargetKeys(t *testing.T) {
	key := newKey(t, elliptic.P256())
	service, _ := newService(t, nil)
	seen := map[string]bool{hexPoint(t, &key.PublicKey): true}
	for _, organization := range []string{org, "a", "ab"} {
		for _, id := range []string{codeID, "1fcd14f5-dae7-4331-82ca-ebaddd849534"} {
			data := signedData(t, mustTarget(t, service, organization, id, key))
			if data["organizationId"] != organization || data["otpId"] != id || data["userId"] != "" || len(data) != 4 {
				t.Errorf("signed: %v", data)
			}
			if seen[data["targetPublic"]] {
				t.Errorf("%s, %s: the key of another", organization, id)
			}
			seen[data["targetPublic"]] = true
		}
	}
}

func hexPoint(t testing.TB, key *ecdsa.PublicKey) string {
	t.Helper()
	point, err := key.Bytes()
	testenv.Must(t, err)
	return hex.EncodeToString(point)
}

// signedData returns what a bundle signs.
func signedData(t testing.TB, bundle string) (data map[string]string) {
	t.Helper()
	var signed struct{ Data string }
	testenv.JSON(t, []byte(bundle), &signed)
	text, err := hex.DecodeString(signed.Data)
	if err == nil {
		err = json.Unmarshal(text, &data)
	}
	testenv.Must(t, err)
	return data
}

// sealed encrypts any plaintext to a bundle, with any info and associated data.
func sealed(t testing.TB, bundle, plain, info string, aad func(encapped, target []byte) []byte) string {
	t.Helper()
	target := testenv.Hex(t, signedData(t, bundle)["targetPublic"])
	key, err := hpke.DHKEM(ecdh.P256()).NewPublicKey(target)
	testenv.Must(t, err)
	encapped, sender, err := hpke.NewSender(key, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(info))
	testenv.Must(t, err)
	ciphertext, err := sender.Seal(aad(encapped, target), []byte(plain))
	testenv.Must(t, err)
	return `{"encappedPublic":"` + hex.EncodeToString(encapped) + `","ciphertext":"` + hex.EncodeToString(ciphertext) + `"}`
}

func usualAAD(encapped, target []byte) []byte { return slices.Concat(encapped, target) }

// TestBundleRefused changes one thing of what a client sends.
func TestBundleRefused(t *testing.T) {
	const undecryptable = "it cannot be decrypted"
	const sealedRule = `expected {"otp_code":"…","public_key":"…"} inside`
	key := newKey(t, elliptic.P256())
	service, _ := newService(t, nil)
	bundle := mustTarget(t, service, org, codeID, key)
	good := mustEncrypt(t, bundle, &key.PublicKey)
	of := func(plain string) string { return sealed(t, bundle, plain, "turnkey_hpke", usualAAD) }
	if _, _, err := service.Open(org, codeID, of(`{"otp_code":"123456","public_key":"036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"}`)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ bundle, rule string }{
		"empty":                 {"", "encryptedOtpBundle"},
		"no object":             {"123456", "expected an object"},
		"the target's bundle":   {bundle, "unknown member"},
		"no ciphertext":         {`{"encappedPublic":"04"}`, "ciphertext at byte 0: missing"},
		"a member twice":        {strings.Replace(good, `{`, `{"ciphertext":"00",`, 1), "appears twice"},
		"trailing data":         {good + good, "follow the object"},
		"key not hex":           {`{"encappedPublic":"0x04","ciphertext":"00"}`, "encappedPublic is not hex"},
		"ciphertext not hex":    {`{"encappedPublic":"04","ciphertext":"0"}`, "ciphertext is not hex"},
		"no point":              {`{"encappedPublic":"04` + strings.Repeat("01", 64) + `","ciphertext":"00"}`, "not an uncompressed point"},
		"infinity":              {`{"encappedPublic":"00","ciphertext":"00"}`, "not an uncompressed point"},
		"empty key":             {`{"encappedPublic":"","ciphertext":"00"}`, "not an uncompressed point"},
		"compressed":            {`{"encappedPublic":"02` + strings.Repeat("6b", 32) + `","ciphertext":"00"}`, "not an uncompressed point"},
		"cut off":               {good[:len(good)-4] + `"}`, undecryptable},
		"cut to the tag":        {good[:strings.Index(good, `ciphertext":"`)+len(`ciphertext":"`)+32] + `"}`, undecryptable},
		"no tag":                {good[:strings.Index(good, `ciphertext":"`)+len(`ciphertext":"`)] + `"}`, undecryptable},
		"cut off in the object": {good[:len(good)-1], "encryptedOtpBundle"},
		"other info":            {sealed(t, bundle, `{"otp_code":"123456","public_key":"036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"}`, "", usualAAD), undecryptable},
		"no associated data":    {sealed(t, bundle, `{"otp_code":"123456","public_key":"036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"}`, "turnkey_hpke", func(_, _ []byte) []byte { return nil }), undecryptable},
		"swapped data":          {sealed(t, bundle, `{"otp_code":"123456","public_key":"036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"}`, "turnkey_hpke", func(a, b []byte) []byte { return usualAAD(b, a) }), undecryptable},
		"no public key":         {of(`{"otp_code":"123456"}`), sealedRule},
		"null public key":       {of(`{"otp_code":"123456","public_key":null}`), sealedRule},
		"empty public key":      {of(`{"otp_code":"123456","public_key":""}`), "public_key is empty"},
		"long public key":       {of(`{"otp_code":"123456","public_key":"` + strings.Repeat("a", 513) + `"}`), "public key in hex"},
		"unprintable key":       {of(`{"otp_code":"123456","public_key":"\u202e"}`), "public key in hex"},
		"two codes":             {of(`{"otp_code":"123456","otp_code":"123457","public_key":"036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"}`), sealedRule},
		"a list of codes":       {of(`{"otp_code":["123456","123457"],"public_key":"036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"}`), sealedRule},
		"names of the API":      {of(`{"otpCode":"123456","publicKey":"036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"}`), sealedRule},
		"an unknown member":     {of(`{"otp_code":"123456","public_key":"036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296","123456":1}`), sealedRule},
		"no JSON":               {of("123456"), sealedRule},
	} {
		_, _, err := service.Open(org, codeID, test.bundle)
		requireBundleError(t, name, err, test.rule)
	}
}

// TestEncryptTrusts: a client encrypts only for the code it means, to a bundle of the key
// that it trusts.
func TestEncryptTrusts(t *testing.T) {
	key, other := newKey(t, elliptic.P256()), newKey(t, elliptic.P256())
	service, _ := newService(t, nil)
	good := mustTarget(t, service, org, codeID, key)
	changed := strings.Replace(good, hex.EncodeToString([]byte(codeID)), hex.EncodeToString([]byte("0fcd14f5-dae7-4331-82ca-ebaddd849535")), 1)
	if changed == good {
		t.Fatal("nothing was changed")
	}
	for name, test := range map[string]struct {
		bundle           string
		trusted          *ecdsa.PublicKey
		organization, id string
	}{
		"another signer":       {mustTarget(t, service, org, codeID, other), &key.PublicKey, org, codeID},
		"signer in the bundle": {strings.Replace(mustTarget(t, service, org, codeID, other), hexPoint(t, &other.PublicKey), hexPoint(t, &key.PublicKey), 1), &key.PublicKey, org, codeID},
		"no trusted key":       {good, nil, org, codeID},
		"another curve":        {good, &newKey(t, elliptic.P384()).PublicKey, org, codeID},
		"another code":         {good, &key.PublicKey, org, "1fcd14f5-dae7-4331-82ca-ebaddd849534"},
		"another organization": {good, &key.PublicKey, "other", codeID},
		"changed":              {changed, &key.PublicKey, org, "0fcd14f5-dae7-4331-82ca-ebaddd849535"},
		"cut off":              {good[:len(good)/2], &key.PublicKey, org, codeID},
		"empty":                {"", &key.PublicKey, org, codeID},
	} {
		if encrypted, err := otp.Encrypt("123456", "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", test.bundle, test.trusted, test.organization, test.id); !errors.Is(err, otp.ErrBundle) {
			t.Errorf("%s: %q, %v", name, encrypted, err)
		}
	}
}

func TestTargetSigner(t *testing.T) {
	service, _ := newService(t, nil)
	key := newKey(t, elliptic.P256())
	digest := sha256.Sum256([]byte("something else"))
	wrong, err := key.Sign(rand.Reader, digest[:], crypto.SHA256)
	testenv.Must(t, err)
	for name, signer := range map[string]crypto.Signer{
		"another curve":       newKey(t, elliptic.P384()),
		"a wrong signature":   brokenSigner{hsm{key}, wrong, nil},
		"an HSM out of order": brokenSigner{hsm{key}, nil, errors.New("out of order")},
	} {
		if bundle, err := service.TargetBundle(org, codeID, signer); err == nil {
			t.Errorf("%s: %s", name, bundle)
		}
	}
}

// TestTokenInMilliseconds: clients of encrypted codes read exp as a string of milliseconds.
func TestTokenInMilliseconds(t *testing.T) {
	key := newKey(t, elliptic.P256())
	token, err := otp.NewToken(verified, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", "60", issuedAt)
	testenv.Must(t, err)
	signed, err := token.SignMillis(hsm{key})
	testenv.Must(t, err)
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(signed, claims); err != nil || claims["exp"] != "1777863781000" {
		t.Errorf("%v, %v", claims, err)
	}
	if got, err := otp.VerifyToken(signed, &key.PublicKey, verified.OrganizationID, token.ExpiresAt.Add(-1)); err != nil || got != token {
		t.Errorf("%+v, %v; want %+v", got, err, token)
	}
	if _, err := otp.VerifyToken(signed, &key.PublicKey, verified.OrganizationID, token.ExpiresAt); !errors.Is(err, otp.ErrToken) {
		t.Errorf("expired: %v", err)
	}
	for _, exp := range []any{"", "soon", "-1", "0", 0, -1, 1.5, true, nil, "1777863781000.0"} {
		forged := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
			"id": "a", "verification_type": "OTP_TYPE_EMAIL", "contact": "b", "organization_id": verified.OrganizationID, "iat": issuedAt.Unix(), "exp": exp,
		})
		text, err := forged.SignedString(key)
		testenv.Must(t, err)
		if _, err := otp.VerifyToken(text, &key.PublicKey, verified.OrganizationID, issuedAt); !errors.Is(err, otp.ErrToken) {
			t.Errorf("exp %v: %v", exp, err)
		}
	}
}
