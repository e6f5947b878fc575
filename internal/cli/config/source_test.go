package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestErrorsHideSecrets checks that no error shows a secret that was written into the
// configuration, by mistake or because a URL takes it, wherever the error is in its line.
func TestErrorsHideSecrets(t *testing.T) {
	for _, text := range []string{
		"passphrase: hunter2\n",
		"passphrase : hunter2\n",
		"{keystore: file:k, passphrase: hunter2}\n",
		"pin: 'hunter2'\n",
		"whatever: \"hunter2\n",
		small + "store: [postgres://u:hunter2@db/x]\n",
		small + "store: {dsn: hunter2}\n",
		small + "store:\n  - postgres://u:hunter2@db/x\n",
		small + "store: postgres://u:hunter2@db/x\nstore: postgres://u:hunter2@db/x\n",
		"keystore: [\"pkcs11:token=a?pin-value=hunter2\"]\n",
		small + "proofKey: ['pkcs11:object=a?pin-value=hunter2']\n",
		small + "otp: {secret: hunter2}\n",
		small + "otp:\n  secretFile: s\n  sms: {webhook: {url: [https://hooks.example.com/hunter2]}}\n",
		small + "otp:\n  secretFile: s\n  sms: {webhook: {url: https://hooks.example.com/hunter2, headers: 'Authorization: hunter2'}}\n",
		small + "otp:\n  secretFile: s\n  email: {smtp: {host: h, from: f, password: hunter2}}\n",
		small + "tokens: [https://example.com/list?key=hunter2, [x]]\n",
		small + "origins: [https://u:hunter2@example.com]\n",
		"keystore: file:k\n  hunter2 hunter2: x\n",
		"keystore: file:k\nnote: |\n  hunter2\n hunter2\n",
		"keystore: file:k\npassphrase:\n  hunter2\n hunter2\n",
	} {
		_, err := config.Read(write(t, text))
		if err == nil {
			t.Errorf("%q was read", text)
		} else if lines := strings.Split(err.Error(), "\n"); strings.Contains(strings.Join(lines[1:], "\n"), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWarnings checks which likely mistakes are told, at their place.
func TestWarnings(t *testing.T) {
	const hash = "android:apk-key-hash:"
	text := strings.NewReplacer(
		"origins: [https://app.example.com]\nstore", "origins: ['https://*.example.com']\nconsole: {origin: 'https://127.0.0.1', rpId: 127.0.0.1}\nstore",
		"origins: [https://app.example.com]}", "origins: [https://app.example.com, 'https://*.b.example', 'https://10.0.0.1', "+
			"'"+hash+"pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck', '"+hash+strings.Repeat("FB:", 31)+"FB', '"+hash+"abc']}",
	).Replace(whole)
	got, err := config.Read(write(t, text))
	testenv.Must(t, err)
	if warned := got.Warnings(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)); len(warned) != 6 {
		t.Errorf("%d warnings: %s", len(warned), strings.Join(warned, "\n"))
	}
	all := strings.Join(got.Warnings(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)), "\n")
	for _, want := range []string{
		`:4:11: "https://*.example.com" never matches`, `rpId "127.0.0.1" never matches`,
		`expiresAt: 2027-01-01T00:00:00Z is past`, `"https://*.b.example" never matches`, `"https://10.0.0.1" never matches`,
		"write " + hash + "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s", `"` + hash + `abc" never matches`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning has %q:\n%s", want, all)
		}
	}
	if strings.Contains(all, "pNiP5") && strings.Contains(all, `pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck" never`) {
		t.Error("a hash as Android reports it never matches")
	}
}
