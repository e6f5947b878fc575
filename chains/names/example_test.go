package names_test

import (
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/names"
)

// Labels are shown beside addresses. They decide nothing.
func ExampleBook() {
	book := names.New(ethereum.Chain{})
	if err := book.AddLabel("eip155:1", "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", "exchange"); err != nil {
		log.Fatal(err)
	}
	tx, err := ethereum.Chain{}.Parse([]byte("\x02\xe8\x01\x07\x84\x3b\x9a\xca\x00\x85\x04\xa8\x17\xc8\x00\x82\xea\x60" +
		"\x94\x08\xd2\xb0\xa3\x7f\x86\x9f\xf7\x6b\xac\xb5\xba\xb3\x27\x8e\x26\xab\x70\x67\xb7\x7b\x80\xc0"))
	if err != nil {
		log.Fatal(err)
	}
	for _, sentence := range names.Sentences(tx.Effects(), book) {
		fmt.Println(sentence)
	}
	// Output:
	// send 0.000000000000000123 ETH to 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 (exchange)
	// fee at most 0.0012 ETH
}
