package otp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store/memory"
)

// TestContactFullStops checks that a trailing full stop, in any of the forms that
// IDNA maps to one, does not evade the limits of a contact.
func TestContactFullStops(t *testing.T) {
	service, box := newService(t, func(c *otp.Config) { c.Limits = otp.Limits{} })
	sends := 0
	for _, dot := range []string{"", "\u3002", "\uff0e", "\uff61"} {
		_, err := service.Issue(t.Context(), org, orgName, email(func(r *otp.Request) { r.Contact = "ann@example.com" + dot }))
		if err == nil {
			sends++
			if to := box.last().To; to != "ann@example.com" {
				t.Errorf("%q: sent to %q", "ann@example.com"+dot, to)
			}
		} else if !errors.Is(err, otp.ErrLimit) {
			t.Errorf("%q: %v", dot, err)
		}
	}
	if sends != service.Limits().Sends.Count {
		t.Errorf("%d messages to one contact", sends)
	}
	for _, dots := range []string{"..", ".\u3002", "\u3002\u3002"} {
		if _, err := service.Prepare(org, orgName, email(func(r *otp.Request) { r.Contact = "ann@example.com" + dots })); !errors.Is(err, otp.ErrEmail) {
			t.Errorf("%q: %v", dots, err)
		}
	}
}

// TestLongAddressesRefusedEarly checks that a domain of 60 kB does not reach IDNA,
// whose cost is quadratic.
func TestLongAddressesRefusedEarly(t *testing.T) {
	service, _ := newService(t, nil)
	var domain strings.Builder
	for i := range 20_000 {
		domain.WriteRune(rune(0x4e00 + i))
	}
	for name, change := range map[string]func(r *otp.Request, address string){
		"contact":              func(r *otp.Request, address string) { r.Contact = address },
		"sendFromEmailAddress": func(r *otp.Request, address string) { r.SendFromEmailAddress = address },
		"replyToEmailAddress":  func(r *otp.Request, address string) { r.ReplyToEmailAddress = address },
	} {
		request := email(func(r *otp.Request) { change(r, "a@"+domain.String()+".example") })
		allocations := testing.AllocsPerRun(10, func() {
			if _, err := service.Prepare(org, orgName, request); err == nil || len(err.Error()) > 300 {
				t.Errorf("%s: %v", name, err)
			}
		})
		if allocations > 100 {
			t.Errorf("%s: %v allocations", name, allocations)
		}
	}
}

// TestEncodedWords checks that no header contains what a mail client would decode.
func TestEncodedWords(t *testing.T) {
	service, _ := newService(t, func(c *otp.Config) {
		c.Templates = map[string]otp.Template{"mine": {Subject: "={{.a}}", Text: "{{.OtpCode}}"}}
	})
	const word = "=?utf-8?q?=0D=0ABcc:_x@y.z?="
	for parameter, change := range map[string]func(*otp.Request){
		"appName":                 func(r *otp.Request) { r.AppName = word },
		"sendFromEmailSenderName": func(r *otp.Request) { r.SendFromEmailSenderName = word },
		"emailCustomization.templateVariables": func(r *otp.Request) {
			r.Email.TemplateID, r.Email.TemplateVariables = "mine", fmt.Sprintf(`{"a":%q}`, word[1:])
		},
	} {
		var refused *otp.ParameterError
		if _, err := service.Prepare(org, orgName, email(change)); !errors.As(err, &refused) || refused.Parameter != parameter {
			t.Errorf("%s: %v", parameter, err)
		}
	}
}

// TestErrorsDeterministic checks that of two faults always the same one is reported.
func TestErrorsDeterministic(t *testing.T) {
	service, _ := newService(t, nil)
	for name, call := range map[string]func() error{
		"names": func() error {
			_, err := service.Prepare(org, orgName, email(func(r *otp.Request) { r.AppName, r.SendFromEmailSenderName = "\n", "\n" }))
			return err
		},
		"addresses": func() error {
			_, err := service.Prepare(org, orgName, email(func(r *otp.Request) { r.SendFromEmailAddress, r.ReplyToEmailAddress = "x", "y" }))
			return err
		},
		"variables": func() error {
			_, err := service.Prepare(org, orgName, email(func(r *otp.Request) { r.Email.TemplateVariables = `{"-a":"","-b":"","-c":""}` }))
			return err
		},
		"limits": func() error {
			_, err := otp.New(otp.Config{Store: memory.New(0), Secret: secret(make([]byte, 32)), Limits: otp.Limits{Sends: otp.Rate{Count: -1, Window: time.Hour}, HourlyTries: otp.Rate{Count: -1, Window: time.Hour}}})
			return err
		},
	} {
		first := call()
		if first == nil {
			t.Fatalf("%s: accepted", name)
		}
		for range 200 {
			if err := call(); err.Error() != first.Error() {
				t.Fatalf("%s: %v, then %v", name, first, err)
			}
		}
	}
}
