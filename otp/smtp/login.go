package smtp

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	mailsmtp "github.com/wneessen/go-mail/smtp"

	"github.com/countersign-dev/countersign/internal/weborigin"
)

// mechanism is a way to authenticate (RFC 4954).
type mechanism struct {
	name    string
	reveals bool // sends the password itself
	bound   bool // to the TLS connection
	start   func(*login) (mailsmtp.Auth, error)
}

// mechanisms are the supported mechanisms in order of preference. NTLM is last because
// servers that offer it often refuse it.
var mechanisms = []mechanism{
	{"SCRAM-SHA-256-PLUS", false, true, func(l *login) (mailsmtp.Auth, error) {
		state, err := l.connection.GetTLSConnectionState()
		return mailsmtp.ScramSHA256PlusAuth(l.Username, l.Password, state), err
	}},
	{"SCRAM-SHA-256", false, false, func(l *login) (mailsmtp.Auth, error) {
		return mailsmtp.ScramSHA256Auth(l.Username, l.Password), nil
	}},
	{"SCRAM-SHA-1-PLUS", false, true, func(l *login) (mailsmtp.Auth, error) {
		state, err := l.connection.GetTLSConnectionState()
		return mailsmtp.ScramSHA1PlusAuth(l.Username, l.Password, state), err
	}},
	{"SCRAM-SHA-1", false, false, func(l *login) (mailsmtp.Auth, error) {
		return mailsmtp.ScramSHA1Auth(l.Username, l.Password), nil
	}},
	{"PLAIN", true, false, func(l *login) (mailsmtp.Auth, error) {
		return mailsmtp.PlainAuth("", l.Username, l.Password, l.Host, true), nil
	}},
	{"LOGIN", true, false, func(l *login) (mailsmtp.Auth, error) {
		return mailsmtp.LoginAuth(l.Username, l.Password, l.Host, true), nil
	}},
	{"CRAM-MD5", false, false, func(l *login) (mailsmtp.Auth, error) {
		return mailsmtp.CRAMMD5Auth(l.Username, l.Password), nil
	}},
	{"NTLM", false, false, func(l *login) (mailsmtp.Auth, error) {
		return mailsmtp.NTLMAuth(l.Username, l.Password, ""), nil
	}},
}

// CheckAuth returns an error unless Config.Auth may be the name.
func CheckAuth(name string) error {
	var known []string
	for _, mechanism := range mechanisms {
		if strings.EqualFold(name, mechanism.name) {
			return nil
		}
		known = append(known, strings.ToLower(mechanism.name))
	}
	if name == "" {
		return nil
	}
	return fmt.Errorf("unknown mechanism %.40q: use one of %s", name, strings.Join(known, ", "))
}

type login struct {
	*Config
	connection *mailsmtp.Client
}

// run logs in with the mechanism of the configuration or, without one, with the preferred
// one of those that the server offers.
func (l *login) run() error {
	offered, err := l.offered()
	if err != nil {
		return err
	}
	chosen, err := l.choose(offered)
	if err != nil {
		return err
	}
	auth, err := chosen.start(l)
	if err != nil {
		return err
	}
	if err := l.connection.Auth(auth); err != nil {
		return fmt.Errorf("%s: %w", chosen.name, err)
	}
	return nil
}

// offered asks the server, once more, what it supports. The library understands only one
// AUTH line in the form of RFC 4954.
func (l *login) offered() ([]string, error) {
	text := l.connection.Text
	id, err := text.Cmd("EHLO %s", l.hello())
	if err != nil {
		return nil, err
	}
	text.StartResponse(id)
	defer text.EndResponse(id)
	_, answer, err := text.ReadResponse(250)
	return parseOffer(answer), err
}

// parseOffer returns the mechanisms of an answer to EHLO, in capitals: those of all AUTH
// lines. Keywords may be in lower case (RFC 5321, section 2.4), and servers for old clients
// write AUTH=LOGIN, also or only.
func parseOffer(answer string) (offered []string) {
	_, lines, _ := strings.Cut(answer, "\n")
	for line := range strings.Lines(strings.ToUpper(lines)) {
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n=,", r) })
		if len(words) > 0 && words[0] == "AUTH" {
			offered = append(offered, words[1:]...)
		}
	}
	return offered
}

func (l *login) choose(offered []string) (mechanism, error) {
	encrypted := l.Encryption != InsecurePlaintext
	for _, mechanism := range mechanisms {
		switch {
		case l.Auth != "" && !strings.EqualFold(l.Auth, mechanism.name), l.Auth == "" && !slices.Contains(offered, mechanism.name):
		case mechanism.reveals && !encrypted && !weborigin.IsLoopback(l.Host):
			if l.Auth != "" {
				return mechanism, fmt.Errorf("%s is not used without TLS: it would send the password in the clear", mechanism.name)
			}
		case mechanism.bound && !encrypted:
			if l.Auth != "" {
				return mechanism, fmt.Errorf("%s is bound to TLS, which this connection does not have", mechanism.name)
			}
		default:
			return mechanism, nil
		}
	}
	if len(offered) == 0 {
		return mechanism{}, errors.New("the server offers no authentication: remove the username, or set the mechanism that it has")
	}
	return mechanism{}, fmt.Errorf("the server offers %.200q to log in with: none can be used over this connection", offered)
}

// hello returns the host name given to the server.
func (c *Config) hello() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		name = "localhost"
	}
	return cmp.Or(c.HELO, name)
}
