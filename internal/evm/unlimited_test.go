package evm

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// TestUnlimitedOnEveryDoor puts amounts around 10^12 whole USDC and around 2^96 into the
// allowance of every function, over USDC and over a token whose decimals are not known.
func TestUnlimitedOnEveryDoor(t *testing.T) {
	random := rand.New(rand.NewPCG(42, 1))
	listed, edge := new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil), new(big.Int).Lsh(one, 96)
	below := new(big.Int).Sub(edge, one)
	tried := map[string]int{}
	for _, f := range allFunctions() {
		for _, c := range []struct {
			amount *big.Int
			token  Address
			want   bool
		}{
			{listed, usdcAt, false}, {new(big.Int).Add(listed, one), usdcAt, true}, {below, usdcAt, true}, {edge, usdcAt, true},
			{new(big.Int).Add(listed, one), Address{0x77}, false}, {below, Address{0x77}, false}, {edge, Address{0x77}, true},
		} {
			call := &Call{pass: mainnet.Pass(), caller: at(Address{0xaa}), self: c.token, code: c.token, value: new(big.Int)}
			(&reader{left: maxCalls}).decodeAs(call, f, randomCall(t, random, f)[4:])
			fill(call.args, c.amount, c.token)
			for _, effect := range call.Effects() {
				if effect.Kind != chains.KindApprove || effect.Asset.NFT != nil || effect.Amount.Value == nil || effect.Amount.Value.Cmp(c.amount) != 0 {
					continue
				}
				tried[f.signature]++
				if got := effect.Amount.Bound == chains.BoundUnlimited; got != c.want {
					t.Errorf("%s of %v %v: unlimited %v", f.signature, c.amount, effect.Asset.Token, got)
				}
			}
		}
	}
	if len(tried) < 11 {
		t.Errorf("only %d functions: %v", len(tried), tried)
	}
}

// fill puts an amount into each allowance among values, and a token into each token.
func fill(values []value, amount *big.Int, token Address) {
	for i := range values {
		switch v := &values[i]; {
		case v.role == roleAllowance && v.kind == kindUint:
			v.word = common.LeftPadBytes(amount.Bytes(), word)
		case v.name == "token" && v.kind == kindAddress:
			v.word = common.LeftPadBytes(token[:], word)
		default:
			fill(v.list, amount, token)
		}
	}
}

// TestUnlimitedOfListedTokens checks the rule for each built-in token of chains like
// Ethereum, and for tokens of Tempo.
func TestUnlimitedOfListedTokens(t *testing.T) {
	checked := 0
	for _, token := range chains.ListedTokens() {
		asset := chains.Token(token.Chain, chains.PartyWritten(make([]byte, 20), token.Address), erc20)
		most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(12+token.Decimals)), nil)
		if most.BitLen() < unlimitedBits && (isUnlimited(asset, most) || !isUnlimited(asset, new(big.Int).Add(most, one))) {
			t.Errorf("%s on %s: not unlimited from %v", token.Symbol, token.Chain, most)
		}
		checked++
	}
	if checked < 10 {
		t.Errorf("%d tokens", checked)
	}
	dollar := hexAddress("0x20C0000000000000000000000000000000000001")
	for _, c := range []struct {
		chainID uint64
		want    bool
	}{{TempoMainnet, true}, {TempoTestnet, true}, {1, false}} {
		n := &Network{ID: NetworkID(c.chainID), ChainID: c.chainID}
		asset := chains.Token(n.ID, n.Party(dollar), erc20)
		if isUnlimited(asset, big.NewInt(1e15)) || isUnlimited(asset, big.NewInt(1e15+1)) != c.want {
			t.Errorf("a dollar on %s", n.ID)
		}
	}
}

// TestUnlimitedOrders checks that what an order lets others take is unlimited exactly where an
// allowance is.
func TestUnlimitedOrders(t *testing.T) {
	signer := mainnet.Party(Address{0xaa})
	for _, asset := range []chains.Asset{
		chains.Token(mainnet.ID, mainnet.Party(usdcAt), erc20), chains.Token(mainnet.ID, mainnet.Party(Address{0x77}), erc20),
	} {
		for bits := uint(60); bits < 256; bits++ {
			amount := new(big.Int).Lsh(one, bits)
			order := chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, From: signer, To: chains.UnknownParty(), Asset: asset, Amount: chains.AtMost(amount)}
			hazards := Hazards("ethereum", []chains.Effect{order}, signer)
			if found := len(hazards) == 1 && hazards[0].Name == "ethereum/"+UnlimitedApproval; found != isUnlimited(asset, amount) {
				t.Errorf("2^%d of %v: hazards %v", bits, asset.Token, hazards)
			}
		}
	}
}
