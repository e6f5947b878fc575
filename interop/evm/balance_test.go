package evm

import (
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"

	"github.com/countersign-dev/countersign/chains"
)

// book is an account's holding of one asset.
type book struct {
	token   common.Address // zero: native
	id      string         // of an NFT, or of a token among several
	account common.Address
}

// flow is how the effects change a book.
type flow struct {
	least, most *big.Int // bounds of the net change: what comes in minus what goes out
	open        bool     // the change has no bounds, because some amount has none
}

// balances checks that holdings change as the effects say: no account loses more, and
// none receives less.
func (c *comparison) balances() {
	flows := c.flows()
	for _, token := range c.touched() {
		for _, account := range c.accounts() {
			for _, id := range c.ids(token) {
				c.balance(book{token, id, account}, flows)
			}
		}
	}
}

func (c *comparison) balance(b book, flows map[book]*flow) {
	was, is := c.holding(c.before, b), c.holding(c.after, b)
	if was == nil || is == nil {
		return
	}
	change, want := new(big.Int).Sub(is, was), flows[b]
	if want == nil {
		want = &flow{least: new(big.Int), most: new(big.Int)}
	}
	if !want.open && (change.Cmp(want.least) < 0 || change.Cmp(want.most) > 0) {
		c.problem("%v of %v %s changes by %v, want %v to %v as the effects say", b.account, b.token, b.id, change, want.least, want.most)
	}
}

// flows sums up what the effects move, by book.
func (c *comparison) flows() map[book]*flow {
	flows := map[book]*flow{}
	for _, e := range c.effects {
		switch e.Kind {
		case chains.KindFee:
			if e.By == chains.ByOther { // of a user operation: paid to the EntryPoint
				c.move(flows, e, e.From, -1)
				c.move(flows, e, chains.PartyWritten(c.to[:], ""), 1)
			}
		case chains.KindTransfer, chains.KindReceive, chains.KindBurn, chains.KindMint, chains.KindStake, chains.KindUnstake, chains.KindCreate:
			from, to := e.From, e.To
			if e.Asset.IsNone() || e.Kind == chains.KindBurn && from.Equal(to) {
				continue // a creation without value; or left where it is, as TestLeftovers checks
			}
			if isValidator(e) {
				if c.to != depositContract {
					continue // only the beacon chain's balance changes
				}
				e.Account = chains.PartyWritten(c.to[:], "")
			}
			if e.Kind == chains.KindMint {
				from = chains.Party{}
			}
			if e.Kind == chains.KindStake { // the contract holds it for the account
				to = e.Account
			}
			if c.vaulted(flows, &e); c.isRedeemed(&e) {
				c.move(flows, e, from, -1)
				continue
			}
			if e.Kind == chains.KindUnstake || e.Kind == chains.KindTransfer && !e.Account.IsNone() {
				from = e.Account // what it holds for the account, for itself or for another
			}
			if e.Kind == chains.KindTransfer && e.Asset.Token.Equal(e.From) {
				from = chains.Party{} // wrapped for another: the token comes into being
			}
			c.move(flows, e, from, -1)
			c.move(flows, e, to, 1)
		}
	}
	return flows
}

func (c *comparison) move(flows map[book]*flow, e chains.Effect, party chains.Party, sign int64) {
	if len(party.Address()) != 20 || e.Asset.IsUnknown() {
		return
	}
	b := book{token: common.BytesToAddress(e.Asset.Token.Address()), account: common.Address(party.Address())}
	amount := e.Amount.Value
	if e.Asset.NFT != nil {
		b.id = e.Asset.NFT.String()
	} else if c.tokens[b.token] == erc721 { // transferFrom is also a function of ERC-20, so the effect has the id as an amount
		b.id, amount = amount.String(), big.NewInt(1)
	}
	f := flows[b]
	if f == nil {
		f = &flow{least: new(big.Int), most: new(big.Int)}
		flows[b] = f
	}
	if amount == nil || e.Amount.Bound == chains.BoundLeast {
		f.open = true
		return
	}
	signed := new(big.Int).Mul(amount, big.NewInt(sign))
	if sign > 0 || e.Amount.Bound == chains.BoundMost {
		f.most.Add(f.most, max0(signed))
	}
	if e.Amount.Bound == chains.BoundExact {
		f.least.Add(f.least, signed)
		f.most.Add(f.most, new(big.Int).Sub(signed, max0(signed)))
	} else if sign < 0 {
		f.least.Add(f.least, signed)
	}
}

func max0(number *big.Int) *big.Int {
	if number.Sign() < 0 {
		return new(big.Int)
	}
	return number
}

// touched returns the native asset, the tokens that were written to, and those with
// effects.
func (c *comparison) touched() []common.Address {
	list := []common.Address{{}}
	for token := range c.tokens {
		if len(c.written[token]) > 0 || len(c.on(token)) > 0 {
			list = append(list, token)
		}
	}
	return list
}

// accounts returns the accounts of the world, those that were called, and those that
// effects name. It leaves out pools that swaps go through.
func (c *comparison) accounts() []common.Address {
	list := []common.Address{c.signer, c.other, c.third, c.safe, router, multicall3, permit2, weth, c.ethReceiver}
	for at := range c.called {
		if !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	for _, e := range c.effects {
		for _, party := range []chains.Party{e.From, e.To} {
			if len(party.Address()) == 20 && !slices.Contains(list, common.Address(party.Address())) {
				list = append(list, common.Address(party.Address()))
			}
		}
	}
	return slices.DeleteFunc(list, func(at common.Address) bool { return at == common.Address{} || c.pools[at] && c.swaps() })
}

func (c *comparison) ids(token common.Address) []string {
	switch c.tokens[token] {
	case erc721, erc1155, erc6909:
		return []string{"0", "1", "2", "3"}
	}
	return []string{""}
}

// holding returns an account's balance of an asset, or nil if the token does not answer.
func (c *comparison) holding(in *state.StateDB, b book) *big.Int {
	id, _ := new(big.Int).SetString(b.id, 10)
	switch {
	case b.token == common.Address{}:
		return in.GetBalance(b.account).ToBig()
	case c.tokens[b.token] == erc721:
		if owner := c.view(in, b.token, "ownerOf(uint256)", id); owner != nil && common.BigToAddress(owner) == b.account {
			return big.NewInt(1)
		}
		return new(big.Int)
	case id != nil:
		return c.view(in, b.token, "balanceOf(address,uint256)", b.account, id)
	}
	return c.view(in, b.token, "balanceOf(address)", b.account)
}
