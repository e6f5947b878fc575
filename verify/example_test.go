package verify_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"log"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/stamp/signer"
	"github.com/countersign-dev/countersign/verify"
)

// What an answer says is compared with what its reader kept: the body that was sent, and keys of
// the engine. A check without its key is skipped, and says why.
func ExampleAnswer() {
	ctx := context.Background()
	key, err := signer.New(signer.CurveP256, append(make([]byte, 31), 1))
	if err != nil {
		log.Fatal(err)
	}
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: "my-organization", Users: []access.UserConfig{{
		Name: "ci", APIKeys: []access.APIKeyConfig{{Curve: signer.CurveP256, PublicKey: hex.EncodeToString(key.PublicKey())}},
	}}}})
	if err != nil {
		log.Fatal(err)
	}
	keys := memory.New()
	hot := keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: append(make([]byte, 31), 7)}
	if _, err := keys.Add(ctx, "my-organization", hot); err != nil {
		log.Fatal(err)
	}
	served := []chains.Chain{ethereum.Chain{}}
	engine, err := countersign.New(countersign.Config{Chains: served, Keystore: keys, Directory: directory})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	server, err := client.New(client.Config{
		Handler: httpapi.New(engine, httpapi.Options{}), OrganizationID: "my-organization", Stamper: key,
	})
	if err != nil {
		log.Fatal(err)
	}
	request, err := server.NewRequest(activity.SignTransactionIntent{
		SignWith: "0xd41c057fd1c78805AAC12B0A94a405c0461A6FBb", Type: activity.TransactionTypeEthereum,
		UnsignedTransaction: "0x02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0",
	})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := server.Submit(ctx, request)
	if err != nil {
		log.Fatal(err)
	}

	checks, err := verify.Answer(answer.Answer, verify.Trust{Body: request.Body, Chains: served})
	for _, check := range checks {
		fmt.Printf("%s %q\n", check.Name, check.Skipped)
	}
	fmt.Println(err)
	_, err = verify.Answer(answer.Answer, verify.Trust{Body: append(request.Body, ' '), Chains: served})
	fmt.Println(err != nil)
	// Output:
	// body ""
	// status ""
	// proof "no proof key was given"
	// result "no proof was checked"
	// summary "no proof was checked"
	// <nil>
	// true
}
