package otp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds and defaults of the parameters of a request.
const (
	DefaultExpiration = 5 * time.Minute
	DefaultSenderName = "Notifications"

	maxNameRunes      = 100
	maxIdentifier     = 256
	maxURL            = 2000
	maxVariables      = 8 << 10
	maxVariable       = 1000
	maxSMSTemplate    = 500
	maxSecondsDigits  = 9
	magicLinkVerb     = "%s"
	magicLinkExample  = "https://example.com/login?code=%s"
	secondsExpectedAs = "whole seconds as a decimal string, such as \"300\""
)

// settings are the parameters of a request after they were checked, with their
// defaults.
type settings struct {
	contact      string // where to send it
	counted      string // by which it is counted
	length       int
	alphanumeric bool
	expiration   time.Duration
	appName      string
	link         string // with the verb for the code; may be empty
	variables    map[string]string
	template     Template
	fromName     string
	from         string
	replyTo      string
}

// check checks a request, all of it, before anything is done.
func (s *Service) check(organizationName string, r *Request) (set settings, err error) {
	if err := s.checkType(r.Type); err != nil {
		return set, err
	}
	if set.contact, set.counted, err = canonicalContact(r.Type, r.Contact); err != nil {
		return set, err
	}
	for _, one := range []func(string, *Request, *settings) error{
		s.checkCode, s.checkNames, s.checkAddresses, s.checkEmail, s.checkSMS,
	} {
		if err := one(organizationName, r, &set); err != nil {
			return set, err
		}
	}
	return set, nil
}

func (s *Service) checkType(kind Type) error {
	switch {
	case kind != TypeEmail && kind != TypeSMS:
		return badParameter("otpType", "%.100q is not known: %s or %s is expected", string(kind), TypeEmail, TypeSMS)
	case s.sender(kind) == nil:
		return badParameter("otpType", "%s is not served here: no sender is configured for it", kind)
	}
	return nil
}

func (s *Service) checkCode(_ string, r *Request, set *settings) (err error) {
	set.length = r.Length
	if r.Length == 0 {
		set.length = DefaultLength
	}
	if set.length < MinLength || set.length > MaxLength {
		return badParameter("otpLength", "%d is out of bounds: %d to %d are possible", r.Length, MinLength, MaxLength)
	}
	set.alphanumeric = r.Alphanumeric == nil || *r.Alphanumeric
	standard := min(DefaultExpiration, s.limits.MaxExpiration)
	set.expiration, err = seconds("expirationSeconds", r.ExpirationSeconds, standard, s.limits.MaxExpiration)
	return err
}

// seconds reads a decimal number of seconds, from 1 to most.
func seconds(parameter, text string, standard, most time.Duration) (time.Duration, error) {
	if text == "" {
		return standard, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || len(text) > maxSecondsDigits || text[0] == '0' && text != "0" {
		return 0, badParameter(parameter, "%s are expected", secondsExpectedAs)
	}
	d := time.Duration(n) * time.Second
	if d < time.Second || d > most {
		return 0, badParameter(parameter, "%s is out of bounds: 1 to %d are possible", text, int64(most/time.Second))
	}
	return d, nil
}

func (s *Service) checkNames(organizationName string, r *Request, set *settings) error {
	set.appName = r.AppName
	if set.appName == "" {
		set.appName = organizationName
	}
	set.fromName = r.SendFromEmailSenderName
	if set.fromName == "" {
		set.fromName = DefaultSenderName
	}
	for _, one := range []struct{ parameter, name string }{{"appName", set.appName}, {"sendFromEmailSenderName", set.fromName}} {
		if utf8.RuneCountInString(one.name) > maxNameRunes || !printable(one.name, "") || hasEncodedWord(one.name) {
			return badParameter(one.parameter, "one line of at most %d printable characters without =? is expected", maxNameRunes)
		}
	}
	if len(r.UserIdentifier) > maxIdentifier {
		return badParameter("userIdentifier", "it has %d bytes; at most %d are possible", len(r.UserIdentifier), maxIdentifier)
	}
	return nil
}

// printable tells whether text is UTF-8 without control characters and without
// those that show nothing, but for the exceptions.
func printable(text, exceptions string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsPrint(r) && !strings.ContainsRune(exceptions, r)
	})
}

// hasEncodedWord reports whether a mail reader could decode text of a header to
// something else than it shows (RFC 2047).
func hasEncodedWord(text string) bool { return strings.Contains(text, "=?") }

func (s *Service) checkAddresses(_ string, r *Request, set *settings) error {
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
		return badParameter("sendFromEmailAddress", "the domain %s is not one that this engine may send from", domainOf(set.from))
	}
	return nil
}

func (s *Service) checkEmail(_ string, r *Request, set *settings) (err error) {
	custom := r.Email
	if custom == nil {
		custom = &EmailCustomization{}
	}
	if custom.LogoURL != "" && !isHTTPS(custom.LogoURL) {
		return badParameter("emailCustomization.logoUrl", "an https URL of at most %d bytes is expected", maxURL)
	}
	if err := checkMagicLink(custom.MagicLinkTemplate); err != nil {
		return err
	}
	if set.variables, err = readVariables(custom.TemplateVariables); err != nil {
		return err
	}
	set.link = custom.MagicLinkTemplate
	set.variables[VariableLogo] = custom.LogoURL
	set.template = defaultEmail(set.link != "", custom.LogoURL != "")
	if custom.TemplateID == "" {
		return nil
	}
	named, known := s.templates[custom.TemplateID]
	if !known {
		return badParameter("emailCustomization.templateId", "no template %.100q is configured", custom.TemplateID)
	}
	set.template = named
	return nil
}

func isHTTPS(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && len(text) <= maxURL && parsed.Scheme == "https" && parsed.Hostname() != "" &&
		parsed.User == nil && printable(text, "") && !strings.ContainsAny(text, " \"'<>\\`")
}

// checkMagicLink wants an https URL once the code is in it; the code must not
// choose the host.
func checkMagicLink(link string) error {
	if link == "" {
		return nil
	}
	before, _, _ := strings.Cut(link, magicLinkVerb)
	whole := strings.Replace(link, magicLinkVerb, "0", 1)
	if strings.Count(link, magicLinkVerb) != 1 || !isHTTPS(whole) || strings.Count(before, "/") < 3 && !strings.ContainsAny(before, "?#") {
		return badParameter("emailCustomization.magicLinkTemplate",
			"an https URL of at most %d bytes with one %s behind its host is expected, such as %s", maxURL, magicLinkVerb, magicLinkExample)
	}
	return nil
}

var identifier = regexp.MustCompile(`^` + variableIdentifier + `$`)

// readVariables reads a JSON object whose members are strings.
func readVariables(text string) (map[string]string, error) {
	const parameter = "emailCustomization.templateVariables"
	variables := map[string]string{}
	if text == "" {
		return variables, nil
	}
	if len(text) > maxVariables {
		return nil, badParameter(parameter, "it has %d bytes; at most %d are possible", len(text), maxVariables)
	}
	if err := decodeStrings(text, variables); err != nil {
		return nil, badParameter(parameter, "a JSON object of strings is expected, as a string: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		value := variables[name]
		switch {
		case !identifier.MatchString(name):
			return nil, badParameter(parameter, "%.100q is not the name of a variable: letters, digits and _ are expected", name)
		case slices.Contains(builtIn, name):
			return nil, badParameter(parameter, "%s is a variable that every template has; it cannot be given", name)
		case len(value) > maxVariable || !printable(value, "\n\t"):
			return nil, badParameter(parameter, "%s: at most %d bytes of printable text are expected", name, maxVariable)
		}
	}
	return variables, nil
}

// decodeStrings reads an object of strings, each name once.
func decodeStrings(text string, into map[string]string) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("it does not begin with {")
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		value, err := decoder.Token()
		if err != nil {
			return err
		}
		text, isString := value.(string)
		if !isString {
			return fmt.Errorf("%.100q is not a string", name)
		}
		if _, twice := into[name.(string)]; twice {
			return fmt.Errorf("%.100q is there twice", name)
		}
		into[name.(string)] = text
	}
	if _, err := decoder.Token(); err != nil {
		return err
	}
	if decoder.InputOffset() != int64(len(strings.TrimRight(text, " \t\r\n"))) {
		return fmt.Errorf("something follows it")
	}
	return nil
}

func (s *Service) checkSMS(_ string, r *Request, set *settings) error {
	const parameter = "smsCustomization.template"
	template := DefaultSMS
	if r.SMS != nil && r.SMS.Template != "" {
		template = Template{Text: r.SMS.Template}
		if len(template.Text) > maxSMSTemplate || !printable(template.Text, "\n") {
			return badParameter(parameter, "at most %d bytes of printable text are expected", maxSMSTemplate)
		}
		pieces, err := parseTemplate(template.Text, []string{VariableCode, VariableApp, VariableMinutes})
		if err != nil {
			return badParameter(parameter, "%v", err)
		}
		if !has(pieces, VariableCode) {
			return badParameter(parameter, "{{.%s}} is missing: the message would have no code in it", VariableCode)
		}
	}
	if r.Type == TypeSMS {
		set.template = template
	}
	return nil
}
