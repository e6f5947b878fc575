package interop

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/otp"
)

// otpResult is the result of the activities of one-time passwords.
type otpResult struct {
	InitOtpAuthResultV2 struct{ OTPID string }
	VerifyOtpResult     struct{ VerificationToken string }
}

func resultOf(t *testing.T, got answered) otpResult {
	t.Helper()
	var read struct{ Activity struct{ Result otpResult } }
	if got.Error == "" {
		if err := json.Unmarshal(got.Value, &read); err != nil {
			t.Fatalf("%v: %s", err, got.Value)
		}
	}
	return read.Activity.Result
}

// send is init for requests that must succeed. It also returns the code.
func (c *otpClients) send(t *testing.T, client string, changes map[string]any) (id, code string) {
	t.Helper()
	got, id := c.init(t, client, changes)
	if got.Error != "" {
		t.Fatalf("send by %s: %s (%s)", client, got.Error, got.Cause)
	}
	match := regexp.MustCompile(`\n    (\S+)\n`).FindStringSubmatch(c.outbox.Message(t, id).Text)
	return id, match[1]
}

func (c *otpClients) verifyAt(t *testing.T, client, timestampMs string, parameters map[string]any) (answered, string) {
	t.Helper()
	got := c.call(t, "verifyOtp", client, map[string]any{"otp": parameters, "timestampMs": timestampMs})
	return got, resultOf(t, got).VerifyOtpResult.VerificationToken
}

func (c *otpClients) verify(t *testing.T, client, id, code string) answered {
	t.Helper()
	got, _ := c.verifyAt(t, client, c.tick(), map[string]any{"otpId": id, "otpCode": code})
	return got
}

func expectRefusal(t *testing.T, what string, got answered, code int, text string) {
	t.Helper()
	if got.Code != float64(code) || !strings.Contains(got.Error, text) {
		t.Errorf("%s: code %v, %q, value %s; want %d, …%s…", what, got.Code, got.Error, got.Value, code, text)
	}
}

func expectSuccess(t *testing.T, what string, got answered) {
	t.Helper()
	if got.Error != "" {
		t.Errorf("%s: %s (%s)", what, got.Error, got.Cause)
	}
}

const invalidCode = "the one-time password is not valid"

// wrong returns a well-formed code that is not the given one.
func wrong(code string) string {
	last := "2"
	if strings.HasSuffix(code, last) {
		last = "3"
	}
	return code[:len(code)-1] + last
}

// testOTPSends checks that the fourth message in three minutes is refused, to one contact
// or for one user.
func testOTPSends(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox))
	for i, client := range otpSenders {
		for key, changes := range map[string]map[string]any{
			"contact": {"contact": fmt.Sprintf("flooded%d@example.com", i)},
			"user":    {"userIdentifier": fmt.Sprintf("user-%d", i)},
		} {
			what := "fourth to one " + key + " by " + client
			for range 3 {
				served.send(t, client, changes)
			}
			got, _ := served.init(t, client, changes)
			expectRefusal(t, what, got, 8, "at most 3 in 3m0s")
			served.fixture.Clock.Advance(otp.DefaultSendsWindow - time.Second)
			got, _ = served.init(t, client, changes)
			expectRefusal(t, what+", a second early", got, 8, "retry in 1 s")
			served.fixture.Clock.Advance(time.Second)
			got, _ = served.init(t, client, changes)
			expectSuccess(t, what+", in time", got)
		}
	}
}

// testOTPFlood checks that flooding an address, in any spelling, leaves its owner exactly
// one message.
func testOTPFlood(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox))
	for i, client := range otpSenders {
		to := func(domain, user string) map[string]any {
			return map[string]any{"contact": fmt.Sprintf("Victim%d@%s", i, domain), "userIdentifier": user}
		}
		for _, domain := range []string{"example.com", "EXAMPLE.com", "Example.Com"} {
			served.send(t, client, to(domain, "flooder of "+client))
		}
		served.send(t, client, to("example.com", "owner by "+client))
		got, _ := served.init(t, client, to("exampLE.com", "owner by "+client))
		expectRefusal(t, "owner's second by "+client, got, 8, "at most 3 in 3m0s")
	}
}

func testOTPOrganizationSends(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox), func(config *otp.Config) {
		config.Limits.OrganizationSends = otp.Rate{Count: 6, Window: time.Hour}
	})
	for i := range 6 {
		served.send(t, otpSenders[i%len(otpSenders)], nil)
	}
	for _, client := range otpSenders {
		got, _ := served.init(t, client, nil)
		expectRefusal(t, "seventh by "+client, got, 8, "sends per organization: at most 6 in 1h0m0s")
	}
	served.fixture.Clock.Advance(time.Hour)
	served.send(t, "http", nil)
}

// testOTPDeliveries checks that failed deliveries count towards their own limit and not as
// sends.
func testOTPDeliveries(t *testing.T) {
	served := serveOTP(t, &enginetest.Outbox{Fail: true})
	for i, client := range otpSenders {
		to := map[string]any{"contact": fmt.Sprintf("failing%d@example.com", i)}
		for range otp.DefaultFailures {
			got, _ := served.init(t, client, to)
			expectRefusal(t, "failing by "+client, got, 14, "could not be delivered")
		}
		got, _ := served.init(t, client, to)
		expectRefusal(t, "one more by "+client, got, 8, "failed deliveries")
	}
}

// testOTPLiveCodes checks that a fourth live code kills the oldest.
func testOTPLiveCodes(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox))
	for _, client := range otpVerifiers {
		changes := map[string]any{"contact": served.contact(nil), "expirationSeconds": "600"}
		var ids, codes [4]string
		for i := range ids {
			if i == otp.DefaultSends {
				served.fixture.Clock.Advance(otp.DefaultSendsWindow)
			}
			ids[i], codes[i] = served.send(t, client, changes)
		}
		expectRefusal(t, "oldest by "+client, served.verify(t, client, ids[0], codes[0]), 3, invalidCode)
		for i := 1; i < len(ids); i++ {
			expectSuccess(t, fmt.Sprintf("code %d by %s", i, client), served.verify(t, client, ids[i], codes[i]))
		}
	}
}

// testOTPTokens checks that a correct code yields a token, once.
func testOTPTokens(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox))
	for _, client := range otpVerifiers {
		id, code := served.send(t, client, map[string]any{"contact": "Ann@Example.com"})
		for seconds, text := range map[string]string{"0": "out of range", "86401": "out of range", "1e3": "decimal string"} {
			got, _ := served.verifyAt(t, client, served.tick(), map[string]any{"otpId": id, "otpCode": code, "expirationSeconds": seconds})
			expectRefusal(t, "token of "+seconds+" s by "+client, got, 3, text)
		}
		at := served.tick()
		parameters := map[string]any{"otpId": id, "otpCode": code, "publicKey": "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", "expirationSeconds": "86400"}
		got, token := served.verifyAt(t, client, at, parameters)
		expectSuccess(t, client, got)
		now := served.fixture.Clock.Now()
		said, err := otp.VerifyToken(token, &served.fixture.ProofKey.PublicKey, enginetest.Organization, now)
		if err != nil {
			t.Fatalf("%s: %v", client, err)
		}
		issued := now.UTC().Truncate(time.Second)
		want := otp.Token{
			ID: id, Type: otp.TypeEmail, Contact: "ann@example.com", OrganizationID: enginetest.Organization, PublicKey: "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
			IssuedAt: issued, ExpiresAt: issued.Add(24 * time.Hour),
		}
		if said != want {
			t.Errorf("%s: %+v, want %+v", client, said, want)
		}
		if _, again := served.verifyAt(t, client, at, parameters); again != token {
			t.Errorf("%s: the same body yields another token", client)
		}
		expectRefusal(t, "used code by "+client, served.verify(t, client, id, code), 3, invalidCode)
		expectRefusal(t, "unknown id by "+client, served.verify(t, client, enginetest.Organization, code), 3, invalidCode)
	}
}

func testOTPExpiration(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox))
	for _, client := range otpVerifiers {
		for given, lifetime := range map[any]time.Duration{nil: 5 * time.Minute, "1": time.Second, "600": 10 * time.Minute} {
			changes := map[string]any{"expirationSeconds": given}
			ends, code := served.send(t, client, changes)
			sent := served.fixture.Clock.Now()
			lives, other := served.send(t, client, changes)
			served.fixture.Clock.Advance(sent.Add(lifetime - time.Millisecond).Sub(served.fixture.Clock.Now()))
			what := fmt.Sprintf("after %v by %s", lifetime, client)
			at := served.tick() // when the first expires, and a millisecond before the second does
			got, _ := served.verifyAt(t, client, at, map[string]any{"otpId": ends, "otpCode": code})
			expectRefusal(t, what, got, 3, invalidCode)
			got, _ = served.verifyAt(t, client, at, map[string]any{"otpId": lives, "otpCode": other})
			expectSuccess(t, "a millisecond before "+what, got)
		}
	}
}

// testOTPTries checks that the third try may succeed and a fourth may not, and that a
// refused body counts once.
func testOTPTries(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox))
	for _, client := range otpVerifiers {
		for tries, dead := range map[int]bool{2: false, 3: true} {
			id, code := served.send(t, client, nil)
			for range tries {
				at := served.tick()
				for range 3 {
					got, _ := served.verifyAt(t, client, at, map[string]any{"otpId": id, "otpCode": wrong(code)})
					expectRefusal(t, "wrong code by "+client, got, 3, invalidCode)
				}
			}
			got := served.verify(t, client, id, code)
			if dead {
				expectRefusal(t, "dead code by "+client, got, 3, invalidCode)
			} else {
				expectSuccess(t, "last try by "+client, got)
			}
		}
	}
}

// testOTPTriesOfKey checks the limits of ten wrong tries an hour and fifty a day, over all
// codes of a user.
func testOTPTriesOfKey(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox))
	for _, client := range otpVerifiers {
		user := map[string]any{"userIdentifier": "guesser with " + client}
		for range otp.DefaultDailyTries / otp.DefaultHourlyTries {
			var id, code string
			for try := range otp.DefaultHourlyTries {
				if try%otp.DefaultTriesPerCode == 0 {
					served.fixture.Clock.Advance(otp.DefaultSendsWindow)
					id, code = served.send(t, client, user)
				}
				expectRefusal(t, "try by "+client, served.verify(t, client, id, wrong(code)), 3, invalidCode)
			}
			expectRefusal(t, "eleventh try by "+client, served.verify(t, client, id, code), 8, "at most 10 in 1h0m0s")
			served.fixture.Clock.Advance(time.Hour)
		}
		id, code := served.send(t, client, user)
		expectRefusal(t, "fifty-first try by "+client, served.verify(t, client, id, code), 8, "at most 50 in 24h0m0s")
		served.fixture.Clock.Advance(24 * time.Hour)
		id, code = served.send(t, client, user)
		expectSuccess(t, "a day later by "+client, served.verify(t, client, id, code))
	}
}

// testOTPLookAlikes types lower case, and the letters that Crockford's alphabet reads as 0
// and 1.
func testOTPLookAlikes(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox))
	for _, client := range otpVerifiers {
		for _, pair := range []string{"0O", "0o", "1I", "1i", "1L", "1l"} {
			id, code := served.send(t, client, nil)
			for !strings.Contains(code, pair[:1]) { // every fourth code has one
				id, code = served.send(t, client, nil)
			}
			typed := strings.ReplaceAll(strings.ToLower(code), pair[:1], pair[1:])
			expectSuccess(t, typed+" for "+code+" by "+client, served.verify(t, client, id, typed))
		}
	}
}

// testOTPNoBundle checks that the version that sdk-server posts is refused without a bundle,
// and does not count as a try.
func testOTPNoBundle(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox))
	id, code := served.send(t, "sdk-server", nil)
	for range otp.DefaultTriesPerCode + 1 {
		got := served.call(t, "verifyOtp", "sdk-server", map[string]any{
			"otp": map[string]any{"otpId": id, "encryptedOtpBundle": "{}"}, "timestampMs": served.tick(),
		})
		expectRefusal(t, "no bundle", got, 3, "encryptedOtpBundle: bundle: encappedPublic at byte 0: missing")
	}
	expectSuccess(t, "after it", served.verify(t, "http", id, code))
}
