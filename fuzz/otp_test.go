package fuzz

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"net/mail"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store/memory"
)

// otpSender accepts every message and checks its invariants.
type otpSender struct {
	t    *testing.T
	last otp.Message
}

func (s *otpSender) Send(_ context.Context, message otp.Message) error {
	s.last = message
	for _, header := range []string{message.To, message.Subject, message.FromName, message.FromAddress, message.ReplyTo} {
		if strings.ContainsAny(header, "\r\n\x00") || !utf8.ValidString(header) {
			s.t.Errorf("a header of more than one line: %q", header)
		}
	}
	return nil
}

// FuzzOTPRequest fuzzes the parameters of a request for an e-mail. An accepted
// request yields headers of one line, an address that net/mail reads, HTML without
// injected tags, and a code that verifies.
func FuzzOTPRequest(f *testing.F) {
	f.Add("ann@example.com", "App", "300", "https://example.com/a.png", "https://example.com/%s", `{"a":"b"}`, "Sender", "b@example.com", "c@example.org", "user")
	f.Add("ann@münchen.example", "<script>", "600", "", "https://example.com#%s", `{"a":"<b>"}`, "a\r\nBcc: b", "", "", "")
	f.Add("", "\u202e", "0300", "javascript:", "%s", `{"a":1}`, "\x00", "a@b\r\n", "<a@b.c>", "\xff")
	f.Fuzz(func(t *testing.T, contact, app, expiration, logo, link, variables, name, from, reply, user string) {
		sender := &otpSender{t: t}
		service, err := otp.New(otp.Config{
			Store: memory.New(0), Secret: keystore.NewSecret(make([]byte, otp.MinSecretSize)),
			Email: sender, SenderDomains: []string{"example.com"},
			Templates: map[string]otp.Template{"t": {Subject: "{{.a}} {{.AppName}}", Text: "{{.OtpCode}} {{.a}}", HTML: "<p>{{.a}} {{.AppName}}</p>"}},
		})
		testenv.Must(t, err)
		id, err := service.Issue(t.Context(), "org", "Example", otp.Request{
			Type: otp.TypeEmail, Contact: contact, AppName: app, ExpirationSeconds: expiration, UserIdentifier: user,
			Email:                   otp.EmailCustomization{LogoURL: logo, MagicLinkTemplate: link, TemplateVariables: variables, TemplateID: "t"},
			SendFromEmailSenderName: name, SendFromEmailAddress: from, ReplyToEmailAddress: reply,
		})
		if err != nil {
			return
		}
		if parsed, err := mail.ParseAddress(sender.last.To); err != nil || parsed.Address != sender.last.To {
			t.Errorf("sent to %q: %v", sender.last.To, err)
		}
		inside := strings.TrimSuffix(strings.TrimPrefix(sender.last.HTML, "<p>"), "</p>")
		if strings.ContainsAny(inside, "<>") {
			t.Errorf("HTML of theirs: %s", sender.last.HTML)
		}
		code, _, _ := strings.Cut(sender.last.Text, " ")
		if _, err := service.Verify(t.Context(), "org", id, code); err != nil {
			t.Errorf("code %q: %v", code, err)
		}
	})
}

// FuzzOTPText fuzzes the parameters of a request for a text message. An accepted
// request is sent to the digits of the contact and contains a code that verifies.
func FuzzOTPText(f *testing.F) {
	f.Add("+4915112345678", "App", " is for {{.AppName}}", "user")
	f.Add("+49 151 123-45678", "\u202e", "{{.OtpCode}}{{.OtpCode}}", "")
	f.Add("004915112345678", "", "{{if .OtpCode}}{{end}}", "\xff")
	f.Add("+1", "{{.OtpCode}}", " {{.Nothing}} {{.OtpCode}", "")
	f.Fuzz(func(t *testing.T, contact, app, behind, user string) {
		sender := &otpSender{t: t}
		service, err := otp.New(otp.Config{Store: memory.New(0), Secret: keystore.NewSecret(make([]byte, otp.MinSecretSize)), SMS: sender})
		testenv.Must(t, err)
		id, err := service.Issue(t.Context(), "org", "Example", otp.Request{
			Type: otp.TypeSMS, Contact: contact, AppName: app, UserIdentifier: user, SMS: otp.SMSCustomization{Template: "{{.OtpCode}}" + behind},
		})
		if err != nil {
			if _, refused := errors.AsType[*otp.ParameterError](err); !refused {
				t.Errorf("refused with %v", err)
			}
			return
		}
		if to := sender.last.To; to[0] != '+' || strings.Trim(to[1:], "0123456789") != "" || !strings.HasSuffix(digitsOf(contact), to[1:]) {
			t.Errorf("%q is sent to %q", contact, to)
		}
		code := sender.last.Text[:min(otp.DefaultLength, len(sender.last.Text))]
		if _, err := service.Verify(t.Context(), "org", id, code); err != nil {
			t.Errorf("code %q: %v", code, err)
		}
	})
}

func digitsOf(text string) string {
	return strings.Map(func(char rune) rune {
		if char < '0' || char > '9' {
			return -1
		}
		return char
	}, text)
}

// FuzzOTPMeter checks that a stored meter is accepted only in the encoding that
// Append writes.
func FuzzOTPMeter(f *testing.F) {
	full := otpledger.Meter{
		Sent: []otpledger.Event{{At: 1, By: 2, N: 3}}, Tried: []otpledger.Event{{At: 4, By: 5, N: 6}},
		Live:  []otpledger.LiveCode{{ID: "0fcd14f5-dae7-4331-82ca-ebaddd849534", By: 7, ExpiresAt: 8}},
		Until: 9,
	}
	f.Add(full.Append(nil))
	f.Add((&otpledger.Meter{}).Append(nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		meter, err := otpledger.ParseMeter(raw)
		if err != nil || len(raw) == 0 {
			return
		}
		again := meter.Append(nil)
		if !bytes.Equal(raw, again) {
			t.Fatalf("%x was read as %x", raw, again)
		}
		other, err := otpledger.ParseMeter(again)
		if err != nil || !cmp.Equal(meter, other) {
			t.Fatalf("%v\n%s", err, cmp.Diff(meter, other))
		}
	})
}

// FuzzOTPBundle fuzzes what a client sends as an encrypted code: it is refused as a bundle,
// or was encrypted to the key of this code, which the fuzzer does not know how to do.
func FuzzOTPBundle(f *testing.F) {
	service, err := otp.New(otp.Config{Store: memory.New(0), Secret: keystore.NewSecret(make([]byte, otp.MinSecretSize)), Email: &otpSender{}})
	testenv.Must(f, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testenv.Must(f, err)
	const id = "0fcd14f5-dae7-4331-82ca-ebaddd849534"
	target, err := service.TargetBundle("org", id, key)
	testenv.Must(f, err)
	good, err := otp.Encrypt("123456789", "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", target, &key.PublicKey, "org", id)
	testenv.Must(f, err)
	f.Add(good)
	f.Add(target)
	f.Add(`{"encappedPublic":"04","ciphertext":""}`)
	f.Add(`{"ciphertext":"00","encappedPublic":null}`)
	f.Fuzz(func(t *testing.T, bundle string) {
		typed, publicKey, err := service.Open("org", id, bundle)
		if err == nil {
			if typed != "123456789" || publicKey != "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296" {
				t.Errorf("%q was decrypted to %q, %q", bundle, typed, publicKey)
			}
			return
		}
		var refused *otp.ParameterError
		if !errors.As(err, &refused) || refused.Parameter != "encryptedOtpBundle" || len(err.Error()) > 1000 {
			t.Errorf("%q: %v", bundle, err)
		}
		if _, err := otp.Encrypt("1", "2", bundle, &key.PublicKey, "org", id); err == nil && !strings.Contains(strings.ToLower(bundle), signedPart(target)) {
			t.Errorf("a bundle that the key did not sign is taken: %q", bundle)
		}
	})
}

// signedPart returns the value of data in a target bundle: hex of what is signed.
func signedPart(target string) string {
	_, after, _ := strings.Cut(target, `"data":"`)
	data, _, _ := strings.Cut(after, `"`)
	return data
}
