package evm

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// Addresses and amounts with special meanings in the commands of a Universal Router
// (universal-router contracts/libraries/Constants.sol, ActionConstants.sol).
var (
	routerCaller    = hexAddress("0x1")
	routerItself    = hexAddress("0x2")
	contractBalance = new(big.Int).Lsh(big.NewInt(1), 255)
)

// recipient returns the account that the argument "to" of a command stands for.
func (c *Call) recipient() chains.Party {
	switch to := c.arg("to").address(); to {
	case routerCaller:
		return c.callerParty()
	case routerItself:
		return c.party(c.self)
	default:
		return c.party(to)
	}
}

// routerAsset returns the asset at an address; zero stands for the native one.
func (c *Call) routerAsset(address Address) chains.Asset {
	if address == (Address{}) {
		return c.native()
	}
	return c.tokenAt(address, erc20)
}

// balanceOr returns an amount, or the router's whole balance of a token.
func balanceOr(amount *big.Int) chains.Quantity {
	if amount.Cmp(contractBalance) == 0 {
		return chains.All()
	}
	return chains.Exactly(amount)
}

// addPayout adds that something of the router goes to a party: an amount for the effect, and
// what is known of it besides.
func (e *emitter) addPayout(c *Call, asset chains.Asset, to chains.Party, amount, known chains.Quantity) {
	e.addMoving(c, c.transfer(c.party(c.self), "", to, asset, amount), known)
}

// routerTransferFrom takes from the caller, over an allowance of Permit2.
func routerTransferFrom(e *emitter, c *Call) {
	e.addTransfer(c, c.callerParty(), "", c.recipient(), c.permitted(c.args), c.exactly("amount"))
}

// routerPermit gives allowances of the caller. The caller's signature over them is in
// the bytes; the call is by the same account.
func routerPermit(e *emitter, c *Call) { e.addPermit2Details(c, c.callerParty(), "") }

// routerTransfer sends an amount. Only of a token may it be the whole balance.
func routerTransfer(e *emitter, c *Call) {
	asset, amount := c.routerAsset(c.arg("token").address()), c.arg("amount").big()
	quantity := chains.Exactly(amount)
	if !asset.IsNative() {
		quantity = balanceOr(amount)
	}
	e.addPayout(c, asset, c.recipient(), quantity, quantity)
}

// sweep sends the whole balance. Its amount is a minimum, below which it fails.
func sweep(e *emitter, c *Call) {
	e.addPayout(c, c.routerAsset(c.arg("token").address()), c.recipient(),
		chains.AtLeast(c.arg("least amount").big()), chains.All())
}

// payPortion sends a share of the router's balance, in hundredths of a percent.
func payPortion(e *emitter, c *Call) {
	asset, router, to := c.routerAsset(c.arg("token").address()), c.party(c.self), c.recipient()
	if !to.Equal(router) {
		e.held.takePortion(router, asset, c.arg("basis points").big())
	}
	e.addPayout(c, asset, to, chains.UnknownQuantity(), chains.Quantity{})
}

// wrapped returns the token that wraps the chain's native asset, unknown if none is known.
func (c *Call) wrapped() (chains.Asset, chains.Party) {
	for address := range contracts() {
		if c.pass.isKnown(address, atWETH) {
			return c.tokenAt(address, erc20), c.party(address)
		}
	}
	return chains.UnknownAsset(c.pass.ID), chains.UnknownParty()
}

func routerWrap(e *emitter, c *Call) {
	token, contract := c.wrapped()
	amount := balanceOr(c.arg("amount").big())
	known := amount
	if amount.Bound == chains.BoundAll {
		known = chains.AtLeast(e.held.least(c.party(c.self), c.native()))
	}
	e.add(c, chains.Effect{Kind: chains.KindTransfer, From: c.party(c.self), To: contract, Asset: c.native(),
		Amount: amount})
	e.addMoving(c, chains.Effect{Kind: chains.KindMint, From: contract, To: c.recipient(), Asset: token,
		Amount: amount}, known)
}

// routerUnwrap unwraps the whole balance, as sweep sends it.
func routerUnwrap(e *emitter, c *Call) {
	token, contract := c.wrapped()
	least, known := c.arg("least amount").big(), e.held.least(c.party(c.self), token)
	if known.Cmp(least) < 0 {
		known = least
	}
	e.addMoving(c, chains.Effect{Kind: chains.KindBurn, From: c.party(c.self), Asset: token,
		Amount: chains.AtLeast(least)}, chains.All())
	e.addMoving(c, c.transfer(contract, "", c.recipient(), c.native(), chains.AtLeast(least)), chains.AtLeast(known))
}

// addSwap adds what goes into pools and what comes out of them. No argument names the
// pools. Of what the router pays, an exact input counts as consumed: whether the liquidity
// of a pool of version 3 ends before, the bytes do not say.
func (e *emitter) addSwap(c *Call, in, out Address, exactIn, version3 bool) {
	payer, to := c.party(c.self), c.recipient()
	paid, got := c.swapped(exactIn, version3)
	consumed, standard := paid, erc20
	switch {
	case c.arg("payer is caller").yes(): // through Permit2
		payer, consumed, standard = c.callerParty(), chains.UnknownQuantity(), erc20Or721
	case exactIn:
		consumed = balanceOr(c.arg("amount in").big())
	}
	e.addMoving(c, c.transfer(payer, "", chains.UnknownParty(), c.tokenAt(in, standard), paid), consumed)
	e.addTransfer(c, chains.UnknownParty(), "", to, c.tokenAt(out, erc20), got)
}

// swapped returns what a swap takes and gives. Pools of version 2 take an exact input whole, and
// may give more than an exact output because of rounding. Pools of version 3 give an exact output
// exactly, and may take less than an exact input if their liquidity runs out.
func (c *Call) swapped(exactIn, version3 bool) (paid, got chains.Quantity) {
	if !exactIn {
		paid, got = chains.AtMost(c.arg("most amount in").big()), c.exactly("amount out")
		if !version3 {
			got.Bound = chains.BoundLeast
		}
		return paid, got
	}
	paid, got = balanceOr(c.arg("amount in").big()), chains.AtLeast(c.arg("least amount out").big())
	if version3 && paid.Bound == chains.BoundExact {
		paid.Bound = chains.BoundMost
	}
	return paid, got
}

func swapV2(exactIn bool) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		path := c.arg("path").list
		if len(path) < 2 {
			e.addUndecoded(c)
			return
		}
		e.addSwap(c, path[0].address(), path[len(path)-1].address(), exactIn, false)
	}
}

// swapV3 reads a path of version 3: tokens with the fee of the pool between them, 20 ‖
// (3 ‖ 20)…, backwards if the output is exact.
func swapV3(exactIn bool) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		path := c.arg("path").bytes
		if len(path) < 43 || (len(path)-20)%23 != 0 {
			e.addUndecoded(c)
			return
		}
		first, last := Address(path[:20]), Address(path[len(path)-20:])
		if !exactIn {
			first, last = last, first
		}
		e.addSwap(c, first, last, exactIn, true)
	}
}

// The parts of a command's byte.
const (
	commandMask = 0x7f
	mayFailFlag = 0x80 // the plan goes on without it
)

// routerCommands are the commands of a Universal Router that are decoded, as functions
// without a selector (universal-router contracts/libraries/Commands.sol).
var routerCommands = map[byte]*function{
	0x00: command("V3_SWAP_EXACT_IN(address to,uint256 amount in,uint256 least amount out,bytes path,"+
		"bool payer is caller)", swapV3(true)),
	0x01: command("V3_SWAP_EXACT_OUT(address to,uint256 amount out,uint256 most amount in,bytes path,"+
		"bool payer is caller)", swapV3(false)),
	0x02: command("PERMIT2_TRANSFER_FROM(address token,address to,uint160 amount)", routerTransferFrom),
	0x03: command("PERMIT2_PERMIT_BATCH(((address token,uint160:allowance amount,uint48:time expiration,"+
		"uint48 nonce)[] details,address spender,uint256:time signature deadline) permit,bytes signature)",
		routerPermit),
	0x04: command("SWEEP(address token,address to,uint256 least amount)", sweep),
	0x05: command("TRANSFER(address token,address to,uint256 amount)", routerTransfer),
	0x06: command("PAY_PORTION(address token,address to,uint256 basis points)", payPortion),
	0x08: command("V2_SWAP_EXACT_IN(address to,uint256 amount in,uint256 least amount out,address[] path,"+
		"bool payer is caller)", swapV2(true)),
	0x09: command("V2_SWAP_EXACT_OUT(address to,uint256 amount out,uint256 most amount in,address[] path,"+
		"bool payer is caller)", swapV2(false)),
	0x0a: command("PERMIT2_PERMIT(((address token,uint160:allowance amount,uint48:time expiration,"+
		"uint48 nonce) details,address spender,uint256:time signature deadline) permit,bytes signature)",
		routerPermit),
	0x0b: command("WRAP_ETH(address to,uint256 amount)", routerWrap),
	0x0c: command("UNWRAP_WETH(address to,uint256 least amount)", routerUnwrap),
	0x0d: command("PERMIT2_TRANSFER_FROM_BATCH((address from,address to,uint160:amount amount,"+
		"address token)[] transfers)", permit2TransferBatch),
	0x0e: command("BALANCE_CHECK_ERC20(address owner,address token,uint256 least balance)", nested),
}

func command(text string, effects func(*emitter, *Call)) *function {
	f := parseFunction("Universal Router command", text)
	f.at, f.act = atUniversalRouter, nonpayable(effects)
	return f
}
