package ur_test

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/internal/ur"
)

// A wallet's request as one QR code, and what it asks for.
func Example() {
	unsigned, _ := hex.DecodeString("02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0")
	request := ur.EthSignRequest{Data: unsigned, Kind: ur.EthTx, ChainID: 1, Path: ur.Keypath{Path: []ur.PathIndex{{Index: 44, Hardened: true}, {Index: 60, Hardened: true}}}}
	code := strings.ToUpper(request.Message().String())

	collector := ur.NewCollector(ur.TypeEthSignRequest)
	if err := collector.Add(code); err != nil {
		fmt.Println(err)
	}
	message, complete := collector.Message()
	fmt.Println(message.Type, complete)
	read, err := ur.DecodeEthSignRequest(message)
	fmt.Println(read.Path, read.ChainID, err)
	fmt.Println(code[:40])
	// Output:
	// eth-sign-request true
	// m/44'/60' 1 <nil>
	// UR:ETH-SIGN-REQUEST/OXAOHDDRAOVSADATLRFR
}

// The codes of a long message, of which any sufficient set completes it.
func ExampleEncoder() {
	message := ur.PSBT(make([]byte, 1000), ur.TypePSBT)
	encoder, err := ur.NewEncoder(message, 250)
	if err != nil {
		fmt.Println(err)
	}
	collector := ur.NewCollector(ur.TypePSBT)
	for shown := 1; ; shown++ {
		code := encoder.Next()
		if shown == 2 {
			continue // the camera missed it
		}
		if err := collector.Add(code); err != nil {
			fmt.Println(err)
		}
		if _, complete := collector.Message(); complete {
			fmt.Println("complete after", shown, "codes of", encoder.Parts())
			return
		}
	}
	// Output:
	// complete after 8 codes of 5
}
