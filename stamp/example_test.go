package stamp_test

import (
	"fmt"
	"log"
	"time"

	"github.com/countersign-dev/countersign/stamp"
)

// A client stamps a body. With the client's public key, a server verifies the stamp over
// exactly those bytes.
func Example() {
	client, err := stamp.NewSigner(stamp.CurveP256, []byte("an API key's secret has 32 bytes"))
	if err != nil {
		log.Fatal(err)
	}
	body := []byte(`{"organizationId":"my-organization"}`)
	header, err := client.Stamp(body)
	if err != nil {
		log.Fatal(err)
	}

	sent, err := stamp.Parse(header)
	if err != nil {
		log.Fatal(err)
	}
	credential, err := stamp.NewAPIKey(stamp.CurveP256, client.PublicKey())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(header.Name, sent.CredentialID() == credential.ID())
	fmt.Println(credential.Verify(sent, body, time.Now()))
	fmt.Println(credential.Verify(sent, append(body, ' '), time.Now()) != nil)
	// Output:
	// X-Stamp true
	// <nil>
	// true
}
