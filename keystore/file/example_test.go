package file_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

func ExampleCreate() {
	temp, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)

	passphrase := []byte("correct horse battery staple")
	// The low WorkFactor is for this example only; use the default.
	keys, err := file.Create(filepath.Join(temp, "keys"), passphrase, file.Options{WorkFactor: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer keys.Close()
	keystore.Wipe(passphrase)

	info, err := keys.Generate(context.Background(), "org", "hot wallet", keystore.CurveSecp256k1)
	if err != nil {
		log.Fatal(err)
	}
	found, err := keys.Find(context.Background(), "org", keystore.ByKeccak(info.PublicKey.KeccakAddress()))
	fmt.Println(found.ID() == info.ID, err)
	_, err = keys.Find(context.Background(), "another org", keystore.ByID(info.ID))
	fmt.Println(err)
	// Output:
	// true <nil>
	// keystore: no such key
}

// Importing the same keys again is harmless: the error says that a key exists, and the info
// has its id.
func ExampleStore_AddBatch() {
	temp, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	keys, err := file.Create(filepath.Join(temp, "keys"), []byte("passphrase"), file.Options{WorkFactor: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer keys.Close()

	batch := []keystore.NewKey{
		{Name: "one", Curve: keystore.CurveEd25519, Secret: make([]byte, 32)},
		{Name: "again", Curve: keystore.CurveEd25519, Secret: make([]byte, 32)},
	}
	infos, errs := keys.AddBatch(context.Background(), "org", batch)
	fmt.Println(errs[0], errors.Is(errs[1], keystore.ErrKeyExists), infos[0].ID == infos[1].ID)
	// Output:
	// <nil> true true
}
