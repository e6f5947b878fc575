package smtp_test

import (
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/smtp"
	"github.com/countersign-dev/countersign/store/memory"
)

// Codes by e-mail, by default with STARTTLS on port 587.
func ExampleNew() {
	sender, err := smtp.New(smtp.Config{
		Host: "mail.example.com", Username: "countersign", Password: "from a file", From: "codes@example.com",
	})
	if err != nil {
		log.Fatal(err)
	}
	secret := keystore.NewSecret(make([]byte, otp.MinSecretSize)) // use random bytes
	_, err = otp.New(otp.Config{Store: memory.New(0), Secret: secret, Email: sender})
	fmt.Println(err)
	// Output: <nil>
}
