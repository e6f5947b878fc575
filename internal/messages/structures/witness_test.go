package structures_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/messages/structures"
)

const (
	x402Exact = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001"
	x402Upto  = "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002"
	payee     = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"

	exactWitness = `{"name":"to","type":"address"},{"name":"validAfter","type":"uint256"}`
	uptoWitness  = `{"name":"to","type":"address"},{"name":"facilitator","type":"address"},{"name":"validAfter","type":"uint256"}`
)

// witnessed is a transfer through Permit2 with a witness, as clients of x402 send it.
func witnessed(contract, spender, witness string) []byte {
	facilitator := ""
	if witness == uptoWitness {
		facilitator = `"facilitator":"0x1111111111111111111111111111111111111111",`
	}
	return fmt.Appendf(nil, `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],
		"PermitWitnessTransferFrom":[{"name":"permitted","type":"TokenPermissions"},{"name":"spender","type":"address"},{"name":"nonce","type":"uint256"},{"name":"deadline","type":"uint256"},{"name":"witness","type":"Witness"}],
		"TokenPermissions":[{"name":"token","type":"address"},{"name":"amount","type":"uint256"}],"Witness":[%s]},
		"primaryType":"PermitWitnessTransferFrom","domain":{"name":"Permit2","chainId":8453,"verifyingContract":"%s"},
		"message":{"permitted":{"token":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","amount":"10000"},"spender":"%s","nonce":"7","deadline":"1763641000",
		"witness":{"to":"%s",%s"validAfter":"0"}}}`, witness, contract, spender, payee, facilitator)
}

// TestWitnessPayee: the address in a witness is the payee only if the spender is one that
// checks it, of the type that this spender hashes, through Permit2.
func TestWitnessPayee(t *testing.T) {
	const permit2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
	for name, c := range map[string]struct {
		message []byte
		kind    chains.Kind
		to      string
		bound   chains.Bound
	}{
		"exact":                      {witnessed(permit2, x402Exact, exactWitness), chains.KindTransfer, payee, chains.BoundExact},
		"up to":                      {witnessed(permit2, x402Upto, uptoWitness), chains.KindTransfer, payee, chains.BoundMost},
		"the other's witness, exact": {witnessed(permit2, x402Exact, uptoWitness), chains.KindApprove, x402Exact, chains.BoundExact},
		"the other's witness, up to": {witnessed(permit2, x402Upto, exactWitness), chains.KindApprove, x402Upto, chains.BoundExact},
		"another spender":            {witnessed(permit2, "0x1111111111111111111111111111111111111111", exactWitness), chains.KindApprove, "0x1111111111111111111111111111111111111111", chains.BoundExact},
	} {
		read := read(t, c.message, now)
		effects := read.Effects()
		if len(effects) != 1 || effects[0].Kind != c.kind || effects[0].To.String() != c.to || effects[0].Amount.Bound != c.bound || effects[0].Amount.Value.Int64() != 10000 {
			t.Errorf("%s: %+v", name, effects)
		}
		if effects[0].Until.Time.Unix() != 1763641000 || len(read.Hazards()) > 0 {
			t.Errorf("%s: until %s, hazards %v", name, effects[0].Until, read.Hazards())
		}
	}
	read := read(t, witnessed("0x1111111111111111111111111111111111111111", x402Exact, exactWitness), now)
	if names := chaintest.Names(read.Hazards()); !slices.Equal(names, []string{structures.HazardUnknownType}) {
		t.Errorf("by another contract than Permit2: %v", names)
	}
}
