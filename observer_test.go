package countersign_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
)

// logLine is what the tests read of a request's line in the log.
type logLine struct {
	Reason, Message, Cause string
}

// withLog has the engine log into a buffer.
func withLog(log *bytes.Buffer) func(*countersign.Config) {
	return func(c *countersign.Config) { c.Logger = slog.New(slog.NewJSONHandler(log, nil)) }
}

// lastLine returns the last line of a log.
func lastLine(t *testing.T, log *bytes.Buffer) logLine {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n"))
	var line logLine
	if err := json.Unmarshal(lines[len(lines)-1], &line); err != nil {
		t.Fatal(err)
	}
	return line
}

// TestLogSaysWhichCode: outside all refused codes are alike, the log tells them
// apart.
func TestLogSaysWhichCode(t *testing.T) {
	var log bytes.Buffer
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, enginetest.WithOTP(t, outbox), withLog(&log))
	id := issue(t, f)
	code := outbox.Code(t, id)
	for _, test := range []struct{ id, code, more, cause string }{
		{"00000000-0000-4000-8000-000000000000", code, "", "otp: no code of this id"},
		{id, "000000000", "", "otp: wrong code"},
		{id, code, "", ""},
		{id, code, `,"expirationSeconds":"60"`, "otp: code already used"},
	} {
		_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(verifyBody(f, test.id, test.code, test.more)))
		if line := lastLine(t, &log); line.Cause != test.cause || (err == nil) != (test.cause == "") {
			t.Errorf("%v: logged %+v, want the cause %q", err, line, test.cause)
		}
	}
}

// TestLogSaysWhoIsUnknown: the log has the key whose stamp did not count.
func TestLogSaysWhoIsUnknown(t *testing.T) {
	var log bytes.Buffer
	f := enginetest.New(t, withLog(&log))
	stranger := enginetest.NewAPIKey(t)
	for _, test := range []struct{ organization, cause string }{
		{"", countersign.ErrCredentialNotFound.Error()},
		{"nobody", countersign.ErrOrganizationNotFound.Error()},
	} {
		_, err := f.Engine.Submit(t.Context(), stranger.Sign(f.Body(enginetest.Request{Organization: test.organization})))
		refusal(t, err, activity.ReasonSignatureInvalid, "")
		if line := lastLine(t, &log); line.Cause != test.cause+": api-key:"+stranger.Config().PublicKey {
			t.Errorf("logged %+v", line)
		}
	}
}

// TestLogSaysItOnce: a message that says all has no cause beside it.
func TestLogSaysItOnce(t *testing.T) {
	var log bytes.Buffer
	f := enginetest.New(t, withLog(&log))
	_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(f.Body(enginetest.Request{})+"x"))
	refusal(t, err, activity.ReasonRequestInvalid, "")
	if line := lastLine(t, &log); line.Message == "" || line.Cause != "" {
		t.Errorf("logged %+v", line)
	}
}
