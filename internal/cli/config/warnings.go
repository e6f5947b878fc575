package config

import (
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/weborigin"
)

// Warnings returns likely mistakes that do not keep a server from starting: credentials that
// have expired, and origins and domains that no browser reports. Each is at its place.
func (c *Config) Warnings(now time.Time) []string {
	w := warnings{c, now, nil}
	for i, origin := range c.Origins {
		w.never(fmt.Sprintf("origins[%d]", i), weborigin.NeverMatches(origin))
	}
	if c.Console != nil {
		w.never("console.origin", weborigin.NeverMatches(c.Console.Origin))
		w.never("console.rpId", weborigin.NeverADomain(c.Console.RPID))
	}
	for i := range c.Organizations {
		for j := range c.Organizations[i].Users {
			w.user(fmt.Sprintf("organizations[%d].users[%d]", i, j), &c.Organizations[i].Users[j])
		}
	}
	return w.found
}

type warnings struct {
	config *Config
	now    time.Time
	found  []string
}

func (w *warnings) add(path, message string) {
	w.found = append(w.found, w.config.render(path, message, true))
}

func (w *warnings) never(path, why string) {
	if why != "" {
		w.add(path, why)
	}
}

func (w *warnings) user(path string, user *access.UserConfig) {
	for i := range user.APIKeys {
		w.expiry(fmt.Sprintf("%s.apiKeys[%d].expiresAt", path, i), user.APIKeys[i].ExpiresAt)
	}
	for i := range user.Passkeys {
		passkey, passkeyPath := &user.Passkeys[i], fmt.Sprintf("%s.passkeys[%d]", path, i)
		w.expiry(passkeyPath+".expiresAt", passkey.ExpiresAt)
		w.never(passkeyPath+".rpId", weborigin.NeverADomain(passkey.RPID))
		for j, origin := range passkey.Origins {
			w.never(fmt.Sprintf("%s.origins[%d]", passkeyPath, j), weborigin.NeverMatchesPasskey(origin))
		}
	}
}

func (w *warnings) expiry(path string, at time.Time) {
	if !at.IsZero() && !at.After(w.now) {
		w.add(path, fmt.Sprintf("expiresAt: %s is past: every request of this credential is refused", at.Format(time.RFC3339)))
	}
}
