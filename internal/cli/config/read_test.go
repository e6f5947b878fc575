package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/testenv"
)

const whole = `listen: 127.0.0.1:8080
admin: 127.0.0.1:8081
tls: {certFile: cert.pem, keyFile: /etc/key.pem}
origins: [https://app.example.com]
store: bolt:state.db
keystore: file:keys
passphraseFile: passphrase
proofKey: file:proof.pem
organizations:
  - id: 6e1f8f5e-1111-4222-8333-444455556666
    name: Example
    allowHazards: [ethereum/no-chain-id]
    users:
      - id: 0b6c
        name: ci
        apiKeys:
          - {curve: API_KEY_CURVE_P256, publicKey: 036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296, expiresAt: 2027-01-01T00:00:00Z, activities: [ACTIVITY_TYPE_SIGN_TRANSACTION_V2]}
        passkeys:
          - {credentialId: aGk, publicKey: pQECAyYgASFYIMVXQNKqwLI-841RxMBpdvWfhCkXCgUcusYXHc74tkxQIlgg1E6JIei4ThEbbEgL6j1SQhTudEP3x835-bDyE_cWQ4s, rpId: example.com, origins: [https://app.example.com]}
otp:
  secretFile: otp-secret
  email: {smtp: {host: mail.example.com, port: 587, username: u, passwordFile: smtp-password, tls: starttls, from: no-reply@example.com, allowedDomains: [example.com]}}
  limits: {sms: {credential: {max: 5, window: 90m}}}
  sms: {countries: [+49, +1684], webhook: {url: https://sms.example.com, headersFile: headers}}
  templates:
    login: {subject: hi, text: "{{.OtpCode}}"}
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "countersign.yaml")
	testenv.Must(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// TestReadPassword: others must not read the password of any store.
func TestReadPassword(t *testing.T) {
	for _, secret := range []string{"store: postgres://u:secret@db/a", "store: postgres://db/a\nstores: {eu: 'postgres://u:secret@db/b'}",
		"store: postgres://db/a\nstores:\n  eu: postgres://db/b?password=secret"} {
		path := write(t, strings.Replace(whole, "store: bolt:state.db", secret, 1))
		if _, err := config.Read(path); err == nil || !strings.Contains(err.Error(), "chmod 600") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", secret, err)
		}
		testenv.Must(t, os.Chmod(path, 0o600))
		if _, err := config.Read(path); err != nil {
			t.Errorf("%s: %v", secret, err)
		}
	}
}

func TestRead(t *testing.T) {
	path := write(t, whole)
	got, err := config.Read(path)
	testenv.Must(t, err)
	dir := filepath.Dir(path)
	for _, test := range []struct{ name, got, want string }{
		{"listen", got.Listen, "127.0.0.1:8080"},
		{"admin", got.Admin, "127.0.0.1:8081"},
		{"tls.certFile", got.TLS.CertFile, dir + "/cert.pem"},
		{"tls.keyFile", got.TLS.KeyFile, "/etc/key.pem"},
		{"origins", got.Origins[0], "https://app.example.com"},
		{"store", got.Store, "bolt:" + dir + "/state.db"},
		{"keystore", got.Keystore, "file:" + dir + "/keys"},
		{"passphraseFile", got.PassphraseFile, dir + "/passphrase"},
		{"proofKey", got.ProofKey, "file:" + dir + "/proof.pem"},
		{"otp.secretFile", got.OTP.SecretFile, dir + "/otp-secret"},
		{"otp.outbox", got.OTP.Outbox, ""},
		{"passwordFile", got.OTP.Email.SMTP.PasswordFile, dir + "/smtp-password"},
		{"headersFile", got.OTP.SMS.Webhook.HeadersFile, dir + "/headers"},
		{"countries", strings.Join(got.OTP.Countries(), " "), "+49 +1684"},
		{"limits", fmt.Sprint(got.OTP.OTPLimits().SMS), "{{0 0s} {0 0s} {5 1h30m0s}}"},
		{"webhook.secretFile", got.OTP.SMS.Webhook.SecretFile, ""},
		{"template", got.OTP.Templates["login"].Text, "{{.OtpCode}}"},
		{"hazard", got.Organizations[0].AllowHazards[0], "ethereum/no-chain-id"},
		{"publicKey", got.Organizations[0].Users[0].APIKeys[0].PublicKey, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"},
		{"rpId", got.Organizations[0].Users[0].Passkeys[0].RPID, "example.com"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.got, test.want)
		}
	}
	if at := got.Organizations[0].Users[0].APIKeys[0].ExpiresAt; !at.Equal(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("expiresAt: %v", at)
	}
	if organization, err := got.Organization(""); err != nil || organization.ID != "6e1f8f5e-1111-4222-8333-444455556666" {
		t.Errorf("the only organization: %+v, %v", organization, err)
	}
	if organization, err := got.Organization("other"); err == nil {
		t.Errorf("an unknown organization: %+v", organization)
	}
}

const small = "keystore: file:keys\norganizations: [{id: a, name: A}]\n"

// TestReadInvalid checks that nothing invalid is ignored, and that errors name the file and
// the line.
func TestReadInvalid(t *testing.T) {
	key := "keystore: file:keys\norganizations:\n  - id: a\n    users:\n      - name: ci\n        apiKeys:\n          - "
	const point = "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
	may := func(kind string) string {
		return key + "{curve: API_KEY_CURVE_P256, publicKey: " + point + ", activities: [" + kind + ", ACTIVITY_TYPE_RESUME]}\n    resume: {approvals: 1}\n"
	}
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "empty"},
		{"unknown member", small + "liste: x\n", `:3:1: the file has no member liste: did you mean listen?`},
		{"another case", small + "Listen: x\n", `:3:1: the file has no member Listen: did you mean listen?`},
		{"unknown member below", key + "{curve: API_KEY_CURVE_P256, publicKey: 02, expires: 2027-01-01T00:00:00Z}\n", `:7:56: apiKeys[0] has no member expires: did you mean expiresAt?`},
		{"member of an organization", "keystore: file:k\norganizations:\n  - id: a\n    allowedHazards: [x]\n", `:4:5: organizations[0] has no member allowedHazards: did you mean allowHazards?`},
		{"twice", small + "keystore: file:other\n", ":3:1: keystore is given twice, first in line 1"},
		{"wrong kind", "keystore: [file:keys]\n", ":1:11: keystore: expected text\n  keystore: [file:keys]\n            ^"},
		{"list for a text", small + "otp: {secretFile: {a: b}}\n", ":3:19: secretFile: expected text"},
		{"no time", key + "{expiresAt: tomorrow}\n", ":7:25: expiresAt: expected a time such as 2027-01-01T00:00:00Z, not \"tomorrow\""},
		{"list for a time", key + "{expiresAt: [2027-01-01T00:00:00Z]}\n", ":7:25: expiresAt: expected text"},
		{"the second of two times", key + "{expiresAt: 2027-01-01T00:00:00Z}\n          -\n            curve: x\n            expiresAt: 2027-13-01T00:00:00Z\n", ":10:24: expiresAt: expected a time such as"},
		{"an empty time", key + "{expiresAt: }\n", ":7:14: expiresAt has no value"},
		{"a time that is null", key + "{expiresAt: null}\n", ":7:14: expiresAt has no value"},
		{"a time that is ~", key + "{expiresAt: ~}\n", ":7:14: expiresAt has no value"},
		{"the year one", key + "{expiresAt: 0001-01-01T00:00:00Z}\n", ":7:25: expiresAt: expected a time such as"},
		{"no organizations", "keystore: file:keys\n", "organizations is missing"},
		{"an origin in upper case", small + "origins: [https://A.example]\n", `origins[0]: "https://A.example"`},
		{"a host for an origin", small + "origins: [a.example]\n", `origins[0]: "a.example"`},
		{"otp without secret", small + "otp: {outbox: x}\n", "otp.secretFile"},
		{"otp without sender", small + "otp: {secretFile: x}\n", "otp names no sender"},
		{"outbox and email", small + "otp: {secretFile: x, outbox: o, sms: {webhook: {url: u}}}\n", "otp.outbox"},
		{"empty email", small + "otp: {secretFile: x, email: {}}\n", "otp.email"},
		{"SMTP without a sender", small + "otp: {secretFile: x, email: {smtp: {host: h}}}\n", "otp.email.smtp needs both"},
		{"sms limit of none", small + "otp: {secretFile: x, outbox: o, limits: {sms: {credential: {max: 0, window: 1h}}}}\n", ":3:48: otp.limits.sms.credential: 0 in 1h0m0s: the count must be at least 1"},
		{"e-mail limit of two days", small + "otp:\n  secretFile: x\n  outbox: o\n  limits:\n    email:\n      contact: {max: 1, window: 48h}\n", ":8:7: otp.limits.email.contact: 1 in 48h0m0s"},
		{"country's name", small + "otp: {secretFile: x, sms: {countries: [+49, DE], webhook: {url: u}}}\n", ":3:45: otp.sms.countries[1]: \"DE\" is not the beginning"},
		{"a signer without address", small + "rpc: {users: [{user: admin, uid: 1}]}\n", "rpc needs listen, socket or both"},
		{"a signer without users", small + "rpc: {listen: \"127.0.0.1:0\"}\n", "rpc.users is missing"},
		{"a signer that any page can call", small + "rpc: {listen: \"127.0.0.1:0\", users: [{user: admin, uid: 1}]}\n", "no user has certificates or a tokenFile"},
		{"a socket without uid", small + "rpc: {socket: s, users: [{user: admin, tokenFile: t}]}\n", "no user has a uid"},
		{"certificates of no authority", small + "rpc: {listen: \"127.0.0.1:0\", users: [{user: a, certificates: [{dnsName: b}]}]}\n", "clientCAFile"},
		{"half of the signer's TLS", small + "rpc: {listen: l, tls: {certFile: a}, users: [{user: admin, tokenFile: t}]}\n", "both certFile and keyFile"},
		{"a halt that no log keeps", may("ACTIVITY_TYPE_HALT") + "store: bolt:s\nlog: {off: true}\n", ":3:5: organizations[0]: a credential may halt or resume, which needs the log"},
		{"a resumption in memory", may("ACTIVITY_TYPE_SIGN_TRANSACTION_V2") + "store: memory\n", "needs the log: remove log.off or store: memory"},
		{"empty sms", small + "otp: {secretFile: x, sms: {}}\n", "otp.sms"},
		{"password for all to read", small + "store: postgres://u:hunter2@db/x\n", "chmod 600"},
		{"the same as a parameter", small + "store: postgres://u@db/x?password=hunter2\n", "chmod 600"},
		{"the same in a broken URL", small + "store: postgres://u:hunter2%@db/x\n", "chmod 600"},
		{"too long", small + "#" + strings.Repeat("x", config.MaxSize), "longer than"},
	} {
		path := write(t, test.text)
		got, err := config.Read(path)
		if err == nil {
			t.Errorf("%s: read as %+v", test.name, got)
			continue
		}
		if !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestReadError checks that the system's error is returned, with the path.
func TestReadError(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]error{filepath.Join(dir, "none"): fs.ErrNotExist, dir: syscall.EISDIR} {
		if _, err := config.Read(path); !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}
