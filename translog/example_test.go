package translog_test

import (
	"crypto/ed25519"
	"fmt"
	"log"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/translog"
)

// A checkpoint is a signed note of the size and the root hash of an organization's log.
func ExampleOpenCheckpoint() {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // a random seed in production
	signer := translog.NewSigner(key)
	signed, err := signer.Checkpoint("my-organization", tlog.Tree{N: 1, Hash: tlog.RecordHash([]byte("the only leaf"))})
	if err != nil {
		log.Fatal(err)
	}

	verifierKey := signer.VerifierKey("my-organization") // what an auditor has
	checkpoint, err := translog.OpenCheckpoint(signed, verifierKey)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(checkpoint.Origin, checkpoint.Tree.N)
	_, err = translog.OpenCheckpoint(append(signed[:len(signed)-2], "A\n"...), verifierKey)
	fmt.Println(err != nil)
	// Output:
	// countersign/my-organization 1
	// true
}
