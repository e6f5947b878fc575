package operations_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/otp"
)

// encryptedCode is a code that was sent with a target to encrypt it to.
type encryptedCode struct {
	*enginetest.Fixture
	outbox     *enginetest.Outbox
	id, target string
	code       string
}

func newEncryptedCode(t *testing.T, changes ...func(*countersign.Config)) *encryptedCode {
	t.Helper()
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, append(changes, enginetest.WithOTP(t, outbox))...)
	e := &encryptedCode{Fixture: f, outbox: outbox}
	e.id, e.target = e.issue(t, enginetest.Organization, f.APIKey)
	e.code = outbox.Code(t, e.id)
	return e
}

func (e *encryptedCode) issue(t *testing.T, organization string, key *enginetest.APIKey) (id, target string) {
	t.Helper()
	e.Clock.Advance(time.Millisecond) // a request of its own
	record := enginetest.MustSubmit(t, e.Engine, key.Sign(e.body(organization, activity.TypeInitOTPV3, engines.ToUser)))
	sent := record.Result.(activity.InitOTPV3Result)
	return sent.OTPID, sent.TargetBundle
}

func (e *encryptedCode) body(organization string, kind activity.Type, parameters string) string {
	return fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{%s}}`, kind, e.Clock.Now().UnixMilli(), organization, parameters)
}

// encrypt encrypts a code as a client does.
func (e *encryptedCode) encrypt(t *testing.T, code, publicKey, organization, id, target string) string {
	t.Helper()
	bundle, err := otp.Encrypt(code, publicKey, target, &e.ProofKey.PublicKey, organization, id)
	testenv.Must(t, err)
	return bundle
}

// redeem submits a bundle for a code, in a request of its own.
func (e *encryptedCode) redeem(t *testing.T, by *enginetest.APIKey, id, bundle string) (*activity.Record, error) {
	t.Helper()
	e.Clock.Advance(time.Millisecond)
	return e.Engine.Submit(t.Context(), by.Sign(e.body(enginetest.Organization, activity.TypeVerifyOTPV2, fmt.Sprintf(`"otpId":%q,"encryptedOtpBundle":%q`, id, bundle))))
}

// TestEncryptedCode redeems an encrypted code. The token is for the public key that was
// encrypted with the code, and the same body gets the same token.
func TestEncryptedCode(t *testing.T) {
	e := newEncryptedCode(t)
	bundle := e.encrypt(t, strings.ToLower(e.code), "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, e.id, e.target)
	sent := e.APIKey.Sign(e.body(enginetest.Organization, activity.TypeVerifyOTPV2, fmt.Sprintf(`"otpId":%q,"encryptedOtpBundle":%q,"expirationSeconds":"60"`, e.id, bundle)))
	first := enginetest.MustSubmit(t, e.Engine, sent)
	token, err := otp.VerifyToken(first.Result.(activity.VerifyOTPV2Result).VerificationToken, &e.ProofKey.PublicKey, enginetest.Organization, e.Clock.Now())
	if err != nil || token.ID != e.id || token.PublicKey != "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296" || token.Contact != "user@example.com" || token.ExpiresAt.Sub(token.IssuedAt) != time.Minute {
		t.Errorf("%+v, %v", token, err)
	}
	answer := first.AppendAnswer(nil)
	again, err := e.Engine.Submit(t.Context(), sent)
	if err != nil || !bytes.Equal(answer, again.AppendAnswer(nil)) {
		t.Errorf("again: %v", err)
	}
	if strings.Contains(string(answer), e.code) {
		t.Error("the record has the code")
	}
}

// TestEncryptedCodeOnAnotherNode: one node sends a code, another with the same secret redeems
// it, and of many different bodies to both at once only one does.
func TestEncryptedCodeOnAnotherNode(t *testing.T) {
	e := newEncryptedCode(t)
	node := e.Second(t)
	bundle := e.encrypt(t, e.code, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, e.id, e.target)
	answers := make(chan error)
	const bodies = 20
	for i := range bodies {
		engine := []*countersign.Engine{e.Engine, node}[i%2]
		body := e.body(enginetest.Organization, activity.TypeVerifyOTPV2, fmt.Sprintf(`"otpId":%q,"encryptedOtpBundle":%q,"expirationSeconds":"%d"`, e.id, bundle, 60+i))
		go func() {
			_, err := engine.Submit(t.Context(), e.APIKey.Sign(body))
			answers <- err
		}()
	}
	redeemed := 0
	for range bodies {
		if err := <-answers; err == nil {
			redeemed++
		} else {
			enginetest.Refusal(t, err, activity.ReasonOTPInvalid, "")
		}
	}
	if redeemed != 1 {
		t.Errorf("%d tokens for one code", redeemed)
	}
}

// TestEncryptedCodeReplayed: capturing a bundle yields no token, neither with the
// same request nor with one of their own.
func TestEncryptedCodeReplayed(t *testing.T) {
	e := newEncryptedCode(t)
	bundle := e.encrypt(t, e.code, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, e.id, e.target)
	if _, err := e.redeem(t, e.APIKey, e.id, bundle); err != nil {
		t.Fatal(err)
	}
	for _, by := range []*enginetest.APIKey{e.APIKey, e.OTPOnly} {
		_, err := e.redeem(t, by, e.id, bundle)
		enginetest.Refusal(t, err, activity.ReasonOTPInvalid, otp.ErrInvalidCode.Error())
	}
}

// TestEncryptedGuesses: a guess costs a try, in whatever form it is sent. After three, the
// code itself is refused.
func TestEncryptedGuesses(t *testing.T) {
	e := newEncryptedCode(t)
	guess := "0" + e.code[1:]
	if guess == e.code {
		guess = "1" + e.code[1:]
	}
	bundle := e.encrypt(t, guess, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, e.id, e.target)
	for _, sent := range []string{bundle, bundle, e.encrypt(t, guess, "026b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, e.id, e.target)} {
		_, err := e.redeem(t, e.APIKey, e.id, sent)
		enginetest.Refusal(t, err, activity.ReasonOTPInvalid, otp.ErrInvalidCode.Error())
	}
	_, err := e.redeem(t, e.APIKey, e.id, e.encrypt(t, e.code, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, e.id, e.target))
	enginetest.Refusal(t, err, activity.ReasonOTPInvalid, otp.ErrInvalidCode.Error())
	if _, err := e.Engine.Submit(t.Context(), e.APIKey.Sign(engines.VerifyOTP(e.Fixture, e.id, e.code, ""))); err == nil {
		t.Error("the other version still redeems it")
	}
}

// TestBundlesOfOthers: a bundle that was encrypted for anything else is refused with the cure
// and reveals nothing: for a code that exists as for one that does not. It costs no try, since
// it cannot hold a guess, so that no one can use up the tries of a code whose key they lack.
func TestBundlesOfOthers(t *testing.T) {
	e := newEncryptedCode(t)
	otherID, otherTarget := e.issue(t, enginetest.Organization, e.APIKey)
	foreignID, foreignTarget := e.issue(t, enginetest.OtherOrganization, e.Other)
	stranger := newEncryptedCode(t, func(c *countersign.Config) {})
	good := e.encrypt(t, e.code, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, e.id, e.target)
	bundles := map[string]string{
		"another code":         e.encrypt(t, e.code, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, otherID, otherTarget),
		"another organization": e.encrypt(t, e.code, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.OtherOrganization, foreignID, foreignTarget),
		"another service":      stranger.encrypt(t, stranger.code, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, stranger.id, stranger.target),
		"cut off":              good[:len(good)-6] + `"}`,
	}
	for name, bundle := range bundles {
		var refusals []string
		for _, id := range []string{e.id, "0fcd14f5-dae7-4331-82ca-ebaddd849534", "x"} {
			_, err := e.redeem(t, e.APIKey, id, bundle)
			refused := enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "it cannot be decrypted: encrypt the code to the otpEncryptionTargetBundle")
			if refused.Field != "encryptedOtpBundle" {
				t.Errorf("%s: field %q", name, refused.Field)
			}
			refusals = append(refusals, refused.Message)
		}
		if refusals[0] != refusals[1] || refusals[0] != refusals[2] {
			t.Errorf("%s: told apart: %q", name, refusals)
		}
	}
	if _, err := e.redeem(t, e.APIKey, e.id, good); err != nil {
		t.Errorf("after %d foreign bundles: %v", 3*len(bundles), err)
	}
}

// TestEncryptedCodeRedacted: what policies and logs see of a request has no bundle.
func TestEncryptedCodeRedacted(t *testing.T) {
	asking := new(engines.Notes)
	e := newEncryptedCode(t, engines.WithDecider(asking))
	asking.Of = nil
	if _, err := e.redeem(t, e.APIKey, e.id, e.encrypt(t, e.code, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, e.id, e.target)); err != nil {
		t.Fatal(err)
	}
	if len(asking.Of) == 0 || asking.Of[0].Intent != activity.Intent(activity.VerifyOTPV2Intent{OTPID: e.id}) {
		t.Errorf("asked about %+v", asking.Of)
	}
}

// TestInitOTPV2: the earlier version answers without a target; its code is redeemed in clear.
func TestInitOTPV2(t *testing.T) {
	e := newEncryptedCode(t)
	record := enginetest.MustSubmit(t, e.Engine, e.APIKey.Sign(e.body(enginetest.Organization, activity.TypeInitOTPV2, engines.ToUser)))
	id := record.Result.(activity.InitOTPV2Result).OTPID
	if answer := string(record.AppendAnswer(nil)); !strings.Contains(answer, `"initOtpIntentV2":`) || !strings.Contains(answer, `"initOtpResult":{"otpId":"`+id+`"}`) {
		t.Errorf("answer %s", answer)
	}
	enginetest.MustSubmit(t, e.Engine, e.APIKey.Sign(engines.VerifyOTP(e.Fixture, id, e.outbox.Code(t, id), "")))
}

// TestTargetNeedsProofKey: without a proof key nothing is sent that could not be redeemed.
func TestTargetNeedsProofKey(t *testing.T) {
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, func(c *countersign.Config) { c.ProofSigner = nil }, enginetest.WithOTP(t, outbox))
	e := &encryptedCode{Fixture: f}
	_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(e.body(enginetest.Organization, activity.TypeInitOTPV3, engines.ToUser)))
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "ACTIVITY_TYPE_INIT_OTP_V3 is not available: this engine has no proof key to sign encryption targets with")
	if outbox.Sent() != 0 {
		t.Errorf("%d messages", outbox.Sent())
	}
}

// TestEncryptedTokenIsItsSubmitters: another credential that may submit the type reads the
// activity without the token, and gets none by the same body either.
func TestEncryptedTokenIsItsSubmitters(t *testing.T) {
	e := newEncryptedCode(t)
	bundle := e.encrypt(t, e.code, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", enginetest.Organization, e.id, e.target)
	body := e.body(enginetest.Organization, activity.TypeVerifyOTPV2, fmt.Sprintf(`"otpId":%q,"encryptedOtpBundle":%q`, e.id, bundle))
	record := enginetest.MustSubmit(t, e.Engine, e.APIKey.Sign(body))
	token := record.Result.(activity.VerifyOTPV2Result).VerificationToken
	query := fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, record.ID)
	if own, err := e.Engine.GetActivity(t.Context(), e.APIKey.Sign(query)); err != nil || !strings.Contains(string(own.AppendAnswer(nil)), token) {
		t.Errorf("the submitter reads no token: %v", err)
	}
	read, err := e.Engine.GetActivity(t.Context(), e.OTPOnly.Sign(query))
	testenv.Must(t, err)
	again, err := e.Engine.Submit(t.Context(), e.OTPOnly.Sign(body))
	testenv.Must(t, err)
	for name, shown := range map[string]*activity.Record{"get_activity": read, "the same body": again} {
		if strings.Contains(string(shown.AppendAnswer(nil)), token) {
			t.Errorf("%s shows another credential the token", name)
		}
	}
}

// TestKeyOfTokenIsRead: a public key that is none is refused before the code is tried, in each
// version, and however often; the code then serves for a token that is for a key.
func TestKeyOfTokenIsRead(t *testing.T) {
	const key = "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
	e := newEncryptedCode(t)
	for _, wrong := range []string{"zz", "<x>", "02ab", key[:60], "02" + strings.Repeat("ff", 32), "0x" + key} {
		_, err := e.redeem(t, e.APIKey, e.id, e.encrypt(t, e.code, wrong, enginetest.Organization, e.id, e.target))
		enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "public key in hex")
		_, err = e.Engine.Submit(t.Context(), e.APIKey.Sign(engines.VerifyOTP(e.Fixture, e.id, e.code, fmt.Sprintf(`,"publicKey":%q`, wrong))))
		enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "public key in hex")
	}
	if _, err := e.redeem(t, e.APIKey, e.id, e.encrypt(t, e.code, key, enginetest.Organization, e.id, e.target)); err != nil {
		t.Error(err)
	}
}
