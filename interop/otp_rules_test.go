package interop

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/otp"
)

// otpClients are the public clients, and a server that sends one-time passwords and whose
// clock only a test advances.
type otpClients struct {
	*clients
	outbox *enginetest.Outbox
	next   int
}

// The clients that can request a one-time password, and those that redeem one with the
// supported version of the activity.
var (
	otpSenders   = []string{"http", "sdk-server", "core"}
	otpVerifiers = []string{"http", "core"}
)

func serveOTP(t *testing.T, outbox *enginetest.Outbox, changes ...func(*otp.Config)) *otpClients {
	t.Helper()
	return &otpClients{clients: serveClients(t, enginetest.New(t, enginetest.WithOTP(t, outbox, changes...))), outbox: outbox}
}

// tick advances the clock by a millisecond, so that the next body is a new one, and
// returns its timestampMs.
func (c *otpClients) tick() string {
	c.fixture.Clock.Advance(time.Millisecond)
	return fmt.Sprint(c.fixture.Clock.Now().UnixMilli())
}

// contact returns a contact that nothing has been sent to.
func (c *otpClients) contact(otpType any) string {
	c.next++
	if otpType == "OTP_TYPE_SMS" {
		return fmt.Sprintf("+1555%07d", c.next)
	}
	return fmt.Sprintf("user%d@example.com", c.next)
}

// init requests a one-time password by e-mail to a new contact. changes replace
// parameters; nil removes one.
func (c *otpClients) init(t *testing.T, client string, changes map[string]any) (answered, string) {
	t.Helper()
	parameters := map[string]any{"otpType": "OTP_TYPE_EMAIL"}
	maps.Copy(parameters, changes)
	if _, given := changes["contact"]; !given {
		parameters["contact"] = c.contact(parameters["otpType"])
	}
	maps.DeleteFunc(parameters, func(_ string, value any) bool { return value == nil })
	got := c.call(t, "initOtpAuth", client, map[string]any{"otp": parameters, "timestampMs": c.tick()})
	return got, resultOf(t, got).InitOtpAuthResultV2.OTPID
}

// otpRule is a case on one side of a parameter's bound.
type otpRule struct {
	name    string
	changes map[string]any
	code    int    // of the refusal; 0 if it is accepted
	want    string // part of the refusal, or a regular expression that the message matches
}

func show(m otp.Message) string {
	return fmt.Sprintf("to %s\nfrom %q <%s>\nreply to <%s>\nsubject %q\n%s\n%s", m.To, m.FromName, m.FromAddress, m.ReplyTo, m.Subject, m.Text, m.HTML)
}

func email(name string, value any) map[string]any { return map[string]any{name: value} }

func custom(name string, value any) map[string]any {
	return map[string]any{"emailCustomization": map[string]any{name: value}}
}

// variables sets the variables of the template whose subject and text have Name.
func variables(text string) map[string]any {
	return map[string]any{"emailCustomization": map[string]any{"templateId": "welcome", "templateVariables": text}}
}

func sms(name string, value any) map[string]any {
	return map[string]any{"otpType": "OTP_TYPE_SMS", name: value}
}

func smsTemplate(text string) map[string]any {
	return sms("smsCustomization", map[string]any{"template": text})
}

const (
	crockford = `[0-9A-HJKMNP-TV-Z]`
	injection = "\r\nBcc: eve@example.org"
)

var long = strings.Repeat

var codeRules = []otpRule{
	{"e-mail", email("otpType", "OTP_TYPE_EMAIL"), 0, `to user`},
	{"text message", sms("appName", "Demo"), 0, `is your Demo code`},
	{"no type", email("otpType", nil), 3, "otpType"},
	{"another type", email("otpType", "OTP_TYPE_PIGEON"), 3, "OTP_TYPE_EMAIL or OTP_TYPE_SMS"},
	{"no contact", email("contact", nil), 3, "contact"},
	{"address in capitals", email("contact", "Ann@EXAMPLE.com"), 0, `to ann@example\.com\n`},
	{"international domain", email("contact", "ann@münchen.example"), 0, `to ann@xn--mnchen-3ya\.example\n`},
	{"display name", email("contact", "Ann <ann@example.com>"), 3, "contact: not an e-mail address"},
	{"phone number by e-mail", email("contact", "+4915112345678"), 3, "contact: not an e-mail address"},
	{"shortest phone number", sms("contact", "+1234567"), 0, `to \+1234567\n`},
	{"longest phone number", sms("contact", "+436641234567890"), 0, `to \+436641234567890\n`},
	{"phone number too long for its country", sms("contact", "+120255501001"), 3, "at most 10 digits after +1"},
	{"phone number too short", sms("contact", "+123456"), 3, "E.164"},
	{"phone number too long", sms("contact", "+1234567890123456"), 3, "E.164"},
	{"phone number without plus", sms("contact", "4915112345678"), 3, "E.164"},
	{"phone number with blanks", sms("contact", "+49 151 12345678"), 3, "E.164"},
	{"phone number from 0", sms("contact", "+0151123456789"), 3, "E.164"},

	{"default length and alphabet", nil, 0, `\n    ` + crockford + `{9}\n`},
	{"length 0", email("otpLength", 0), 0, `\n    ` + crockford + `{9}\n`},
	{"length 5", email("otpLength", 5), 3, "otpLength"},
	{"length 6", email("otpLength", 6), 0, `\n    ` + crockford + `{6}\n`},
	{"length 9", email("otpLength", 9), 0, `\n    ` + crockford + `{9}\n`},
	{"length 10", email("otpLength", 10), 3, "otpLength"},
	{"length -1", email("otpLength", -1), 3, "otpLength"},
	{"length 6.5", email("otpLength", 6.5), 3, "otpLength"},
	{"length in quotes", email("otpLength", "6"), 3, "otpLength"},
	{"alphanumeric", email("alphanumeric", true), 0, `\n    ` + crockford + `{9}\n`},
	{"digits", email("alphanumeric", false), 0, `\n    [0-9]{9}\n`},
	{"six digits", map[string]any{"alphanumeric": false, "otpLength": 6}, 0, `\n    [0-9]{6}\n`},
	{"alphanumeric in quotes", email("alphanumeric", "false"), 3, "alphanumeric"},

	{"default expiration", nil, 0, `expires in 5 minutes`},
	{"1 s", email("expirationSeconds", "1"), 0, `expires in 1 minutes`},
	{"600 s", email("expirationSeconds", "600"), 0, `expires in 10 minutes`},
	{"601 s", email("expirationSeconds", "601"), 3, "expirationSeconds: 601 is out of range"},
	{"0 s", email("expirationSeconds", "0"), 3, "expirationSeconds: 0 is out of range"},
	{"-1 s", email("expirationSeconds", "-1"), 3, "expirationSeconds: expected whole seconds as a decimal string"},
	{"hexadecimal s", email("expirationSeconds", "0x12c"), 3, "expirationSeconds: expected whole seconds as a decimal string"},
	{"1.5 s", email("expirationSeconds", "1.5"), 3, "expirationSeconds: expected whole seconds as a decimal string"},
	{"s as a number", email("expirationSeconds", 300), 3, "expirationSeconds"},

	{"user of 255", email("userIdentifier", long("u", 255)), 0, `to user`},
	{"user of 256", email("userIdentifier", long("u", 256)), 3, "256 bytes, at most 255 are allowed"},
	{"user of 257", email("userIdentifier", long("u", 257)), 3, "userIdentifier"},
}

var letterRules = []otpRule{
	{"default appName", nil, 0, `subject "Your code for Example"`},
	{"appName", email("appName", "Grüße & Söhne"), 0, `(?s)subject "Your code for Grüße & Söhne".*<b>Grüße &amp; Söhne</b>`},
	{"appName of HTML", email("appName", "<script>"), 0, `<b>&lt;script&gt;</b>`},
	{"appName of 100", email("appName", long("ü", 100)), 0, `ü{100}"`},
	{"appName of 101", email("appName", long("ü", 101)), 3, "appName"},
	{"default sender's name", nil, 0, `from "Notifications" <>`},
	{"sender's name", email("sendFromEmailSenderName", "Ann"), 0, `from "Ann" <>`},
	{"sender's name of 100", email("sendFromEmailSenderName", long("a", 100)), 0, `from "a{100}" <>`},
	{"sender's name of 101", email("sendFromEmailSenderName", long("a", 101)), 3, "sendFromEmailSenderName"},

	{"logo", custom("logoUrl", "https://example.com/a.png"), 0, `<img src="https://example\.com/a\.png"`},
	{"logo by http", custom("logoUrl", "http://example.com/a.png"), 3, "emailCustomization.logoUrl: must be an https URL"},
	{"logo in the URL", custom("logoUrl", "data:image/png;base64,AA=="), 3, "emailCustomization.logoUrl: must be an https URL"},
	{"logo of 2000", custom("logoUrl", "https://example.com/"+long("a", 1980)), 0, `a{990}a{990}"`},
	{"logo of 2001", custom("logoUrl", "https://example.com/"+long("a", 1981)), 3, "emailCustomization.logoUrl: must be an https URL"},

	{"magic link", custom("magicLinkTemplate", "https://example.com/?code=%s"), 0, `https://example\.com/\?code=` + crockford + `{9}\n`},
	{"magic link of 2000", custom("magicLinkTemplate", "https://example.com/%s"+long("a", 1979)), 0, crockford + `{9}a{990}a{989}\n`},
	{"magic link of 2001", custom("magicLinkTemplate", "https://example.com/%s"+long("a", 1980)), 3, "at most 2000 bytes"},
	{"magic link without code", custom("magicLinkTemplate", "https://example.com/"), 3, "one %s"},
	{"magic link with two", custom("magicLinkTemplate", "https://example.com/%s/%s"), 3, "one %s"},
	{"magic link by http", custom("magicLinkTemplate", "http://example.com/%s"), 3, "emailCustomization.magicLinkTemplate"},
	{"magic link to a host of code", custom("magicLinkTemplate", "https://%s.example.com/"), 3, "after the host"},

	{"variables", variables(`{"Name":"Jürgen"}`), 0,
		`(?s)subject "Welcome Jürgen".*` + crockford + `{9} for Jürgen\n<p>Jürgen</p>`},
	{"variables of no object", custom("templateVariables", `["a"]`), 3, "emailCustomization.templateVariables: must be a JSON object of strings"},
	{"variables of numbers", custom("templateVariables", `{"a":1}`), 3, " is not a string"},
	{"variables not as a string", custom("templateVariables", map[string]any{"a": "b"}), 3, "templateVariables"},
	{"variable of 1000", variables(`{"Name":"` + long("a", 1000) + `"}`), 0, `for a{1000}\n`},
	{"variable of 1001", variables(`{"Name":"` + long("a", 1001) + `"}`), 3, "Name: must be at most 1000 bytes"},
	{"variables of 8192", variables(`{"Name":"b"` + long(" ", 8180) + `}`), 0, `for b\n`},
	{"variables of 8193", variables(`{"Name":"b"` + long(" ", 8181) + `}`), 3, "at most 8192"},
	{"variable that is built in", custom("templateVariables", `{"OtpCode":"1"}`), 3, "cannot be set"},
	{"template", custom("templateId", "welcome"), 0, `subject "Welcome"`},
	{"unknown template", custom("templateId", "goodbye"), 3, `no template \"goodbye\" is configured`},

	{"sender on the list", email("sendFromEmailAddress", "login@Example.com"), 0, `from "Notifications" <login@example\.com>`},
	{"sender below the list", email("sendFromEmailAddress", "login@sub.example.com"), 3, "may not send from the domain sub.example.com"},
	{"sender off the list", email("sendFromEmailAddress", "login@example.org"), 3, "may not send from the domain example.org"},
	{"sender of no address", email("sendFromEmailAddress", "example.com"), 3, "sendFromEmailAddress: not an e-mail address"},
	{"reply", email("replyToEmailAddress", "help@example.org"), 0, `reply to <help@example\.org>`},
	{"reply of no address", email("replyToEmailAddress", "Help <help@example.org>"), 3, "replyToEmailAddress: not an e-mail address"},

	{"lines in contact", email("contact", "ann@example.com"+injection), 3, "contact: not an e-mail address"},
	{"lines in appName", email("appName", "Demo"+injection), 3, "appName: must be one line"},
	{"lines in sender's name", email("sendFromEmailSenderName", "Ann"+injection), 3, "sendFromEmailSenderName: must be one line"},
	{"LF in sender's name", email("sendFromEmailSenderName", "Ann\nBcc: eve@example.org"), 3, "sendFromEmailSenderName: must be one line"},
	{"lines in sender", email("sendFromEmailAddress", "a@example.com"+injection), 3, "sendFromEmailAddress: not an e-mail address"},
	{"lines in logo", custom("logoUrl", "https://example.com/"+injection), 3, "emailCustomization.logoUrl"},
	{"lines in reply", email("replyToEmailAddress", "a@example.com"+injection), 3, "replyToEmailAddress: not an e-mail address"},
	{"CR in a variable", custom("templateVariables", `{"Name":"a\rb"}`), 3, "emailCustomization.templateVariables: Name"},
	{"LF in a variable of the subject", variables(`{"Name":"a\nBcc: b"}`), 0, `subject "Welcome a Bcc: b"`},
}

var smsRules = []otpRule{
	{"text", smsTemplate("{{.OtpCode}} for {{ .AppName }}"), 0, crockford + `{9} for Example\n`},
	{"text without code", smsTemplate("hello"), 3, "{{.OtpCode}} is missing"},
	{"text with another action", smsTemplate(`{{.OtpCode}}{{template \"x\"}}`), 3, "smsCustomization.template: at byte 12"},
	{"text with a function", smsTemplate(`{{printf "%s" .OtpCode}}`), 3, "smsCustomization.template: at byte 0"},
	{"text with a pipeline", smsTemplate("{{.OtpCode | html}}"), 3, "smsCustomization.template: at byte 0"},
	{"text with another variable", smsTemplate("{{.OtpCode}}{{.Secret}}"), 3, "unknown variable Secret"},
	{"text of 500", smsTemplate("{{.OtpCode}}" + long("a", 488)), 0, crockford + `{9}a{488}\n`},
	{"text of 501", smsTemplate("{{.OtpCode}}" + long("a", 489)), 3, "at most 500 bytes"},
}

// TestClientsOTP checks the rules of one-time passwords through each client.
func TestClientsOTP(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"parameters": testOTPParameters, "sends": testOTPSends, "flood": testOTPFlood, "sends of an organization": testOTPOrganizationSends, "deliveries": testOTPDeliveries,
		"live codes": testOTPLiveCodes, "tokens": testOTPTokens, "expiration": testOTPExpiration, "tries": testOTPTries,
		"tries per hour and day": testOTPTriesOfKey, "look-alikes": testOTPLookAlikes, "no bundle": testOTPNoBundle,
	} {
		t.Run(name, test)
	}
}

func testOTPParameters(t *testing.T) {
	served := serveOTP(t, new(enginetest.Outbox), func(config *otp.Config) {
		config.SenderDomains = []string{"example.com"}
		config.Templates = map[string]otp.Template{
			"welcome": {Subject: "Welcome {{.Name}}", Text: "{{.OtpCode}} for {{.Name}}", HTML: "<p>{{.Name}}</p>"},
		}
	})
	letters := false // in a code of the default alphabet: one in 30,000 has none by chance
	for _, rules := range [][]otpRule{codeRules, letterRules, smsRules} {
		for _, rule := range rules {
			for _, client := range otpSenders {
				message := served.checkRule(t, client, rule)
				letters = letters || rule.changes == nil && regexp.MustCompile(`\n    .*[A-Z].*\n`).MatchString(message)
			}
		}
	}
	if !letters {
		t.Error("no code of the default alphabet has a letter")
	}
}

// checkRule checks a case and returns the message that was sent, if any.
func (c *otpClients) checkRule(t *testing.T, client string, rule otpRule) string {
	t.Helper()
	before := c.outbox.Sent()
	got, id := c.init(t, client, rule.changes)
	if rule.code != 0 {
		if got.Code != float64(rule.code) || !strings.Contains(got.Error, rule.want) || c.outbox.Sent() != before {
			t.Errorf("%s by %s: code %v, %q, %d messages; want %d, …%s…",
				rule.name, client, got.Code, got.Error, c.outbox.Sent()-before, rule.code, rule.want)
		}
		return ""
	}
	if got.Error != "" {
		t.Errorf("%s by %s: %s (%s)", rule.name, client, got.Error, got.Cause)
		return ""
	}
	shown := show(c.outbox.Message(t, id))
	if !regexp.MustCompile(rule.want).MatchString(shown) {
		t.Errorf("%s by %s: the message does not match %s:\n%s", rule.name, client, rule.want, shown)
	}
	return shown
}
