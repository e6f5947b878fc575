package otp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/internal/weborigin"
)

// Defaults of a request's parameters.
const (
	DefaultExpiration = 5 * time.Minute
	DefaultSenderName = "Notifications"
)

// Bounds of a request's parameters, in bytes unless the name says otherwise.
const (
	maxNameRunes     = 100
	maxIdentifier    = 256
	maxURL           = 2000
	maxVariables     = 8 << 10
	maxVariable      = 1000
	maxSMSTemplate   = 500
	maxSecondsDigits = 9
)

// magicLinkVerb is where a magicLinkTemplate has the code.
const magicLinkVerb = "%s"

// settings are the checked parameters of a request, with their defaults.
type settings struct {
	contact      string // where the message is sent
	length       int
	alphanumeric bool
	expiration   time.Duration
	appName      string
	link         string // with magicLinkVerb; may be empty
	variables    map[string]string
	template     Template
	fromName     string
	from         string
	replyTo      string
}

func (s *Service) check(organizationName string, r *Request) (set settings, err error) {
	switch {
	case r.Type != TypeEmail && r.Type != TypeSMS:
		return set, badParameter("otpType", "unknown type %.100q: expected %s or %s", r.Type, TypeEmail, TypeSMS)
	case s.sender(r.Type) == nil:
		return set, badParameter("otpType", "%s is not supported here: no sender is configured for it", r.Type)
	}
	if set.contact, err = canonicalContact(r.Type, r.Contact); err != nil {
		return set, err
	}
	if r.Type == TypeSMS {
		if rule := s.countries.rule(set.contact); rule != "" {
			return set, &ParameterError{Parameter: "contact", Kind: ErrPhone, Rule: rule}
		}
	}
	set.appName = cmp.Or(r.AppName, organizationName)
	for _, check := range []func(*Request, *settings) error{
		s.checkCode, s.checkNames, s.checkAddresses, s.checkEmail, s.checkSMS,
	} {
		if err := check(r, &set); err != nil {
			return set, err
		}
	}
	return set, nil
}

func (s *Service) checkCode(r *Request, set *settings) (err error) {
	set.length = cmp.Or(r.Length, DefaultLength)
	if set.length < MinLength || set.length > MaxLength {
		return badParameter("otpLength", "%d is out of range: must be from %d to %d", r.Length, MinLength, MaxLength)
	}
	set.alphanumeric = r.Alphanumeric == nil || *r.Alphanumeric
	fallback := min(DefaultExpiration, s.limits.MaxExpiration)
	set.expiration, err = seconds("expirationSeconds", r.ExpirationSeconds, fallback, s.limits.MaxExpiration)
	return err
}

// seconds reads a decimal number of seconds from 1 to limit. Empty text means fallback.
func seconds(parameter, text string, fallback, limit time.Duration) (time.Duration, error) {
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || len(text) > maxSecondsDigits || text[0] == '0' && text != "0" {
		return 0, badParameter(parameter, "expected whole seconds as a decimal string, such as \"300\"")
	}
	d := time.Duration(n) * time.Second
	if d < time.Second || d > limit {
		return 0, badParameter(parameter, "%s is out of range: must be from 1 to %d", text, int64(limit/time.Second))
	}
	return d, nil
}

func (s *Service) checkNames(r *Request, set *settings) error {
	set.fromName = cmp.Or(r.SendFromEmailSenderName, DefaultSenderName)
	for _, field := range []struct{ parameter, name string }{{"appName", set.appName}, {"sendFromEmailSenderName", set.fromName}} {
		if utf8.RuneCountInString(field.name) > maxNameRunes || !printable(field.name, "") || hasEncodedWord(field.name) {
			return badParameter(field.parameter, "must be one line of at most %d printable characters, without =?", maxNameRunes)
		}
	}
	if len(r.UserIdentifier) > maxIdentifier {
		return badParameter("userIdentifier", "%d bytes: must be at most %d", len(r.UserIdentifier), maxIdentifier)
	}
	return nil
}

// printable reports whether text is UTF-8 and all its characters are visible, a
// space, or one of the exceptions.
func printable(text, exceptions string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsPrint(r) && !strings.ContainsRune(exceptions, r)
	})
}

// hasEncodedWord reports whether a mail client could decode part of a header's text (RFC 2047).
func hasEncodedWord(text string) bool { return strings.Contains(text, "=?") }

func (s *Service) checkAddresses(r *Request, set *settings) error {
	for _, field := range []struct {
		parameter, given string
		into             *string
	}{
		{"sendFromEmailAddress", r.SendFromEmailAddress, &set.from},
		{"replyToEmailAddress", r.ReplyToEmailAddress, &set.replyTo},
	} {
		if field.given == "" {
			continue
		}
		canonical, rule := canonicalEmail(field.given)
		if rule != "" {
			return badParameter(field.parameter, "%s", rule)
		}
		*field.into = canonical
	}
	if set.from != "" && !slices.Contains(s.domains, strings.ToLower(domainOf(set.from))) {
		return badParameter("sendFromEmailAddress", "this engine may not send from the domain %s", domainOf(set.from))
	}
	return nil
}

func (s *Service) checkEmail(r *Request, set *settings) (err error) {
	custom := &r.Email
	if custom.LogoURL != "" && !isHTTPS(custom.LogoURL) {
		return badParameter("emailCustomization.logoUrl", "must be an https URL of at most %d bytes", maxURL)
	}
	if err := checkMagicLink(custom.MagicLinkTemplate); err != nil {
		return err
	}
	if set.variables, err = readVariables(custom.TemplateVariables); err != nil {
		return err
	}
	set.link = custom.MagicLinkTemplate
	set.variables[variableLogo] = custom.LogoURL
	set.template = defaultEmail(set.link != "", custom.LogoURL != "")
	if custom.TemplateID == "" {
		return nil
	}
	template, ok := s.templates[custom.TemplateID]
	if !ok {
		return badParameter("emailCustomization.templateId", "no template %.100q is configured", custom.TemplateID)
	}
	set.template = template
	return nil
}

func isHTTPS(text string) bool {
	parsed, err := weborigin.ParseURL(text)
	return err == nil && len(text) <= maxURL && parsed.Scheme == "https" && parsed.Hostname() != "" &&
		parsed.User == nil && printable(text, "") && !strings.ContainsAny(text, " \"'<>\\`")
}

// checkMagicLink checks that the template becomes an https URL, and that the code
// comes after the host.
func checkMagicLink(link string) error {
	if link == "" {
		return nil
	}
	before, _, _ := strings.Cut(link, magicLinkVerb)
	whole := strings.Replace(link, magicLinkVerb, "-", 1) // no hex digit, which would complete an escape
	if strings.Count(link, magicLinkVerb) != 1 || !isHTTPS(whole) || strings.Count(before, "/") < 3 && !strings.ContainsAny(before, "?#") {
		return badParameter("emailCustomization.magicLinkTemplate",
			"must be an https URL of at most %d bytes with one %s after the host, such as https://example.com/login?code=%s",
			maxURL, magicLinkVerb, magicLinkVerb)
	}
	return nil
}

var identifier = plaintext.NewPattern(`^` + variableName + `$`)

// readVariables reads a JSON object whose members are strings.
func readVariables(text string) (map[string]string, error) {
	const parameter = "emailCustomization.templateVariables"
	variables := map[string]string{}
	if text == "" {
		return variables, nil
	}
	if len(text) > maxVariables {
		return nil, badParameter(parameter, "%d bytes: must be at most %d", len(text), maxVariables)
	}
	members := map[string]any{}
	if err := cmp.Or(strictjson.Check([]byte(text), "the text"), json.Unmarshal([]byte(text), &members)); err != nil {
		return nil, badParameter(parameter, "must be a JSON object of strings, as a string: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, isString := members[name].(string)
		switch {
		case !isString:
			return nil, badParameter(parameter, "%.100q is not a string", name)
		case !identifier.MatchString(name):
			return nil, badParameter(parameter, "%.100q is not a variable name: names have letters, digits and _", name)
		case slices.Contains(builtIn, name):
			return nil, badParameter(parameter, "%s is a built-in variable and cannot be set", name)
		case len(value) > maxVariable || !printable(value, "\n\t"):
			return nil, badParameter(parameter, "%s: must be at most %d bytes of printable text", name, maxVariable)
		}
		variables[name] = value
	}
	return variables, nil
}

func (s *Service) checkSMS(r *Request, set *settings) error {
	const parameter = "smsCustomization.template"
	template := smsTemplate
	if r.SMS.Template != "" {
		template = Template{Text: r.SMS.Template}
		if len(template.Text) > maxSMSTemplate || !printable(template.Text, "\n") {
			return badParameter(parameter, "must be at most %d bytes of printable text", maxSMSTemplate)
		}
		pieces, err := parseTemplate(template.Text, []string{variableCode, variableApp, variableMinutes})
		if err != nil {
			return badParameter(parameter, "%v", err)
		}
		if !has(pieces, variableCode) {
			return badParameter(parameter, "{{.%s}} is missing: the message would not contain the code", variableCode)
		}
	}
	if r.Type == TypeSMS {
		set.template = template
	}
	return nil
}

// Request is the parameters of init_otp_auth: it asks for a one-time password to be
// sent. The comments give the API's names. A zero field is absent.
type Request struct {
	Type    Type   // otpType
	Contact string // contact: an e-mail address, or a phone number in E.164

	// Credential identifies what the request was stamped with, if its sends are limited.
	Credential string

	Length            int    // otpLength: 6 to 9, default 9
	Alphanumeric      *bool  // alphanumeric: Crockford base 32, or digits; default true
	ExpirationSeconds string // expirationSeconds: decimal, default "300"
	AppName           string // appName; default: the organization's name
	UserIdentifier    string // userIdentifier: the user that limits count; default: the contact

	Email EmailCustomization // emailCustomization
	SMS   SMSCustomization   // smsCustomization

	SendFromEmailAddress    string // sendFromEmailAddress
	SendFromEmailSenderName string // sendFromEmailSenderName; default "Notifications"
	ReplyToEmailAddress     string // replyToEmailAddress
}

// EmailCustomization changes the look of an e-mail.
type EmailCustomization struct {
	LogoURL           string // logoUrl: https
	MagicLinkTemplate string // magicLinkTemplate: an https URL with one %s, for the code
	TemplateVariables string // templateVariables: a JSON object of strings
	TemplateID        string // templateId: one of Config.Templates
}

// SMSCustomization changes the wording of a text message.
type SMSCustomization struct {
	Template string // template: text that contains {{.OtpCode}}
}

// Message carries a one-time password to its user. The code is nowhere else.
type Message struct {
	OTPID          string
	OrganizationID string
	Type           Type
	To             string // canonical

	Text string // of a text message or an e-mail

	// The rest is for e-mails only.
	Subject     string
	HTML        string // may be empty
	FromName    string
	FromAddress string // if empty, the sender's own
	ReplyTo     string // may be empty
}

// Type is how a code reaches the user, by the API's name.
type Type string

// The types that the API has.
const (
	TypeEmail Type = "OTP_TYPE_EMAIL"
	TypeSMS   Type = "OTP_TYPE_SMS"
)

// Channel returns "email" or "sms".
func (t Type) Channel() string {
	if t == TypeSMS {
		return "sms"
	}
	return "email"
}

// Sender delivers messages. Packages otp/smtp, otp/webhook and otp/outbox implement it.
type Sender interface {
	// Send returns nil once the message has been handed over for delivery. After
	// an error the message may still arrive, but its code is dead. Send must
	// respect ctx, and its error must not contain any part of the message.
	Send(ctx context.Context, message Message) error
}

// Format writes only the one-time password's id, for every verb, so that printing or
// logging a message does not reveal its code.
func (m Message) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, m.redacted()) }
func (m Message) LogValue() slog.Value           { return slog.StringValue(m.redacted()) }

func (m Message) redacted() string { return "message of one-time password " + m.OTPID + " [redacted]" }

// Format writes only the one-time password's id, for every verb.
func (i *Issue) Format(state fmt.State, verb rune) { i.message.Format(state, verb) }
func (i *Issue) LogValue() slog.Value              { return i.message.LogValue() }
