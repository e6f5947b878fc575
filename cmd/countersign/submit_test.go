package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/enginetest"
	"github.com/countersign-dev/countersign/stamp"
)

// server serves an engine, and returns it with its URL and the file of a key.
func server(t *testing.T, outbox *enginetest.Outbox) (f *enginetest.Fixture, url, keyFile string) {
	t.Helper()
	f = enginetest.New(t, func(c *countersign.Config) { c.Now = time.Now }, enginetest.WithOTP(t, outbox))
	served := httptest.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
	t.Cleanup(served.Close)
	return f, served.URL, apiKeyFile(t, f.APIKey)
}

func apiKeyFile(t *testing.T, key *enginetest.APIKey) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "api-key.json")
	text := fmt.Sprintf(`{"organizationId":%q,"publicKey":%q,"privateKey":%q,"curve":"API_KEY_CURVE_P256"}`,
		enginetest.Organization, key.PublicKey, key.PrivateKey())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// called runs the command and asserts its exit status.
func called(t *testing.T, status int, stdin string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, talk bytes.Buffer
	if got := run(args, strings.NewReader(stdin), &out, &talk); got != status {
		t.Fatalf("%v: exit status %d, want %d\n%s%s", args, got, status, out.String(), talk.String())
	}
	return out.String(), talk.String()
}

const unsent = `{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","parameters":{"signWith":"` + enginetest.Address + `","unsignedTransaction":"` + enginetest.Unsigned + `","type":"TRANSACTION_TYPE_ETHEREUM"}}`

func TestSubmit(t *testing.T) {
	_, url, keyFile := server(t, new(enginetest.Outbox))
	out, _ := called(t, exitSuccess, unsent, "submit", "--url", url+"/", "--api-key", keyFile)
	if !strings.Contains(out, `"signedTransaction":"`+enginetest.Signed+`"`) {
		t.Error(out)
	}
	out, talk := called(t, exitFailure, strings.Replace(unsent, enginetest.Unsigned, enginetest.Hazardous, 1), "submit", "--url", url, "--api-key", keyFile)
	if !strings.Contains(out, "HAZARD_NOT_ALLOWED") || !strings.Contains(talk, "403") {
		t.Errorf("%s%s", out, talk)
	}
	_, talk = called(t, exitFailure, strings.Replace(unsent, "parameters", "Parameters", 1), "submit", "--url", url, "--api-key", keyFile)
	if !strings.Contains(talk, "case-sensitive") {
		t.Error(talk)
	}
	called(t, exitUsage, unsent, "submit", "--api-key", keyFile)
	called(t, exitUsage, unsent, "submit", "--url", url)
}

// TestStampOverExactBytes: the body of the request file is what came in, white
// space and all, and the stamp is over that.
func TestStampOverExactBytes(t *testing.T) {
	f, _, keyFile := server(t, new(enginetest.Outbox))
	body := "\n " + f.Body(enginetest.Request{At: time.Now()}) + " \n"
	out, _ := called(t, exitSuccess, body, "stamp", "--api-key", keyFile)
	var made requestFile
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.Body != body {
		t.Fatalf("%v: %s", err, out)
	}
	record, err := f.Engine.Submit(t.Context(), countersign.SignedBody{Body: []byte(made.Body), Stamps: []stamp.Header{made.Stamp}})
	if err != nil || record.Result.(activity.SignTransactionResult).SignedTransaction != enginetest.Signed {
		t.Errorf("%v", err)
	}
	header, _ := called(t, exitSuccess, body, "stamp", "--api-key", keyFile, "--header")
	if _, err := stamp.Parse(stamp.Header{Name: "X-Stamp", Value: strings.TrimSuffix(header, "\n")}); err != nil {
		t.Error(err)
	}
}

func TestOTPVerify(t *testing.T) {
	outbox := new(enginetest.Outbox)
	f, url, keyFile := server(t, outbox)
	no := false
	made, err := f.Engine.InitOTPAuth(t.Context(), enginetest.Organization, "App", activity.InitOTPAuthIntent{OTPType: "OTP_TYPE_EMAIL", Contact: "a@example.com", Alphanumeric: &no})
	if err != nil {
		t.Fatal(err)
	}
	code := outbox.Code(t, made.OTPID)
	_, talk := called(t, exitFailure, "000000000\n", "otp", "verify", "--url", url, "--api-key", keyFile, "--otp-id", made.OTPID)
	if !strings.Contains(talk, "request a new one") {
		t.Error(talk)
	}
	out, _ := called(t, exitSuccess, code+"\n", "otp", "verify", "--url", url, "--api-key", keyFile, "--otp-id", made.OTPID)
	if !strings.HasPrefix(out, `{"verificationToken":"ey`) {
		t.Error(out)
	}
}

func TestAPIKeyFile(t *testing.T) {
	key := enginetest.NewAPIKey(t)
	good := apiKeyFile(t, key)
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for old, test := range map[string]struct{ new, problem string }{
		key.PublicKey:    {enginetest.NewAPIKey(t).PublicKey, "publicKey is not that of privateKey"},
		key.PrivateKey(): {"zz", "privateKey: hex is expected"},
		"CURVE_P256":     {"CURVE_P384", "unknown curve"},
		`"curve"`:        {`"Curve"`, "case-sensitive"},
	} {
		path := filepath.Join(t.TempDir(), "key.json")
		if err := os.WriteFile(path, []byte(strings.Replace(string(content), old, test.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, talk := called(t, exitFailure, "{}", "stamp", "--api-key", path)
		if !strings.Contains(talk, test.problem) || strings.Contains(talk, key.PrivateKey()) {
			t.Errorf("%s: %s", test.problem, talk)
		}
	}
	if err := os.Chmod(good, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, talk := called(t, exitFailure, "{}", "stamp", "--api-key", good); !strings.Contains(talk, "others can read it") {
		t.Error(talk)
	}
	called(t, exitUsage, "{}", "stamp")
}
