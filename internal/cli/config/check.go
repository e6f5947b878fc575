package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/weborigin"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// checker collects what is wrong with a configuration whatever the files contain that it names.
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
	halts := func(m access.Member) bool { return m.May(activity.TypeHalt) || m.May(activity.TypeResume) }
	for i, organization := range config.Organizations {
		if members, _ := organization.Members(); config.LogMemory() == "" && slices.ContainsFunc(members, halts) {
			c.fail(fmt.Sprintf("organizations[%d]", i), "organizations[%d]: a credential may halt or resume, which "+
				"needs the log: remove log.off or store: memory, or the types from its activities", i)
		}
		for j := range config.Organizations[i].Users {
			for k, passkey := range config.Organizations[i].Users[j].Passkeys {
				// An empty list would accept every origin, as no list does.
				if passkey.Origins != nil && len(passkey.Origins) == 0 {
					c.fail(fmt.Sprintf("organizations[%d].users[%d].passkeys[%d].origins", i, j, k),
						"origins: the list is empty: name at least one, or leave it out for all")
				}
			}
		}
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

// Warnings returns likely mistakes that do not keep a server from starting: credentials that
// have expired, and origins and domains that no browser reports. Each is at its place.
func (c *Config) Warnings(now time.Time) []string {
	w := warnings{c, now, nil}
	for i, origin := range c.Origins {
		w.never(fmt.Sprintf("origins[%d]", i), weborigin.NeverMatches(origin))
	}
	if c.Console != nil {
		w.never("console.origin", weborigin.NeverMatches(c.Console.Origin))
		w.never("console.rpId", weborigin.NeverADomain(c.Console.RPID))
	}
	for i := range c.Organizations {
		for j := range c.Organizations[i].Users {
			w.user(fmt.Sprintf("organizations[%d].users[%d]", i, j), &c.Organizations[i].Users[j])
		}
	}
	return w.found
}

type warnings struct {
	config *Config
	now    time.Time
	found  []string
}

func (w *warnings) add(path, message string) {
	w.found = append(w.found, w.config.render(path, message, true))
}

func (w *warnings) never(path, why string) {
	if why != "" {
		w.add(path, why)
	}
}

func (w *warnings) user(path string, user *access.UserConfig) {
	for i := range user.APIKeys {
		w.expiry(fmt.Sprintf("%s.apiKeys[%d].expiresAt", path, i), user.APIKeys[i].ExpiresAt)
	}
	for i := range user.Passkeys {
		passkey, passkeyPath := &user.Passkeys[i], fmt.Sprintf("%s.passkeys[%d]", path, i)
		w.expiry(passkeyPath+".expiresAt", passkey.ExpiresAt)
		w.never(passkeyPath+".rpId", weborigin.NeverADomain(passkey.RPID))
		for j, origin := range passkey.Origins {
			w.never(fmt.Sprintf("%s.origins[%d]", passkeyPath, j), weborigin.NeverMatchesPasskey(origin))
		}
	}
}

func (w *warnings) expiry(path string, at time.Time) {
	if !at.IsZero() && !at.After(w.now) {
		w.add(path, fmt.Sprintf("expiresAt: %s is past: every request of this credential is refused", at.Format(time.RFC3339)))
	}
}
