package operations_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/otp"
)

// contactForms is a row of testdata/contacts.json.
type contactForms struct {
	Class, Type, Canonical string
	Forms, Refused         []string
}

func contactVectors(t *testing.T) []contactForms {
	t.Helper()
	content, err := os.ReadFile("testdata/contacts.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Contacts []contactForms }
	if err := json.Unmarshal(content, &file); err != nil || len(file.Contacts) == 0 {
		t.Fatal(err)
	}
	return file.Contacts
}

// noContact is a policy that denies everything about one contact, and notes what it judged.
type noContact struct {
	denied string
	judged []string
}

func (p *noContact) Authorize(_ context.Context, asked access.Authorization) error {
	effect := asked.Effects[0]
	i := slices.IndexFunc(effect.Args, func(arg chains.Arg) bool { return arg.Name == "contact" })
	contact := fmt.Sprint(effect.Args[i].Value)
	p.judged = append(p.judged, effect.Function+" "+contact)
	if contact == p.denied {
		return access.ErrDenied
	}
	return nil
}

// TestContactJudged: in whatever form a contact is written, a policy judges the contact that the
// message goes to, limits count that one, and to redeem the code is judged by it too.
func TestContactJudged(t *testing.T) {
	for _, row := range contactVectors(t) {
		policy, outbox := &noContact{}, new(enginetest.Outbox)
		f := enginetest.New(t, enginetest.WithOTP(t, outbox, func(c *otp.Config) {
			c.Limits.Sends = otp.Rate{Count: len(row.Forms), Window: otp.DefaultSendsWindow}
		}), func(c *countersign.Config) { c.Policy = policy })
		send := func(contact string) (*activity.Record, error) {
			body := engines.InitOTP(f, fmt.Sprintf(`"otpType":%q,"contact":%q,"alphanumeric":false`, row.Type, contact))
			f.Clock.Advance(time.Millisecond)
			return f.Engine.Submit(t.Context(), f.APIKey.Sign(body))
		}
		for _, form := range row.Forms {
			record, err := send(form)
			if err != nil {
				t.Fatalf("%s: %s: %v", row.Class, form, err)
			}
			id := record.Result.(activity.InitOTPAuthResult).OTPID
			if to := outbox.Message(t, id).To; to != row.Canonical {
				t.Errorf("%s: %s: sent to %s, want %s", row.Class, form, to, row.Canonical)
			}
			redeem := f.APIKey.Sign(engines.VerifyOTP(f, id, outbox.Code(t, id), ""))
			policy.denied = row.Canonical
			_, err = f.Engine.Submit(t.Context(), redeem)
			enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "")
			policy.denied = ""
			if _, err = f.Engine.Submit(t.Context(), redeem); err != nil {
				t.Errorf("%s: %s: the code is refused: %v", row.Class, form, err)
			}
			if want := []string{"send " + row.Canonical, "redeem " + row.Canonical, "redeem " + row.Canonical}; !slices.Equal(policy.judged, want) {
				t.Errorf("%s: %s: the policy judged %q, want %q", row.Class, form, policy.judged, want)
			}
			policy.judged = nil
		}
		_, err := send(row.Forms[0])
		enginetest.Refusal(t, err, activity.ReasonMaxOTPInitiated, "")
		policy.denied = row.Canonical
		for _, form := range row.Forms {
			_, err := send(form)
			enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "")
		}
		for _, form := range row.Refused {
			_, err := send(form)
			enginetest.Refusal(t, err, activity.ReasonInvalidPhone, "")
		}
	}
}
