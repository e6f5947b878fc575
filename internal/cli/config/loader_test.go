package config_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/deployment"
	policycommand "github.com/countersign-dev/countersign/internal/cli/policy"
	"github.com/countersign-dev/countersign/internal/cli/serve"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// mutation is one change of the example. want is part of the error; empty: it is valid.
type mutation struct {
	name, old, by string // in the configuration; or in the file called name, if it has a dot
	want          string
}

// mutations are mistakes that operators make, and some changes that are none.
var mutations = []mutation{
	{"nothing", "", "", ""},
	// the form of the file
	{"byte-order mark", "listen:", "\ufefflisten:", "byte-order mark"},
	{"tab", "  - id: 2359", "\t- id: 2359", ":24:1: a tab: indent with spaces"},
	{"indentation", "    name: Example", "   name: Example", "check the indentation"},
	{"colon without space", "store: bolt:state.db", "store:bolt:state.db", "check the indentation"},
	{"open bracket", "origins: [https://app.example.com]  #", "origins: [https://app.example.com  #", "quotes and brackets"},
	{"open quote", "text: \"Your code is {{.OtpCode}}\"", "text: \"Your code is {{.OtpCode}}", "quotes and brackets"},
	{"two documents", "otp:", "---\notp:", "one YAML document"},
	{"anchor", "store: bolt:state.db", "store: &s bolt:state.db", "anchors and aliases"},
	{"a comment with a tab", "store: bolt:state.db", "store: bolt:state.db #\tstate", ""},
	{"CRLF", "store: bolt:state.db\n", "store: bolt:state.db\r\n", ""},
	// members
	{"misspelt below", "passwordFile:", "pasword:", "smtp has no member pasword: did you mean passwordFile?"},
	{"no value", "passphraseFile: passphrase          #", "passphraseFile: #", "passphraseFile has no value"},
	{"a text for a list", "tags: [agent]", "tags: agent", "tags: expected a list"},
	{"a text for a number", "port: 587", "port: many", "port: expected a whole number"},
	{"a text for a boolean", "off: false", "off: no", "off: expected true or false"},
	{"no addresses", `addresses: [10.2.0.0/16, 192.0.2.7, "2001:db8::/32"]`, "addresses: []", "the list is empty"},
	{"an address with a prefix", "10.2.0.0/16", "10.2.3.4/16", "addresses[0]: 10.2.3.4/16 has bits set behind"},
	{"a name for an address", "192.0.2.7", "office", "addresses[1]: \"office\" is neither a network nor an address"},
	{"a proxy's port", "forwardedFrom: [10.0.0.5", "forwardedFrom: [10.0.0.5:80", "forwardedFrom[0]: \"10.0.0"},
	{"no proxies", "forwardedFrom: [10.0.0.5, 10.1.0.0/16]", "forwardedFrom: []", "forwardedFrom: the list is empty"},
	{"a header without proxies", "forwardedFrom: [10.0.0.5, 10.1.0.0/16]", "#", "forwardedHeader needs forwardedFrom"},
	{"the header of RFC 7239", "forwardedHeader: X-Forwarded-For", "forwardedHeader: Forwarded", "expected the name"},
	{"another header", "forwardedHeader: X-Forwarded-For", "forwardedHeader: X-Real-IP", ""},
	// places
	{"store unknown", "store: bolt:state.db", "store: mysql:x", "unknown store \"mysql\": use memory, bolt:PATH or postgres://…"},
	{"store without path", "store: bolt:state.db", "store: 'bolt:'", "names no file: write bolt:PATH"},
	{"store elsewhere", "store: bolt:state.db", "store: bolt:sate.db", "sate.db does not exist"},
	{"store is a directory", "store: bolt:state.db", "store: bolt:keys", "is a directory"},
	{"store with a bad URL", "store: bolt:state.db", "store: 'postgres://u@h:port/d'", "store: cannot parse"},
	{"one address for both", "listen: 127.0.0.1:0              # the API\nadmin: 127.0.0.1:0 ", "listen: 127.0.0.1:1\nadmin: 127.0.0.1:1 ", "also the address of listen"},
	{"listen without port", "listen: 127.0.0.1:0 ", "listen: localhost ", "listen: \"localhost\" has no port: write HOST:PORT"},
	{"admin without port", "admin: 127.0.0.1:0 ", "admin: localhost ", "admin: \"localhost\" has no port: write HOST:PORT"},
	{"keystore elsewhere", "keystore: file:keys", "keystore: file:kyes", "there is no keystore in"},
	{"keystore without scheme", "keystore: file:keys", "keystore: keys", "keystore \"keys\" has no scheme: for a directory write file:keys"},
	{"keystore unknown", "keystore: file:keys", "keystore: kms:keys", "unknown scheme"},
	{"keystore missing", "keystore: file:keys\n", "", "keystore is missing"},
	{"token named badly", "keystore: file:keys", "keystore: 'pkcs11:token=a;token=b'", "duplicate attribute"},
	{"keystore with an unknown option", "keystore: file:keys", "keystore: file:keys?bad-file=skip", "the only option of a directory is ?bad-files=skip"},
	{"one login for each", "keystore: file:keys", "keystore: 'pkcs11:token=a?countersign-retry-pin=yes'", "countersign-retry-pin is for one login"},
	{"passphrase elsewhere", "passphraseFile: passphrase ", "passphraseFile: pasphrase ", "no such file"},
	{"another passphrase", "passphraseFile: passphrase ", "passphraseFile: otp-secret ", "wrong passphrase"},
	{"proof key elsewhere", "proofKey: file:proof.pem", "proofKey: file:prof.pem", "proofKey: "},
	{"proof key of another kind", "proofKey: file:proof.pem", "proofKey: file:log.pem", "ECDSA key on P-256"},
	{"log key elsewhere", "keyFile: log.pem", "keyFile: lgo.pem", "log: keyFile: "},
	{"log key of another kind", "keyFile: log.pem", "keyFile: proof.pem", "Ed25519"},
	{"certificate elsewhere", "certFile: cert.pem", "certFile: crt.pem", "tls: "},
	{"half of tls", "tls: {certFile: cert.pem, keyFile: key.pem}", "tls: {certFile: cert.pem}", "certFile and keyFile"},
	{"console without domain", ", rpId: example.com}  #", "}  #", "console: "},
	{"console elsewhere", "origin: https://sign.example.com, rpId", "origin: http://sign.example.com, rpId", "console: "},
	{"origin with a path", "origins: [https://app.example.com]  #", "origins: [https://app.example.com/]  #", "scheme, host and port alone"},
	{"limit below the least", "requestBytes: 67108864", "requestBytes: 1000", "limits.requestBytes"},
	{"descriptors elsewhere", "folder: descriptors", "folder: descriptor", "descriptors.folder"},
	{"pins within", "pins: pins.txt", "pins: descriptors/pins.txt", "keep it outside"},
	{"tokens elsewhere", "tokens: [tokens.json]", "tokens: [token.json]", "tokens: "},
	{"label of no address", "\"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7\"", "\"0x08d2\"", "labels[0]"},
	// who
	{"no organizations", "organizations:\n", "organizations: []\nlabel:\n", "has no member label"},
	{"hazard", "allowHazards: [tron/long-expiration]", "allowHazards: [tron/long-expirations]", "did you mean tron/long-expiration?"},
	{"activity", "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", "ACTIVITY_TYPE_SIGN_TRANSACTION", "did you mean ACTIVITY_TYPE_SIGN_TRANSACTION_V2?"},
	{"key cut short", "publicKey: 0332064cec33af7ac82d026aa17bbb951c6b3a7f4d29bde5f4229eb26a93e2508b", "publicKey: 0332064cec33af7ac82d026aa17bbb951c6b3a7f4d29bde5f4229eb26a93e2508", "65 characters"},
	{"key of another curve", "curve: API_KEY_CURVE_P256", "curve: API_KEY_CURVE_ED25519", "want 32"},
	{"user twice", "name: ann", "name: payments", "another user has this id"},
	{"rpId with a scheme", "rpId: example.com\n", "rpId: https://example.com\n", "use the domain alone"},
	{"id with a stray character", "id: 2359bf3c-9a5e-4def-ac6a-2a11a3d8027e", `id: "\u200b2359bf3c"`, "invisible or control character U+200B"},
	// the policy
	{"policy elsewhere", "policy: policy.yaml", "policy: polcy.yaml", "policy of organization"},
	{"tag that nobody has", "tags: [agent]", "tags: [agnet]", "no user has the tag agent: did you mean agnet?"},
	{"user of a test gone", "name: payments", "name: payouts", "has no user with this name or id"},
	{"policy.yaml", "tag: agent", "tag: finanec", "no user has the tag finanec"},
	{"policy.yaml", "allow: [fee, transfer]", "allow: [fee, transfer]\n    key: cold", "there is no key or wallet cold"},
	{"policy.yaml", "expect: allow", "expect: deny", "the test fails"},
	{"policy.yaml", "effect.amount", "effect.amuont", "did you mean amount?"},
	// one-time passwords
	{"secret elsewhere", "secretFile: otp-secret", "secretFile: opt-secret", "otp: secretFile: "},
	{"smtp without encryption", "tls: starttls", "tls: none", `unknown value "none"`},
	{"smtp password elsewhere", "passwordFile: smtp-password", "passwordFile: smtp-pasword", "passwordFile: "},
	{"sender that is none", "from: no-reply@example.com", "from: no-reply", "smtp"},
	{"webhook readable", "url: https://sms.example.com/send", "url: http://sms.example.com/send", "must be https"},
	{"headers elsewhere", "headersFile: sms-headers", "headersFile: sms-header", "headersFile: "},
	{"template without code", "Your code is {{.OtpCode}}", "Your code is secret", `template "login"`},
	// right, though it warns
	{"expired", "expiresAt: 2027-06-30T00:00:00Z", "expiresAt: 2020-06-30T00:00:00Z", ""},
	{"origin with a star", "origins: [https://app.example.com]\ndescriptors", "origins: ['https://*.example.com']\ndescriptors", ""},
	{"rpId an address", "rpId: example.com\n", "rpId: 127.0.0.1\n", ""},
	{"no hazards", "allowHazards: [tron/long-expiration]", "allowHazards: []", ""},
	{"no log", "log: {keyFile: log.pem, off: false}", "log: {off: true}", ""},
	{"memory", "store: bolt:state.db", "store: memory", ""},
}

// apply makes the change in a copy of the deployment.
func (m mutation) apply(t *testing.T, from *clitest.Served) *clitest.Served {
	t.Helper()
	s := &clitest.Served{Dir: filepath.Join(t.TempDir(), "made"), By: from.By}
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from.Dir, s.Dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	path := s.Config()
	if strings.Contains(m.name, ".") {
		path = filepath.Join(s.Dir, m.name)
	}
	content := testenv.Read(t, path)
	if !strings.Contains(string(content), m.old) {
		t.Fatalf("%s: the example has no %q", m.name, m.old)
	}
	clitest.WritePrivate(t, path, strings.Replace(string(content), m.old, m.by, 1))
	return s
}

// firstLine calls stop at the first line that a server prints.
type firstLine struct{ stop func() }

// Write implements io.Writer.
func (f firstLine) Write(line []byte) (int, error) {
	f.stop()
	return len(line), nil
}

// within runs a command of the tree in this process and returns its error.
func within(t *testing.T, command *cobra.Command, stdout io.Writer, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if stdout == nil {
		stdout = firstLine{cancel}
	}
	command.SetArgs(args)
	command.SetContext(ctx)
	command.SetOut(stdout)
	command.SetErr(io.Discard)
	command.SilenceErrors, command.SilenceUsage = true, true
	return command.Execute()
}

// throughInit has init finish what an interrupted call began: the deployment lies in its
// staging folder.
func throughInit(t *testing.T, s *clitest.Served) error {
	t.Helper()
	staged := filepath.Join(s.Dir, setup.StagingName)
	entries, err := os.ReadDir(s.Dir)
	if err == nil {
		err = os.Mkdir(staged, 0o700)
	}
	for _, entry := range entries {
		err = errors.Join(err, os.Rename(filepath.Join(s.Dir, entry.Name()), filepath.Join(staged, entry.Name())))
	}
	testenv.Must(t, err)
	clitest.WritePrivate(t, filepath.Join(staged, "answer.json"), `{"config":"countersign.yaml"}`)
	return within(t, setup.NewInitCommand(), io.Discard, s.Dir)
}

// TestOneVerdict: what one command refuses in a configuration, all refuse, with the same
// words: serve, serve --check, a reload, policy check and init. Each verdict of serve is that
// of a start.
func TestOneVerdict(t *testing.T) {
	example := clitest.Documented(t)
	for _, m := range slices.Concat(mutations, sectionMutations) {
		t.Run(m.name, func(t *testing.T) {
			s := m.apply(t, example)
			l := clitest.NewLive(t, example)
			doors := []struct {
				name string
				err  error
			}{
				{"serve --check", within(t, serve.NewCommand(), io.Discard, "--check", "--config", s.Config())},
				{"serve", within(t, serve.NewCommand(), nil, "--config", s.Config())},
				{"policy check", within(t, policycommand.NewCommand(), io.Discard, "check", "--config", s.Config())},
				{"reload", reloaded(t, l, s)},
				{"init", throughInit(t, s)},
			}
			for _, door := range doors {
				if (door.err == nil) != (m.want == "") || door.err != nil && !strings.Contains(door.err.Error(), m.want) {
					t.Errorf("%s: %v\nwant %q", door.name, door.err, m.want)
				}
				if door.err != nil && doors[0].err != nil && door.err.Error() != doors[0].err.Error() {
					t.Errorf("%s:\n%v\n%s:\n%v", doors[0].name, doors[0].err, door.name, door.err)
				}
				if door.err != nil && (strings.Contains(door.err.Error(), "hunter2") || len(door.err.Error()) > 700) {
					t.Errorf("%s: %v", door.name, door.err)
				}
			}
		})
	}
}

func reloaded(t *testing.T, l *serve.Live, s *clitest.Served) error {
	t.Helper()
	err := l.Reload(clitest.InCommand(t), s.Config(), func([]string) {})
	return err
}

// TestFlagsOfServe: the addresses are the one thing that serve, which has flags for them, and
// the commands without see differently.
func TestFlagsOfServe(t *testing.T) {
	example := clitest.Documented(t)
	for _, m := range []mutation{
		{"no address", "listen: 127.0.0.1:0 ", "#", "listen is missing"},
		{"beyond loopback", "admin: 127.0.0.1:0 ", "admin: 0.0.0.0:0 ", "admin: 0.0.0.0:0 is not a loopback address"},
	} {
		s := m.apply(t, example)
		if err := within(t, serve.NewCommand(), io.Discard, "--check", "--config", s.Config()); err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("%s: %v", m.name, err)
		}
		if err := within(t, serve.NewCommand(), io.Discard, "--check", "--config", s.Config(), "--listen", "127.0.0.1:0", "--plaintext-beyond-loopback"); err != nil {
			t.Errorf("%s, with flags: %v", m.name, err)
		}
		if err := within(t, policycommand.NewCommand(), io.Discard, "check", "--config", s.Config()); err != nil {
			t.Errorf("%s: policy check: %v", m.name, err)
		}
	}
	if (deployment.Addresses{}).Serve {
		t.Error("a command without the flags needs an address")
	}
}
