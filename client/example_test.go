package client_test

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
)

// A client stamps requests with its API key. This one has the server in its own process: for
// another, set URL instead of Handler, and read Key with ReadKey.
func ExampleClient_SignTransaction() {
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
	keys, secret := memory.New(), make([]byte, 32) // a random secret in production
	secret[31] = 7
	if _, err := keys.Add(ctx, "my-organization", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret, Name: "hot"}); err != nil {
		log.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: []chains.Chain{ethereum.Chain{}}, Keystore: keys, Directory: directory})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()

	to, err := client.New(client.Config{
		Handler: httpapi.New(engine, httpapi.Options{}), OrganizationID: "my-organization", Stamper: key,
	})
	if err != nil {
		log.Fatal(err)
	}
	signed, err := to.SignTransaction(ctx, activity.SignTransactionIntent{
		SignWith:            "0xd41c057fd1c78805AAC12B0A94a405c0461A6FBb",
		Type:                activity.TransactionTypeEthereum,
		UnsignedTransaction: "0x02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0",
	})
	fmt.Println(len(signed)/2, "bytes,", err)
	// Output: 110 bytes, <nil>
}
