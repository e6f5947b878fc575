package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

// keyOf returns a fixture's API key, read from a file.
func keyOf(t *testing.T, key *enginetest.APIKey) *client.Key {
	t.Helper()
	path := filepath.Join(t.TempDir(), "api-key.json")
	content := fmt.Sprintf(`{"organizationId":%q,"publicKey":%q,"privateKey":%q,"curve":"API_KEY_CURVE_P256"}`,
		enginetest.Organization, key.PublicKey, key.PrivateKey())
	testenv.Write(t, path, []byte(content))
	read, err := client.ReadKey(path)
	testenv.Must(t, err)
	return read
}

func intent() activity.SignTransactionIntent {
	return activity.SignTransactionIntent{SignWith: enginetest.Address, UnsignedTransaction: enginetest.Unsigned, Type: activity.TransactionTypeEthereum}
}

// TestClient signs and queries over HTTP, against an engine.
func TestClient(t *testing.T) {
	f := enginetest.New(t)
	server := httptest.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
	defer server.Close()
	to, err := client.New(client.Config{URL: server.URL + "/", Key: keyOf(t, f.APIKey), Now: f.Clock.Now})
	testenv.Must(t, err)
	signed, err := to.SignTransaction(t.Context(), intent())
	if err != nil || signed != enginetest.Signed {
		t.Errorf("%s, %v", signed, err)
	}
	who, err := to.WhoAmI(t.Context())
	if err != nil || who.Username != "ci" || who.OrganizationID != enginetest.Organization {
		t.Errorf("%+v, %v", who, err)
	}
	request, err := to.NewRequest(intent())
	testenv.Must(t, err)
	first, err := to.Submit(t.Context(), request)
	testenv.Must(t, err)
	again, err := to.Submit(t.Context(), request)
	if err != nil || again.ID != first.ID || !bytes.Equal(again.Answer, first.Answer) {
		t.Errorf("the same request again: %+v, %v", again, err)
	}
	found, err := to.GetActivity(t.Context(), first.ID)
	if err != nil || found.Fingerprint != request.Fingerprint.String() || found.Result.SignTransaction.SignedTransaction != enginetest.Signed {
		t.Errorf("%+v, %v", found, err)
	}
	bad := intent()
	bad.UnsignedTransaction = "02ec01"
	_, err = to.SignTransaction(t.Context(), bad)
	if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != activity.ReasonInvalidTransaction || refused.Field != "unsignedTransaction" {
		t.Errorf("%+v", err)
	}
}

// answers is a server that gives one answer after the other, and remembers what
// it was sent.
type answers struct {
	list   []func() (*http.Response, error)
	bodies []string
	stamps []string
	at     []time.Time
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	a.bodies, a.stamps, a.at = append(a.bodies, string(body)), append(a.stamps, r.Header.Get("X-Stamp")), append(a.at, time.Now())
	next := a.list[0]
	a.list = a.list[1:]
	return next()
}

func status(code int, text string, headers ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		header := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			header.Set(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(text))}, nil
	}
}

func broken() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

func answer(request *activity.Request, status activity.Status, result string) string {
	return fmt.Sprintf(`{"activity":{"id":"a1","status":%q,"fingerprint":%q,"result":{%s}}}`, status, request.Fingerprint, result)
}

const unavailable = `{"code":14,"message":"store down","details":[],"turnkeyErrorCode":"UNAVAILABLE"}`

// newFake returns a client of a server that gives these answers, and a request.
func newFake(t *testing.T, list ...func() (*http.Response, error)) (*client.Client, *answers, *activity.Request) {
	t.Helper()
	f := enginetest.NewAPIKey(t)
	server := &answers{list: list}
	to, err := client.New(client.Config{URL: "http://signer.test", Key: keyOf(t, f), HTTP: &http.Client{Transport: server}})
	testenv.Must(t, err)
	request, err := to.NewRequest(intent())
	testenv.Must(t, err)
	return to, server, request
}

// TestSignMessage signs a personal message over HTTP, against an engine.
func TestSignMessage(t *testing.T) {
	f := enginetest.New(t)
	server := httptest.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
	defer server.Close()
	to, err := client.New(client.Config{URL: server.URL, Key: keyOf(t, f.APIKey), Now: f.Clock.Now})
	testenv.Must(t, err)
	message := activity.SignMessageIntent{
		SignWith: enginetest.Address, Payload: "\x19Ethereum Signed Message:\n23Approve Portals sign-in",
		Encoding: "PAYLOAD_ENCODING_TEXT_UTF8", HashFunction: "HASH_FUNCTION_KECCAK256",
	}
	want, err := f.Engine.SignMessage(t.Context(), enginetest.Organization, message)
	testenv.Must(t, err)
	if signature, err := to.SignMessage(t.Context(), message); err != nil || signature != want {
		t.Errorf("%+v, %v, want %+v", signature, err, want)
	}
	message.Payload = "hi"
	_, err = to.SignMessage(t.Context(), message)
	if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != activity.ReasonInvalidTransaction {
		t.Errorf("without its prefix: %v", err)
	}
}

// TestResults checks that a Result has a member for the result of every operation.
func TestResults(t *testing.T) {
	has := map[activity.Type]bool{
		activity.TypeApproveActivity: true, activity.TypeRejectActivity: true, // without a result
		activity.TypeVerifyOTPV2: true, // in the same form as VerifyOTP
		activity.TypeResume:      true, // as Halt
	}
	for member := range reflect.TypeFor[client.Result]().Fields() {
		has[reflect.Zero(member.Type.Elem()).Interface().(activity.Result).ActivityType()] = true
	}
	for _, kind := range activity.Types() {
		if !has[kind] {
			t.Errorf("no member for the result of %s", kind)
		}
	}
}

// TestVoteSelection checks that only the two selections can be voted: another text must
// neither approve nor reject.
func TestVoteSelection(t *testing.T) {
	review := &activity.Review{Summary: "{}", Effects: "[]", Readings: "[]"}
	shown, summary := activity.ShownDigest("{}", "[]", nil, "[]"), sha256.Sum256([]byte("{}"))
	review.Shown, review.SummaryDigest = hex.EncodeToString(shown[:]), hex.EncodeToString(summary[:])
	waiting := &client.Activity{Fingerprint: activity.Fingerprint{}.String(), Review: review}
	for selection, want := range map[activity.Selection]activity.Type{
		activity.SelectionApproved: activity.TypeApproveActivity, activity.SelectionRejected: activity.TypeRejectActivity, "": "", "APPROVED": "",
	} {
		if vote, err := waiting.Vote(selection); vote.ActivityType() != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", selection, vote.ActivityType(), err)
		}
	}
}

// TestRetry checks that after lost answers, a proxy's 502, and 503 with Retry-After, the same
// bytes with the same stamp are sent again, with growing pauses.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, server, request := newFake(t, broken, status(502, "<html>"), status(503, unavailable, "Retry-After", "7"))
		server.list = append(server.list, status(200, answer(request, activity.StatusCompleted, `"signTransactionResult":{"signedTransaction":"ab"}`)))
		done, err := to.Submit(t.Context(), request)
		if err != nil || done.Result.SignTransaction.SignedTransaction != "ab" {
			t.Fatalf("%+v, %v", done, err)
		}
		for i := range server.bodies {
			if server.bodies[i] != string(request.Body) || server.stamps[i] != server.stamps[0] {
				t.Errorf("try %d sent %s with %s", i, server.bodies[i], server.stamps[i])
			}
		}
		var pauses []time.Duration
		for i := range server.at[1:] {
			pauses = append(pauses, server.at[i+1].Sub(server.at[i]))
		}
		if fmt.Sprint(pauses) != "[200ms 400ms 7s]" {
			t.Errorf("pauses %v", pauses)
		}
	})
}

// TestNoRetry checks that refusals the caller must act on are not retried, and that retries
// end if the server stays unavailable.
func TestNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const refusal = `{"code":7,"message":"no","details":[],"turnkeyErrorCode":"LIMIT_EXCEEDED"}`
		to, server, request := newFake(t, status(403, refusal, "Retry-After", "60"))
		_, err := to.Submit(t.Context(), request)
		if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != activity.ReasonLimitExceeded || refused.RetryAfter != time.Minute || len(server.bodies) != 1 {
			t.Errorf("%v after %d tries", err, len(server.bodies))
		}
		down := status(503, unavailable)
		to, server, request = newFake(t, down, down, down, down, down, down)
		_, err = to.Submit(t.Context(), request)
		if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != activity.ReasonUnavailable || len(server.bodies) != 1+client.DefaultRetries {
			t.Errorf("%v after %d tries", err, len(server.bodies))
		}
		to, server, request = newFake(t, status(404, "<html>"))
		if _, err = to.Submit(t.Context(), request); err == nil || !strings.Contains(err.Error(), "does the URL name the API") || len(server.bodies) != 1 {
			t.Errorf("%v after %d tries", err, len(server.bodies))
		}
	})
}

// TestOtherScheme: a URL with http for a server that speaks https, and the reverse, is told as that.
func TestOtherScheme(t *testing.T) {
	plain, secure := httptest.NewServer(http.NotFoundHandler()), httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer plain.Close()
	defer secure.Close()
	for target, want := range map[string]string{
		"https" + strings.TrimPrefix(plain.URL, "http"):  "this server speaks http: the URL must begin with http://",
		"http" + strings.TrimPrefix(secure.URL, "https"): "as one that speaks https does: the URL must begin with https://",
	} {
		c, err := client.New(client.Config{URL: target, OrganizationID: "any", Stamper: new(stamp.Signer)})
		testenv.Must(t, err)
		_, err = c.PostStamped(t.Context(), "query/whoami", stamp.Header{Name: "X-Stamp", Value: "a"}, []byte("{}"))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", target, err, want)
		}
	}
}

// TestMismatchedAnswer checks that an answer to another request is an error.
func TestMismatchedAnswer(t *testing.T) {
	to, server, request := newFake(t)
	other, err := activity.NewRequest(activity.Envelope{OrganizationID: "o", Time: time.UnixMilli(1763650000000)}, intent())
	testenv.Must(t, err)
	server.list = append(server.list, status(200, answer(other, activity.StatusCompleted, "")))
	if _, err := to.Submit(t.Context(), request); err == nil || !strings.Contains(err.Error(), "another request") {
		t.Error(err)
	}
}

// TestWaitForApprovals checks that Wait polls until the activity is decided or the context
// ends.
func TestWaitForApprovals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, server, request := newFake(t)
		waiting := status(200, answer(request, activity.StatusConsensusNeeded, ""))
		done := status(200, answer(request, activity.StatusCompleted, `"signTransactionResult":{"signedTransaction":"ab"}`))
		server.list = append(server.list, waiting, waiting, done)
		started := time.Now()
		signed, err := to.SignTransaction(t.Context(), intent()) // the clock is frozen, so it is the same request
		if err != nil || signed != "ab" || time.Since(started) != 2*client.DefaultPoll {
			t.Errorf("%q, %v after %v", signed, err, time.Since(started))
		}
		server.list = append(server.list[:0], waiting)
		first, err := to.Submit(t.Context(), request)
		testenv.Must(t, err)
		for _, query := range server.bodies[1:3] {
			if query != `{"organizationId":"`+enginetest.Organization+`","activityId":"a1"}` {
				t.Errorf("asked %s", query)
			}
		}
		server.list = append(server.list[:0], status(200, `{"activity":{"id":"a1","status":"ACTIVITY_STATUS_FAILED","failure":{"code":7,"message":"it expired"}}}`))
		_, err = to.Wait(t.Context(), first)
		if ended, ok := errors.AsType[*client.StatusError](err); !ok || ended.Activity.Status != activity.StatusFailed || !strings.HasSuffix(err.Error(), "ACTIVITY_STATUS_FAILED: it expired") {
			t.Error(err)
		}
		server.list = append(server.list[:0], waiting)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if seen, err := to.Wait(ctx, first); !errors.Is(err, context.DeadlineExceeded) || seen == nil || seen.Status != activity.StatusConsensusNeeded {
			t.Errorf("%v, %v", seen, err)
		}
	})
}

// TestNewInvalidConfig checks that invalid configurations are refused.
func TestNewInvalidConfig(t *testing.T) {
	key := keyOf(t, enginetest.NewAPIKey(t))
	for name, config := range map[string]client.Config{
		"no URL":          {Key: key},
		"no scheme":       {URL: "127.0.0.1:8080", Key: key},
		"another scheme":  {URL: "ftp://signer.test", Key: key},
		"a query":         {URL: "http://signer.test?a", Key: key},
		"no key":          {URL: "http://signer.test"},
		"no organization": {URL: "http://signer.test", Stamper: key},
		"an empty key":    {URL: "http://signer.test", Key: &client.Key{}},
		"no signer":       {URL: "http://signer.test", Key: &client.Key{OrganizationID: "org"}},
		"key and stamper": {URL: "http://signer.test", Key: key, OrganizationID: "other", Stamper: key},
	} {
		if _, err := client.New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestParseKey checks that keys are parsed strictly, and that the public key must match.
func TestParseKey(t *testing.T) {
	key := enginetest.NewAPIKey(t)
	good := fmt.Sprintf(`{"organizationId":"o","publicKey":%q,"privateKey":%q,"curve":"API_KEY_CURVE_P256"}`, key.PublicKey, key.PrivateKey())
	read, err := client.ParseKey([]byte(good))
	if err != nil || hex.EncodeToString(read.PublicKey()) != key.PublicKey || read.OrganizationID != "o" {
		t.Fatalf("%+v, %v", read, err)
	}
	other := enginetest.NewAPIKey(t)
	for name, text := range map[string]string{
		"another public key": strings.Replace(good, key.PublicKey, other.PublicKey, 1),
		"another curve":      strings.Replace(good, "P256", "P384", 1),
		"a short secret":     strings.Replace(good, key.PrivateKey(), "ab", 1),
		"a member too many":  strings.Replace(good, "{", `{"a":1,`, 1),
	} {
		if _, err := client.ParseKey([]byte(text)); err == nil || strings.Contains(err.Error(), key.PrivateKey()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestParseKeyCurves: P-256 and Ed25519 are read without a signer of the program's choice,
// secp256k1 with one.
func TestParseKeyCurves(t *testing.T) {
	secret := bytes.Repeat([]byte{7}, 32)
	for _, curve := range []stamp.Curve{stamp.CurveP256, stamp.CurveEd25519, stamp.CurveSecp256k1} {
		signer, err := stamp.NewSigner(curve, secret)
		testenv.Must(t, err)
		text := fmt.Appendf(nil, `{"organizationId":"o","publicKey":"%x","privateKey":"%x","curve":%q}`, signer.PublicKey(), secret, curve)
		_, err = client.ParseKey(text)
		if curve == stamp.CurveSecp256k1 {
			if err == nil || !strings.Contains(err.Error(), "use stamp.NewSigner") {
				t.Errorf("%s: %v does not say how", curve, err)
			}
		} else if err != nil {
			t.Errorf("%s: %v", curve, err)
		}
		read, err := client.ParseKeyWith(text, stamp.NewSigner)
		if err != nil || !bytes.Equal(read.PublicKey(), signer.PublicKey()) {
			t.Errorf("%s: %v, %v", curve, read, err)
		}
	}
}

var _ client.Stamper = (*client.Key)(nil)

// Sign a transaction with a running server.
func Example() {
	key, err := client.ReadKey("api-key.json") // as 'countersign init' writes it
	if err != nil {
		fmt.Println("no key: run 'countersign init'")
		return
	}
	to, err := client.New(client.Config{URL: "http://127.0.0.1:8080", Key: key})
	if err != nil {
		fmt.Println(err)
		return
	}
	signed, err := to.SignTransaction(context.Background(), activity.SignTransactionIntent{
		SignWith:            "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56",
		UnsignedTransaction: "02e8…",
		Type:                activity.TransactionTypeEthereum,
	})
	fmt.Println(signed, err)
	// Output: no key: run 'countersign init'
}
