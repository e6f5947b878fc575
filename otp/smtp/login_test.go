package smtp_test

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp/smtp"
)

// rewrite starts a proxy before a server that replaces its AUTH line by others.
func rewrite(t *testing.T, port int, lines ...string) int {
	t.Helper()
	return through(t, port, func(line string) string {
		if strings.HasPrefix(line, "250-AUTH ") {
			line = ""
			for _, one := range lines {
				line += "250-" + one + "\r\n"
			}
		}
		return line
	})
}

// through starts a proxy before a server that changes the lines which the server sends in
// the clear.
func through(t *testing.T, port int, change func(line string) string) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go relay(client, port, change)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

func relay(client net.Conn, port int, change func(line string) string) {
	defer func() { _ = client.Close() }()
	server, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.CloseWrite()
	}()
	answers := bufio.NewReader(server)
	for {
		line, err := answers.ReadString('\n')
		if err != nil {
			return
		}
		if _, err := io.WriteString(client, change(line)); err != nil {
			return
		}
		if strings.HasPrefix(line, "220 2") { // ready to start TLS
			_, _ = io.Copy(client, answers)
			return
		}
	}
}

// TestOffers logs in to servers that say in different ways what they support. Only PLAIN
// and LOGIN work.
func TestOffers(t *testing.T) {
	for _, test := range []struct {
		name  string
		lines []string
		auth  string // of the configuration
		want  string // the mechanism, or of the error if it begins with "!"
	}{
		{"as RFC 4954 says", []string{"AUTH LOGIN PLAIN"}, "", "PLAIN"},
		{"the old form", []string{"AUTH=LOGIN"}, "", "LOGIN"},
		{"the old form of two", []string{"AUTH=LOGIN PLAIN"}, "", "PLAIN"},
		{"both forms", []string{"AUTH LOGIN", "AUTH=LOGIN"}, "", "LOGIN"},
		{"both forms, different", []string{"AUTH=PLAIN", "AUTH LOGIN"}, "", "PLAIN"},
		{"two lines", []string{"AUTH PLAIN", "AUTH GSSAPI"}, "", "PLAIN"},
		{"the same line twice", []string{"AUTH PLAIN LOGIN", "AUTH PLAIN LOGIN"}, "", "PLAIN"},
		{"lower case", []string{"auth login"}, "", "LOGIN"},
		{"lower-case names", []string{"AUTH plain"}, "", "PLAIN"},
		{"many spaces", []string{"AUTH  LOGIN   PLAIN "}, "", "PLAIN"},
		{"commas", []string{"AUTH LOGIN,PLAIN"}, "", "PLAIN"},
		{"NTLM, which it refuses", []string{"AUTH NTLM LOGIN PLAIN"}, "", "PLAIN"},
		{"unknown ones", []string{"AUTH XOAUTH2 GSSAPI LOGIN"}, "", "LOGIN"},
		{"the other one", []string{"AUTH LOGIN PLAIN"}, "login", "LOGIN"},
		{"one that it does not offer", []string{"AUTH GSSAPI"}, "Plain", "PLAIN"},
		{"none, on request", nil, "login", "LOGIN"},
		{"one that it refuses", []string{"AUTH NTLM PLAIN"}, "ntlm", "!NTLM: "},
		{"none", nil, "", "!offers no authentication"},
		{"none that is known", []string{"AUTH GSSAPI", "AUTH=XOAUTH2"}, "", `!offers ["GSSAPI" "XOAUTH2"]`},
		{"one that needs TLS", []string{"AUTH SCRAM-SHA-1-PLUS"}, "scram-sha-1-plus", "!bound to TLS"},
		{"the same, unasked", []string{"AUTH SCRAM-SHA-1-PLUS LOGIN"}, "", "LOGIN"},
		{"another word", []string{"AUTHENTICATE PLAIN"}, "", "!offers no authentication"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, noTLS)
			config := s.config(func(c *smtp.Config) {
				c.Encryption, c.Username, c.Password, c.Auth = smtp.InsecurePlaintext, "user", "right", test.auth
				c.Port = rewrite(t, s.port, test.lines...)
			})
			err := send(t, config, message)
			if text, fails := strings.CutPrefix(test.want, "!"); fails {
				if err == nil || !strings.Contains(err.Error(), text) || len(s.messages()) > 0 {
					t.Fatalf("%v, want …%s…", err, text)
				}
				return
			}
			testenv.Must(t, err)
			if got := s.messages(); len(got) != 1 || got[0].mechanism != test.want || got[0].user != "user" {
				t.Fatalf("%+v, want %s", got, test.want)
			}
		})
	}
}

// TestKeywordCase starts TLS with servers that write the keywords of their answer to EHLO in
// lower or mixed case (RFC 5321, section 2.4), with other line endings of theirs, or leave
// the keyword out and know the command.
func TestKeywordCase(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"lower case": strings.ToLower,
		"mixed case": func(line string) string { return strings.ReplaceAll(line, "STARTTLS", "StartTLS") },
		"a space":    func(line string) string { return strings.ReplaceAll(line, "STARTTLS\r", "STARTTLS \r") },
		"not said":   func(line string) string { return strings.ReplaceAll(line, "STARTTLS", "XSTART") },
	} {
		for _, user := range []string{"", "user"} {
			s := serve(t, nil)
			config := s.config(func(c *smtp.Config) {
				c.Username, c.Password = user, "right"
				c.Port = through(t, s.port, func(line string) string {
					if strings.HasPrefix(line, "250") {
						return change(line)
					}
					return line
				})
			})
			if err := send(t, config, message); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := s.messages(); len(got) != 1 || !got[0].encrypted || got[0].user != user {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// TestNothingInTheClear: unless it was allowed, neither the message nor a password is sent to a
// server that does not start TLS, whatever it says.
func TestNothingInTheClear(t *testing.T) {
	for name, answer := range map[string]string{"refused": "502 5.5.1 no\r\n", "told to wait": "454 4.7.0 later\r\n", "taken for another command": "250 2.0.0 fine\r\n"} {
		s := serve(t, nil)
		config := s.config(func(c *smtp.Config) {
			c.Username, c.Password = "user", "right"
			c.Port = through(t, s.port, func(line string) string {
				if strings.HasPrefix(line, "220 2") {
					return answer
				}
				return line
			})
		})
		if err := send(t, config, message); err == nil || !strings.Contains(err.Error(), "STARTTLS") {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.messages(); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// FuzzOffer: what a server offers is words in capitals.
func FuzzOffer(f *testing.F) {
	for _, seed := range []string{"hello\nAUTH PLAIN", "hello\nauth=login\nAUTH LOGIN,PLAIN", "", "AUTH PLAIN", "a\n\n\nAUTH"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		offered := smtp.ParseOffer(answer)
		if slices.ContainsFunc(offered, func(word string) bool { return word == "" || strings.ContainsAny(word, " \r\n=,") }) {
			t.Errorf("%q offers %q", answer, offered)
		}
		if !strings.Contains(answer, "\n") && len(offered) > 0 {
			t.Errorf("the greeting %q offers %q", answer, offered)
		}
	})
}
