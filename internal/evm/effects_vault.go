package evm

import "github.com/countersign-dev/countersign/chains"

// The functions of vaults (ERC-4626) are decoded at every contract, but only where the
// account that calls gets what it gave: shares for assets, or assets for shares. The bytes
// name neither the vault's asset nor its price, so that no limit covers what it takes.

// vault is for functions of a vault whose accounts must all be the caller. With another
// account it is not known what the call does, nor is it if the caller is a contract that
// acts for everyone, where anyone could take what the vault gives.
func vault(effects func(*emitter, *Call), accounts ...string) func(*emitter, *Call) {
	return func(e *emitter, c *Call) {
		if !c.isCaller(accounts) || c.pass.IsShared(c.callerParty()) {
			e.addUndecoded(c)
			return
		}
		effects(e, c)
	}
}

// isCaller reports whether arguments name the account that makes the call. Of a signer that
// is not known yet, none does.
func (c *Call) isCaller(names []string) bool {
	for _, name := range names {
		if c.caller.signer || c.arg(name).address() != c.caller.address {
			return false
		}
	}
	return true
}

// deposit adds that a vault takes assets of the caller's.
func deposit(e *emitter, c *Call) { e.addVaultDeposit(c, c.exactly("assets")) }

// mintShares adds that a vault takes what the shares cost.
func mintShares(e *emitter, c *Call) { e.addVaultDeposit(c, chains.UnknownQuantity()) }

// addVaultDeposit adds that an amount of an asset that the bytes do not name goes to the vault.
func (e *emitter) addVaultDeposit(c *Call, amount chains.Quantity) {
	e.addTransfer(c, c.callerParty(), "", c.party(c.self), chains.UnknownAsset(c.pass.ID), amount)
}
