package evm

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// refunded returns the effects of a Safe's transaction with a refund, in typed data and in
// the calldata of a transaction.
func refunded(t *testing.T, n *Network, data []byte, gas, base, price *big.Int, token, receiver common.Address) (typed, called []chains.Effect) {
	t.Helper()
	return refundedFor(t, n, Address{0xbb}, data, gas, base, price, token, receiver)
}

func refundedFor(t *testing.T, n *Network, to Address, data []byte, gas, base, price *big.Int, token, receiver common.Address) (typed, called []chains.Effect) {
	t.Helper()
	safe := Address{0x5a, 0xfe}
	typed = signedSafe(t, n, safe, to, data, safeRefund{SafeTxGas: gas, BaseGas: base, GasPrice: price, Token: Address(token), Receiver: Address(receiver)})
	text, _, _ := standardOf(t, "execTransaction(")
	call := pack(t, text, common.Address(to), new(big.Int), data, uint8(0), gas, base, price, token, receiver, []byte{})
	return typed, n.Pass().Read(Transaction{To: safe, Data: call}).Effects()
}

// refundOf returns the only refund among effects.
func refundOf(t *testing.T, effects []chains.Effect) (refund chains.Effect, hazard string) {
	t.Helper()
	found := -1
	for i, e := range effects {
		if strings.HasSuffix(e.Path, refundPath) {
			if found >= 0 {
				t.Fatalf("two refunds: %v", effects)
			}
			found = i
		}
	}
	if found < 0 {
		return refund, ""
	}
	for _, h := range Hazards("c", effects, mainnet.Party(Address{0xaa})) {
		if index, _ := h.Effect(); index == found && h.Name == "c/"+hazardRefund {
			hazard = h.Name
		}
	}
	return effects[found], hazard
}

// TestSafeRefund checks the amount and the receiver of a refund in both carriers.
func TestSafeRefund(t *testing.T) {
	number := big.NewInt
	token, receiver, zero := common.Address{0xaa, 1}, common.Address{0xcc}, common.Address{}
	huge := new(big.Int).Lsh(number(1), 255)
	era := *mainnet
	era.ChainID, era.ID = zkSyncEra, NetworkID(zkSyncEra)
	for name, c := range map[string]struct {
		network          *Network
		data             []byte
		gas, base, price *big.Int
		token, receiver  common.Address
		want             string // in typed data
	}{
		"no price":             {mainnet, nil, number(5), number(1e6), number(0), token, receiver, ""},
		"a token":              {mainnet, nil, number(0), number(1e6), number(1e6), token, receiver, "transfer safe>receiver most 1040000000000 of token"},
		"ether":                {mainnet, nil, number(7), number(1), number(3), zero, receiver, "transfer safe>receiver most 120024"},
		"with data":            {mainnet, make([]byte, 100), number(7), number(1), number(1), zero, receiver, "transfer safe>receiver most 40408"},
		"to the submitter":     {mainnet, nil, number(0), number(0), number(1), token, zero, "transfer safe>unknown most 40000 of token"},
		"to the token":         {mainnet, nil, number(0), number(0), number(1), token, token, "burn safe>token most 40000 of token"},
		"over 256 bits":        {mainnet, nil, huge, number(1), number(2), token, receiver, "transfer safe>receiver unlimited of token"},
		"a sum over 256 bits":  {mainnet, nil, huge, huge, number(1), token, receiver, "transfer safe>receiver unlimited of token"},
		"gas of another unit":  {&era, nil, number(1), number(1), number(1), token, receiver, "transfer safe>receiver unlimited of token"},
		"almost over 256 bits": {mainnet, nil, number(0), new(big.Int).Sub(huge, number(40000)), number(1), token, receiver, "transfer safe>receiver most " + huge.String() + " of token"},
	} {
		typed, called := refunded(t, c.network, c.data, c.gas, c.base, c.price, c.token, c.receiver)
		for carrier, effects := range map[string][]chains.Effect{"typed data": typed, "calldata": called} {
			refund, hazard := refundOf(t, effects)
			want := c.want
			if carrier == "calldata" { // the signer is the origin
				want = strings.Replace(want, "unknown", "signer", 1)
			}
			if (hazard != "") != (want != "") {
				t.Errorf("%s in %s: hazard %q", name, carrier, hazard)
			}
			if want == "" {
				continue
			}
			got := effectLines([]chains.Effect{refund}, map[string]common.Address{"safe": {0x5a, 0xfe}, "token": token, "receiver": receiver})
			if got != want {
				t.Errorf("%s in %s: %s, want %s", name, carrier, got, want)
			}
		}
	}
	typed, called := refunded(t, mainnet, nil, number(0), number(0), number(1), zero, zero)
	for want, effects := range map[string][]chains.Effect{"to the account that submits it": typed, "to the signer": called} {
		refund, _ := refundOf(t, effects)
		if got := chains.Sentence(refund, nil); !strings.HasSuffix(got, want) || refund.Kind != chains.KindTransfer {
			t.Errorf("%s: %s, want it to end with %q", refund.Kind, got, want)
		}
	}
}

// TestNestedRefund: the signature of an owner that is a Safe itself pays for the inner
// transaction as well, to the account that submits the outer one.
func TestNestedRefund(t *testing.T) {
	text, _, _ := standardOf(t, "execTransaction(")
	inner := pack(t, text, common.Address{0xbb}, new(big.Int), []byte{}, uint8(0), big.NewInt(1), big.NewInt(2), big.NewInt(5), common.Address{}, common.Address{}, []byte{})
	effects := signedSafe(t, mainnet, Address{1}, Address{2}, inner, safeRefund{})
	refund, hazard := refundOf(t, effects)
	if !refund.From.Equal(mainnet.Party(Address{2})) || !refund.To.IsUnknown() || hazard == "" {
		t.Errorf("%s with the hazard %q", chains.Sentence(refund, nil), hazard)
	}
}
