package otp_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/otp"
)

// game is a service with its default limits, in a bubble of synctest: its time
// goes by when the test sleeps.
type game struct {
	*testing.T
	service *otp.Service
	box     *outbox
}

func play(t *testing.T, test func(g *game)) {
	synctest.Test(t, func(t *testing.T) {
		service, box := newService(t, func(c *otp.Config) { c.Limits = otp.Limits{} })
		test(&game{t, service, box})
	})
}

// issue sends a code to a phone; its message is the code.
func (g *game) issue(user, phone string) (id, code string, err error) {
	g.Helper()
	id, err = g.service.Issue(g.Context(), org, orgName, sms(func(r *otp.Request) {
		r.UserIdentifier, r.Contact, r.SMS.Template = user, phone, "{{.OtpCode}}"
	}))
	if err != nil {
		return "", "", err
	}
	return id, g.box.last().Text, nil
}

func (g *game) mustIssue(user, phone string) (id, code string) {
	g.Helper()
	id, code, err := g.issue(user, phone)
	if err != nil {
		g.Fatal(err)
	}
	return id, code
}

func (g *game) verify(id, code string) error {
	_, err := g.service.Verify(g.Context(), org, id, code)
	return err
}

func (g *game) expect(err, want error) {
	g.Helper()
	if !errors.Is(err, want) {
		g.Fatalf("%v; %v was expected", err, want)
	}
}

// limited expects a limit, and when to come back.
func (g *game) limited(err error, name otp.LimitName, after time.Duration) {
	g.Helper()
	var limit *otp.LimitError
	if !errors.As(err, &limit) || limit.Limit != name || limit.RetryAfter != after {
		g.Fatalf("%v; %s for %v was expected", err, name, after)
	}
	if !strings.Contains(err.Error(), fmt.Sprintf("come back in %d s", limit.RetryAfterSeconds())) {
		g.Fatalf("the message does not say when to come back: %v", err)
	}
}

const phone = "+4915112345678"

func wrong(code string) string {
	if code[0] == '0' {
		return "1" + code[1:]
	}
	return "0" + code[1:]
}

func TestRightCode(t *testing.T) {
	play(t, func(g *game) {
		id, code := g.mustIssue("user", phone)
		verified, err := g.service.Verify(g.Context(), org, id, strings.ToLower(code))
		if err != nil || verified != (otp.Verified{ID: id, OrganizationID: org, Type: otp.TypeSMS, Contact: phone}) {
			g.Fatalf("%+v, %v", verified, err)
		}
		g.expect(g.verify(id, code), otp.ErrUsed)
	})
}

// TestLookAlikes types a code as a person reads it.
func TestLookAlikes(t *testing.T) {
	play(t, func(g *game) {
		for i := range 300 {
			id, code := g.mustIssue("user", fmt.Sprintf("+49151%07d", i))
			typed := strings.NewReplacer("0", "o", "1", "l").Replace(strings.ToLower(code))
			if i%2 == 0 {
				typed = strings.NewReplacer("0", "O", "1", "I").Replace(code)
			}
			if err := g.verify(id, typed); err != nil {
				g.Fatalf("%s typed as %s: %v", code, typed, err)
			}
			time.Sleep(time.Minute)
		}
	})
}

func TestExpiry(t *testing.T) {
	play(t, func(g *game) {
		early, earlyCode := g.mustIssue("", phone)
		late, lateCode := g.mustIssue("", phone)
		time.Sleep(otp.DefaultExpiration - time.Second)
		if err := g.verify(early, earlyCode); err != nil {
			g.Fatalf("a second before: %v", err)
		}
		time.Sleep(time.Second)
		g.expect(g.verify(late, lateCode), otp.ErrExpired)
	})
}

func TestOneAnswerForAllThatIsWrong(t *testing.T) {
	play(t, func(g *game) {
		used, code := g.mustIssue("", phone)
		if err := g.verify(used, code); err != nil {
			g.Fatal(err)
		}
		live, liveCode := g.mustIssue("", phone)
		answers := map[string]error{
			"wrong":        g.verify(live, wrong(liveCode)),
			"used":         g.verify(used, code),
			"unknown":      g.verify("0fcd14f5-dae7-4331-82ca-ebaddd849534", code),
			"no id":        g.verify("", code),
			"malformed id": g.verify("a\x00b", code),
			"other case":   g.verify(strings.ToUpper(live), liveCode),
			"no code":      g.verify(live, ""),
			"long code":    g.verify("0fcd14f5-dae7-4331-82ca-ebaddd849534", strings.Repeat("0", 1<<20)),
		}
		_, answers["another organization"] = g.service.Verify(g.Context(), "another", live, liveCode)
		for name, err := range answers {
			if !errors.Is(err, otp.ErrInvalidCode) || err.Error() != otp.ErrInvalidCode.Error() {
				g.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestSendLimitsOfUserAndContact(t *testing.T) {
	for name, who := range map[string]func(i int) (user, to string){
		"a user, many contacts":   func(i int) (string, string) { return "user", fmt.Sprintf("+491511234567%d", i) },
		"many users, one contact": func(i int) (string, string) { return fmt.Sprint("user", i), phone },
		"no user":                 func(int) (string, string) { return "", phone },
		"one user, one contact":   func(int) (string, string) { return "user", phone },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(g *game) {
				for i := range otp.DefaultSends {
					g.mustIssue(who(i))
				}
				_, _, err := g.issue(who(otp.DefaultSends))
				g.limited(err, otp.LimitSends, otp.DefaultSendsWindow)
				time.Sleep(otp.DefaultSendsWindow - time.Second)
				_, _, err = g.issue(who(otp.DefaultSends))
				g.limited(err, otp.LimitSends, time.Second)
				time.Sleep(time.Second)
				g.mustIssue(who(otp.DefaultSends))
			})
		})
	}
}

// TestContactsAreCountedInOneForm: a mailbox is not flooded by writing it in
// another way.
func TestContactsAreCountedInOneForm(t *testing.T) {
	play(t, func(g *game) {
		for _, contact := range []string{"ann@münchen.example", "ANN@MÜNCHEN.example", "Ann@xn--mnchen-3ya.example"} {
			if _, err := g.service.Issue(g.Context(), org, orgName, email(func(r *otp.Request) { r.Contact = contact })); err != nil {
				g.Fatal(err)
			}
		}
		_, err := g.service.Issue(g.Context(), org, orgName, email(func(r *otp.Request) { r.Contact = "aNN@münchen.example" }))
		g.limited(err, otp.LimitSends, otp.DefaultSendsWindow)
	})
}

func TestSendLimitOfOrganization(t *testing.T) {
	play(t, func(g *game) {
		for i := range otp.DefaultOrganizationSends {
			g.mustIssue("", fmt.Sprintf("+49151%07d", i))
		}
		_, _, err := g.issue("", phone)
		g.limited(err, otp.LimitOrganizationSends, time.Hour)
		if _, err := g.service.Issue(g.Context(), "another", orgName, sms(nil)); err != nil {
			g.Fatalf("another organization: %v", err)
		}
		time.Sleep(time.Hour - time.Second)
		_, _, err = g.issue("", phone)
		g.limited(err, otp.LimitOrganizationSends, time.Second)
		time.Sleep(time.Second)
		g.mustIssue("", phone)
	})
}

// TestFloodedVictim: an attacker asks for codes to the victim's phone as often as
// the limits allow, and types in wrong ones. The victim gets a code all the same, keeps
// it, and gets in.
func TestFloodedVictim(t *testing.T) {
	play(t, func(g *game) {
		flood := func() {
			for range 10 {
				id, code, err := g.issue("flooder", phone)
				if err != nil {
					continue
				}
				for range 10 {
					_ = g.verify(id, wrong(code))
				}
			}
		}
		for range 50 {
			flood()
			id, code := g.mustIssue("victim", phone)
			for range 3 {
				time.Sleep(time.Minute)
				flood()
			}
			if err := g.verify(id, code); err != nil {
				g.Fatalf("the victim, three minutes later: %v", err)
			}
		}
	})
}

// TestGuesser: over many codes of a user or of a contact no more tries than the
// hourly and the daily limit let through.
func TestGuesser(t *testing.T) {
	for name, user := range map[string]func(i int) string{
		"of one user":       func(int) string { return "guesser" },
		"without a user":    func(int) string { return "" },
		"of ever new users": func(i int) string { return fmt.Sprint("guesser", i) },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(g *game) {
				compared, inHour := 0, 0
				for minute := range 24 * 60 {
					if minute%60 == 0 {
						inHour = 0
					}
					id, code, err := g.issue(user(minute), phone)
					for err == nil {
						if err = g.verify(id, wrong(code)); errors.Is(err, otp.ErrWrong) {
							compared, inHour = compared+1, inHour+1
							err = nil
						}
					}
					if inHour > otp.DefaultHourlyTries || compared > otp.DefaultDailyTries {
						g.Fatalf("minute %d: %d tries in the hour, %d in the day", minute, inHour, compared)
					}
					time.Sleep(time.Minute)
				}
				if compared != otp.DefaultDailyTries {
					g.Fatalf("%d tries in a day; %d were expected to get through", compared, otp.DefaultDailyTries)
				}
			})
		})
	}
}

func TestTryLimitsToTheSecond(t *testing.T) {
	play(t, func(g *game) {
		for range otp.DefaultHourlyTries {
			id, code := g.mustIssue("user", phone)
			g.expect(g.verify(id, wrong(code)), otp.ErrWrong)
			time.Sleep(time.Minute)
		}
		id, code := g.mustIssue("user", phone)
		g.limited(g.verify(id, code), otp.LimitHourlyTries, 50*time.Minute)
		time.Sleep(50*time.Minute - time.Second)
		id, code = g.mustIssue("user", phone)
		g.limited(g.verify(id, code), otp.LimitHourlyTries, time.Second)
		time.Sleep(time.Second)
		if err := g.verify(id, code); err != nil {
			g.Fatal(err)
		}
	})
}

// TestRightTriesDoNotCount: who logs in often is not locked out by it.
func TestRightTriesDoNotCount(t *testing.T) {
	play(t, func(g *game) {
		for range 2 * otp.DefaultDailyTries {
			id, code := g.mustIssue("user", phone)
			if err := g.verify(id, code); err != nil {
				g.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
	})
}

func TestThreeTriesPerCode(t *testing.T) {
	play(t, func(g *game) {
		id, code := g.mustIssue("user", phone)
		g.expect(g.verify(id, wrong(code)), otp.ErrWrong)
		g.expect(g.verify(id, wrong(code)), otp.ErrWrong)
		if err := g.verify(id, code); err != nil {
			g.Fatalf("the third try is right: %v", err)
		}
		id, code = g.mustIssue("user", phone)
		for range 3 {
			g.expect(g.verify(id, wrong(code)), otp.ErrWrong)
		}
		g.expect(g.verify(id, code), otp.ErrDead)
	})
}

// TestLiveCodes: a fourth code kills the oldest, of the same user first.
func TestLiveCodes(t *testing.T) {
	play(t, func(g *game) {
		victim, victimCode := g.mustIssue("victim", phone)
		first, firstCode := g.mustIssue("other", phone)
		second, secondCode := g.mustIssue("other", phone)
		time.Sleep(otp.DefaultSendsWindow)
		third, thirdCode := g.mustIssue("other", phone)
		g.expect(g.verify(first, firstCode), otp.ErrDead)
		for id, code := range map[string]string{victim: victimCode, second: secondCode, third: thirdCode} {
			if err := g.verify(id, code); err != nil {
				g.Error(err)
			}
		}
	})
}

// TestDeliveryFails: no code is alive, and the failures use up a limit of their
// own.
func TestDeliveryFails(t *testing.T) {
	play(t, func(g *game) {
		g.box.fail = errors.New("mailbox on fire")
		for range otp.DefaultFailures {
			_, _, err := g.issue("user", phone)
			g.expect(err, otp.ErrDelivery)
			g.expect(err, g.box.fail)
		}
		_, _, err := g.issue("user", phone)
		g.limited(err, otp.LimitFailures, otp.DefaultFailuresWindow)
		g.box.fail = nil
		time.Sleep(otp.DefaultFailuresWindow)
		for range otp.DefaultSends {
			g.mustIssue("user", phone)
		}
	})
}

// TestDeliveryFailsInOrganization: failures count for the whole organization,
// whichever contact the messages were for.
func TestDeliveryFailsInOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, box := newService(t, func(c *otp.Config) {
			c.Limits = otp.Limits{OrganizationFailures: otp.Rate{Count: 2, Window: time.Hour}}
		})
		g := &game{t, service, box}
		box.fail = errors.New("mailbox on fire")
		for i := range 2 {
			_, _, err := g.issue(fmt.Sprint("user ", i), fmt.Sprintf("+49151%07d", i))
			g.expect(err, otp.ErrDelivery)
		}
		box.fail = nil
		_, _, err := g.issue("user 3", phone)
		g.limited(err, otp.LimitOrganizationFailures, time.Hour)
		time.Sleep(time.Hour)
		g.mustIssue("user 3", phone)
	})
}

func TestAtOnce(t *testing.T) {
	service, box := newService(t, func(c *otp.Config) { c.Limits = otp.Limits{} })
	g := &game{t, service, box}
	for name, one := range map[string]struct {
		typed func(code string) string
		right int32
	}{
		"right": {func(code string) string { return code }, 1},
		"wrong": {wrong, 0},
	} {
		t.Run(name, func(t *testing.T) {
			id, code := g.mustIssue(name, "+491511234567"+fmt.Sprint(one.right))
			var right atomic.Int32
			var all sync.WaitGroup
			for range 200 {
				all.Go(func() {
					if err := g.verify(id, one.typed(code)); err == nil {
						right.Add(1)
					} else if !errors.Is(err, otp.ErrInvalidCode) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if right.Load() != one.right {
				t.Fatalf("%d succeeded; %d were expected", right.Load(), one.right)
			}
		})
	}
}
