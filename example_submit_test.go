package countersign_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"log"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/stamp"
)

// A client stamps a request; the engine verifies the stamp, signs, and records.
func ExampleEngine_Submit() {
	secret, err := hex.DecodeString("e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca")
	if err != nil {
		log.Fatal(err)
	}
	client, err := stamp.NewSigner(stamp.CurveP256, []byte("an API key's secret, of 32 bytes"))
	if err != nil {
		log.Fatal(err)
	}
	keys := memory.New()
	if _, err := keys.Add(context.Background(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		log.Fatal(err)
	}
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: "org", Name: "Example", Users: []access.UserConfig{{
		Name:    "ci",
		APIKeys: []access.APIKeyConfig{{Curve: stamp.CurveP256, PublicKey: hex.EncodeToString(client.PublicKey())}},
	}}}})
	if err != nil {
		log.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys, Directory: directory})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = engine.Close() }()

	body := fmt.Appendf(nil, `{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"%d","organizationId":"org","parameters":{`+
		`"signWith":"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56","type":"TRANSACTION_TYPE_ETHEREUM",`+
		`"unsignedTransaction":"02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0"}}`, time.Now().UnixMilli())
	header, err := client.Stamp(body)
	if err != nil {
		log.Fatal(err)
	}
	record, err := engine.Submit(context.Background(), countersign.SignedBody{Body: body, Stamps: []stamp.Header{header}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Result.(activity.SignTransactionResult).SignedTransaction[:24])
	// Output: 02f86a0107843b9aca008504
}
