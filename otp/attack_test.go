package otp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store/memory"
)

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
