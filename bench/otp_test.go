package bench

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store/memory"
)

// lastMessage is a sender that remembers its last message.
type lastMessage struct{ otp.Message }

func (l *lastMessage) Send(_ context.Context, message otp.Message) error {
	l.Message = message
	return nil
}

func newOTPService(b *testing.B) (*otp.Service, *lastMessage) {
	b.Helper()
	box := &lastMessage{}
	unlimited := otp.Rate{Count: 1 << 30, Window: time.Hour}
	service, err := otp.New(otp.Config{
		Store: memory.New(math.MaxInt), Secret: keystore.NewSecret(make([]byte, otp.MinSecretSize)), SMS: box,
		Limits: otp.Limits{OrganizationSends: unlimited},
	})
	if err != nil {
		b.Fatal(err)
	}
	return service, box
}

func issueOTP(b *testing.B, service *otp.Service, i int) (id string) {
	id, err := service.Issue(b.Context(), "org", "Example", otp.Request{
		Type: otp.TypeSMS, Contact: fmt.Sprintf("+49%010d", i),
		SMS: &otp.SMSCustomization{Template: "{{.OtpCode}}"},
	})
	if err != nil {
		b.Fatal(err)
	}
	return id
}

// BenchmarkOTPIssue issues codes to new phone numbers, over the memory store.
func BenchmarkOTPIssue(b *testing.B) {
	service, _ := newOTPService(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		issueOTP(b, service, i)
	}
}

// BenchmarkOTPVerify issues a code and verifies it. Subtract BenchmarkOTPIssue.
func BenchmarkOTPVerify(b *testing.B) {
	service, box := newOTPService(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		id := issueOTP(b, service, i)
		if _, err := service.Verify(b.Context(), "org", id, box.Text); err != nil {
			b.Fatal(err)
		}
	}
}
