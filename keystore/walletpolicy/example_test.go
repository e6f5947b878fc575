package walletpolicy_test

import (
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// A wallet of several keys is read from a descriptor, or from the file of a coordinator. The
// keys here are those of BIP-32's test vectors.
func ExampleRead() {
	const descriptor = "wsh(sortedmulti(1," +
		"xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8/<0;1>/*," +
		"xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB/<0;1>/*))"
	wallet, err := walletpolicy.Read([]byte(descriptor), "reserve")
	if err != nil {
		log.Fatal(err)
	}
	script, err := wallet.Script(false, 0)
	fmt.Println(wallet.Template(), len(wallet.Keys()), "keys,", len(script), "bytes,", err)
	// Output: wsh(sortedmulti(1,@0/**,@1/**)) 2 keys, 34 bytes, <nil>
}
