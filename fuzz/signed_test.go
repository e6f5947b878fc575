package fuzz

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/webhook"
	"github.com/countersign-dev/countersign/stamp"
)

// The readers in this file require a signature, which no fuzzer can guess: the targets
// sign what it generates.

// signedKey is a key on P-256, the same in every run.
func signedKey(f *testing.F) *ecdsa.PrivateKey {
	f.Helper()
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), []byte(strings.Repeat("\x07", 32)))
	testenv.Must(f, err)
	return key
}

// signRaw signs a message: r ‖ s, 32 bytes each.
func signRaw(t *testing.T, key *ecdsa.PrivateKey, message []byte) []byte {
	t.Helper()
	digest := sha256.Sum256(message)
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	testenv.Must(t, err)
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signature
}

// FuzzStampPasskey signs arbitrary authenticator data and client data with a
// registered passkey and checks that a stamp is accepted only if they name this body,
// this relying party, its origin and a user who was present.
func FuzzStampPasskey(f *testing.F) {
	key := signedKey(f)
	point, err := key.PublicKey.Bytes()
	testenv.Must(f, err)
	cose := append([]byte("\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"), point[1:33]...)
	cose = append(append(cose, "\x22\x58\x20"...), point[33:]...)
	credential, err := stamp.NewPasskey([]byte("id"), cose, "example.com", "https://example.com")
	testenv.Must(f, err)
	body := []byte("{}")
	hash, rp := sha256.Sum256(body), sha256.Sum256([]byte("example.com"))
	challenge := base64.RawURLEncoding.EncodeToString([]byte(hex.EncodeToString(hash[:])))
	client := `{"type":"webauthn.get","challenge":"` + challenge + `","origin":"https://example.com"}`
	f.Add(append(rp[:], 1, 0, 0, 0, 7), client)
	f.Add(append(rp[:], 0x81, 0, 0, 0, 7, 0xa0), strings.Replace(client, "{", `{"crossOrigin":false,`, 1))
	f.Add(append(rp[:], 0x41, 0, 0, 0, 7), strings.Replace(client, "get", "create", 1))
	f.Fuzz(func(t *testing.T, authenticator []byte, client string) {
		clientHash := sha256.Sum256([]byte(client))
		digest := sha256.Sum256(append(append([]byte{}, authenticator...), clientHash[:]...))
		signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
		testenv.Must(t, err)
		encode := base64.RawURLEncoding.EncodeToString
		header := fmt.Sprintf(`{"authenticatorData":"%s","clientDataJson":"%s","credentialId":"%s","signature":"%s"}`,
			encode(authenticator), encode([]byte(client)), encode([]byte("id")), encode(signature))
		sent, err := stamp.Parse(stamp.Header{Name: stamp.HeaderPasskey, Value: header})
		if err != nil || credential.Verify(sent, body, time.Unix(0, 0)) != nil {
			return
		}
		var said struct{ Type, Challenge, Origin string }
		if err := json.Unmarshal([]byte(client), &said); err != nil || said.Type != "webauthn.get" || said.Challenge != challenge || said.Origin != "https://example.com" {
			t.Fatalf("let in with client data %s (%v)", client, err)
		}
		if string(authenticator[:32]) != string(rp[:]) || authenticator[32]&1 == 0 {
			t.Fatalf("let in with authenticator data %x", authenticator)
		}
	})
}

// FuzzAppProof signs arbitrary payloads and checks that what is read from one,
// written in the engine's form, is read alike.
func FuzzAppProof(f *testing.F) {
	key := signedKey(f)
	good, err := activity.NewAppProof(key, activity.AppProofPayload{
		TimestampMs: 1, OrganizationID: "o", ActivityID: "a", ActivityType: activity.TypeSignTransaction,
		Fingerprint: "f", Outcome: activity.StatusCompleted, ResultDigest: strings.Repeat("0a", 32), SummaryDigest: strings.Repeat("0b", 32),
	})
	testenv.Must(f, err)
	f.Add(good.ProofPayload)
	f.Add(strings.Replace(good.ProofPayload, `"o"`, `"\u006f"`, 1))
	f.Fuzz(func(t *testing.T, payload string) {
		proof := good
		proof.ProofPayload, proof.Signature = payload, hex.EncodeToString(signRaw(t, key, []byte(payload)))
		read, err := activity.VerifyAppProof(proof, &key.PublicKey)
		if err != nil {
			if !errors.Is(err, activity.ErrAppProof) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		own, err := activity.NewAppProof(key, read)
		testenv.Must(t, err)
		if again, err := activity.VerifyAppProof(own, &key.PublicKey); err != nil || again != read {
			t.Fatalf("%s is read as %+v, then as %+v, %v", payload, read, again, err)
		}
	})
}

// FuzzOTPToken signs arbitrary headers and claims and checks that an accepted token
// uses ES256, is valid at the time, and names its owner.
func FuzzOTPToken(f *testing.F) {
	key := signedKey(f)
	f.Add(`{"alg":"ES256","typ":"JWT"}`, `{"id":"i","verification_type":"OTP_TYPE_SMS","contact":"+4915112345678","organization_id":"o","iat":1,"exp":9}`)
	f.Add(`{"alg":"none"}`, `{"id":"i","contact":"c","organization_id":"o","iat":1e300,"exp":1e300}`)
	f.Fuzz(func(t *testing.T, header, claims string) {
		encode := base64.RawURLEncoding.EncodeToString
		signing := encode([]byte(header)) + "." + encode([]byte(claims))
		now := time.Unix(5, 0)
		token, err := otp.VerifyToken(signing+"."+encode(signRaw(t, key, []byte(signing))), &key.PublicKey, "o", now)
		if err != nil {
			if !errors.Is(err, otp.ErrToken) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		var said struct{ Alg string }
		if err := json.Unmarshal([]byte(header), &said); err != nil || said.Alg != "ES256" {
			t.Fatalf("taken with header %s", header)
		}
		if token.ID == "" || token.OrganizationID == "" || !now.Before(token.ExpiresAt) || token.IssuedAt.After(now) {
			t.Fatalf("%s is taken as %+v", claims, token)
		}
	})
}

// FuzzWebhookSignature checks that only one signature is valid for an id, a body and a time.
func FuzzWebhookSignature(f *testing.F) {
	secrets := webhook.Secrets{[]byte(strings.Repeat("s", 32))}
	f.Add("1777000000", "v1,00", []byte("{}"))
	f.Add("-9223372036854775808", "v1,", []byte(""))
	f.Fuzz(func(t *testing.T, at, signature string, body []byte) {
		header := http.Header{}
		header.Set(webhook.TimestampHeader, at)
		header.Set(webhook.SignatureHeader, signature)
		if secrets.Verify(header, body, time.Unix(1_777_000_000, 0)) == nil {
			t.Errorf("%q was guessed", signature)
		}
	})
}
