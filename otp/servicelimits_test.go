package otp_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
)

func TestSendLimits(t *testing.T) {
	for name, recipient := range map[string]func(i int) (user, to string){
		"a user, many contacts":   func(i int) (string, string) { return "user", fmt.Sprintf("+491511234567%d", i) },
		"many users, one contact": func(i int) (string, string) { return fmt.Sprint("user", i), phone },
		"no user":                 func(int) (string, string) { return "", phone },
		"one user, one contact":   func(int) (string, string) { return "user", phone },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(g *game) {
				for i := range otp.DefaultSends {
					g.mustIssue(recipient(i))
				}
				_, _, err := g.issue(recipient(otp.DefaultSends))
				g.limited(err, otp.LimitSends, otp.DefaultSendsWindow)
				time.Sleep(otp.DefaultSendsWindow - time.Second)
				_, _, err = g.issue(recipient(otp.DefaultSends))
				g.limited(err, otp.LimitSends, time.Second)
				time.Sleep(time.Second)
				g.mustIssue(recipient(otp.DefaultSends))
			})
		})
	}
}

// TestContactSpellings checks that different spellings of a contact count as one: other cases, and
// a trailing full stop in any of the forms that IDNA maps to one.
func TestContactSpellings(t *testing.T) {
	for to, spellings := range map[string][]string{
		"ann@xn--mnchen-3ya.example": {"ann@münchen.example", "ANN@MÜNCHEN.example", "Ann@xn--mnchen-3ya.example", "aNN@münchen.example"},
		"ann@example.com":            {"ann@example.com", "ann@example.com\u3002", "ann@example.com\uff0e", "ann@example.com\uff61"},
	} {
		play(t, func(g *game) {
			for sent, contact := range spellings {
				_, err := g.service.Issue(g.Context(), org, orgName, email(func(r *otp.Request) { r.Contact = contact }))
				if sent == g.service.Limits().Sends.Count {
					g.limited(err, otp.LimitSends, otp.DefaultSendsWindow)
				} else if err != nil || g.box.last().To != to {
					g.Errorf("%q: sent to %q, %v", contact, g.box.last().To, err)
				}
			}
		})
	}
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

// TestFloodedVictim lets an attacker request as many codes to the victim's phone as
// the limits allow, and try wrong ones. The victim still gets a code that stays live.
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

// TestGuesser checks that the hourly and the daily limit bound the tries over many
// codes of a user or a contact.
func TestGuesser(t *testing.T) {
	for name, user := range map[string]func(i int) string{
		"one user":       func(int) string { return "guesser" },
		"without a user": func(int) string { return "" },
		"new users":      func(i int) string { return fmt.Sprint("guesser", i) },
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
					g.Fatalf("%d tries in a day, want %d", compared, otp.DefaultDailyTries)
				}
			})
		})
	}
}

func TestTryLimits(t *testing.T) {
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
		testenv.Must(g, g.verify(id, code))
	})
}

// TestCorrectCodesDoNotCount checks that logging in often does not lock a user out.
func TestCorrectCodesDoNotCount(t *testing.T) {
	play(t, func(g *game) {
		for range 2 * otp.DefaultDailyTries {
			id, code := g.mustIssue("user", phone)
			testenv.Must(g, g.verify(id, code))
			time.Sleep(time.Minute)
		}
	})
}

func TestTriesPerCode(t *testing.T) {
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

// TestLiveCodes checks that a fourth code kills the oldest one of the same user.
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
