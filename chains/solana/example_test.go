package solana_test

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"log"
	"os"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// A transfer of 10,000 lamports, its one signature slot zero.
const unsigned = "01" +
	"0000000000000000000000000000000000000000000000000000000000000000" +
	"0000000000000000000000000000000000000000000000000000000000000000" +
	"010001038de13c3d193b88c851e1a881ef1b2c61662562edcf3b7b6bd5838ca14218e29c" +
	"0d42099a5e0aaeaad1d4ede263662787cb3f6291a6ede340c4aa7ca26249dbe3" +
	"0000000000000000000000000000000000000000000000000000000000000000" +
	"e72f180aa543b76ce7fc9df601979eeb487f76ae15b568e9877b1c4cb8e9bd2a" +
	"01020200010c020000001027000000000000"

func ExampleChain_Parse() {
	raw, err := chains.DecodeHex(unsigned)
	if err != nil {
		log.Fatal(err)
	}
	tx, err := solana.New(solana.Limits{}).Parse(raw)
	if err != nil {
		log.Fatal(err)
	}
	if err := chains.Render(os.Stdout, tx.Summary().Fields); err != nil {
		log.Fatal(err)
	}
	// Output:
	// version           legacy
	// fee payer         AYqgi6uEZJd8KdGLymSMY8AigtTqNcCjAbFGm232RxM9
	// signers
	//   signer 0  AYqgi6uEZJd8KdGLymSMY8AigtTqNcCjAbFGm232RxM9 [missing]
	// recent blockhash  GZSq3KvoFVhE22CQsaWSAxBoAvRiZSs7xVNa6yPecMUu
	// fee
	//   at most             0.000005 SOL
	//   base fee            0.000005 SOL
	//   paid signatures     1
	//   priority fee        0 SOL
	//   compute unit limit  3000 [not set: the network's default, at most]
	// instructions
	//   instruction 0
	//     program    11111111111111111111111111111111 [System program]
	//     operation  Transfer
	//     amount     0.00001 SOL
	//     from       AYqgi6uEZJd8KdGLymSMY8AigtTqNcCjAbFGm232RxM9 [signer, writable]
	//     to         tkhqC9QX2gkqJtUFk2QKhBmQfFyyqZXSpr73VFRi35C [writable]
}

func ExampleTransaction_Request() {
	ctx := context.Background()
	store := memory.New()
	defer store.Close()
	secret, _ := hex.DecodeString("d122f80ccb77a579c4176894b3bd9642f37f3f316ccff3f024a53ad170d555be")
	if _, err := store.Add(context.Background(), "org", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret}); err != nil {
		log.Fatal(err)
	}

	raw, _ := chains.DecodeHex(unsigned)
	tx, err := solana.New(solana.Limits{}).Parse(raw)
	if err != nil {
		log.Fatal(err)
	}
	const signWith = "AYqgi6uEZJd8KdGLymSMY8AigtTqNcCjAbFGm232RxM9"
	request, err := tx.Request(signWith)
	if err != nil {
		log.Fatal(err)
	}
	key, err := store.Find(ctx, "org", request.Locators()[0])
	if err != nil {
		log.Fatal(err)
	}
	signing, err := request.With(keystore.Verified(key))
	if err != nil {
		log.Fatal(err)
	}
	signed, err := signing.AppendSigned(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	pub := key.PublicKey().Ed25519()
	fmt.Println(ed25519.Verify(pub[:], signed[65:], signed[1:65]), hex.EncodeToString(signed[1:9]))
	// Output: true 135bc46940ee54ed
}
