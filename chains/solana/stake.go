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

// initializes gives a stake account its authorities. The withdrawer can withdraw all of it.
var initializes = []template{
	{kind: chains.KindStake, from: "stake account", account: "stake account", to: "withdrawer", asset: native,
		amount: wholeBalance},
	gives("stake account", "staker"),
}

// locksNew is the lockup of a new stake account, if it has one.
var locksNew = []template{
	{kind: chains.KindFreeze, account: "stake account", when: hasLockup,
		args: []string{"lockup until", "lockup until epoch", "lockup custodian"}},
	{kind: chains.KindAuthority, account: "stake account", to: "lockup custodian", when: hasLockup},
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

func stakeMoves(amount string) template {
	return sends("from stake account", "to stake account", amount)
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

// stakeProgram delegates SOL to validators. The number of an instruction is a u32; the layouts are
// those of solana-stake-interface, in bincode, and the roles are those of version 5 of the program.
var stakeProgram = &program{name: "Stake", tagSize: 4, ownAccounts: true, layouts: map[uint32]*layout{
	0: describe("Initialize", "stake account, ?further account*", key("staker"), key("withdrawer"),
		unixTime("lockup until"), u64("lockup until epoch"), key("lockup custodian")).initializing("stake account").
		does(append(initializes[:2:2], locksNew...)...),
	1: describe("Authorize", "stake account, "+clockIfAny+", !authority, ?lockup custodian", key("new authority"),
		stakeAuthorize).byAnySigner().does(hands("stake account", "authority", "new authority")),
	2: describe("DelegateStake", "stake account, vote account, "+configIfAny+", !stake authority").byAnySigner().
		does(template{kind: chains.KindStake, from: "stake account", account: "stake account", asset: native,
			amount: wholeBalance}),
	3: describe("Split", "from stake account, to stake account, !stake authority", lamports("amount")).
		initializing("to stake account").byAnySigner().does(splits),
	4: describe("Withdraw", "stake account, to, "+historyIfAny+", !withdraw authority, ?!lockup custodian",
		lamports("amount")).does(withdraws),
	5: describe("Deactivate", "stake account, "+clockIfAny+", !stake authority").byAnySigner().does(unstakes),
	6: describe("SetLockup", "stake account, !authority", optional("lockup until", unixTime("lockup until")),
		optional("lockup until epoch", u64("lockup until epoch")),
		optional("lockup custodian", key("lockup custodian"))).byAnySigner().does(locks("lockup custodian")...),
	7: describe("Merge", "to stake account, from stake account, "+historyIfAny+", !stake authority").byAnySigner().
		does(stakeMoves(wholeBalance)),
	8: describe("AuthorizeWithSeed", "stake account, !authority base, "+clockIfAny+", ?!lockup custodian",
		key("new authority"), stakeAuthorize, text("authority seed"), key("authority owner")).
		does(hands("stake account", "authority base", "new authority")),
	9: describe("InitializeChecked", "stake account, "+rentIfAny+", staker, withdrawer").
		initializing("stake account").does(initializes...),
	10: describe("AuthorizeChecked", "stake account, "+clockIfAny+", !authority, new authority, ?lockup custodian",
		stakeAuthorize).byAnySigner().does(hands("stake account", "authority", "new authority")),
	11: describe("AuthorizeCheckedWithSeed",
		"stake account, !authority base, "+clockIfAny+", new authority, ?!lockup custodian", stakeAuthorize,
		text("authority seed"), key("authority owner")).
		does(hands("stake account", "authority base", "new authority")),
	12: describe("SetLockupChecked", "stake account, !authority, ?new lockup custodian",
		optional("lockup until", unixTime("lockup until")), optional("lockup until epoch", u64("lockup until epoch"))).
		byAnySigner().does(locks("new lockup custodian")...),
	13: describe("GetMinimumDelegation", "").doesNothing(),
	14: describe("DeactivateDelinquent", "stake account, delinquent vote account, reference vote account").
		does(unstakes),
	16: describe("MoveStake", "from stake account, to stake account, !stake authority", lamports("amount")).
		does(stakeMoves("amount")),
	17: describe("MoveLamports", "from stake account, to stake account, !stake authority", lamports("amount")).
		does(stakeMoves("amount")),
}}

func hasLockup(r *reader) bool {
	until, _ := r.number("lockup until")
	epoch, _ := r.number("lockup until epoch")
	return until != 0 || epoch != 0
}
