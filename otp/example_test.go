package otp_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store/memory"
)

// mailbox is a Sender that keeps the last message.
type mailbox struct{ text string }

func (m *mailbox) Send(_ context.Context, message otp.Message) error {
	m.text = message.Text
	return nil
}

func Example() {
	random := make([]byte, otp.MinSecretSize)
	_, _ = rand.Read(random)
	secret := keystore.NewSecret(random)
	defer secret.Destroy()

	box := &mailbox{}
	service, err := otp.New(otp.Config{Store: memory.New(0), Secret: secret, SMS: box})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	id, err := service.Issue(ctx, "my-organization", "Example", otp.Request{
		Type:    otp.TypeSMS,
		Contact: "+4915112345678",
		SMS:     otp.SMSCustomization{Template: "{{.OtpCode}} is your code for {{.AppName}}"},
	})
	if err != nil {
		panic(err)
	}
	code, rest, _ := strings.Cut(box.text, " ")
	fmt.Println(len(code), rest)

	verified, err := service.Verify(ctx, "my-organization", id, strings.ToLower(code))
	fmt.Println(verified.Contact, err)
	_, err = service.Verify(ctx, "my-organization", id, code)
	fmt.Println(errors.Is(err, otp.ErrInvalidCode))
	// Output:
	// 9 is your code for Example
	// +4915112345678 <nil>
	// true
}
