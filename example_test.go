package countersign_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/stamp"
)

// exampleEngine returns an engine with one key. The key is public: never send anything
// to it.
func exampleEngine() *countersign.Engine {
	secret, err := hex.DecodeString("e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca")
	if err != nil {
		log.Fatal(err)
	}
	defer keystore.Wipe(secret)
	keys := memory.New()
	if _, err := keys.Add(context.Background(), "my-organization", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		log.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys})
	if err != nil {
		log.Fatal(err)
	}
	return engine
}

// exampleIntent is the intent to sign an EIP-1559 transaction.
var exampleIntent = activity.SignTransactionIntent{
	SignWith:            "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56",
	Type:                activity.TransactionTypeEthereum,
	UnsignedTransaction: "0x02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0",
}

func ExampleEngine_SignTransaction() {
	engine := exampleEngine()
	defer engine.Close()

	result, err := engine.SignTransaction(context.Background(), "my-organization", exampleIntent)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.SignedTransaction)
	// Output: 02f86a0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c001a04d4e7d89896385d9c45261ca8abf4d033f1a15b5e0164a5cc20baa16424d77429fd5199e526182f00ee7273a2ad38ea39e7c5235d297fa008931138cf04fde55
}

// A transaction that is well-formed but dangerous is refused with the name of its
// hazard.
func ExampleEngine_SignTransaction_hazard() {
	engine := exampleEngine()
	defer engine.Close()

	intent := exampleIntent
	intent.UnsignedTransaction = "e1078504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80" // legacy, without chain id
	_, err := engine.SignTransaction(context.Background(), "my-organization", intent)
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		fmt.Println(refused.Code, refused.Reason)
	}
	// Output: 7 HAZARD_NOT_ALLOWED
}

// Show a transaction to a person, and sign exactly the bytes that were shown.
func ExampleEngine_Prepare() {
	engine := exampleEngine()
	defer engine.Close()

	prepared, err := engine.Prepare(context.Background(), "my-organization", exampleIntent)
	if err != nil {
		log.Fatal(err)
	}
	fields, err := prepared.SignerView(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, field := range fields {
		fmt.Println(field.Label, field.Value)
	}
	// …show prepared.Summary() and wait for a yes…
	result, err := prepared.Sign(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(result.(activity.SignTransactionResult).SignedTransaction)/2, "bytes")
	// Output:
	// from 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56
	// 109 bytes
}

// Inspect needs no key: it describes the bytes.
func ExampleInspect() {
	transfer := "02f00107843b9aca008504a817c8008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b7880de0b6b3a764000080c0"
	inspection, err := all.Inspect(activity.TransactionTypeEthereum, transfer, all.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(inspection.Summary.Chain, len(inspection.Hazards), "hazards")
	if err := chains.Render(os.Stdout, inspection.Summary.Fields[:4]); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ethereum 0 hazards
	// type   2 (EIP-1559, dynamic fee)
	// chain  1 [Ethereum]
	// to     0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7
	// value  1 ETH
}

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
