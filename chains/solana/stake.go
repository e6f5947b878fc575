package solana

import "github.com/countersign-dev/countersign/chains"

var stakeAuthorize = oneOf("authority type", 4, "Staker", "Withdrawer")

const (
	// Since version 5 (SIMD-0490) the stake program checks whether the account in the
	// place of the first sysvar is that sysvar. If it is not, the sysvars are left out
	// and the accounts after them move up.
	clockIfAny   = "~clock sysvar"
	rentIfAny    = "~rent sysvar"
	historyIfAny = clockIfAny + "+stake history sysvar"
	configIfAny  = historyIfAny + "+stake config"
)

// initializes gives a stake account its authorities. The withdrawer can withdraw all of
// it.
var initializes = []template{
	{kind: chains.KindStake, from: "stake account", account: "stake account", to: "withdrawer", asset: native,
		amount: wholeBalance},
	gives("stake account", "staker"),
}

// locks sets a lockup: until it ends, nothing can be withdrawn without the custodian. One that
// the instruction does not name is the one that the account has, by default none.
func locks(custodian string) []template {
	return []template{
		{kind: chains.KindFreeze, from: "authority", account: "stake account",
			args: []string{"lockup until", "lockup until epoch"},
			with: func(r *reader, e *effect) {
				if hasLockup(r) && r.party(custodian).IsNone() {
					e.danger = HazardAuthorityChange
					e.detail = "the stake is locked, and only the custodian that it has already, " +
						"whom the transaction does not name, can let it go before"
				}
			}},
		{kind: chains.KindAuthority, from: "authority", account: "stake account", to: custodian, given: custodian},
	}
}

func stakeMoves(amount string) []template {
	return []template{sends("from stake account", "to stake account", amount)}
}

// splits moves a part of a stake to an account that gets the authorities of the first one,
// which the bytes do not name.
var splits = template{kind: chains.KindTransfer, from: "from stake account", to: "to stake account", asset: native,
	amount: "amount",
	with:   func(_ *reader, e *effect) { e.follows = true }}

// withdraws is what leaves a stake account: unstaked for the authority that could always
// withdraw it, and sent to anyone else.
var withdraws = template{kind: chains.KindTransfer, from: "stake account", to: "to", asset: native, amount: "amount",
	with: func(r *reader, e *effect) {
		if e.To.Equal(r.party("withdraw authority")) {
			e.Kind = chains.KindUnstake
		}
	}}

// unstakes ends the delegation of a stake account.
var unstakes = template{kind: chains.KindUnstake, from: "stake account", account: "stake account", asset: native,
	amount: wholeBalance}

// stakeProgram delegates SOL to validators. The number of an instruction is a u32; the
// layouts are those of solana-stake-interface, in bincode, and the roles are those of
// version 5 of the program.
var stakeProgram = &program{name: "Stake", tagSize: 4, ownAccounts: true, layouts: layouts(map[uint32]*layout{
	0: {name: "Initialize", initializes: "stake account", accounts: "stake account, ?further account*",
		arguments: []argument{key("staker"), key("withdrawer"), unixTime("lockup until"), u64("lockup until epoch"),
			key("lockup custodian")},
		effects: append(initializes[:2:2],
			template{kind: chains.KindFreeze, account: "stake account",
				args: []string{"lockup until", "lockup until epoch", "lockup custodian"}, when: hasLockup},
			template{kind: chains.KindAuthority, account: "stake account", to: "lockup custodian", when: hasLockup})},
	1: {name: "Authorize", accounts: "stake account, " + clockIfAny + ", !authority, ?lockup custodian",
		anySigner: true,
		arguments: []argument{key("new authority"), stakeAuthorize},
		effects:   []template{hands("stake account", "authority", "new authority")}},
	2: {name: "DelegateStake", accounts: "stake account, vote account, " + configIfAny + ", !stake authority",
		anySigner: true,
		effects: []template{{kind: chains.KindStake, from: "stake account", account: "stake account", asset: native,
			amount: wholeBalance}}},
	3: {name: "Split", initializes: "to stake account",
		accounts: "from stake account, to stake account, !stake authority", anySigner: true,
		arguments: []argument{lamports("amount")}, effects: []template{splits}},
	4: {name: "Withdraw", accounts: "stake account, to, " + historyIfAny + ", !withdraw authority, ?!lockup custodian",
		arguments: []argument{lamports("amount")}, effects: []template{withdraws}},
	5: {name: "Deactivate", accounts: "stake account, " + clockIfAny + ", !stake authority", anySigner: true,
		effects: []template{unstakes}},
	6: {name: "SetLockup", accounts: "stake account, !authority", anySigner: true,
		arguments: []argument{
			optional("lockup until", unixTime("lockup until")),
			optional("lockup until epoch", u64("lockup until epoch")),
			optional("lockup custodian", key("lockup custodian")),
		}, effects: locks("lockup custodian")},
	7: {name: "Merge", accounts: "to stake account, from stake account, " + historyIfAny + ", !stake authority",
		anySigner: true,
		effects:   stakeMoves(wholeBalance)},
	8: {name: "AuthorizeWithSeed", accounts: "stake account, !authority base, " + clockIfAny + ", ?!lockup custodian",
		arguments: []argument{key("new authority"), stakeAuthorize, text("authority seed"), key("authority owner")},
		effects:   []template{hands("stake account", "authority base", "new authority")}},
	9: {name: "InitializeChecked", initializes: "stake account",
		accounts: "stake account, " + rentIfAny + ", staker, withdrawer", effects: initializes},
	10: {name: "AuthorizeChecked",
		accounts: "stake account, " + clockIfAny + ", !authority, new authority, ?lockup custodian", anySigner: true,
		arguments: []argument{stakeAuthorize},
		effects:   []template{hands("stake account", "authority", "new authority")}},
	11: {name: "AuthorizeCheckedWithSeed",
		accounts:  "stake account, !authority base, " + clockIfAny + ", new authority, ?!lockup custodian",
		arguments: []argument{stakeAuthorize, text("authority seed"), key("authority owner")},
		effects:   []template{hands("stake account", "authority base", "new authority")}},
	12: {name: "SetLockupChecked", accounts: "stake account, !authority, ?new lockup custodian", anySigner: true,
		arguments: []argument{
			optional("lockup until", unixTime("lockup until")),
			optional("lockup until epoch", u64("lockup until epoch")),
		}, effects: locks("new lockup custodian")},
	13: {name: "GetMinimumDelegation", inert: true},
	14: {name: "DeactivateDelinquent", accounts: "stake account, delinquent vote account, reference vote account",
		effects: []template{unstakes}},
	16: {name: "MoveStake", accounts: "from stake account, to stake account, !stake authority",
		arguments: []argument{lamports("amount")}, effects: stakeMoves("amount")},
	17: {name: "MoveLamports", accounts: "from stake account, to stake account, !stake authority",
		arguments: []argument{lamports("amount")}, effects: stakeMoves("amount")},
})}

// hasLockup reports whether the instruction locks the stake.
func hasLockup(r *reader) bool {
	until, _ := r.number("lockup until")
	epoch, _ := r.number("lockup until epoch")
	return until != 0 || epoch != 0
}
