package otp

import (
	"fmt"
	htmltemplate "html/template"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// The built-in variables.
const (
	variableCode      = "OtpCode"
	variableApp       = "AppName"
	variableMinutes   = "ExpirationMinutes"
	variableMagicLink = "MagicLink"
	variableLogo      = "LogoUrl"
)

const variableName = `[A-Za-z_][A-Za-z0-9_]{0,63}`

var builtIn = []string{variableCode, variableApp, variableMinutes, variableMagicLink, variableLogo}

// Template is the text of a message. A variable is written {{.Name}}; no other
// actions are supported. Every template has the variables
//
//	OtpCode             the code
//	AppName             the application that the code is for
//	ExpirationMinutes   the lifetime of the code, in minutes, rounded up
//	MagicLink           empty if the request has no magicLinkTemplate
//	LogoUrl             empty if the request has no logoUrl
//
// and those of the request's templateVariables. Any other variable is empty. In HTML
// every variable is escaped for its context.
type Template struct {
	Subject string `yaml:"subject"` // of an e-mail
	Text    string `yaml:"text"`    // of an e-mail or a text message; must contain {{.OtpCode}}
	HTML    string `yaml:"html"`    // of an e-mail; may be empty
}

// The templates of requests that name none.
var (
	emailTemplate = Template{
		Subject: "Your code for {{.AppName}}", // without the code: mail servers log subjects
		Text: "Your code for {{.AppName}} is\n\n    {{.OtpCode}}\n\n" +
			"It expires in {{.ExpirationMinutes}} minutes and works once. " +
			"No one from {{.AppName}} will ever ask you for it.\n" +
			"If you did not ask for it, you can ignore this message.\n",
		HTML: `<!DOCTYPE html><html><body style="font-family:sans-serif">` +
			`<p>Your code for <b>{{.AppName}}</b> is</p>` +
			`<p style="font-size:2em;letter-spacing:.1em"><b>{{.OtpCode}}</b></p>` +
			`<p>It expires in {{.ExpirationMinutes}} minutes and works once. ` +
			`No one from {{.AppName}} will ever ask you for it.</p>` +
			`<p>If you did not ask for it, you can ignore this message.</p></body></html>`,
	}
	smsTemplate = Template{
		Text: "{{.OtpCode}} is your {{.AppName}} code. It expires in {{.ExpirationMinutes}} minutes.",
	}
)

// The parts of the default e-mail for requests with a magic link or a logo.
const (
	linkText = "\nOr open this link: {{.MagicLink}}\n"
	linkHTML = `<p><a href="{{.MagicLink}}">Or open this link</a></p>`
	logoHTML = `<p><img src="{{.LogoUrl}}" alt="{{.AppName}}" height="48"></p>`
)

func defaultEmail(link, logo bool) Template {
	template := emailTemplate
	if link {
		template.Text += linkText
		template.HTML = strings.Replace(template.HTML, "</body>", linkHTML+"</body>", 1)
	}
	if logo {
		template.HTML = strings.Replace(template.HTML, "<p>Your code", logoHTML+"<p>Your code", 1)
	}
	return template
}

var action = plaintext.NewPattern(`^\{\{\s*\.(` + variableName + `)\s*\}\}`)

// segment is literal text, or the name of a variable.
type segment struct {
	text     string
	variable string
}

// parseTemplate splits a template into its segments. It refuses actions other than
// variables, and variables that are not in allowed, unless allowed is nil.
func parseTemplate(source string, allowed []string) (segments []segment, err error) {
	rest := source
	for {
		open := strings.Index(rest, "{{")
		if open < 0 {
			return append(segments, segment{text: rest}), nil
		}
		match := action.Regexp().FindStringSubmatch(rest[open:])
		offset := len(source) - len(rest) + open
		if match == nil {
			return nil, fmt.Errorf("at byte %d: expected a variable such as {{.OtpCode}}", offset)
		}
		if allowed != nil && !slices.Contains(allowed, match[1]) {
			return nil, fmt.Errorf("at byte %d: unknown variable %s: expected one of %s", offset, match[1], strings.Join(allowed, ", "))
		}
		segments = append(segments, segment{text: rest[:open]}, segment{variable: match[1]})
		rest = rest[open+len(match[0]):]
	}
}

func has(segments []segment, variable string) bool {
	return slices.ContainsFunc(segments, func(p segment) bool { return p.variable == variable })
}

// fill substitutes the variables of a template that is plain text.
func fill(source string, variables map[string]string) (string, error) {
	return substitute(source, func(variable string) string { return variables[variable] })
}

func substitute(source string, valueOf func(variable string) string) (string, error) {
	segments, err := parseTemplate(source, nil)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, p := range segments {
		out.WriteString(p.text)
		if p.variable != "" {
			out.WriteString(valueOf(p.variable))
		}
	}
	return out.String(), nil
}

// fillHTML substitutes the variables of a template that is HTML. html/template
// escapes each for its context.
func fillHTML(source string, variables map[string]string) (string, error) {
	actions, err := substitute(source, func(variable string) string { return `{{index . "` + variable + `"}}` })
	if err != nil || source == "" {
		return "", err
	}
	parsed, err := htmltemplate.New("html").Parse(actions)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = parsed.Execute(&out, variables)
	return out.String(), err
}

func (t *Template) check() error {
	for _, part := range []struct{ name, source string }{{"subject", t.Subject}, {"text", t.Text}, {"html", t.HTML}} {
		if _, err := parseTemplate(part.source, nil); err != nil {
			return fmt.Errorf("%s %w", part.name, err)
		}
	}
	if segments, _ := parseTemplate(t.Text, nil); !has(segments, variableCode) {
		return fmt.Errorf("text: {{.%s}} is missing", variableCode)
	}
	if strings.ContainsAny(t.Subject, "\r\n") {
		return fmt.Errorf("subject: more than one line")
	}
	_, err := fillHTML(t.HTML, nil)
	return err
}
