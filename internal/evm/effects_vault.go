package evm

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// The functions of vaults (ERC-4626) are decoded at every contract, but only where the
// account that calls gets what it gave: shares for assets, or assets for shares. The bytes
// name neither the vault's asset nor its price, so that no limit covers what it takes.

// vault is for functions of a vault whose accounts must all be the caller. With another
// account it is not known what the call does, nor is it if the caller is a contract that
// acts for everyone, where anyone could take what the vault gives.
func vault(effects func(*emitter, *Call), accounts ...string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		// Of a signer that is not known yet, no account is the caller.
		isOther := func(name string) bool { return c.caller.signer || c.arg(name).address() != c.caller.address }
		if slices.ContainsFunc(accounts, isOther) || IsShared(c.callerParty()) {
			e.addUndecoded(c)
			return
		}
		effects(e, c)
	}
}

// deposits is for functions by which an amount of an asset that the bytes do not name goes to the vault.
func deposits(amount part) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		effect := c.transfer(c.callerParty(), "", c.party(c.self), chains.UnknownAsset(c.pass.ID), chains.Quantity{})
		amount(c, &effect)
		e.add(c, effect)
	}
}
