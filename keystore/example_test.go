package keystore_test

import (
	"context"
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// A key is found by any of its addresses and signs through its capability. Verified checks each
// signature under the key's public key before returning it; the engine always does so.
func ExampleVerified() {
	ctx, keys := context.Background(), memory.New()
	defer keys.Close()
	info, err := keys.Generate(context.Background(), "my-organization", "hot", keystore.CurveSecp256k1)
	if err != nil {
		log.Fatal(err)
	}
	key, err := keys.Find(ctx, "my-organization", keystore.ByKeccak(info.PublicKey.KeccakAddress()))
	if err != nil {
		log.Fatal(err)
	}
	signer, err := keystore.AsECDSA(keystore.Verified(key))
	if err != nil {
		log.Fatal(err)
	}
	digest := [32]byte{1, 2, 3}
	signature, err := signer.SignECDSA(ctx, digest)
	fmt.Println(err, keystore.VerifyECDSA(key.PublicKey(), digest, signature))
	// Output: <nil> <nil>
}

// A secret always prints as [redacted].
func ExampleSecret() {
	secret := keystore.NewSecret([]byte("correct horse battery staple 123"))
	defer secret.Destroy()
	fmt.Printf("%v %x\n", secret, secret)

	err := secret.Reveal(func(bytes []byte) error {
		fmt.Println(len(bytes))
		return nil
	})
	fmt.Println(err)
	// Output:
	// [redacted] [redacted]
	// 32
	// <nil>
}
