package request_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/otp"
)

// logLine is what the tests read of a request's log line.
type logLine struct {
	Reason, Message, Cause string
}

// lastLine returns the last line of a log.
func lastLine(t *testing.T, log *bytes.Buffer) logLine {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n"))
	var line logLine
	testenv.JSON(t, lines[len(lines)-1], &line)
	return line
}

// TestLogRefusedCodes checks that the log distinguishes refused codes, which all get the
// same answer.
func TestLogRefusedCodes(t *testing.T) {
	var log bytes.Buffer
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, enginetest.WithOTP(t, outbox), engines.LogInto(&log))
	id := engines.IssueOTP(t, f)
	code := outbox.Code(t, id)
	for _, test := range []struct{ id, code, more, cause string }{
		{"00000000-0000-4000-8000-000000000000", code, "", "otp: no code of this id"},
		{id, "000000000", "", "otp: wrong code"},
		{id, code, "", ""},
		{id, code, `,"expirationSeconds":"60"`, "otp: code already used"},
	} {
		_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(engines.VerifyOTP(f, test.id, test.code, test.more)))
		if line := lastLine(t, &log); line.Cause != test.cause || (err == nil) != (test.cause == "") {
			t.Errorf("%v: logged %+v, want the cause %q", err, line, test.cause)
		}
	}
}

// TestLogUnknownKey checks that the log names the key whose stamp was refused.
func TestLogUnknownKey(t *testing.T) {
	var log bytes.Buffer
	f := enginetest.New(t, engines.LogInto(&log))
	stranger := enginetest.NewAPIKey(t)
	for _, test := range []struct{ organization, cause string }{
		{"", access.ErrCredentialNotFound.Error()},
		{"nobody", access.ErrOrganizationNotFound.Error()},
	} {
		_, err := f.Engine.Submit(t.Context(), stranger.Sign(f.Body(enginetest.Request{Organization: test.organization})))
		enginetest.Refusal(t, err, activity.ReasonSignatureInvalid, "")
		if line := lastLine(t, &log); line.Cause != test.cause+": api-key:"+stranger.Config().PublicKey {
			t.Errorf("logged %+v", line)
		}
	}
}

// TestLogOmitsRepeatedCause checks that the log has no cause if it says the same as the
// message.
func TestLogOmitsRepeatedCause(t *testing.T) {
	var log bytes.Buffer
	f := enginetest.New(t, engines.LogInto(&log))
	_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(f.Body(enginetest.Request{})+"x"))
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "")
	if line := lastLine(t, &log); line.Message == "" || line.Cause != "" {
		t.Errorf("logged %+v", line)
	}
}

// TestLogSigned checks that one line has user, credential, activity, chain, key,
// address, effects, rules, request and remote address.
func TestLogSigned(t *testing.T) {
	var log bytes.Buffer
	f := enginetest.New(t, engines.LogInto(&log), func(c *countersign.Config) { c.Policy = engines.Ruled{} })
	ctx := access.WithOrigin(t.Context(), access.Origin{RequestID: "r1", Remote: "192.0.2.7:4711"})
	record, err := f.Engine.Submit(ctx, f.APIKey.Sign(f.Body(enginetest.Request{})))
	testenv.Must(t, err)
	var line struct {
		User, UserName, Credential, Activity, Chain, Request, Remote string
		Keys, Addresses, Effects, Rules                              []string
	}
	testenv.JSON(t, log.Bytes(), &line)
	if line.User != record.Submitter().UserID || line.UserName != "ci" || line.Credential != "api-key:"+f.APIKey.PublicKey || line.Activity != record.ID {
		t.Errorf("who: %s", log.String())
	}
	if line.Chain != "ethereum" || len(line.Keys) != 1 || len(line.Addresses) != 1 || !strings.HasPrefix(line.Addresses[0], "0x") {
		t.Errorf("with what: %s", log.String())
	}
	if len(line.Effects) < 2 || !strings.HasPrefix(line.Effects[0], "transfer ") || !slices.Equal(line.Rules, []string{"small sums"}) {
		t.Errorf("what: %s", log.String())
	}
	if line.Request != "r1" || line.Remote != "192.0.2.7:4711" {
		t.Errorf("from where: %s", log.String())
	}
}

// TestLogRefused checks that a refusal after the stamp was verified names the caller and
// what was requested.
func TestLogRefused(t *testing.T) {
	var log bytes.Buffer
	f := enginetest.New(t, engines.LogInto(&log), func(c *countersign.Config) {
		c.Policy = access.PolicyFunc(func(context.Context, access.Authorization) error {
			return fmt.Errorf("%w: not today", access.ErrDenied)
		})
	})
	if _, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(f.Body(enginetest.Request{}))); err == nil {
		t.Fatal("not refused")
	}
	for _, want := range []string{`"userName":"ci"`, `"credential":"api-key:`, `"effects":["transfer `, `"reason":"REQUEST_NOT_AUTHORIZED"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, &log)
		}
	}
}

// echoing is a mail server whose error repeats everything it is given.
type echoing struct{}

func (echoing) Send(_ context.Context, m otp.Message) error {
	return fmt.Errorf("550 <%s> %s", strings.ToUpper(m.To), m.To)
}

// TestLogHasNoContacts checks that no log line has the contact or the user's identifier,
// which are in the request, in the policy's refusal, and in the mail server's error.
func TestLogHasNoContacts(t *testing.T) {
	const contact, user = "Ada.Lovelace@example.com", "ada-4711"
	parameters := fmt.Sprintf(`"otpType":"OTP_TYPE_EMAIL","contact":%q,"userIdentifier":%q`, contact, user)
	denying := access.PolicyFunc(func(_ context.Context, asked access.Authorization) error {
		return fmt.Errorf("%w: nothing goes to %+v", access.ErrDenied, asked.Effects[0].Args)
	})
	failing := access.PolicyFunc(func(_ context.Context, asked access.Authorization) error {
		return errors.New("no row for " + strings.ToLower(contact) + user)
	})
	for name, change := range map[string]func(*countersign.Config){
		"sent":              func(*countersign.Config) {},
		"refused by policy": func(c *countersign.Config) { c.Policy = denying },
		"policy fails":      func(c *countersign.Config) { c.Policy = failing },
	} {
		for _, delivered := range []bool{true, false} {
			var log bytes.Buffer
			f := enginetest.New(t, enginetest.WithOTP(t, new(enginetest.Outbox), func(c *otp.Config) {
				if !delivered {
					c.Email = echoing{}
				}
			}), change, func(c *countersign.Config) {
				c.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			for range 5 { // the limits answer too
				_, _ = f.Engine.Submit(t.Context(), f.APIKey.Sign(engines.InitOTP(f, parameters)))
				f.Clock.Advance(1)
			}
			text := strings.ToLower(log.String())
			if !strings.Contains(text, "init_otp_auth") || !strings.Contains(text, `"username":"ci"`) {
				t.Fatalf("%s: the line is not there: %s", name, text)
			}
			if strings.Contains(text, "lovelace") || strings.Contains(text, "ada-4711") {
				t.Errorf("%s, delivered %v: the log has the contact: %s", name, delivered, text)
			}
		}
	}
}
