package wallet_test

import (
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// The first Ethereum account of a mnemonic, with the passphrase of BIP-39's test vectors.
func Example() {
	words := []byte("legal winner thank year wave sausage worth useful legal winner thank yellow")
	root, err := wallet.FromMnemonic(words, []byte("TREZOR"))
	if err != nil {
		log.Fatal(err)
	}
	defer root.Wipe()
	path, err := wallet.ParsePath("m/44'/60'/0'/0/0")
	if err != nil {
		log.Fatal(err)
	}
	secret, err := root.Derive(keystore.CurveSecp256k1, path)
	if err != nil {
		log.Fatal(err)
	}
	defer keystore.Wipe(secret)
	key, err := keyformat.NewKey(keystore.CurveSecp256k1, secret)
	if err != nil {
		log.Fatal(err)
	}
	defer key.Wipe()
	fmt.Println(key.PublicKey)
	// Output: 035422486d29f5189ce7e606252d96d81fa446dc8bb5a6221c307e061c20e3089a
}
