package policy_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/policy"
)

// A file decides over what a signature does. Its errors name the line, the column and the cure.
func ExampleParse() {
	const file = `schema: countersign.policy/2
lists:
  payees: ["0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"]
rules:
  - {name: payouts, allow: transfer, when: effect.to in payees}
`
	rules, err := policy.Parse("policy.yaml", []byte(file), policy.Options{Chains: []chains.Chain{ethereum.Chain{}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rules.Rules()) // Policy: rules, in the Config of an engine

	err = rules.Authorize(context.Background(), access.Authorization{
		Organization: &access.Organization{ID: "my-organization"}, User: access.User{ID: "bot"},
		Intent: activity.SignTransactionIntent{}, Chain: "ethereum",
		Effects: []chains.Effect{{Kind: chains.KindTransfer, By: chains.BySigner}}, // to whom is not known
	})
	fmt.Println(errors.Is(err, access.ErrDenied))
	// Output:
	// [payouts]
	// true
}
