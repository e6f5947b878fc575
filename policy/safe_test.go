package policy_test

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

const ourSafe = "0x5afe5afE5afE5afE5afE5aFe5aFe5Afe5Afe5AfE"

// safePolicy lets the owner of a Safe pay up to 2 ETH a day.
const safePolicy = `schema: countersign.policy/2
assets:
  main: {chain: "eip155:1", token: native}
limits:
  - {name: eth-day, asset: main, max: "2", window: 24h, per: key}
rules:
  - {name: pays, allow: transfer, when: "effect.asset == main && effect.amount <= ether('2')", limit: eth-day}
  - {name: gas, allow: fee, when: "effect.amount <= ether('0.02')"}
`

// safeTx is the typed data of a Safe's transaction without a refund.
func safeTx(to, value, data string, operation int) activity.SignMessageIntent {
	return engines.Payload(fmt.Sprintf(`{"types":{"EIP712Domain":[{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],
		"SafeTx":[{"name":"to","type":"address"},{"name":"value","type":"uint256"},{"name":"data","type":"bytes"},{"name":"operation","type":"uint8"},
		{"name":"safeTxGas","type":"uint256"},{"name":"baseGas","type":"uint256"},{"name":"gasPrice","type":"uint256"},{"name":"gasToken","type":"address"},
		{"name":"refundReceiver","type":"address"},{"name":"nonce","type":"uint256"}]},
		"primaryType":"SafeTx","domain":{"chainId":1,"verifyingContract":%q},"message":{"to":%q,"value":%q,"data":"0x%s","operation":%d,
		"safeTxGas":"0","baseGas":"0","gasPrice":"0","gasToken":"0x0000000000000000000000000000000000000000",
		"refundReceiver":"0x0000000000000000000000000000000000000000","nonce":"7"}}`, ourSafe, to, value, data, operation),
		activity.EncodingEIP712, activity.HashNone)
}

// multiSend is the call of a MultiSend that sends value to an address.
func multiSend(to string, value *big.Int) string {
	packed := append([]byte{0}, common.HexToAddress(to).Bytes()...)
	packed = append(append(packed, common.LeftPadBytes(value.Bytes(), 32)...), make([]byte, 32)...)
	call := append(common.FromHex("8d80ff0a"), common.LeftPadBytes([]byte{32}, 32)...)
	call = append(call, common.LeftPadBytes([]byte{byte(len(packed))}, 32)...)
	return hex.EncodeToString(append(call, common.RightPadBytes(packed, 96)...))
}

// TestSafePaysItsOwner checks that what a Safe sends to the owner that signs for it is a
// transfer, which rules and limits see, also inside a multiSend.
func TestSafePaysItsOwner(t *testing.T) {
	const multi = "0x9641d764fc13c8B624c04430C7356C1C7C8102e2"
	thousand := new(big.Int).Mul(big.NewInt(1000), big.NewInt(1e18))
	for name, c := range map[string]struct {
		intent activity.SignMessageIntent
		signed bool
	}{
		"1,000 ETH":                {safeTx(enginetest.Address, thousand.String(), "", 0), false},
		"1,000 ETH in a multiSend": {safeTx(multi, "0", multiSend(enginetest.Address, thousand), 1), false},
		"1 ETH in a multiSend":     {safeTx(multi, "0", multiSend(enginetest.Address, big.NewInt(1e18)), 1), true},
		"a rejection":              {safeTx(ourSafe, "0", "", 0), true},
	} {
		f := enginetest.New(t, engines.WithPolicy(t, safePolicy))
		record, err := engines.SubmitIntent(t, f, c.intent)
		if signed := err == nil; signed != c.signed || !signed && !strings.Contains(err.Error(), "is not covered by any rule") {
			t.Errorf("%s: %v, %v", name, record, err)
		}
	}
}

// TestTransfersToOwnerAreCharged checks that the limit is charged for what a Safe sends to
// its owner, and to itself: at the Safe there is no key of ours.
func TestTransfersToOwnerAreCharged(t *testing.T) {
	f := enginetest.New(t, engines.WithPolicy(t, safePolicy))
	one := big.NewInt(1e18).String()
	for i, intent := range []activity.SignMessageIntent{
		safeTx(enginetest.Address, one, "", 0), safeTx(ourSafe, "0", "", 0), safeTx(enginetest.Address, one, "", 0), safeTx(enginetest.Address, "1", "", 0),
	} {
		_, err := engines.SubmitIntent(t, f, intent)
		if exceeded := i == 3; (err != nil) != exceeded || exceeded && !strings.Contains(err.Error(), "limit eth-day") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestInspectedChange checks that what a Safe sends to itself is no change, in inspection, which
// knows no keys, and in signing: the Safe is no account of ours.
func TestInspectedChange(t *testing.T) {
	for name, c := range map[string]struct {
		intent activity.SignMessageIntent
		change bool
	}{
		"a rejection":  {safeTx(ourSafe, "0", "", 0), false},
		"to the owner": {safeTx(enginetest.Address, "5", "", 0), false},
	} {
		inspection, err := all.InspectIntent(c.intent, all.Limits{})
		testenv.Must(t, err)
		prepared, err := enginetest.New(t).Engine.Prepare(t.Context(), enginetest.Organization, c.intent)
		testenv.Must(t, err)
		effects, err := prepared.Effects(t.Context())
		if err != nil || inspection.Effects[0].Change != c.change || effects[0].Change != c.change {
			t.Errorf("%s: %+v, %+v, %v", name, inspection.Effects[0], effects[0], err)
		}
	}
}
