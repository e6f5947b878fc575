package psbt_test

import (
	"encoding/hex"
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/internal/psbt"
)

// The smallest PSBT of version 2: an input and an output, required fields only.
func Example() {
	raw, err := hex.DecodeString("70736274ff01020402000000010401010105010101fb0402000000" + "00" +
		"010e20" + "0b0ad921419c1c8719735d72dc739f9ea9e0638d1fe4c1eef0f9944084815fc8" + "010f0400000000" + "00" +
		"010308" + "008bc90000000000" + "0104160014" + "c430f64c4756da310dbd1a085572ef299926272c" + "00")
	if err != nil {
		log.Fatal(err)
	}
	packet, err := psbt.Read(raw)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("version:", packet.Version)
	fmt.Println("pays:", packet.Outputs[0].Amount)
	_, err = psbt.Read(append(raw, 0))
	fmt.Println(err)
	// Output:
	// version: 2
	// pays: 13208320
	// bitcoin: end at byte 108: 1 bytes left over
}
