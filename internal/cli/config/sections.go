package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/smtp"
	"github.com/countersign-dev/countersign/otp/webhook"
	"github.com/countersign-dev/countersign/rpcapi"
)

// Events configures what is told about activities, and to whom. Without a webhook only
// 'countersign events tail' sees them, and nothing is written to the store.
type Events struct {
	Webhook *eventsWebhook       `yaml:"webhook"`
	Types   []activity.EventType `yaml:"types"` // default: those about activities
}

// eventsWebhook is an endpoint that takes events, signed as Standard Webhooks says.
type eventsWebhook struct {
	URL        string `yaml:"url"`
	SecretFile string `yaml:"secretFile" path:"file"` // whsec_…, on two lines while it is being replaced
}

func (e *Events) check() error {
	if e == nil {
		return nil
	}
	if e.Types != nil && len(e.Types) == 0 {
		return errors.New("events.types: the list is empty: name at least one, or leave it out for those about activities")
	}
	for _, kind := range e.Types {
		if !slices.Contains(activity.EventTypes(), kind) {
			return fmt.Errorf("events.types: unknown type %q: use %q", kind, activity.EventTypes())
		}
	}
	if e.Webhook == nil {
		return nil
	}
	if err := webhook.CheckURL(e.Webhook.URL); err != nil {
		return fmt.Errorf("events.%w", err)
	}
	if e.Webhook.SecretFile == "" {
		return errors.New("events.webhook.secretFile is missing: 'echo \"whsec_$(openssl rand -base64 32)\"' writes a secret")
	}
	return nil
}

// Wanted returns the types of events that are told: none without a configuration.
func (e *Events) Wanted() []activity.EventType {
	switch {
	case e == nil:
		return nil
	case len(e.Types) > 0:
		return e.Types
	}
	return []activity.EventType{activity.EventWaiting, activity.EventCompleted, activity.EventRejected, activity.EventFailed}
}

// Delivered reports whether events go to an endpoint.
func (e *Events) Delivered() bool { return e != nil && e.Webhook != nil }

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

// RPC configures the Ethereum JSON-RPC signer: see package rpcapi.
type RPC struct {
	Listen  string    `yaml:"listen"`              // HOST:PORT; its callers have certificates or tokens
	Socket  string    `yaml:"socket" path:"apart"` // path of a unix socket; its callers have a uid
	TLS     *RPCTLS   `yaml:"tls"`                 // of listen
	Hosts   []string  `yaml:"hosts"`               // it is called by, besides its certificate's and loopback's
	ChainID uint64    `yaml:"chainId"`             // that eth_chainId answers; 0: refused
	Users   []RPCUser `yaml:"users"`
}

// RPCTLS names the files of the server's certificate, and of the authorities that issue those
// of its clients.
type RPCTLS struct {
	CertFile     string `yaml:"certFile" path:"file"`
	KeyFile      string `yaml:"keyFile" path:"file"`
	ClientCAFile string `yaml:"clientCAFile" path:"file"`
	MinVersion   string `yaml:"minVersion"` // "1.3", the default, or "1.2" for old clients
}

// RPCUser says how callers are recognized as a user of an organization.
type RPCUser struct {
	User         string               `yaml:"user"`         // name or id
	Organization string               `yaml:"organization"` // its id; may be left out if there is only one
	Certificates []rpcapi.Certificate `yaml:"certificates"`
	TokenFile    string               `yaml:"tokenFile" path:"file"` // mode 0600
	UID          *uint32              `yaml:"uid"`
	Activities   []activity.Type      `yaml:"activities"` // nil: transactions and messages
}

// check refuses what is wrong whatever the files contain.
func (r *RPC) check() error {
	if r == nil {
		return nil
	}
	remote := slices.ContainsFunc(r.Users, func(u RPCUser) bool { return len(u.Certificates) > 0 || u.TokenFile != "" })
	certified := slices.ContainsFunc(r.Users, func(u RPCUser) bool { return len(u.Certificates) > 0 })
	local := slices.ContainsFunc(r.Users, func(u RPCUser) bool { return u.UID != nil })
	for i, host := range r.Hosts {
		if strings.ContainsAny(host, "/@?#*[] ") || host == "" || strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return fmt.Errorf("rpc.hosts[%d]: %q: write the name alone, without scheme and port", i, host)
		}
	}
	switch t := r.TLS; {
	case r.Listen == "" && r.Socket == "":
		return errors.New("rpc needs listen, socket or both")
	case len(r.Users) == 0:
		return errors.New("rpc.users is missing: it says who may call")
	case r.Listen != "" && !remote:
		return errors.New("rpc.listen: no user has certificates or a tokenFile, and any program or page can reach an address, loopback too")
	case r.Socket != "" && !local:
		return errors.New("rpc.socket: no user has a uid")
	case r.Listen == "" && remote:
		return errors.New("rpc.users: certificates and tokens go with rpc.listen")
	case r.Socket == "" && local:
		return errors.New("rpc.users: uid goes with rpc.socket")
	case certified && (t == nil || t.ClientCAFile == ""):
		return errors.New("rpc.users: certificates go with rpc.tls.clientCAFile, the authorities that issue them")
	case t != nil && (t.CertFile == "" || t.KeyFile == ""):
		return errors.New("rpc.tls needs both certFile and keyFile")
	case t != nil && t.MinVersion != "" && t.MinVersion != "1.2" && t.MinVersion != "1.3":
		return fmt.Errorf("rpc.tls.minVersion: expected \"1.2\" or \"1.3\", not %q", t.MinVersion)
	}
	return nil
}
