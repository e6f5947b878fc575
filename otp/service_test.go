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

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
)

// game is a service with default limits, inside a synctest bubble: its clock advances
// while the test sleeps.
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

// issue sends a code to a phone; the message is only the code.
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
	testenv.Must(g, err)
	return id, code
}

func (g *game) verify(id, code string) error {
	_, err := g.service.Verify(g.Context(), org, id, code)
	return err
}

func (g *game) expect(err, want error) {
	g.Helper()
	if !errors.Is(err, want) {
		g.Fatalf("error %v, want %v", err, want)
	}
}

// limited requires a LimitError of that limit and wait.
func (g *game) limited(err error, name otp.LimitName, after time.Duration) {
	g.Helper()
	var limit *otp.LimitError
	if !errors.As(err, &limit) || limit.Limit != name || limit.RetryAfter != after {
		g.Fatalf("error %v, want %s for %v", err, name, after)
	}
	if !strings.Contains(err.Error(), fmt.Sprintf("retry in %d s", limit.RetryAfterSeconds())) {
		g.Fatalf("the message does not say when to retry: %v", err)
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

func TestExpiry(t *testing.T) {
	play(t, func(g *game) {
		early, earlyCode := g.mustIssue("", phone)
		late, lateCode := g.mustIssue("", phone)
		time.Sleep(otp.DefaultExpiration - time.Second)
		if err := g.verify(early, earlyCode); err != nil {
			g.Fatalf("a second before it expires: %v", err)
		}
		time.Sleep(time.Second)
		g.expect(g.verify(late, lateCode), otp.ErrExpired)
	})
}

func TestInvalidCodesGetOneAnswer(t *testing.T) {
	play(t, func(g *game) {
		used, code := g.mustIssue("", phone)
		testenv.Must(g, g.verify(used, code))
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

// TestDeliveryFails checks that failed deliveries count towards a limit of their own,
// and not as sends.
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

// TestDeliveryFailsInOrganization checks that failures count for the organization,
// across contacts.
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

func TestConcurrentTries(t *testing.T) {
	service, box := newService(t, func(c *otp.Config) { c.Limits = otp.Limits{} })
	g := &game{t, service, box}
	for name, test := range map[string]struct {
		typed func(code string) string
		right int32
	}{
		"right": {func(code string) string { return code }, 1},
		"wrong": {wrong, 0},
	} {
		t.Run(name, func(t *testing.T) {
			id, code := g.mustIssue(name, "+491511234567"+fmt.Sprint(test.right))
			var right atomic.Int32
			var tries sync.WaitGroup
			for range 200 {
				tries.Go(func() {
					if err := g.verify(id, test.typed(code)); err == nil {
						right.Add(1)
					} else if !errors.Is(err, otp.ErrInvalidCode) {
						t.Error(err)
					}
				})
			}
			tries.Wait()
			if right.Load() != test.right {
				t.Fatalf("%d succeeded, want %d", right.Load(), test.right)
			}
		})
	}
}
