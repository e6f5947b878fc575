package evm

import (
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// kindsOf returns the kinds of effects, with "!" behind those that are not decoded.
func kindsOf(effects []chains.Effect) (kinds []string) {
	for i := range effects {
		kind := string(effects[i].Kind)
		if effects[i].Undecoded {
			kind += "!"
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// TestForwardedIsTheAccounts: what a forwarder sends on is read as a call by the account that
// signed it, the same as the account's own transaction.
func TestForwardedIsTheAccounts(t *testing.T) {
	from := Address{0xaa}
	for name, data := range map[string][]byte{
		"a transfer":   pack(t, "transfer(address,uint256)", common.Address{9}, big.NewInt(5)),
		"an allowance": pack(t, "approve(address,uint256)", common.Address{9}, big.NewInt(5)),
		"unknown":      {1, 2, 3, 4},
		"an owner":     pack(t, "transferOwnership(address)", common.Address{9}),
	} {
		own := kindsOf(mainnet.Pass().ReadFrom(from, Transaction{To: usdcAt, Data: data}, false).Effects())
		for _, of := range []struct {
			beginning string
			contract  Address
			to        any
		}{{forwardRequest, Address{0xf0}, usdcAt}, {"MetaTransaction(", usdcAt, nil}} {
			signed := typedOf(t, mainnet, of.beginning, of.contract, map[string]any{"from": from, "to": of.to, "call": data})
			if got := kindsOf(signed.Effects); !slices.Equal(got, own) {
				t.Errorf("%s, %s: %q, want %q", of.beginning, name, got, own)
			}
			for _, effect := range signed.Effects {
				if effect.By != chains.BySigner || !effect.From.Equal(mainnet.Party(from)) {
					t.Errorf("%s, %s: %+v", of.beginning, name, effect)
				}
			}
			if len(signed.Owners) != 1 || !signed.Owners[0].Party.Equal(mainnet.Party(from)) {
				t.Errorf("%s, %s: owners %+v", of.beginning, name, signed.Owners)
			}
		}
	}
}

// TestForwardedBytesBehind: the account's address stands behind the call data, so that data
// shorter than a selector is another call, and so is the input of a contract that has none.
func TestForwardedBytesBehind(t *testing.T) {
	withdrawals := hexAddress("0x00000961Ef480Eb55e80D19ad83579A64c007002")
	for name, of := range map[string]struct {
		to   Address
		data []byte
	}{
		"nothing":          {usdcAt, nil},
		"three bytes":      {usdcAt, []byte{0xa9, 0x05, 0x9c}},
		"without selector": {withdrawals, make([]byte, 56)},
		"ether for WETH":   {hexAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"), nil},
	} {
		signed := typedOf(t, mainnet, forwardRequest, Address{0xf0}, map[string]any{"from": Address{0xaa}, "to": of.to, "call": of.data})
		if got := kindsOf(signed.Effects); !slices.Equal(got, []string{"call!"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestForwardedValue: the value of a request is the submitter's, and counts for no one else.
func TestForwardedValue(t *testing.T) {
	signed := typedOf(t, mainnet, forwardRequest, Address{0xf0}, map[string]any{"from": Address{0xaa}, "to": Address{0xbb}, "value": big.NewInt(7), "call": []byte{1, 2, 3, 4}})
	if got := kindsOf(signed.Effects); !slices.Equal(got, []string{"transfer", "call!"}) || signed.Effects[0].By != chains.ByOther || signed.Owners[0].Effect != 1 {
		t.Errorf("%q, %+v", got, signed.Owners)
	}
}

// TestZKsyncTransaction: a transaction of the ZK Stack that is signed as typed data has the
// effects of one that is not, the fee, and what the account allows its paymaster.
func TestZKsyncTransaction(t *testing.T) {
	from, paymaster := Address{0xaa}, Address{0xbb}
	number := func(at Address) *big.Int { return new(big.Int).SetBytes(at[:]) }
	approval := func(amount *big.Int) []byte {
		return pack(t, "approvalBased(address,uint256,bytes)", common.Address(usdcAt), amount, []byte{})
	}
	dirty := approval(big.NewInt(5))
	dirty[4] = 1
	for name, of := range map[string]struct {
		change map[string]any
		want   []string
	}{
		"a payment":                          {nil, []string{"transfer", "fee"}},
		"a sponsored one":                    {map[string]any{"paymaster": number(paymaster), "paymasterInput": pack(t, "general(bytes)", []byte{1})}, []string{"transfer", "fee"}},
		"one paid in a token":                {map[string]any{"paymaster": number(paymaster), "paymasterInput": approval(big.NewInt(5))}, []string{"approve", "transfer", "fee"}},
		"an input without a selector":        {map[string]any{"paymaster": number(paymaster)}, []string{"call!", "transfer", "fee"}},
		"an input cut off":                   {map[string]any{"paymaster": number(paymaster), "paymasterInput": approval(big.NewInt(5))[:67]}, []string{"call!", "transfer", "fee"}},
		"an input with a dirty token":        {map[string]any{"paymaster": number(paymaster), "paymasterInput": dirty}, []string{"call!", "transfer", "fee"}},
		"an input for no paymaster":          {map[string]any{"paymasterInput": approval(big.NewInt(5))}, []string{"transfer", "fee"}},
		"an unknown call":                    {map[string]any{"call": []byte{1, 2, 3, 4}}, []string{"transfer", "call!", "fee"}},
		"another type":                       {map[string]any{"txType": big.NewInt(2)}, nil},
		"an account that is no address":      {map[string]any{"from": new(big.Int).Lsh(big.NewInt(1), 160)}, nil},
		"a recipient that is no address":     {map[string]any{"to": new(big.Int).Lsh(big.NewInt(1), 200)}, nil},
		"a paymaster that is not an address": {map[string]any{"paymaster": new(big.Int).Lsh(big.NewInt(1), 255)}, nil},
	} {
		named := map[string]any{"txType": big.NewInt(zkSyncType), "from": number(from), "to": number(Address{0xcc}), "value": big.NewInt(7),
			"gasLimit": big.NewInt(100), "maxFeePerGas": big.NewInt(3)}
		maps.Copy(named, of.change)
		signed := typedOf(t, mainnet, zkSyncTransaction, Address{}, named)
		if got := kindsOf(signed.Effects); !slices.Equal(got, of.want) {
			t.Errorf("%s: %q, want %q", name, got, of.want)
			continue
		}
		if of.want == nil {
			continue
		}
		fee := signed.Effects[len(signed.Effects)-1]
		if sponsored := named["paymaster"] != nil; fee.Amount.Value.Int64() != 300 || (fee.By == chains.ByOther) != sponsored || !signed.ByChain {
			t.Errorf("%s: %+v", name, fee)
		}
	}
}

// TestZKsyncDomain: only the domain of the chain itself is one of its transactions.
func TestZKsyncDomain(t *testing.T) {
	c, _ := carrierOf(t, zkSyncTransaction)
	none := *mainnet
	none.ChainID = 0
	for name, of := range map[string]struct {
		network *Network
		typed   Typed
	}{
		"another name":    {mainnet, Typed{Name: "zksync", Version: "2"}},
		"another version": {mainnet, Typed{Name: "zkSync", Version: "1"}},
		"a contract":      {mainnet, Typed{Name: "zkSync", Version: "2", Contract: &Address{1}}},
		"no chain":        {&none, Typed{Name: "zkSync", Version: "2"}},
	} {
		of.typed.Type = c.encoded()
		of.typed.Members = membersOf(c.parameters(), map[string]any{"txType": big.NewInt(zkSyncType)})
		if _, ok := of.network.Pass().ReadTyped(of.typed); ok {
			t.Errorf("%s: read", name)
		}
	}
}
