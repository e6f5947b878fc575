package config

import (
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/smtp"
)

// OTPLimits bound what is sent, e-mails and text messages apart.
type OTPLimits struct {
	Email SendLimits `yaml:"email"`
	SMS   SendLimits `yaml:"sms"`
}

// SendLimits are rates of one type of message. Nil selects the defaults of package otp.
type SendLimits struct {
	Organization *Rate `yaml:"organization"`
	Contact      *Rate `yaml:"contact"`
	Credential   *Rate `yaml:"credential"`
}

// Rate allows at most Max in any Window.
type Rate struct {
	Max    int    `yaml:"max"`
	Window string `yaml:"window"` // such as 1h or 3m
}

// OTPLimits returns the limits for the OTP service.
func (o *OTP) OTPLimits() otp.Limits { return o.limits(func(string, error) {}) }

// limits returns the limits, and tells what is wrong with a member.
func (o *OTP) limits(fail func(path string, err error)) (limits otp.Limits) {
	if o.Limits == nil {
		return limits
	}
	set := func(name string, from *Rate, into *otp.Rate) {
		if from == nil {
			return
		}
		window, err := time.ParseDuration(from.Window)
		if err != nil {
			fail("otp.limits."+name, errors.New("window: expected a duration such as 90s, 3m or 24h"))
			return
		}
		*into = otp.Rate{Count: from.Max, Window: window}
		if err := into.Check(); err != nil {
			fail("otp.limits."+name, err)
		}
	}
	email, sms := &o.Limits.Email, &o.Limits.SMS
	set("email.organization", email.Organization, &limits.Email.Organization)
	set("email.contact", email.Contact, &limits.Email.Contact)
	set("email.credential", email.Credential, &limits.Email.Credential)
	set("sms.organization", sms.Organization, &limits.SMS.Organization)
	set("sms.contact", sms.Contact, &limits.SMS.Contact)
	set("sms.credential", sms.Credential, &limits.SMS.Credential)
	return limits
}

// Countries returns the beginnings of the phone numbers that text messages are sent to.
func (o *OTP) Countries() []string {
	if o.SMS == nil {
		return nil
	}
	return o.SMS.Countries
}

func (o *OTP) checkSending(c *checker) {
	if o.Email != nil && o.Email.SMTP != nil {
		if err := smtp.CheckAuth(o.Email.SMTP.Auth); err != nil {
			c.fail("otp.email.smtp.auth", "otp.email.smtp.auth: %v", err)
		}
	}
	o.limits(func(path string, err error) { c.fail(path, "%s: %v", path, err) })
	if o.SMS != nil && o.SMS.Countries != nil && len(o.SMS.Countries) == 0 {
		c.fail("otp.sms.countries", "otp.sms.countries: the list is empty: name at least one, or leave it out for all")
	}
	for i, prefix := range o.Countries() {
		if err := otp.CheckCountry(prefix); err != nil {
			path := fmt.Sprintf("otp.sms.countries[%d]", i)
			c.fail(path, "%s: %v", path, err)
		}
	}
}
