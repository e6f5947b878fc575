package otp

import (
	"fmt"
	htmltemplate "html/template"
	"regexp"
	"slices"
	"strings"
)

// The variables that every template has.
const (
	VariableCode       = "OtpCode"           // what the user types in
	VariableApp        = "AppName"           // who asks for it
	VariableMinutes    = "ExpirationMinutes" // how long it is good, rounded up
	VariableMagicLink  = "MagicLink"         // empty if the request has no magicLinkTemplate
	VariableLogo       = "LogoUrl"           // empty if the request has no logoUrl
	variableIdentifier = `[A-Za-z_][A-Za-z0-9_]{0,63}`
)

var builtIn = []string{VariableCode, VariableApp, VariableMinutes, VariableMagicLink, VariableLogo}

// Template is how messages look. A variable is written {{.Name}}; a template
// can do nothing else. Besides the built-in ones it has those of the request's
// templateVariables. One that the request does not have is empty.
//
// In HTML every variable is escaped for where it stands.
type Template struct {
	Subject string // of an e-mail
	Text    string // of an e-mail or a text message; must have {{.OtpCode}} in it
	HTML    string // of an e-mail; may be empty
}

// DefaultEmail and DefaultSMS are used where nothing else is asked for.
var (
	DefaultEmail = Template{
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
	DefaultSMS = Template{
		Text: "{{.OtpCode}} is your {{.AppName}} code. It expires in {{.ExpirationMinutes}} minutes.",
	}
)

// What the default e-mail has more if the request asks for it.
const (
	linkText = "\nOr open this link: {{.MagicLink}}\n"
	linkHTML = `<p><a href="{{.MagicLink}}">Or open this link</a></p>`
	logoHTML = `<p><img src="{{.LogoUrl}}" alt="{{.AppName}}" height="48"></p>`
)

func defaultEmail(link, logo bool) Template {
	made := DefaultEmail
	if link {
		made.Text += linkText
		made.HTML = strings.Replace(made.HTML, "</body>", linkHTML+"</body>", 1)
	}
	if logo {
		made.HTML = strings.Replace(made.HTML, "<p>Your code", logoHTML+"<p>Your code", 1)
	}
	return made
}

var action = regexp.MustCompile(`^\{\{\s*\.(` + variableIdentifier + `)\s*\}\}`)

// piece is text as it stands, or the name of a variable.
type piece struct {
	text     string
	variable string
}

// parseTemplate splits a template into its pieces. An action that is not a
// variable is refused; so are variables other than the allowed, if there are
// any given.
func parseTemplate(source string, allowed []string) (pieces []piece, err error) {
	rest := source
	for {
		open := strings.Index(rest, "{{")
		if open < 0 {
			return append(pieces, piece{text: rest}), nil
		}
		found := action.FindStringSubmatch(rest[open:])
		at := len(source) - len(rest) + open
		if found == nil {
			return nil, fmt.Errorf("at byte %d: a variable such as {{.OtpCode}} is expected behind {{, and nothing else", at)
		}
		if allowed != nil && !slices.Contains(allowed, found[1]) {
			return nil, fmt.Errorf("at byte %d: there is no variable %s here, only %s", at, found[1], strings.Join(allowed, ", "))
		}
		pieces = append(pieces, piece{text: rest[:open]}, piece{variable: found[1]})
		rest = rest[open+len(found[0]):]
	}
}

func has(pieces []piece, variable string) bool {
	return slices.ContainsFunc(pieces, func(p piece) bool { return p.variable == variable })
}

// fill makes text of a template. It was parsed before.
func fill(source string, variables map[string]string) (string, error) {
	pieces, err := parseTemplate(source, nil)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, p := range pieces {
		out.WriteString(p.text)
		if p.variable != "" {
			out.WriteString(variables[p.variable])
		}
	}
	return out.String(), nil
}

// fillHTML makes HTML of a template, by html/template, which knows what has to
// be escaped how where it stands.
func fillHTML(source string, variables map[string]string) (string, error) {
	pieces, err := parseTemplate(source, nil)
	if err != nil || source == "" {
		return "", err
	}
	var plain strings.Builder
	for _, p := range pieces {
		plain.WriteString(p.text)
		if p.variable != "" {
			plain.WriteString(`{{index . "` + p.variable + `"}}`)
		}
	}
	parsed, err := htmltemplate.New("html").Parse(plain.String())
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = parsed.Execute(&out, variables)
	return out.String(), err
}

// check refuses a template that could not be used.
func (t *Template) check() error {
	for _, one := range []struct{ part, source string }{{"subject", t.Subject}, {"text", t.Text}, {"html", t.HTML}} {
		if _, err := parseTemplate(one.source, nil); err != nil {
			return fmt.Errorf("%s %w", one.part, err)
		}
	}
	if pieces, _ := parseTemplate(t.Text, nil); !has(pieces, VariableCode) {
		return fmt.Errorf("text: {{.%s}} is missing", VariableCode)
	}
	if strings.ContainsAny(t.Subject, "\r\n") {
		return fmt.Errorf("subject: it has more than one line")
	}
	_, err := fillHTML(t.HTML, nil)
	return err
}
