package messages_test

import (
	"fmt"
	"log"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/messages"
)

// A typed-data structure that is known is read as what its signature does. An engine does the
// same with messages.Operations in Config.Operations.
func ExampleReader_Read() {
	const permit = `{
	  "types": {
	    "EIP712Domain": [{"name": "name", "type": "string"}, {"name": "version", "type": "string"},
	      {"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}],
	    "Permit": [{"name": "owner", "type": "address"}, {"name": "spender", "type": "address"},
	      {"name": "value", "type": "uint256"}, {"name": "nonce", "type": "uint256"}, {"name": "deadline", "type": "uint256"}]
	  },
	  "primaryType": "Permit",
	  "domain": {"name": "USD Coin", "version": "2", "chainId": 1, "verifyingContract": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"},
	  "message": {"owner": "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", "spender": "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7",
	    "value": "25000000", "nonce": 0, "deadline": 1790000000}
	}`
	reader := messages.Reader{
		Chains: []chains.Chain{ethereum.Chain{}},
		Now:    func() time.Time { return time.Unix(1_789_990_000, 0) },
	}
	message, err := reader.Read(permit, activity.EncodingEIP712, activity.HashNone)
	if err != nil {
		log.Fatal(err)
	}
	for _, effect := range message.Effects() {
		fmt.Println(effect.Kind, effect.Amount.Value, "to", effect.To)
	}
	// Output: approve 25000000 to 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7
}
