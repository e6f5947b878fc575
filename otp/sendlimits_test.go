package otp_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
)

// sendLimits are those of playLimits: e-mails have the defaults.
var sendLimits = otp.Limits{SMS: otp.SendLimits{
	Organization: otp.Rate{Count: 6, Window: 2 * time.Hour},
	Contact:      otp.Rate{Count: 2, Window: 30 * time.Minute},
	Credential:   otp.Rate{Count: 4, Window: time.Hour},
}}

// sending is a game with sendLimits.
type sending struct{ *game }

func playLimits(t *testing.T, test func(g sending)) {
	synctest.Test(t, func(t *testing.T) {
		service, box := newService(t, func(c *otp.Config) { c.Limits = sendLimits })
		test(sending{&game{t, service, box}})
	})
}

// to sends a message of a type to the nth contact.
func (g sending) to(kind otp.Type, n int, credential string) error {
	contact := fmt.Sprintf("ann%d@example.com", n)
	if kind == otp.TypeSMS {
		contact = fmt.Sprintf("+49151%07d", n)
	}
	_, err := g.service.Issue(g.Context(), org, orgName, otp.Request{Type: kind, Contact: contact, Credential: credential})
	return err
}

func (g sending) must(kind otp.Type, n int, credential string) {
	g.Helper()
	testenv.Must(g, g.to(kind, n, credential))
}

// TestCredentialSends: a credential's text messages are bounded whatever their contacts;
// another credential's, and its e-mails, are not.
func TestCredentialSends(t *testing.T) {
	playLimits(t, func(g sending) {
		for n := range 4 {
			g.must(otp.TypeSMS, n, "a")
		}
		g.limited(g.to(otp.TypeSMS, 4, "a"), otp.LimitCredentialSends, time.Hour)
		g.must(otp.TypeSMS, 5, "b")
		for n := range 20 {
			g.must(otp.TypeEmail, n, "a")
		}
		time.Sleep(time.Hour)
		g.must(otp.TypeSMS, 6, "a")
	})
}

// TestSendsOfTypes: text messages use up nothing of the e-mails, nor the reverse.
func TestSendsOfTypes(t *testing.T) {
	playLimits(t, func(g sending) {
		for n := range 6 {
			g.must(otp.TypeSMS, n, "")
		}
		g.limited(g.to(otp.TypeSMS, 6, ""), otp.LimitOrganizationSends, 2*time.Hour)
		for n := range otp.DefaultOrganizationSends {
			g.must(otp.TypeEmail, n, "")
		}
		g.limited(g.to(otp.TypeEmail, otp.DefaultOrganizationSends, ""), otp.LimitOrganizationSends, time.Hour)
		time.Sleep(time.Hour)
		g.must(otp.TypeEmail, 0, "")
		g.limited(g.to(otp.TypeSMS, 6, ""), otp.LimitOrganizationSends, time.Hour)
	})
}

// TestContactSends: the rate of a contact is that of its type, with and without a user.
func TestContactSends(t *testing.T) {
	for name, user := range map[string]string{"anonymous": "", "a user": "ann"} {
		t.Run(name, func(t *testing.T) {
			playLimits(t, func(g sending) {
				send := func(kind otp.Type, contact string) error {
					_, err := g.service.Issue(g.Context(), org, orgName, otp.Request{Type: kind, Contact: contact, UserIdentifier: user})
					return err
				}
				for range 2 {
					testenv.Must(g, send(otp.TypeSMS, phone))
				}
				for range otp.DefaultSends {
					testenv.Must(g, send(otp.TypeEmail, "ann@example.com"))
				}
				g.limited(send(otp.TypeSMS, phone), otp.LimitSends, 30*time.Minute)
				g.limited(send(otp.TypeEmail, "ann@example.com"), otp.LimitSends, otp.DefaultSendsWindow)
				time.Sleep(30 * time.Minute)
				testenv.Must(g, send(otp.TypeSMS, phone))
			})
		})
	}
}

// TestUndeliveredIsNoSend: what could not be delivered is given back to every limit.
func TestUndeliveredIsNoSend(t *testing.T) {
	playLimits(t, func(g sending) {
		for n := range 20 {
			g.box.fail = fmt.Errorf("no")
			g.expect(g.to(otp.TypeSMS, n, "a"), otp.ErrDelivery)
		}
		g.box.fail = nil
		for n := range 4 {
			g.must(otp.TypeSMS, n, "a")
		}
		g.limited(g.to(otp.TypeSMS, 9, "a"), otp.LimitCredentialSends, time.Hour)
	})
}
