package otp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store/memory"
)

const (
	org     = "6e1f8f5e-1111-4222-8333-444455556666"
	orgName = "Demo Org"
)

// secret is the otp.Secret of the tests.
type secret []byte

func (s secret) Reveal(use func([]byte) error) error { return use(s) }

// outbox is a Sender that keeps the messages it was given.
type outbox struct {
	messages []otp.Message
	fail     error
}

func (o *outbox) Send(_ context.Context, message otp.Message) error {
	if o.fail != nil {
		return o.fail
	}
	o.messages = append(o.messages, message)
	return nil
}

func (o *outbox) last() otp.Message { return o.messages[len(o.messages)-1] }

func newService(t testing.TB, change func(*otp.Config)) (*otp.Service, *outbox) {
	t.Helper()
	box := &outbox{}
	config := otp.Config{
		Store:         memory.New(0),
		Secret:        secret(make([]byte, otp.MinSecretSize)),
		Email:         box,
		SMS:           box,
		SenderDomains: []string{"Example.com", "münchen.example"},
		Templates: map[string]otp.Template{
			"mine":    {Subject: "={{.a}}", Text: "{{.OtpCode}}"},
			"welcome": {Subject: "Welcome {{.Name}}", Text: "{{.OtpCode}} for {{.Name}}", HTML: "<p title='{{.Name}}'>{{.OtpCode}} {{.Name}}</p>"},
		},
		Limits: otp.Limits{Sends: otp.Rate{Count: 1000, Window: time.Minute}},
	}
	if change != nil {
		change(&config)
	}
	service, err := otp.New(config)
	testenv.Must(t, err)
	return service, box
}

func email(change func(*otp.Request)) otp.Request {
	request := otp.Request{Type: otp.TypeEmail, Contact: "user@example.com"}
	if change != nil {
		change(&request)
	}
	return request
}

func sms(change func(*otp.Request)) otp.Request {
	return email(func(r *otp.Request) {
		r.Type, r.Contact = otp.TypeSMS, "+4915112345678"
		if change != nil {
			change(r)
		}
	})
}

// TestParameters checks the rules of the parameters on both sides of every bound. A
// case without a parameter is accepted.
func TestParameters(t *testing.T) {
	service, _ := newService(t, nil)
	long := func(n int) string { return strings.Repeat("a", n) }
	const word = "=?utf-8?q?=0D=0ABcc:_x@y.z?=" // which a mail client would decode
	for name, test := range map[string]struct {
		request   otp.Request
		parameter string
		rule      string
	}{
		"plain e-mail": {email(nil), "", ""},
		"plain sms":    {sms(nil), "", ""},
		"no type":      {email(func(r *otp.Request) { r.Type = "" }), "otpType", `unknown type ""`},
		"other type":   {email(func(r *otp.Request) { r.Type = "OTP_TYPE_PIGEON" }), "otpType", "OTP_TYPE_EMAIL or OTP_TYPE_SMS"},
		"no contact":   {email(func(r *otp.Request) { r.Contact = "" }), "contact", "not an e-mail address"},

		"length 5":  {email(func(r *otp.Request) { r.Length = 5 }), "otpLength", "6 to 9"},
		"length 6":  {email(func(r *otp.Request) { r.Length = 6 }), "", ""},
		"length 9":  {email(func(r *otp.Request) { r.Length = 9 }), "", ""},
		"length 10": {email(func(r *otp.Request) { r.Length = 10 }), "otpLength", "6 to 9"},
		"length -1": {email(func(r *otp.Request) { r.Length = -1 }), "otpLength", "6 to 9"},

		"0 s":       {email(func(r *otp.Request) { r.ExpirationSeconds = "0" }), "expirationSeconds", "1 to 600"},
		"1 s":       {email(func(r *otp.Request) { r.ExpirationSeconds = "1" }), "", ""},
		"600 s":     {email(func(r *otp.Request) { r.ExpirationSeconds = "600" }), "", ""},
		"601 s":     {email(func(r *otp.Request) { r.ExpirationSeconds = "601" }), "expirationSeconds", "1 to 600"},
		"-1 s":      {email(func(r *otp.Request) { r.ExpirationSeconds = "-1" }), "expirationSeconds", "decimal string"},
		"+1 s":      {email(func(r *otp.Request) { r.ExpirationSeconds = "+1" }), "expirationSeconds", "decimal string"},
		"0300 s":    {email(func(r *otp.Request) { r.ExpirationSeconds = "0300" }), "expirationSeconds", "decimal string"},
		"3e2 s":     {email(func(r *otp.Request) { r.ExpirationSeconds = "3e2" }), "expirationSeconds", "decimal string"},
		"many s":    {email(func(r *otp.Request) { r.ExpirationSeconds = "99999999999999999999" }), "expirationSeconds", "decimal string"},
		"a blank s": {email(func(r *otp.Request) { r.ExpirationSeconds = "300 " }), "expirationSeconds", "decimal string"},

		"appName 100":       {email(func(r *otp.Request) { r.AppName = strings.Repeat("ü", 100) }), "", ""},
		"appName 101":       {email(func(r *otp.Request) { r.AppName = strings.Repeat("ü", 101) }), "appName", "100"},
		"appName of lines":  {email(func(r *otp.Request) { r.AppName = "a\r\nBcc: b@example.com" }), "appName", "one line"},
		"appName reversed":  {email(func(r *otp.Request) { r.AppName = "a\u202eb" }), "appName", "printable"},
		"appName not UTF-8": {email(func(r *otp.Request) { r.AppName = "a\xff" }), "appName", "printable"},
		"appName encoded":   {email(func(r *otp.Request) { r.AppName = word }), "appName", ""},
		"sender encoded":    {email(func(r *otp.Request) { r.SendFromEmailSenderName = word }), "sendFromEmailSenderName", ""},
		"sender of lines":   {email(func(r *otp.Request) { r.SendFromEmailSenderName = "a\nb" }), "sendFromEmailSenderName", "one line"},
		"user 256":          {email(func(r *otp.Request) { r.UserIdentifier = long(256) }), "", ""},
		"user 257":          {email(func(r *otp.Request) { r.UserIdentifier = long(257) }), "userIdentifier", "at most 256"},

		"logo http":          {email(func(r *otp.Request) { r.Email.LogoURL = "http://example.com/a.png" }), "emailCustomization.logoUrl", "https"},
		"logo https":         {email(func(r *otp.Request) { r.Email.LogoURL = "https://example.com/a.png" }), "", ""},
		"logo script":        {email(func(r *otp.Request) { r.Email.LogoURL = "javascript:alert(1)" }), "emailCustomization.logoUrl", "https"},
		"logo without host":  {email(func(r *otp.Request) { r.Email.LogoURL = "https:///a.png" }), "emailCustomization.logoUrl", "https"},
		"logo with password": {email(func(r *otp.Request) { r.Email.LogoURL = "https://a:b@example.com/" }), "emailCustomization.logoUrl", "https"},
		"logo with quote":    {email(func(r *otp.Request) { r.Email.LogoURL = `https://example.com/"onerror=` }), "emailCustomization.logoUrl", "https"},
		"logo 2000":          {email(func(r *otp.Request) { r.Email.LogoURL = "https://example.com/" + long(1980) }), "", ""},
		"logo 2001":          {email(func(r *otp.Request) { r.Email.LogoURL = "https://example.com/" + long(1981) }), "emailCustomization.logoUrl", "2000"},

		"link":              {email(func(r *otp.Request) { r.Email.MagicLinkTemplate = "https://example.com/a%20b?code=%s" }), "", ""},
		"link in fragment":  {email(func(r *otp.Request) { r.Email.MagicLinkTemplate = "https://example.com#%s" }), "", ""},
		"link without code": {email(func(r *otp.Request) { r.Email.MagicLinkTemplate = "https://example.com/" }), "emailCustomization.magicLinkTemplate", "one %s"},
		"link with two":     {email(func(r *otp.Request) { r.Email.MagicLinkTemplate = "https://example.com/%s/%s" }), "emailCustomization.magicLinkTemplate", "one %s"},
		"link http":         {email(func(r *otp.Request) { r.Email.MagicLinkTemplate = "http://example.com/%s" }), "emailCustomization.magicLinkTemplate", "https"},
		"link with verb":    {email(func(r *otp.Request) { r.Email.MagicLinkTemplate = "https://example.com/%s?%d" }), "emailCustomization.magicLinkTemplate", "one %s"},
		"link with half":    {email(func(r *otp.Request) { r.Email.MagicLinkTemplate = "https://example.com/%d%s" }), "emailCustomization.magicLinkTemplate", "one %s"},
		"link port above":   {email(func(r *otp.Request) { r.Email.MagicLinkTemplate = "https://example.com:99999/%s" }), "emailCustomization.magicLinkTemplate", "one %s"},
		"link host":         {email(func(r *otp.Request) { r.Email.MagicLinkTemplate = "https://%s.example.com/" }), "emailCustomization.magicLinkTemplate", "after the host"},
		"link port":         {email(func(r *otp.Request) { r.Email.MagicLinkTemplate = "https://example.com:%s" }), "emailCustomization.magicLinkTemplate", "after the host"},

		"variables":           {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"Name":"Jürgen","a":"b\nc"}` }), "", ""},
		"variables no object": {email(func(r *otp.Request) { r.Email.TemplateVariables = `["a"]` }), "emailCustomization.templateVariables", "expected an object"},
		"variables number":    {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"a":1}` }), "emailCustomization.templateVariables", `"a" is not a string`},
		"variables nested":    {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"a":{"b":"c"}}` }), "emailCustomization.templateVariables", `"a" is not a string`},
		"variables twice":     {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"a":"b","a":"c"}` }), "emailCustomization.templateVariables", "a at byte 9: appears twice"},
		"variables trailing":  {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"a":"b"} {}` }), "emailCustomization.templateVariables", "2 bytes follow the object"},
		"variables value":     {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"a":x}` }), "emailCustomization.templateVariables", "at byte 5: invalid character 'x'"},
		"variables cut":       {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"a":"b"` }), "emailCustomization.templateVariables", "JSON object"},
		"variables name":      {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"a b":"c"}` }), "emailCustomization.templateVariables", "variable name"},
		"variables built-in":  {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"OtpCode":"1"}` }), "emailCustomization.templateVariables", "cannot be set"},
		"variables control":   {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"a":"b\rc"}` }), "emailCustomization.templateVariables", "printable"},
		"variable 1000":       {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"a":"` + long(1000) + `"}` }), "", ""},
		"variable 1001":       {email(func(r *otp.Request) { r.Email.TemplateVariables = `{"a":"` + long(1001) + `"}` }), "emailCustomization.templateVariables", "1000"},
		"variables large":     {email(func(r *otp.Request) { r.Email.TemplateVariables = long(8193) }), "emailCustomization.templateVariables", "8192"},

		"subject encoded": {email(func(r *otp.Request) {
			r.Email.TemplateID, r.Email.TemplateVariables = "mine", fmt.Sprintf(`{"a":%q}`, word[1:])
		}), "emailCustomization.templateVariables", ""},
		"template known":   {email(func(r *otp.Request) { r.Email.TemplateID = "welcome" }), "", ""},
		"template unknown": {email(func(r *otp.Request) { r.Email.TemplateID = "x" }), "emailCustomization.templateId", `no template "x"`},

		"from ours":      {email(func(r *otp.Request) { r.SendFromEmailAddress = "a@EXAMPLE.com" }), "", ""},
		"from IDN":       {email(func(r *otp.Request) { r.SendFromEmailAddress = "a@xn--mnchen-3ya.example" }), "", ""},
		"from others":    {email(func(r *otp.Request) { r.SendFromEmailAddress = "a@sub.example.com" }), "sendFromEmailAddress", "not send from the domain sub.example.com"},
		"from injection": {email(func(r *otp.Request) { r.SendFromEmailAddress = "a@example.com\r\nBcc: b@example.com" }), "sendFromEmailAddress", "not an e-mail"},
		"reply others":   {email(func(r *otp.Request) { r.ReplyToEmailAddress = "help@example.org" }), "", ""},
		"reply name":     {email(func(r *otp.Request) { r.ReplyToEmailAddress = "Help <help@example.org>" }), "replyToEmailAddress", "not an e-mail"},

		"sms template":      {sms(func(r *otp.Request) { r.SMS.Template = "{{.OtpCode}} for {{ .AppName }}" }), "", ""},
		"sms without code":  {sms(func(r *otp.Request) { r.SMS.Template = "hello" }), "smsCustomization.template", "{{.OtpCode}} is missing"},
		"sms action":        {sms(func(r *otp.Request) { r.SMS.Template = `{{.OtpCode}}{{template "x"}}` }), "smsCustomization.template", "at byte 12: expected a variable"},
		"sms function":      {sms(func(r *otp.Request) { r.SMS.Template = `{{printf "%s" .OtpCode}}` }), "smsCustomization.template", "at byte 0: expected a variable"},
		"sms pipeline":      {sms(func(r *otp.Request) { r.SMS.Template = `{{.OtpCode|html}}` }), "smsCustomization.template", "at byte 0: expected a variable"},
		"sms secret":        {sms(func(r *otp.Request) { r.SMS.Template = "{{.OtpCode}}{{.Secret}}" }), "smsCustomization.template", "unknown variable Secret"},
		"sms nested":        {sms(func(r *otp.Request) { r.SMS.Template = "{{.OtpCode.X}}" }), "smsCustomization.template", "a variable"},
		"sms open":          {sms(func(r *otp.Request) { r.SMS.Template = "{{.OtpCode" }), "smsCustomization.template", "a variable"},
		"sms 500":           {sms(func(r *otp.Request) { r.SMS.Template = "{{.OtpCode}}" + long(488) }), "", ""},
		"sms 501":           {sms(func(r *otp.Request) { r.SMS.Template = "{{.OtpCode}}" + long(489) }), "smsCustomization.template", "500"},
		"sms of no e-mails": {email(func(r *otp.Request) { r.SMS.Template = "hello" }), "smsCustomization.template", "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := service.Prepare(org, orgName, test.request)
			if test.parameter == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			var refused *otp.ParameterError
			if !errors.As(err, &refused) || refused.Parameter != test.parameter || !strings.Contains(refused.Rule, test.rule) {
				t.Fatalf("error %v, want %s: …%s…", err, test.parameter, test.rule)
			}
		})
	}
}

func TestContacts(t *testing.T) {
	service, box := newService(t, nil)
	for contact, want := range map[string]string{
		"user@example.com":             "user@example.com",
		"User.Name+tag@Example.COM":    "user.name+tag@example.com",
		"a@münchen.example":            "a@xn--mnchen-3ya.example",
		"a@MÜNCHEN.example":            "a@xn--mnchen-3ya.example",
		"a@xn--mnchen-3ya.example":     "a@xn--mnchen-3ya.example",
		"o'neil_{x}@example.com":       "o'neil_{x}@example.com",
		"":                             "",
		"user":                         "",
		"user@":                        "",
		"@example.com":                 "",
		"a@b@example.com":              "",
		"user@localhost":               "",
		"user@[127.0.0.1]":             "",
		"<user@example.com>":           "",
		"Ann <user@example.com>":       "",
		"user@example.com ":            "",
		" user@example.com":            "",
		"user@example.com,b@c.example": "",
		"user@example.com\r\nBcc: a@b": "",
		"user@example.com\x00":         "",
		`"a b"@example.com`:            "",
		// What mail programs decode or reroute, and domains that are addresses.
		"=?utf-8?b?YUBldmlsLmNvbQ==?=@example.com":                "",
		"=?x?q?=61=40evil.com=3e=00?=foo@example.com":             "",
		"ann=?@example.com":                                       "",
		"ann%evil.com@example.com":                                "",
		"evil.com!ann@example.com":                                "",
		"ann@127.0.0.1":                                           "",
		"ann@0x7f.1":                                              "",
		"ann@127.0.0.0X1":                                         "",
		"ann@example.0x":                                          "",
		"ann@example.123":                                         "",
		"ann@example.com..":                                       "",
		"ann@example.com.\u3002":                                  "",
		"ann@example.com\u3002\u3002":                             "",
		"ann@example.123.":                                        "",
		"ann@example.１２３":                                         "",
		"ann=a?b@example.com":                                     "ann=a?b@example.com", // VERP
		"bounce+ann=example.org@example.com":                      "bounce+ann=example.org@example.com",
		"ann@123.example":                                         "ann@123.example",
		"ann@example.0xyz":                                        "ann@example.0xyz",
		"ü@example.com":                                           "",
		"山田@example.com":                                          "",
		"山田@メール.example":                                          "",
		"yamada@日本語。example":                                      "yamada@xn--wgv71a119e.example",
		"yamada@メール.example":                                      "yamada@xn--4dkua4c.example",
		"yamada@ﾒｰﾙ.example":                                      "yamada@xn--4dkua4c.example", // half width
		"ann@почта.example":                                       "ann@xn--80a1acny.example",
		"ann@παράδειγμα.example":                                  "ann@xn--hxajbheg2az3al.example",
		"ann@مثال.example":                                        "ann@xn--mgbh0fb.example",
		"ａｎｎ@example.com":                                         "",
		"ann@ｅｘａｍｐｌｅ.com":                                         "ann@example.com",
		"ann\u200b@example.com":                                   "",
		"ann@exam\u200bple.com":                                   "ann@example.com", // IDNA ignores it
		"ann@exam\u00adple.com":                                   "ann@example.com",
		"taro.@docomo.ne.jp":                                      "",
		"ta..ro@ezweb.ne.jp":                                      "",
		`"taro."@docomo.ne.jp`:                                    "",
		"(comment)user@example.com":                               "",
		".user@example.com":                                       "",
		"us..er@example.com":                                      "",
		"user@exa mple.com":                                       "",
		"user@-example.com":                                       "",
		"user@example..com":                                       "",
		"user@xn--zzzzzzzz.example":                               "",
		strings.Repeat("a", 64) + "@example.com":                  strings.Repeat("a", 64) + "@example.com",
		strings.Repeat("a", 65) + "@example.com":                  "",
		"a@" + strings.Repeat("abcdefghi.", 25) + "example.com":   "",
		"a@" + strings.Repeat("abcdefghi.", 24) + "examplee.com":  "a@" + strings.Repeat("abcdefghi.", 24) + "examplee.com",
		"a@" + strings.Repeat("abcdefghi.", 24) + "exampleee.com": "",
	} {
		_, err := service.Issue(t.Context(), org, orgName, email(func(r *otp.Request) { r.Contact = contact }))
		if want == "" {
			if !errors.Is(err, otp.ErrEmail) {
				t.Errorf("%q: %v", contact, err)
			}
			continue
		}
		if err != nil || box.last().To != want {
			t.Errorf("%q is sent to %q, %v", contact, box.last().To, err)
		}
	}
	for contact, rule := range map[string]string{
		"山田@example.com": "other than ASCII", "taro.@docomo.ne.jp": "ends with a dot", "ta..ro@ezweb.ne.jp": "two in a row",
	} {
		if _, err := service.Issue(t.Context(), org, orgName, email(func(r *otp.Request) { r.Contact = contact })); err == nil || !strings.Contains(err.Error(), rule) {
			t.Errorf("%s: %v, want …%s…", contact, err, rule)
		}
	}
	for contact, ok := range map[string]bool{
		"+4915112345678": true, "+1234567": true, "+12345678901": true, "+123456789012345": false,
		"+123456": false, "+1234567890123456": false, "+0123456789": false, "4915112345678": false,
		"+49 151 12345678": false, "+49-151-12345678": false, "0049151123456": false, "+4915112345678\n": false,
		"+４９１５１１２３４５６７": false, "": false, "tel:+4915112345678": false,
	} {
		_, err := service.Prepare(org, orgName, sms(func(r *otp.Request) { r.Contact = contact }))
		if ok != (err == nil) || !ok && !errors.Is(err, otp.ErrPhone) {
			t.Errorf("%q: %v", contact, err)
		}
	}
}

// TestMessages checks what is sent if every parameter contains markup.
func TestMessages(t *testing.T) {
	service, box := newService(t, nil)
	digits := false
	_, err := service.Issue(t.Context(), org, orgName, email(func(r *otp.Request) {
		r.Alphanumeric, r.Length, r.ExpirationSeconds = &digits, 6, "61"
		r.AppName = `<script>alert("ü")</script>`
		r.Email.LogoURL = "https://example.com/logo.png?a=1&b=2"
		r.Email.MagicLinkTemplate = "https://example.com/login?code=%s&x=%41"
		r.ReplyToEmailAddress = "help@example.org"
		r.SendFromEmailAddress = "codes@example.com"
	}))
	testenv.Must(t, err)
	m := box.last()
	code := strings.Fields(strings.SplitAfter(m.Text, " is\n")[1])[0]
	if len(code) != 6 || strings.Trim(code, "0123456789") != "" {
		t.Fatalf("the code is %q in\n%s", code, m.Text)
	}
	for name, part := range map[string]struct{ in, want string }{
		"the link in text": {m.Text, "https://example.com/login?code=" + code + "&x=%41"},
		"minutes":          {m.Text, "2 minutes"},
		"appName in text":  {m.Text, `<script>alert("ü")</script>`},
		"appName in HTML":  {m.HTML, `&lt;script&gt;alert(&#34;ü&#34;)&lt;/script&gt;`},
		"the code in HTML": {m.HTML, "<b>" + code + "</b>"},
		"the link in HTML": {m.HTML, `href="https://example.com/login?code=` + code + `&amp;x=`},
		"the logo":         {m.HTML, `src="https://example.com/logo.png?a=1&amp;b=2"`},
		"the subject":      {m.Subject, `Your code for <script>`},
	} {
		if !strings.Contains(part.in, part.want) {
			t.Errorf("%s: %q is not in\n%s", name, part.want, part.in)
		}
	}
	if strings.Contains(m.HTML, "<script") || strings.Contains(m.Subject, code) {
		t.Errorf("subject %q\n%s", m.Subject, m.HTML)
	}
	if m.FromName != otp.DefaultSenderName || m.FromAddress != "codes@example.com" || m.ReplyTo != "help@example.org" {
		t.Errorf("%+v", m)
	}
}

func TestNamedTemplate(t *testing.T) {
	service, box := newService(t, nil)
	_, err := service.Issue(t.Context(), org, orgName, email(func(r *otp.Request) {
		r.Email.TemplateID = "welcome"
		r.Email.TemplateVariables = `{"Name":"'><b>\nBcc: x {{.OtpCode}}"}`
	}))
	testenv.Must(t, err)
	m := box.last()
	if m.Subject != "Welcome '><b> Bcc: x {{.OtpCode}}" {
		t.Errorf("subject %q", m.Subject)
	}
	if strings.Contains(m.HTML, "<b>") || !strings.Contains(m.HTML, "&lt;b&gt;") {
		t.Errorf("HTML %s", m.HTML)
	}
}

func TestTemplateVariablesTruncated(t *testing.T) {
	service, _ := newService(t, nil)
	const whole = `{"Name":"Ann"}`
	for size := 1; size < len(whole); size++ {
		_, err := service.Prepare(org, orgName, email(func(r *otp.Request) {
			r.Email.TemplateID, r.Email.TemplateVariables = "welcome", whole[:size]
		}))
		if !errors.Is(err, otp.ErrParameter) {
			t.Errorf("%s: %v, want ErrParameter", whole[:size], err)
		}
	}
}

func TestDefaults(t *testing.T) {
	service, box := newService(t, nil)
	if _, err := service.Issue(t.Context(), org, orgName, sms(nil)); err != nil {
		t.Fatal(err)
	}
	m := box.last()
	code, rest, _ := strings.Cut(m.Text, " ")
	if len(code) != otp.DefaultLength || rest != "is your Demo Org code. It expires in 5 minutes." || m.HTML != "" || m.Subject != "" {
		t.Errorf("%+v", m)
	}
}

func TestConfigInvalid(t *testing.T) {
	good := otp.Config{Store: memory.New(0), Secret: secret(make([]byte, 32)), Email: &outbox{}}
	for name, change := range map[string]func(*otp.Config){
		"no store":                func(c *otp.Config) { c.Store = nil },
		"no secret":               func(c *otp.Config) { c.Secret = nil },
		"a short secret":          func(c *otp.Config) { c.Secret = secret(make([]byte, 31)) },
		"no sender":               func(c *otp.Config) { c.Email = nil },
		"a negative limit":        func(c *otp.Config) { c.Limits.Sends = otp.Rate{Count: -1, Window: time.Minute} },
		"no sends":                func(c *otp.Config) { c.Limits.Sends = otp.Rate{Window: time.Minute} },
		"a short window":          func(c *otp.Config) { c.Limits.DailyTries = otp.Rate{Count: 1, Window: time.Millisecond} },
		"a long window":           func(c *otp.Config) { c.Limits.OrganizationSends = otp.Rate{Count: 1, Window: 25 * time.Hour} },
		"no live codes":           func(c *otp.Config) { c.Limits.LiveCodes = -1 },
		"too many tries":          func(c *otp.Config) { c.Limits.TriesPerCode = 101 },
		"no lifetime":             func(c *otp.Config) { c.Limits.MaxExpiration = -1 },
		"a country without plus":  func(c *otp.Config) { c.Countries = []string{"49"} },
		"no country":              func(c *otp.Config) { c.Countries = []string{"+49", ""} },
		"a country's name":        func(c *otp.Config) { c.Countries = []string{"DE"} },
		"a country that is zero":  func(c *otp.Config) { c.Countries = []string{"+049"} },
		"a country with a space":  func(c *otp.Config) { c.Countries = []string{"+49 151"} },
		"a credential's limit":    func(c *otp.Config) { c.Limits.SMS.Credential = otp.Rate{Count: 1} },
		"a contact's limit":       func(c *otp.Config) { c.Limits.Email.Contact = otp.Rate{Window: time.Hour} },
		"no domain":               func(c *otp.Config) { c.SenderDomains = []string{"a b"} },
		"a template without code": func(c *otp.Config) { c.Templates = map[string]otp.Template{"a": {Text: "no code"}} },
		"an action in a template": func(c *otp.Config) { c.Templates = map[string]otp.Template{"a": {Text: "{{.OtpCode}}{{if .X}}"}} },
		"a subject of two lines": func(c *otp.Config) {
			c.Templates = map[string]otp.Template{"a": {Text: "{{.OtpCode}}", Subject: "a\nb"}}
		},
		"malformed HTML": func(c *otp.Config) {
			c.Templates = map[string]otp.Template{"a": {Text: "{{.OtpCode}}", HTML: "<a href='{{.MagicLink}}"}}
		},
	} {
		config := good
		change(&config)
		if _, err := otp.New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	service, err := otp.New(good)
	testenv.Must(t, err)
	if _, err := service.Prepare(org, orgName, sms(nil)); !errors.Is(err, otp.ErrParameter) {
		t.Errorf("a type without a sender: %v", err)
	}
}
