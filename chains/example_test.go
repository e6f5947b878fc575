package chains_test

import (
	"log"
	"math/big"
	"os"

	"github.com/countersign-dev/countersign/chains"
)

// Fields are rendered one per line.
func ExampleRender() {
	wei, _ := new(big.Int).SetString("1500000000000000000", 10)
	err := chains.Render(os.Stdout, []chains.Field{
		chains.AddressField("to", "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"),
		chains.Amount("value", wei, 18, "ETH"),
		chains.Text("memo", "line one\nline two"),
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// to     0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7
	// value  1.5 ETH
	// memo   "line one\nline two"
}
