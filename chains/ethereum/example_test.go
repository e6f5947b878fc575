package ethereum_test

import (
	"encoding/hex"
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/chains/ethereum"
)

// Parse reads strictly, and its errors say where the fault is.
func ExampleChain_Parse() {
	raw, err := hex.DecodeString("02ec0107843b9aca008504a817c800820000" + "9408d2b0a37f869ff76bacb5bab3278e26ab7067b77b84deadbeefc0")
	if err != nil {
		log.Fatal(err)
	}
	_, err = ethereum.New(ethereum.Limits{}).Parse(raw)
	fmt.Println(err)
	// Output: ethereum: field 5 (gas) at byte 15: integer has a leading zero
}

// A transaction names its dangers. Those that depend on no key can be listed without
// one.
func ExampleChain_Parse_hazards() {
	raw, err := hex.DecodeString("e5078504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b84deadbeef")
	if err != nil {
		log.Fatal(err)
	}
	tx, err := ethereum.New(ethereum.Limits{}).Parse(raw)
	if err != nil {
		log.Fatal(err)
	}
	for _, hazard := range tx.Hazards() {
		fmt.Println(hazard.Name)
	}
	// Output:
	// ethereum/no-chain-id
	// ethereum/blind-call
}
