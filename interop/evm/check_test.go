package evm

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"

	"github.com/countersign-dev/countersign/chains"
)

// comparison compares the states before and after an execution with its effects.
type comparison struct {
	*world
	execution
	effects       []chains.Effect
	start         *state.StateDB // before the calls that prepare the execution
	before, after *state.StateDB
	problems      []string
}

func (c *comparison) problem(format string, args ...any) {
	c.problems = append(c.problems, c.function+": "+fmt.Sprintf(format, args...))
}

// run compares in both directions: every change must belong to an effect, and everything
// the effects say must have happened. It returns the problems.
func (c *comparison) run() []string {
	c.blind()
	for contract, slots := range c.written {
		for slot := range slots {
			if c.before.GetState(contract, slot) != c.after.GetState(contract, slot) {
				c.slot(contract, slot)
			}
		}
	}
	for at := range c.created {
		if !slices.ContainsFunc(c.effects, func(e chains.Effect) bool { return e.Kind == chains.KindCreate && e.To.Is(at[:]) }) {
			c.problem("%v is created without an effect", at)
		}
	}
	c.balances()
	c.delegated()
	for i := range c.effects {
		c.happened(&c.effects[i])
	}
	return c.problems
}

// blind reports undecoded calls, except to contracts that behave as their functions'
// names claim (genuine). There, the other effects must be complete.
func (c *comparison) blind() {
	for _, effect := range c.effects {
		if effect.Undecoded && !c.genuine[common.BytesToAddress(effect.To.Address())] {
			c.problem("%s", chains.Sentence(effect, nil))
		}
	}
}

// exempt returns why a slot may change without an effect: it prevents replay of a
// signature in the calldata. It returns "" if the slot is not exempt.
func (c *comparison) exempt(contract common.Address, keys []common.Hash, root common.Hash) string {
	number := root.Big().Uint64()
	if contract == c.safe && len(keys) == 0 && number == 5 {
		return "nonce of the Safe"
	}
	if of, forwards := c.nonces[contract]; forwards && len(keys) == 1 && lastAddress(keys) == c.other && number == of {
		return "nonce of a forwarder"
	}
	if !slices.ContainsFunc(c.effects, func(e chains.Effect) bool { return e.By == chains.ByOther }) {
		return ""
	}
	switch {
	case contract == c.token && c.view(c.after, contract, "nonces(address)", lastAddress(keys)) != nil && len(keys) == 1 && number == 5:
		return "nonce of ERC-2612"
	case contract == c.token && len(keys) == 2 && number == 8:
		return "used authorization of ERC-3009"
	case contract == permit2 && len(keys) == 2 && number == 0:
		return "unordered nonce of Permit2"
	case c.isEntryPoint(contract) && len(keys) == 2 && number == 1:
		return "nonce of an ERC-4337 account"
	}
	return ""
}

func lastAddress(keys []common.Hash) common.Address {
	if len(keys) == 0 {
		return common.Address{}
	}
	return common.BytesToAddress(keys[len(keys)-1][12:])
}

// slot checks that a changed slot has an effect on its contract, and that the effects on
// the contract name the parties the slot belongs to.
func (c *comparison) slot(contract common.Address, slot common.Hash) {
	keys, root := c.keys(slot)
	if c.construction(contract) || c.pooled(contract, keys) || staking(contract) && c.onValidator() {
		return
	}
	on := c.on(contract)
	if len(on) == 0 {
		if c.exempt(contract, keys, root) == "" {
			c.problem("slot %x %v of %v changes, but no effect is on that contract", root, keys, contract)
		}
		return
	}
	for _, key := range keys {
		party := common.BytesToAddress(key[12:])
		if !isAddress(key) || slices.ContainsFunc(on, func(e chains.Effect) bool { return c.concerns(e, party) }) {
			continue
		}
		if c.exempt(contract, keys, root) == "" && !c.stays(contract, slot) {
			c.problem("slot %x of %v in %v changes, but no effect names that party", root, party, contract)
		}
	}
}

// construction reports whether an effect creates the contract.
func (c *comparison) construction(contract common.Address) bool {
	return slices.ContainsFunc(c.effects, func(e chains.Effect) bool { return e.Kind == chains.KindCreate && e.To.Is(contract[:]) })
}

// stays reports whether a slot is the link from one owner or module of a Safe to the
// next, and the owner or module itself stays in the list.
func (c *comparison) stays(contract common.Address, slot common.Hash) bool {
	none := common.Hash{}
	return contract == c.safe && c.before.GetState(contract, slot) != none && c.after.GetState(contract, slot) != none
}

// isAddress reports whether a mapping's key looks like an account.
func isAddress(key common.Hash) bool { return key.Big().BitLen() > 64 && key.Big().BitLen() <= 160 }

// on returns the effects on a contract: on its token, or on what it records. Permit2
// records permissions for other tokens, and an EntryPoint records deposits.
func (c *comparison) on(contract common.Address) (on []chains.Effect) {
	for _, e := range c.effects {
		recorded := contract == permit2 && (e.Kind == chains.KindApprove || e.Kind == chains.KindRevoke || e.By == chains.ByStanding || e.Kind == chains.KindTransfer)
		paid := c.isEntryPoint(contract) && e.By == chains.ByOther && e.Kind == chains.KindFee
		if e.Asset.Token.Is(contract[:]) || e.Account.Is(contract[:]) || recorded || paid || c.inVault(&e, contract) {
			on = append(on, e)
		}
	}
	return on
}

// concerns reports whether an effect names a party, or may change a slot of the party
// anyway: it uses up a permission, or the party is Permit2 or the called contract.
func (c *comparison) concerns(e chains.Effect, party common.Address) bool {
	for _, named := range []chains.Party{e.From, e.To, e.OtherSigner, e.Account, e.Asset.Token} {
		if named.Is(party[:]) {
			return true
		}
	}
	return e.By == chains.ByStanding || party == permit2 || party == c.to
}

// happened checks that an effect came true. Movements are checked by balances.
func (c *comparison) happened(e *chains.Effect) {
	switch {
	case e.Kind == chains.KindApprove || e.Kind == chains.KindRevoke && !e.Asset.IsNone():
		c.allowed(e)
	case isDelegation(*e):
		// checked by delegated, for the last effect on each account
	case e.Kind == chains.KindAuthority && !e.Asset.IsNone(): // over the votes of a token
		c.controls(common.BytesToAddress(e.Asset.Token.Address()), common.BytesToAddress(e.To.Address()))
	case e.Kind == chains.KindAuthority:
		c.controls(common.BytesToAddress(e.Account.Address()), common.BytesToAddress(e.To.Address()))
	case e.Kind == chains.KindCreate:
		if at := common.BytesToAddress(e.To.Address()); c.after.GetCodeSize(at) == 0 {
			c.problem("%v has no code", at)
		}
	case isValidator(*e):
		c.requested(e)
	case e.Kind == chains.KindFee && e.By == chains.ByOther:
		c.charged(e)
	case e.Kind == chains.KindSettings && !e.Account.IsNone():
		if at := common.BytesToAddress(e.Account.Address()); len(c.written[at]) == 0 {
			c.problem("no slot of %v is written", at)
		}
	}
}

// charged checks that a fee taken from a deposit is at most the effect's amount.
func (c *comparison) charged(e *chains.Effect) {
	payer := common.BytesToAddress(e.From.Address())
	was, is := c.view(c.before, c.to, "balanceOf(address)", payer), c.view(c.after, c.to, "balanceOf(address)", payer)
	if taken := new(big.Int).Sub(was, is); taken.Cmp(e.Amount.Value) > 0 {
		c.problem("%v is taken from %v, want at most %v as the effect says", taken, payer, e.Amount.Value)
	}
}

// controls checks that the party controls the account: some slot of the account has it as
// its value, or as the key of a mapping with a nonzero value.
func (c *comparison) controls(account, party common.Address) {
	for slot := range c.written[account] {
		if is := c.after.GetState(account, slot); common.BytesToAddress(is[12:]) == party {
			return
		}
	}
	for slot := range c.preimages {
		keys, _ := c.keys(slot)
		named := slices.ContainsFunc(keys, func(key common.Hash) bool { return common.BytesToAddress(key[12:]) == party })
		if named && c.after.GetState(account, slot) != (common.Hash{}) {
			return
		}
	}
	c.problem("no slot of %v says that %v controls it", account, party)
}

// allowed checks that the permission of a party is what the effect says.
func (c *comparison) allowed(e *chains.Effect) {
	token, owner, spender := common.BytesToAddress(e.Asset.Token.Address()), common.BytesToAddress(e.From.Address()), common.BytesToAddress(e.To.Address())
	switch kind := c.tokens[token]; {
	case kind == erc20 && e.Amount.Bound == chains.BoundUnlimited && e.Amount.Value == nil:
		c.expect(c.allowance(c.after, e, token, owner, spender), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))
		return
	case e.Amount.Bound == chains.BoundUnlimited && e.Amount.Value == nil, e.Amount.IsNone() && (kind == erc721 || kind == erc1155):
		c.operates(kind, token, owner, spender, e.Kind == chains.KindApprove)
		return
	case kind == erc721:
		c.expect(c.view(c.after, token, "getApproved(uint256)", e.Amount.Value), new(big.Int).SetBytes(spender[:]))
		return
	}
	if e.Amount.IsNone() && e.Asset.NFT == nil && slices.Contains([]standard{erc6909, erc777}, c.tokens[token]) {
		c.operates(c.tokens[token], token, owner, spender, false)
		return
	}
	was, is := c.allowance(c.before, e, token, owner, spender), c.allowance(c.after, e, token, owner, spender)
	want := new(big.Int)
	if e.Amount.Value != nil {
		want.Set(e.Amount.Value)
	}
	switch {
	case e.Kind == chains.KindRevoke && e.Amount.Bound == chains.BoundMost:
		want.Sub(was, want)
	case e.Amount.Bound == chains.BoundAdded:
		want.Add(want, was)
	}
	c.expect(is, want)
}

func (c *comparison) expect(is, want *big.Int) {
	if is == nil || is.Cmp(want) != 0 {
		c.problem("the permission is %v, want %v as the effect says", is, want)
	}
}

// allowance returns the amount that Permit2 or a token lets a party spend.
func (c *comparison) allowance(in *state.StateDB, e *chains.Effect, token, owner, spender common.Address) *big.Int {
	switch {
	case len(c.written[permit2]) > 0:
		return c.view(in, permit2, "allowance(address,address,address)", owner, token, spender)
	case e.Asset.NFT != nil:
		return c.view(in, token, "allowance(address,address,uint256)", owner, spender, e.Asset.NFT)
	}
	return c.view(in, token, "allowance(address,address)", owner, spender)
}

func (c *comparison) operates(kind standard, token, owner, operator common.Address, want bool) {
	var is *big.Int
	switch kind {
	case erc777:
		is = c.view(c.after, token, "isOperatorFor(address,address)", operator, owner)
	case erc6909:
		is = c.view(c.after, token, "isOperator(address,address)", owner, operator)
	default:
		is = c.view(c.after, token, "isApprovedForAll(address,address)", owner, operator)
	}
	c.expect(is, map[bool]*big.Int{true: big.NewInt(1), false: new(big.Int)}[want])
}
