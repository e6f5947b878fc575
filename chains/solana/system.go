package solana

import (
	"github.com/countersign-dev/countersign/chains"
)

// creates gives a new account an owner and its first SOL.
func creates(funder, account string) template {
	return template{kind: chains.KindCreate, from: funder, to: account, asset: native, amount: "amount", by: funder,
		args: []string{"owner", "space"},
		with: belongs}
}

// belongs names the danger of SOL in an account whose owner is a program that is not
// decoded: that program alone decides who gets it. An account of a decoded program is the
// party's that initializes it, which needs no signature of the account. One of the System
// program without data is a wallet, and its SOL a payment to that.
func belongs(r *reader, e *effect) {
	owner := r.party("owner").Address()
	amount, _ := r.number("amount")
	if amount == 0 || len(owner) != keySize {
		return
	}
	id := [keySize]byte(owner)
	space, _ := r.number("space")
	switch {
	case id == systemID && space == 0:
		e.Kind = chains.KindTransfer
	case programs[id] != nil:
		e.bare, e.rich = true, amount > rent(min(space, maxProgram))
	default:
		e.danger = HazardAuthorityChange
		e.detail = "the new account and its SOL belong to program " + encode58(owner) +
			", and what it does is not known"
	}
}

// assigns gives an account another owner.
func assigns(by string) template {
	return template{kind: chains.KindAuthority, from: "account", account: "account", to: "owner", by: by}
}

// allocates gives an account data. From then on it can neither send SOL nor pay fees.
func allocates(by string) template {
	return template{kind: chains.KindFreeze, from: "account", account: "account", by: by, args: []string{"space"},
		with: func(_ *reader, e *effect) {
			e.danger, e.detail = HazardAuthorityChange, "an account with data can neither send SOL nor pay fees again"
		}}
}

// systemProgram creates accounts, moves SOL and maintains nonces. The number of an
// instruction is a u32; the layouts are those of solana-system-interface, in bincode.
// Any signer among the accounts may act as the authority of a nonce account.
var systemProgram = &program{name: "System", tagSize: 4, layouts: layouts(map[uint32]*layout{
	0: {name: "CreateAccount", accounts: "!funder, !new account",
		arguments: []argument{lamports("amount"), u64("space"), key("owner")},
		effects:   []template{creates("funder", "new account")}},
	1: {name: "Assign", accounts: "!account", arguments: []argument{key("owner")},
		effects: []template{assigns("account")}},
	2: {name: "Transfer", accounts: "!from, to", arguments: []argument{lamports("amount")},
		effects: []template{sends("from", "to", "amount")}},
	3: {name: "CreateAccountWithSeed", accounts: "!funder, new account, ?base account",
		arguments: []argument{key("base"), text("seed"), lamports("amount"), u64("space"), key("owner")},
		effects:   []template{creates("funder", "new account")}},
	advanceNonce: {name: "AdvanceNonceAccount", accounts: "nonce account, recent blockhashes sysvar, !nonce authority",
		anySigner: true,
		effects:   []template{{kind: chains.KindSettings, from: "nonce authority", account: "nonce account"}}},
	5: {name: "WithdrawNonceAccount",
		accounts: "nonce account, to, recent blockhashes sysvar, rent sysvar, !nonce authority", anySigner: true,
		arguments: []argument{lamports("amount")}, effects: []template{withdrawsNonce}},
	6: {name: "InitializeNonceAccount", initializes: "nonce account",
		accounts:  "nonce account, recent blockhashes sysvar, rent sysvar",
		arguments: []argument{key("nonce authority")},
		effects:   []template{gives("nonce account", "nonce authority")}},
	7: {name: "AuthorizeNonceAccount", accounts: "nonce account, !nonce authority", anySigner: true,
		arguments: []argument{key("new nonce authority")},
		effects:   []template{passes("nonce account", "nonce authority", "new nonce authority")}},
	8: {name: "Allocate", accounts: "!account", arguments: []argument{u64("space")},
		effects: []template{allocates("account")}},
	9: {name: "AllocateWithSeed", accounts: "account, base account",
		arguments: []argument{key("base"), text("seed"), u64("space"), key("owner")},
		effects:   []template{allocates("base"), assigns("base")}},
	10: {name: "AssignWithSeed", accounts: "account, base account",
		arguments: []argument{key("base"), text("seed"), key("owner")}, effects: []template{assigns("base")}},
	11: {name: "TransferWithSeed", accounts: "from, !base account, to",
		arguments: []argument{lamports("amount"), text("from seed"), key("from owner")},
		effects:   []template{sends("from", "to", "amount")}},
	12: {name: "UpgradeNonceAccount", accounts: "nonce account", effects: changes("nonce account")},

	// SIMD-0312: the account may already have SOL, and so be a wallet in use. Only an
	// amount above zero needs the funder.
	13: {name: "CreateAccountAllowPrefund", accounts: "!new account, ?!funder",
		arguments: []argument{lamports("amount"), u64("space"), key("owner")},
		effects: []template{
			creates("funder", "new account"),
			{kind: chains.KindAuthority, from: "new account", account: "new account", to: "owner", by: "new account"},
		}},
})}

// withdrawsNonce is what leaves a nonce account. Before that is initialized, it signs itself.
var withdrawsNonce = template{kind: chains.KindTransfer, from: "nonce account", to: "to", asset: native,
	amount: "amount",
	with:   func(r *reader, e *effect) { e.alone = r.signs(e.From) }}
