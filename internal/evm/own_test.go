package evm

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

var (
	ownSigner = hexAddress("0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56")
	ownOther  = Address{0x0a, 19: 0x0b}
	ownPass   = func() *Pass {
		pass := OnChain(1, NetworkID(1)).Pass()
		pass.signer = &ownSigner
		pass.own = func(p chains.Party) bool { return p.Is(ownOther[:]) }
		return pass
	}
)

// TestOwnAccountsAreNoTokens: a function that is decoded at every contract is not decoded at the signer's
// own address, nor at another one of ours: what runs there is not in the bytes.
func TestOwnAccountsAreNoTokens(t *testing.T) {
	stranger, checked := Address{0x51, 19: 0x52}, 0
	for _, row := range standards {
		if row.at != atAny {
			continue
		}
		f := parseFunction(row.standard, row.function)
		f.act = row.act
		for name, self := range map[string]Address{"the signer": ownSigner, "another of ours": ownOther, "a stranger": stranger} {
			var number byte
			c := &Call{pass: ownPass(), caller: at(ownSigner), self: self, code: self, value: new(big.Int), path: "call", function: f,
				args: plainValues(f.parameters, &number), data: make([]byte, 4)}
			effects := c.Effects()
			blind := len(effects) == 1 && effects[0].Undecoded && effects[0].By == chains.BySigner
			if want := self != stranger || row.standard == "ERC-4626"; blind != want { // vaults are read for the caller alone
				t.Errorf("%s at %s: %s", f.signature, name, sentencesOf(effects))
			}
			checked++
		}
	}
	if checked < 100 {
		t.Errorf("only %d calls", checked)
	}
}

// TestOwnersNeedNoPermission: what its owner sends is by this signature, unless the token is of
// ERC-20, whose owner needs an allowance for it. What another owns is by an earlier permission.
func TestOwnersNeedNoPermission(t *testing.T) {
	token, usdc, to := common.Address{0xbc}, common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), common.Address{0x70}
	for _, c := range []struct {
		function string
		at       common.Address
		args     []any
		standing bool
	}{
		{"safeTransferFrom(address,address,uint256)", token, []any{7}, false},
		{"safeTransferFrom(address,address,uint256,bytes)", token, []any{7, []byte{}}, false},
		{"safeTransferFrom(address,address,uint256,uint256,bytes)", token, []any{7, 1, []byte{}}, false},
		{"safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)", token, []any{[]*big.Int{big.NewInt(1)}, []*big.Int{big.NewInt(2)}, []byte{}}, false},
		{"transferFrom(address,address,uint256,uint256)", token, []any{7, 1}, false},
		{"transferFrom(address,address,uint256)", token, []any{7}, false},
		{"transferFrom(address,address,uint256)", usdc, []any{7}, true},
	} {
		for _, from := range []Address{ownSigner, {0x51}} {
			args := []any{common.Address(from), to}
			for _, arg := range c.args {
				if number, ok := arg.(int); ok {
					arg = big.NewInt(int64(number))
				}
				args = append(args, arg)
			}
			effect := ownPass().Read(Transaction{To: Address(c.at), Data: pack(t, c.function, args...)}).Effects()[0]
			if want := c.standing || from != ownSigner; (effect.By == chains.ByStanding) != want {
				t.Errorf("%s at %s from %s: by %s", c.function, c.at, from, effect.By)
			}
		}
	}
}

// TestOpenContractsAreOneTable: tokens that are paid to a contract that anyone can drive are lost, and
// so are those that it may take, if it makes any call, also on a network where we do not know it. One
// byte of the address makes the difference.
func TestOpenContractsAreOneTable(t *testing.T) {
	usdc, rows := common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), 0
	for address, known := range contracts() {
		if !known.isOneOf(sharedPlaces) {
			continue
		}
		rows++
		chain := uint64(1)
		if known.chains != nil {
			chain = known.chains[0]
		}
		for i := range 22 {
			to := address
			if i < 20 {
				to[i] ^= 1
			}
			if i == 21 {
				chain = 999_999_937
			}
			for function, lost := range map[string]bool{"transfer(address,uint256)": true, "approve(address,uint256)": known.isOneOf(openPlaces)} {
				network := OnChain(chain, NetworkID(chain))
				effects := network.Pass().Read(Transaction{To: Address(usdc), Data: pack(t, function, common.Address(to), big.NewInt(100))}).Effects()
				names := fmt.Sprint(Hazards("c", effects, chains.SignerParty()))
				if got := strings.Contains(names, "c/"+hazardBurn); got != (lost && i >= 20) {
					t.Errorf("%s to %s (%s) on %d: %s", function, to, known.name, chain, names)
				}
			}
		}
	}
	if rows < 20 {
		t.Errorf("only %d rows", rows)
	}
	for _, c := range contracts() { // one that makes any call is also one that anyone can take from
		if c.isOneOf(openPlaces) && !c.isOneOf(sharedPlaces) {
			t.Errorf("%s", c.name)
		}
	}
}

// TestNotes: data with a payment is a note if it is text or codes of ERC-8021, is no call of a function that
// is known, and goes to no contract that is known. Everything else is a call.
func TestNotes(t *testing.T) {
	codes := common.FromHex("62617365617070070080218021802180218021802180218021")
	payee, ether := Address{0x70, 19: 1}, big.NewInt(1e18)
	for name, c := range map[string]struct {
		to    Address
		value *big.Int
		data  []byte
		note  bool
	}{
		"a text":                      {payee, ether, []byte("invoice 42"), true},
		"an emoji":                    {payee, ether, []byte("🎉 thanks"), true},
		"codes":                       {payee, ether, codes, true},
		"a text before codes":         {payee, ether, append([]byte("invoice 42"), codes...), true},
		"codes of another schema":     {payee, ether, append(append(slices.Clone(codes[:8]), 1), codes[9:]...), false},
		"codes that are cut":          {payee, ether, codes[:len(codes)-1], false},
		"codes after a call":          {payee, ether, append(common.FromHex("a9059cbb"), codes...), false},
		"no value":                    {payee, new(big.Int), []byte("invoice 42"), false},
		"a selector alone":            {payee, ether, common.FromHex("4e71d92d"), false},
		"an unknown call":             {payee, ether, append(common.FromHex("61626364"), make([]byte, 32)...), false},
		"the selector of a function":  {payee, ether, append(common.FromHex("5c19a95c"), "text"...), false},
		"a text to a token":           {hexAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), ether, []byte("invoice 42"), false},
		"a text to a router":          {hexAddress("0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"), ether, []byte("invoice 42"), false},
		"a text to the signer":        {ownSigner, ether, []byte("invoice 42"), false},
		"a text to another of ours":   {ownOther, ether, []byte("invoice 42"), false},
		"a novel":                     {payee, ether, []byte(strings.Repeat("blah ", 103)), false},
		"three bytes":                 {payee, ether, []byte("abc"), false},
		"a text that hides something": {payee, ether, []byte("pay \u202eecila"), false},
	} {
		call := ownPass().Read(Transaction{To: c.to, Value: c.value, Data: c.data})
		effects := call.Effects()
		blind := slices.ContainsFunc(effects, func(e chains.Effect) bool { return e.Undecoded })
		if blind == c.note {
			t.Errorf("%s: %s", name, sentencesOf(effects))
		}
		if c.note && (len(effects) != 1 || len(effects[0].Args) != 1 || call.Fields()[0].Label != "data") {
			t.Errorf("%s: %+v, %+v", name, effects, call.Fields())
		}
	}
	tron := &Network{ID: tronNetwork, Prefix: []byte{0x41}}
	if !tron.Pass().Read(Transaction{To: payee, Value: ether, Data: []byte("invoice 42")}).Effects()[1].Undecoded {
		t.Error("a call on Tron is a note")
	}
	safe := OnChain(1, NetworkID(1)).Pass().ReadFrom(payee, Transaction{To: Address{0x71}, Value: ether, Data: []byte("invoice 42")}, false)
	if !safe.Effects()[1].Undecoded {
		t.Error("a call of a Safe is a note")
	}
}

// TestMostThatOthersDecide: what takes up to an amount that others decide on counts as an allowance of that size.
func TestMostThatOthersDecide(t *testing.T) {
	usdc := chains.Token("eip155:1", PartyAt(hexAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")), erc20)
	for _, to := range []chains.Party{chains.UnknownParty(), PartyAt(Address{0x70})} {
		for bits, want := range map[uint]bool{20: false, 59: false, 60: true, 96: true, 160: true, 255: true} {
			for _, bound := range []chains.Bound{chains.BoundMost, chains.BoundExact} {
				effect := chains.Effect{Kind: chains.KindTransfer, From: chains.SignerParty(), By: chains.BySigner, To: to, Asset: usdc,
					Amount: chains.Quantity{Bound: bound, Value: new(big.Int).Lsh(one, bits)}, Path: "message"}
				got := strings.Contains(fmt.Sprint(Hazards("c", []chains.Effect{effect}, chains.Party{})), UnlimitedApproval)
				if got != (want && bound == chains.BoundMost) {
					t.Errorf("%s 2^%d to %s: %v", bound, bits, to, got)
				}
			}
		}
	}
}

// TestKittiesHaveNumbers: what CryptoKitties' transfer sends is a kitty, not an amount.
func TestKittiesHaveNumbers(t *testing.T) {
	for at, want := range map[common.Address]bool{common.HexToAddress("0x06012c8cf97BEaD5deAe237070F9587f8E7A266d"): true, {0xbc}: false} {
		data := pack(t, "transfer(address,uint256)", common.Address{0x70}, big.NewInt(1234567))
		effect := ownPass().Read(Transaction{To: Address(at), Data: data}).Effects()[0]
		if got := strings.Contains(chains.Sentence(effect, nil), "token number 1234567"); got != want {
			t.Errorf("%s: %s", at, chains.Sentence(effect, nil))
		}
	}
}
