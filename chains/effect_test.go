package chains_test

import (
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
)

var (
	alice = chains.PartyWritten([]byte{1}, "alice")
	bob   = chains.PartyWritten([]byte{2}, "bob")
)

// TestUnknownEqualsNothing: an unknown value equals no value, not even another unknown
// one.
func TestUnknownEqualsNothing(t *testing.T) {
	unknown := chains.UnknownParty()
	for _, p := range []chains.Party{unknown, {}, alice, chains.SignerParty()} {
		if unknown.Equal(p) || p.Equal(unknown) {
			t.Errorf("unknown equals %q", p)
		}
	}
	var none chains.Party
	if none.Equal(none) || none.Is(nil) || unknown.Is(nil) || chains.SignerParty().Is(nil) {
		t.Error("no party equals something")
	}
	if !alice.Equal(chains.PartyWritten([]byte{1}, "another text")) || alice.Equal(bob) || !alice.Is([]byte{1}) {
		t.Error("parties are not compared by their bytes")
	}
	asset := chains.UnknownAsset("solana")
	if asset.Equal(asset) || asset.IsNative() || asset.IsNone() || !asset.IsUnknown() {
		t.Error("an unknown asset equals something")
	}
}

func TestAssetEqual(t *testing.T) {
	nft := func(id int64) chains.Asset {
		return chains.Asset{Chain: "eip155:1", Token: alice, Standard: "erc721", NFT: big.NewInt(id)}
	}
	assets := []chains.Asset{
		chains.Native("eip155:1"), chains.Native("eip155:10"), chains.Token("eip155:1", alice, "erc20"), chains.Token("eip155:1", bob, "erc20"),
		chains.Token("eip155:10", alice, "erc20"), nft(1), nft(2), {Chain: "tron", TokenID: "1000001", Standard: "trc10"}, {Chain: "tron", TokenID: "1000002"}, {},
	}
	for i, a := range assets {
		for k, b := range assets {
			if got, want := a.Equal(b), i == k && !a.IsNone(); got != want {
				t.Errorf("%+v and %+v: %v", a, b, got)
			}
		}
	}
}

func TestQuantity(t *testing.T) {
	one := big.NewInt(1)
	for _, c := range []struct {
		quantity      chains.Quantity
		none, unknown bool
	}{
		{chains.Quantity{}, true, false}, {chains.Exactly(one), false, false}, {chains.AtMost(one), false, false},
		{chains.ExactlyUint(1), false, false}, {chains.Quantity{Bound: chains.BoundAdded, Value: one}, false, false},
		{chains.AtLeast(one), false, true}, {chains.All(), false, true}, {chains.Unlimited(one), false, true}, {chains.UnknownQuantity(), false, true},
	} {
		if c.quantity.IsNone() != c.none || c.quantity.IsUnknown() != c.unknown {
			t.Errorf("%+v: none %v, unknown %v", c.quantity, c.quantity.IsNone(), c.quantity.IsUnknown())
		}
	}
}

func TestEffectJSON(t *testing.T) {
	token := chains.Token("eip155:1", bob, "erc20")
	for want, effect := range map[string]chains.Effect{
		`{"kind":"transfer","from":"signer","by":"signer","to":"alice","asset":{"chain":"eip155:1","token":"native"},"amount":"1","bound":"exact","decoded":true}`: {
			Kind: chains.KindTransfer, By: chains.BySigner, From: chains.SignerParty(), To: alice, Asset: chains.Native("eip155:1"), Amount: chains.ExactlyUint(1)},
		`{"kind":"approve","from":"alice","by":"other","otherSigner":"alice","to":"unknown","asset":{"chain":"eip155:1","token":"bob","standard":"erc20"},"bound":"unlimited","unlimited":true,"until":"2026-01-01T00:00:00Z","decoded":true,"unresolved":["to"]}`: {
			Kind: chains.KindApprove, By: chains.ByOther, OtherSigner: alice, From: alice, To: chains.UnknownParty(), Asset: token, Amount: chains.Unlimited(nil),
			Until: chains.Until{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}, Unresolved: []string{"to"}},
		`{"kind":"transfer","by":"standing","asset":{"chain":"solana","token":"unknown"},"amount":"unknown","bound":"exact","until":"height 7","decoded":true}`: {
			Kind: chains.KindTransfer, By: chains.ByStanding, Asset: chains.UnknownAsset("solana"), Amount: chains.UnknownQuantity(), Until: chains.Until{Height: 7}},
		`{"kind":"call","by":"signer","to":"<b>","decoded":false,"function":"f(uint256)","args":[{"name":"x","value":"1"}],"path":"calls/0"}`: {
			Kind: chains.KindCall, By: chains.BySigner, To: chains.PartyWritten([]byte{9}, "<b>"), Undecoded: true, Function: "f(uint256)",
			Args: []chains.Arg{{Name: "x", Value: "1"}}, Path: "calls/0", Change: true},
		`{"kind":"transfer","by":"signer","asset":{"chain":"tron","token":"1000001","id":"5","standard":"trc10"},"bound":"all","decoded":true}`: {
			Kind: chains.KindTransfer, By: chains.BySigner, Asset: chains.Asset{Chain: "tron", TokenID: "1000001", Standard: "trc10", NFT: big.NewInt(5)}, Amount: chains.All()},
	} {
		if got, err := effect.MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("got  %s (%v)\nwant %s", got, err, want)
		}
	}
}

func TestHazardPointsAtEffect(t *testing.T) {
	whole := chains.Hazard{Name: "c/x", Detail: "d"}
	first := whole.OnEffect(0)
	if _, ok := whole.Effect(); ok {
		t.Error("a hazard points at an effect by itself")
	}
	if index, ok := first.Effect(); index != 0 || !ok || first == whole {
		t.Errorf("effect %d, %v", index, ok)
	}
	form, err := json.Marshal([]chains.Hazard{whole, first})
	if want := `[{"name":"c/x","detail":"d"},{"name":"c/x","detail":"d","effect":0}]`; err != nil || string(form) != want {
		t.Errorf("%s (%v), want %s", form, err, want)
	}
}

func TestSentence(t *testing.T) {
	eth := chains.Native("eip155:1")
	token := chains.Token("eip155:1", bob, "erc20")
	transfer := chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, From: chains.SignerParty(), To: alice, Asset: eth, Amount: chains.ExactlyUint(1_500_000_000_000_000_000)}
	standing := transfer
	standing.By, standing.From, standing.Asset = chains.ByStanding, bob, token
	for _, c := range []struct {
		effect chains.Effect
		want   string
	}{
		{transfer, "send 1.5 ETH to alice"},
		{standing, "send 1500000000000000000 units of token bob from bob to alice (by an earlier permission)"},
		{chains.Effect{Kind: chains.KindFee, By: chains.BySigner, Asset: eth, Amount: chains.AtMost(big.NewInt(1_300_000_000_000_000))}, "fee at most 0.0013 ETH"},
		{chains.Effect{Kind: chains.KindApprove, By: chains.BySigner, To: alice, Asset: token, Amount: chains.Unlimited(nil)}, "allow alice to take UNLIMITED token bob"},
		{chains.Effect{Kind: chains.KindAuthority, By: chains.BySigner, From: bob, To: alice}, "give control of bob to alice"},
		{chains.Effect{Kind: chains.KindAuthority, By: chains.BySigner, From: bob, To: chains.UnknownParty()}, "give control of bob to an address that the transaction does not contain"},
		{chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: alice, Asset: chains.UnknownAsset("solana"), Amount: chains.ExactlyUint(5)}, "send 5 units of an unknown token to alice"},
		{chains.Effect{Kind: chains.KindCall, By: chains.BySigner, To: alice, Undecoded: true, Function: "0x4a25d94a"}, "! call alice (0x4a25d94a): what it does is unknown, it may do anything"},
		{chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: chains.PartyWritten([]byte{3}, "evil\nsend 0 ETH"), Asset: eth, Amount: chains.All()}, `"send all of ETH to evil\nsend 0 ETH"`},
	} {
		if got := chains.Sentence(c.effect, nil); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
