package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/weborigin"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// checker collects what is wrong with a configuration whatever the files contain that it
// names.
type checker struct {
	config   *Config
	problems *source.Report
}

// fail adds a problem at a member, which a path such as otp.email names.
func (c *checker) fail(path, message string, args ...any) {
	c.problems.Add(c.config.source.places.Of(path), "", message, args...)
}

func (c *checker) check() {
	config := c.config
	config.Limits.check(c)
	if err := access.CheckHazards(config.Organizations, all.HazardNames()); err != nil {
		c.fail(access.EntryOf(err), "%v", err)
	}
	for name, text := range map[string]string{"keystore": config.Keystore, "proofKey": config.ProofKey} {
		if uri, err := pkcs11.ParseURI(text); err == nil && uri.RetryPIN {
			c.fail(name,
				"%s: countersign-retry-pin is for one login, and a configuration for each: pass it to one command with --keystore", name)
		}
	}
	for i, origin := range config.Origins {
		if _, err := weborigin.Parse(origin); err != nil {
			c.fail(fmt.Sprintf("origins[%d]", i), "origins[%d]: %v", i, err)
		}
	}
	if _, err := access.ParseNetworks(config.ForwardedFrom); err != nil {
		c.fail("forwardedFrom"+access.EntryOf(err), "forwardedFrom%v", err)
	}
	config.checkForwarded(c)
	if err := config.Descriptors.Check(); err != nil {
		c.fail("descriptors", "%v", err)
	}
	for _, err := range []error{config.checkKeys(), config.RPC.check(), config.Events.check(), config.checkWallets()} {
		if err != nil {
			c.fail(pathOf(err), "%v", err)
		}
	}
	for i := range config.Organizations {
		config.checkOrigins(c, i)
	}
	if len(config.Organizations) == 0 {
		c.fail("organizations", "organizations is missing: at least one is required")
	} else if _, err := access.NewDirectory(config.Organizations); err != nil {
		c.fail(access.EntryOf(err), "%v", err)
	}
	if config.TLS != nil && (config.TLS.CertFile == "" || config.TLS.KeyFile == "") {
		c.fail("tls", "tls needs both certFile and keyFile")
	}
	if config.OTP != nil {
		config.OTP.check(c)
		config.OTP.checkSending(c)
	}
}

var headerName = plaintext.NewPattern(`^[A-Za-z0-9-]{1,64}$`)

// checkForwarded refuses a header that no proxy sends, and one without proxies to take it from.
func (c *Config) checkForwarded(report *checker) {
	const name = "forwardedHeader"
	switch {
	case c.ForwardedFrom != nil && len(c.ForwardedFrom) == 0:
		report.fail("forwardedFrom", "forwardedFrom: the list is empty: name the proxies, or leave it out for none")
	case c.ForwardedHeader == "":
	case len(c.ForwardedFrom) == 0:
		report.fail(name, "forwardedHeader needs forwardedFrom, the proxies that it is taken from")
	case !headerName.MatchString(c.ForwardedHeader) || strings.EqualFold(c.ForwardedHeader, "Forwarded"):
		report.fail(name, "forwardedHeader: expected the name of a header with plain addresses, such as %s; that of "+
			"RFC 7239 has another form", httpapi.DefaultForwardedHeader)
	}
}

// checkOrigins refuses empty lists of origins, which would accept every origin, as no list does.
func (c *Config) checkOrigins(report *checker, organization int) {
	for i := range c.Organizations[organization].Users {
		for j, passkey := range c.Organizations[organization].Users[i].Passkeys {
			if passkey.Origins != nil && len(passkey.Origins) == 0 {
				path := fmt.Sprintf("organizations[%d].users[%d].passkeys[%d].origins", organization, i, j)
				report.fail(path, "origins: the list is empty: name at least one, or leave it out for all")
			}
		}
	}
}

// Check refuses a missing folder, and pins inside the folder: a folder from elsewhere would
// then vouch for itself.
func (d *Descriptors) Check() error {
	switch {
	case d == nil:
		return nil
	case d.Folder == "":
		return errors.New("descriptors.folder is missing")
	case d.Pins == "":
		return nil
	}
	within, err := filepath.Rel(d.Folder, d.Pins)
	if err == nil && filepath.IsLocal(within) {
		return errors.New("descriptors.pins is inside descriptors.folder, which may come from elsewhere: keep it outside")
	}
	return nil
}

func (o *OTP) check(c *checker) {
	switch {
	case o.SecretFile == "":
		c.fail("otp", "otp.secretFile is missing")
	case o.Outbox != "" && (o.Email != nil || o.SMS != nil):
		c.fail("otp.outbox", "otp.outbox receives all messages: remove either it, or email and sms")
	case o.Outbox == "" && o.Email == nil && o.SMS == nil:
		c.fail("otp", "otp names no sender: email, sms or outbox")
	case o.Email != nil && (o.Email.SMTP == nil) == (o.Email.Webhook == nil):
		c.fail("otp.email", "otp.email needs one of smtp and webhook")
	case o.Email != nil && o.Email.SMTP != nil && (o.Email.SMTP.Host == "" || o.Email.SMTP.From == ""):
		c.fail("otp.email.smtp", "otp.email.smtp needs both host and from")
	case o.Email != nil && o.Email.SMTP != nil && (o.Email.SMTP.Username == "") != (o.Email.SMTP.PasswordFile == ""):
		c.fail("otp.email.smtp", "otp.email.smtp needs both username and passwordFile, or neither")
	case o.SMS != nil && o.SMS.Webhook == nil:
		c.fail("otp.sms", "otp.sms needs a webhook")
	}
}

// pathOf returns the path that an error begins with, such as kms[0] or rpc.tls.
func pathOf(err error) string {
	path, _, _ := strings.Cut(err.Error(), " ")
	return strings.TrimSuffix(path, ":")
}
