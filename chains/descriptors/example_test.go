package descriptors_test

import (
	"encoding/hex"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/chains/ethereum"
)

// A descriptor (ERC-7730) says what a contract's function means. It is used only if its digest is
// pinned, in a file of the operator's.
func ExampleOpen() {
	const vault = `{"$schema": "https://eips.ethereum.org/assets/eip-7730/erc7730-v2.schema.json",
	  "context": {"contract": {"deployments": [{"chainId": 1, "address": "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"}],
	    "abi": [{"type": "function", "name": "setCap", "inputs": [{"name": "cap", "type": "uint256"}]}]}},
	  "display": {"formats": {"setCap(uint256 cap)": {"intent": "Set the cap", "fields": [{"path": "cap", "label": "Cap", "format": "raw"}]}}}
	}`
	files := fstest.MapFS{"vault.json": {Data: []byte(vault)}}
	folder, err := descriptors.Open(files, descriptors.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(folder.Files()[0].Problem)
	pins, err := descriptors.ReadPins(fmt.Appendf(nil, "countersign.pins/1\n%x  vault.json\n", folder.Files()[0].Digest))
	if err != nil {
		log.Fatal(err)
	}
	if folder, err = descriptors.Open(files, descriptors.Options{Pins: pins}); err != nil { // Descriptors: folder, in Config
		log.Fatal(err)
	}
	raw, _ := hex.DecodeString("02f84c0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b780a4" +
		"47786d370000000000000000000000000000000000000000000000000000000000000007c0")
	tx, err := ethereum.Chain{}.Parse(raw)
	if err != nil {
		log.Fatal(err)
	}
	_, readings := chains.ReadWith(tx, folder)
	for _, reading := range readings {
		fmt.Println(reading.Function, reading.Intent, reading.Args, reading.Trust)
	}
	// Output:
	// not trusted: pin it
	// setCap(uint256) Set the cap [{cap 7}] pinned
}
