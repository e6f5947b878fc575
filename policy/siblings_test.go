package policy_test

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// siblingPolicy lets an agent trade with a contract that nothing reads: blind calls of it, and
// allowances for it of up to 400 USDC a day.
const siblingPolicy = `schema: countersign.policy/2
lists:
  venue: ["0x1234567890AbcdEF1234567890aBcdef12345678"]
  payees: ["0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"]
  relayers: ["0x7777777777777777777777777777777777777777"]
assets:
  usdc: {chain: "eip155:1", token: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", decimals: 6}
  main: {chain: "eip155:1", token: native}
  wrapped: {chain: "eip155:1", token: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", decimals: 18}
limits:
  - {name: usdc-day, asset: usdc, max: "400", window: 24h, per: key}
  - {name: eth-day, asset: main, max: "1", window: 24h, per: key}
rules:
  - {name: trades, allow: call, on: ethereum, when: "effect.to in venue", of: messages, chains: [eip155:1], hazards: [blind-call]}
  - {name: allowances, allow: approve, on: ethereum, when: "effect.asset == usdc && effect.to in venue", limit: usdc-day}
  - {name: pays, allow: transfer, on: ethereum, when: "effect.asset == main", limit: eth-day}
  - {name: tokens, allow: transfer, on: ethereum, when: "effect.asset == usdc && effect.to in payees", limit: usdc-day}
  - {name: pools, allow: transfer, on: ethereum, when: effect.asset == wrapped}
  - {name: swaps, allow: [mint, revoke, settings], on: ethereum}
  - {name: refunds, allow: transfer, on: ethereum, when: "effect.asset == usdc && effect.to in relayers && effect.amount <= amount(usdc, '5')", of: messages, chains: [eip155:1], hazards: [ethereum/refund]}
  - {name: gas, allow: fee, on: ethereum, when: "effect.asset == main && effect.amount <= amount(main, '0.02')"}
`

const (
	venue       = "1234567890abcdef1234567890abcdef12345678"
	usdcAddress = "A0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
	kitties     = "0x06012c8cf97BEaD5deAe237070F9587f8E7A266d"
)

// packedCall is one call of a multiSend.
func packedCall(to string, data []byte) []byte {
	head := append(append([]byte{0}, common.HexToAddress(to).Bytes()...), make([]byte, 32)...)
	return append(append(head, common.LeftPadBytes(big.NewInt(int64(len(data))).Bytes(), 32)...), data...)
}

// batchOf is the call of a MultiSend that makes calls one after the other.
func batchOf(calls ...[]byte) string {
	var packed []byte
	for _, call := range calls {
		packed = append(packed, call...)
	}
	data := append(common.FromHex("8d80ff0a"), common.LeftPadBytes([]byte{32}, 32)...)
	data = append(data, common.LeftPadBytes(big.NewInt(int64(len(packed))).Bytes(), 32)...)
	return hex.EncodeToString(append(data, common.RightPadBytes(packed, (len(packed)+31)/32*32)...))
}

// usdcCall is a call of USDC with an address and an amount.
func usdcCall(selector, address string, amount int64) []byte {
	return append(common.FromHex(selector), append(common.LeftPadBytes(common.FromHex(address), 32), common.LeftPadBytes(big.NewInt(amount).Bytes(), 32)...)...)
}

// TestBlindCallTakesAllowance: a call that nothing reads takes what its contract is allowed to take.
// An allowance before it, or behind it, needs a rule of its own, and counts.
func TestBlindCallTakesAllowance(t *testing.T) {
	const multi = "0x9641d764fc13c8B624c04430C7356C1C7C8102e2"
	blind := packedCall(venue, []byte{1, 2, 3, 4})
	allows := func(amount int64) []byte { return packedCall(usdcAddress, usdcCall("095ea7b3", venue, amount)) }
	both := func(amount int64) activity.SignMessageIntent {
		return safeTx(multi, "0", batchOf(allows(amount), blind), 1)
	}
	without := strings.ReplaceAll(siblingPolicy, "  - {name: allowances", "  # - {name: allowances")
	_, err := engines.SubmitIntent(t, enginetest.New(t, engines.WithPolicy(t, without)), both(1))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "is not covered")
	f := enginetest.New(t, engines.WithPolicy(t, siblingPolicy))
	if _, err := engines.SubmitIntent(t, f, both(300_000_000)); err != nil {
		t.Fatal(err)
	}
	for name, intent := range map[string]activity.SignMessageIntent{
		"before the call": both(100_000_001),
		"behind it":       safeTx(multi, "0", batchOf(blind, allows(100_000_001)), 1),
		"in two parts":    safeTx(multi, "0", batchOf(allows(60_000_000), blind, allows(60_000_000)), 1),
	} {
		_, err := engines.SubmitIntent(t, f, intent)
		enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "usdc-day")
		if n := f.Signing.Signatures.Load(); n != 1 {
			t.Errorf("%s: %d signatures", name, n)
		}
	}
	_, err = engines.SubmitIntent(t, f, safeTx(multi, "0", batchOf(packedCall(usdcAddress, usdcCall("095ea7b3", "7777777777777777777777777777777777777777", 1)), blind), 1))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "is not covered")
}

// TestOneNonceCountsTwice: only one of two signatures over one nonce can be used, and the signer
// cannot know which: limits count both.
func TestOneNonceCountsTwice(t *testing.T) {
	f := enginetest.New(t, engines.WithPolicy(t, siblingPolicy))
	pays := func(to string, nonce int) activity.SignTransactionIntent {
		d := ordinaryDraw{t: t, nonce: func() int { return nonce }}
		value, _ := new(big.Int).SetString("600000000000000000", 10)
		return activity.SignTransactionIntent{SignWith: "key-1", Type: activity.TransactionTypeEthereum, UnsignedTransaction: d.typeTwo(common.HexToAddress(to), value, nil)}
	}
	if _, err := engines.SubmitIntent(t, f, pays("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", 7)); err != nil {
		t.Fatal(err)
	}
	_, err := engines.SubmitIntent(t, f, pays("0x7777777777777777777777777777777777777777", 7))
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "eth-day")

	f = enginetest.New(t, engines.WithPolicy(t, siblingPolicy))
	permits := func(amounts ...string) activity.SignRawPayloadsIntent {
		intent := activity.SignRawPayloadsIntent{SignWith: enginetest.Address, Encoding: activity.EncodingEIP712, HashFunction: activity.HashNone}
		for _, amount := range amounts {
			intent.Payloads = append(intent.Payloads, strings.ReplaceAll(engines.Permit(amount, "0"), "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", "0x"+venue))
		}
		return intent
	}
	_, err = engines.SubmitIntent(t, f, permits("250000000", "150000001"))
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "usdc-day")
	if _, err := engines.SubmitIntent(t, f, permits("250000000", "150000000")); err != nil {
		t.Error(err)
	}
}

// TestPaidInAnNFT: a refund is a call transfer(address,uint256) of whatever contract the Safe's
// transaction names, which of some NFTs takes a number, and so is what Permit2 calls. No rule for a
// token covers it.
func TestPaidInAnNFT(t *testing.T) {
	refund := func(token string) activity.SignMessageIntent {
		intent := safeTx("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", "0", "", 0)
		intent.Payload = strings.NewReplacer(`"gasPrice":"0"`, `"gasPrice":"1"`, `"gasToken":"0x0000000000000000000000000000000000000000"`, `"gasToken":"`+token+`"`,
			`"refundReceiver":"0x0000000000000000000000000000000000000000"`, `"refundReceiver":"0x7777777777777777777777777777777777777777"`).Replace(intent.Payload)
		return intent
	}
	f := enginetest.New(t, engines.WithPolicy(t, siblingPolicy))
	if _, err := engines.SubmitIntent(t, f, refund("0x"+usdcAddress)); err != nil {
		t.Error(err)
	}
	_, err := engines.SubmitIntent(t, f, refund(kitties))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "is not covered")
	soon := fmt.Sprint(f.Clock.Now().Unix() + 3600)
	for of, members := range map[string]string{
		"PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)":       `{"permitted":{"token":"` + kitties + `","amount":"0"},"spender":"0x` + venue + `","nonce":"0","deadline":"` + soon + `"}`,
		"PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)": `{"details":{"token":"` + kitties + `","amount":"0","expiration":"` + soon + `","nonce":"0"},"spender":"0x` + venue + `","sigDeadline":"` + soon + `"}`,
	} {
		_, err := engines.SubmitIntent(t, f, engines.Payload(typedOf(t, of, "0x000000000022D473030F116dDEE9F6B43aC78BA3", members, "1"), activity.EncodingEIP712, activity.HashNone))
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "is not covered")
	}
}

// TestSwapForAThirdParty: what a swap gives to another account is paid by the signature. It is over
// every limit, whatever the minimum, and is for no one that a rule does not name.
func TestSwapForAThirdParty(t *testing.T) {
	plan := routerPlans(t)[0]
	value, _ := new(big.Int).SetString(plan.Value, 10)
	word := func(digits string) string { return strings.Repeat("0", 64-len(digits)) + digits }
	const recipient = 8 + 12*64 // of the swap, behind the selector
	swap := func(to string) activity.SignTransactionIntent {
		data := strings.TrimPrefix(plan.Data, "0x")
		if data[recipient:recipient+64] != word("1") {
			t.Fatalf("the plan's swap is for %s", data[recipient:recipient+64])
		}
		return activity.SignTransactionIntent{SignWith: enginetest.Address, Type: activity.TransactionTypeEthereum,
			UnsignedTransaction: swapTransaction(t, value, data[:recipient]+word(to)+data[recipient+64:])}
	}
	unlimited := strings.ReplaceAll(siblingPolicy, `in payees", limit: usdc-day`, `in payees"`)
	for name, c := range map[string]struct{ to, policy, refused string }{
		"for oneself":             {"1", siblingPolicy, ""},
		"for a payee":             {"08d2b0a37f869ff76bacb5bab3278e26ab7067b7", siblingPolicy, "limit usdc-day"},
		"for a payee, no limit":   {"08d2b0a37f869ff76bacb5bab3278e26ab7067b7", unlimited, ""},
		"for a stranger":          {"66a9893cc07d91d95644aedd05d03f95e1dba8a1", siblingPolicy, "is not covered"},
		"for a stranger, either":  {"66a9893cc07d91d95644aedd05d03f95e1dba8a1", unlimited, "is not covered"},
		"for the token's address": {strings.ToLower(usdcAddress), unlimited, "is not covered"},
	} {
		_, err := engines.SubmitIntent(t, enginetest.New(t, engines.WithPolicy(t, c.policy)), swap(c.to))
		if signed := err == nil; signed != (c.refused == "") || !signed && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// orderPolicy lets an agent sell less than 1,000 USDC in an order that gives 0.1 WETH at least, as
// docs/messages.md has it.
const orderPolicy = `schema: countersign.policy/2
assets:
  usdc: {chain: "eip155:1", token: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", decimals: 6}
  weth: {chain: "eip155:1", token: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", decimals: 18}
rules:
  - {name: not-junk, deny: request, when: "!effects.exists(e, e.kind == 'receive' && e.asset == weth)"}
  - name: orders
    allow: transfer
    when: >-
      effect.function == 'Order' && effect.asset == usdc && effect.amount < amount(usdc, '1000') &&
      effects.exists(e, e.kind == 'receive' && e.asset == weth && e.amount >= amount(weth, '0.1'))
    each: 1
`

// TestPriceOfAnotherPayload: each of several payloads can be used alone. What one of them gives
// back is no price for what another one takes, for an allow on effects or on the request, and for
// a deny.
func TestPriceOfAnotherPayload(t *testing.T) {
	order := func(sells, buys, least string) string {
		return `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],` +
			`"Order":[{"name":"sellToken","type":"address"},{"name":"buyToken","type":"address"},{"name":"receiver","type":"address"},{"name":"sellAmount","type":"uint256"},{"name":"buyAmount","type":"uint256"},` +
			`{"name":"validTo","type":"uint32"},{"name":"appData","type":"bytes32"},{"name":"feeAmount","type":"uint256"},{"name":"kind","type":"string"},{"name":"partiallyFillable","type":"bool"},` +
			`{"name":"sellTokenBalance","type":"string"},{"name":"buyTokenBalance","type":"string"}]},"primaryType":"Order",` +
			`"domain":{"name":"Gnosis Protocol","version":"v2","chainId":1,"verifyingContract":"0x9008D19f58AAbD9eD0D60971565AA8510560ab41"},"message":{"sellToken":"0x` + usdcAddress + `","buyToken":"` + buys +
			`","receiver":"0x0000000000000000000000000000000000000000","sellAmount":"` + sells + `","buyAmount":"` + least + `","validTo":1795179600,"appData":"0x0000000000000000000000000000000000000000000000000000000000000000",` +
			`"feeAmount":"0","kind":"sell","partiallyFillable":false,"sellTokenBalance":"erc20","buyTokenBalance":"erc20"}}`
	}
	const weth, junk, tenth = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "0x7777777777777777777777777777777777777777", "100000000000000000"
	fair, decoy, robs := order("999000000", weth, tenth), order("1", weth, tenth), order("999000000", junk, "1")
	deny := "  - {name: not-junk, deny: request, when: \"!effects.exists(e, e.kind == 'receive' && e.asset == weth)\"}\n"
	whole := strings.NewReplacer("allow: transfer", "allow: request", "each: 1", "bundle: true", "effect.function == 'Order' && effect.asset == usdc && effect.amount < amount(usdc, '1000') &&", "", deny, "",
		"  usdc: {chain: \"eip155:1\", token: \"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\", decimals: 6}\n", "")
	for name, text := range map[string]string{
		"an allow": strings.Replace(orderPolicy, deny, "", 1), "an allow of the request": whole.Replace(orderPolicy),
		"a deny": strings.Replace(orderPolicy, "e.asset == weth && e.amount >= amount(weth, '0.1')", "true", 1),
	} {
		f := enginetest.New(t, engines.WithPolicy(t, text))
		sign := func(payloads ...string) error {
			_, err := engines.SubmitIntent(t, f, activity.SignRawPayloadsIntent{SignWith: enginetest.Address, Encoding: activity.EncodingEIP712, HashFunction: activity.HashNone, Payloads: payloads})
			return err
		}
		if err := sign(fair, decoy); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, payloads := range [][]string{{robs}, {robs, decoy}, {decoy, robs}, {decoy, robs, decoy}} {
			if sign(payloads...) == nil {
				t.Errorf("%s: an order without a price is signed among %d", name, len(payloads))
			}
		}
	}
}

// tradePolicy lets an agent sell less than 1,000 USDC for at least 0.1 WETH, in whatever call, use up
// to 1 ETH a day, and call a venue blindly.
const tradePolicy = `schema: countersign.policy/2
lists:
  venue: ["0x1234567890AbcdEF1234567890aBcdef12345678"]
assets:
  usdc: {chain: "eip155:1", token: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", decimals: 6}
  weth: {chain: "eip155:1", token: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", decimals: 18}
  main: {chain: "eip155:1", token: native}
limits:
  - {name: eth-day, asset: main, max: "1", window: 24h, per: key}
rules:
  - {name: venue, allow: call, on: ethereum, when: "effect.to in venue", of: messages, chains: [eip155:1], hazards: [blind-call]}
  - {name: ether, allow: transfer, on: ethereum, when: "effect.asset == main", limit: eth-day}
  - {name: wraps, allow: [mint, revoke, burn], on: ethereum}
  - {name: wrapped, allow: transfer, on: ethereum, when: "effect.asset == weth && effect.amount <= amount(weth, '0.2')"}
  - name: sells
    allow: transfer
    on: ethereum
    when: >-
      effect.asset == usdc && effect.amount < amount(usdc, '1000') &&
      effects.exists(e, e.kind == 'receive' && e.asset == weth && e.amount >= amount(weth, '0.1'))
    each: 1
  - {name: gas, allow: fee, on: ethereum, when: "effect.asset == main && effect.amount <= amount(main, '0.02')"}
`

// abiWords are numbers and addresses in words of 32 bytes.
func abiWords(values ...any) (words []byte) {
	for _, value := range values {
		switch value := value.(type) {
		case int:
			words = append(words, common.LeftPadBytes(big.NewInt(int64(value)).Bytes(), 32)...)
		case string:
			words = append(words, common.LeftPadBytes(common.FromHex(value), 32)...)
		}
	}
	return words
}

// abiBytes are bytes behind their length.
func abiBytes(text []byte) []byte {
	return append(abiWords(len(text)), common.RightPadBytes(text, (len(text)+31)/32*32)...)
}

// routerPlan is the call of a Universal Router that executes commands.
func routerPlan(commands []byte, inputs ...[]byte) []byte {
	list := abiBytes(commands)
	plan := append(common.FromHex("3593564c"), append(abiWords(0x60, 0x60+len(list), 1795179600), list...)...)
	heads, tails := abiWords(len(inputs)), []byte{}
	for _, input := range inputs {
		heads, tails = append(heads, abiWords(32*len(inputs)+len(tails))...), append(tails, abiBytes(input)...)
	}
	return append(append(plan, heads...), tails...)
}

// TestOwnIsNoPrice: what comes back is a price of what the same account gives, as far as it is more
// than it gives of that asset. Its own ether that it gets back wrapped, its own WETH that a router
// sweeps, and what another account gets buy nothing.
func TestOwnIsNoPrice(t *testing.T) {
	const (
		router, multi, weth, junk = "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af", "0x9641d764fc13c8B624c04430C7356C1C7C8102e2", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "0x7777777777777777777777777777777777777777"
		tenth                     = "0x016345785d8a0000"
		wraps, pulls, sweeps, v2  = 0x0b, 0x02, 0x04, 0x08
	)
	sells := func(least, token string) []byte {
		return abiWords("0x1", 999_000_000, least, 0xa0, 1, 2, "0x"+usdcAddress, token)
	}
	swept := abiWords(weth, "0x1", tenth)
	robs := routerPlan([]byte{wraps, sweeps, v2}, abiWords("0x2", tenth), swept, sells("0x1", junk))
	pulled := routerPlan([]byte{pulls, sweeps, v2}, abiWords(weth, "0x2", tenth), swept, sells("0x1", junk))
	twice := routerPlan([]byte{wraps, sweeps, v2}, abiWords("0x2", tenth), swept, sells(tenth, weth))
	inVenue := append(append(common.FromHex("b61d27f6"), abiWords(router, tenth, 0x60)...), abiBytes(routerPlan([]byte{wraps, sweeps}, abiWords("0x2", tenth), swept))...)
	calls := func(to string, value int64, data []byte) activity.SignTransactionIntent {
		d := ordinaryDraw{t: t, nonce: func() int { return 7 }}
		return activity.SignTransactionIntent{SignWith: "key-1", Type: activity.TransactionTypeEthereum, UnsignedTransaction: d.typeTwo(common.HexToAddress(to), big.NewInt(value), data)}
	}
	pays := packedCall(usdcAddress, usdcCall("a9059cbb", junk[2:], 999_000_000))
	for name, c := range map[string]struct {
		intent activity.Intent
		signed bool
	}{
		"a sale":                            {calls(router, 0, routerPlan([]byte{v2}, sells(tenth, weth))), true},
		"a sale, and ether that is wrapped": {calls(router, 1e17, twice), true},
		"ether that is wrapped":             {calls(router, 1e17, robs), false},
		"own tokens that are swept":         {calls(router, 0, pulled), false},
		"a sale of a Safe":                  {safeTx(multi, "0", batchOf(packedCall(router, routerPlan([]byte{v2}, sells(tenth, weth)))), 1), true},
		"what another account gets":         {safeTx(multi, "0", batchOf(pays, packedCall("0x"+venue, inVenue)), 1), false},
		"what it gets, in another order":    {safeTx(multi, "0", batchOf(packedCall("0x"+venue, inVenue), pays), 1), false},
	} {
		_, err := engines.SubmitIntent(t, enginetest.New(t, engines.WithPolicy(t, tradePolicy)), c.intent)
		if signed := err == nil; signed != c.signed || !signed && !strings.Contains(err.Error(), "conditions that do not hold") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := engines.SubmitIntent(t, enginetest.New(t, engines.WithPolicy(t, anyTransfer)), safeTx(multi, "0", batchOf(pays, packedCall("0x"+venue, inVenue)), 1))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "rule priced denies")
	_, err = engines.SubmitIntent(t, enginetest.New(t, engines.WithPolicy(t, anyTransfer)), safeTx(multi, "0", batchOf(packedCall(router, routerPlan([]byte{v2}, sells(tenth, weth)))), 1))
	if err != nil {
		t.Error(err)
	}
}

// anyTransfer denies requests that give no WETH back.
const anyTransfer = `schema: countersign.policy/2
lists:
  weth: ["0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"]
  venue: ["0x1234567890AbcdEF1234567890aBcdef12345678"]
rules:
  - {name: priced, deny: request, when: "!effects.exists(e, e.kind == 'receive' && e.asset.token in weth)"}
  - {name: moves, allow: [transfer, mint]}
  - {name: venue, allow: call, when: "effect.to in venue", of: messages, chains: [eip155:1], hazards: [blind-call]}
`

// TestRevokeForms: an allowance of a built-in token that becomes 0 is taken back, in whichever form it
// is signed. Of any other contract it may hand over the NFT with that number, unless the form names
// no number.
func TestRevokeForms(t *testing.T) {
	const permit2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
	soon := fmt.Sprint(enginetest.New(t).Clock.Now().Unix() + 3600)
	spender := "0x7777777777777777777777777777777777777777"
	sends := func(to string, data []byte) activity.Intent {
		d := ordinaryDraw{t: t, nonce: func() int { return 7 }}
		return activity.SignTransactionIntent{SignWith: "key-1", Type: activity.TransactionTypeEthereum, UnsignedTransaction: d.typeTwo(common.HexToAddress(to), new(big.Int), data)}
	}
	typed := func(of, contract, members string) activity.Intent {
		return engines.Payload(typedOf(t, of, contract, members, "1"), activity.EncodingEIP712, activity.HashNone)
	}
	forms := func(token string) map[string]activity.Intent {
		return map[string]activity.Intent{
			"approve":         sends(token, usdcCall("095ea7b3", spender[2:], 0)),
			"in a Safe":       safeTx(token, "0", hex.EncodeToString(usdcCall("095ea7b3", spender[2:], 0)), 0),
			"Permit2.approve": sends(permit2, append(common.FromHex("87517c45"), abiWords(token, spender, 0, 0)...)),
			"PermitSingle": typed("PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)", permit2,
				`{"details":{"token":"`+token+`","amount":"0","expiration":"`+soon+`","nonce":"0"},"spender":"`+spender+`","sigDeadline":"`+soon+`"}`),
			"PermitTransferFrom": typed("PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)", permit2,
				`{"permitted":{"token":"`+token+`","amount":"0"},"spender":"`+spender+`","nonce":"0","deadline":"`+soon+`"}`),
		}
	}
	const revokes = "schema: countersign.policy/2\nrules:\n  - {name: revokes, allow: [revoke, fee]}\n"
	for _, token := range []string{"0x" + usdcAddress, kitties} {
		for name, intent := range forms(token) {
			_, err := engines.SubmitIntent(t, enginetest.New(t, engines.WithPolicy(t, revokes)), intent)
			if signed := err == nil; signed != (token != kitties) {
				t.Errorf("%s of %s: %v", name, token, err)
			}
		}
	}
}
