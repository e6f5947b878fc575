package outbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/outbox"
)

// Each message becomes a file.
func Example() {
	folder, err := os.MkdirTemp("", "outbox")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	sender, err := outbox.New(folder)
	if err != nil {
		log.Fatal(err)
	}
	if err := sender.Send(context.Background(), otp.Message{
		OTPID: "0198a1b2-0000-7000-8000-000000000000", Type: otp.TypeEmail, To: "ann@example.com", Text: "Your code is 123456789.",
	}); err != nil {
		log.Fatal(err)
	}

	content, err := os.ReadFile(filepath.Join(folder, "0198a1b2-0000-7000-8000-000000000000.json"))
	if err != nil {
		log.Fatal(err)
	}
	var message outbox.File
	if err := json.Unmarshal(content, &message); err != nil {
		log.Fatal(err)
	}
	fmt.Println(message.Channel, message.To, message.Text)
	// Output: email ann@example.com Your code is 123456789.
}
