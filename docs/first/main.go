// Command first is the first program of docs/embedding.md.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

func main() {
	secret := make([]byte, keystore.SecretSize)
	_, _ = rand.Read(secret) // never fails
	keys := memory.New()
	key, err := keys.Add(context.Background(), "my-organization", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret})
	if err != nil {
		log.Fatal(err)
	}
	address := all.Addresses(key.PublicKey)[0] // the others are on other chains
	fmt.Println(address.Format, address.Address)
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys})
	if err != nil {
		log.Fatal(err)
	}
	for _, unsigned := range []string{
		"02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0",   // a transfer on chain 1
		"e007843b9aca0082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80",                     // no chain id: hazardous
		"02e90107843b9aca008504a817c8008300ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0", // gas with a leading zero: malformed
	} {
		result, err := engine.SignTransaction(context.Background(), "my-organization", activity.SignTransactionIntent{
			SignWith:            address.Address, // or key.ID
			Type:                activity.TransactionTypeEthereum,
			UnsignedTransaction: unsigned,
		})
		fmt.Println(result.SignedTransaction, err)
	}
	if err := engine.Close(); err != nil {
		log.Fatal(err)
	}
}
