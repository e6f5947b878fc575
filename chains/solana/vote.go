package solana

import "github.com/countersign-dev/countersign/chains"

var (
	voteAuthorize  = oneOf("authority type", 4, "Voter", "Withdrawer")
	commissionKind = oneOf("commission of", 1, "InflationRewards", "BlockRevenue")
)

const (
	votes     = "vote account, slot hashes sysvar, clock sysvar, !vote authority"
	voteState = "vote account, !vote authority"
)

// voted is the effect of the instructions by which validators vote.
var voted = []template{{kind: chains.KindSettings, from: "vote authority", account: "vote account"}}

// voteSettings changes the settings of a vote account by its withdraw authority.
var voteSettings = []template{{kind: chains.KindSettings, from: "withdraw authority", account: "vote account"}}

// voteInitializes gives a vote account its authorities.
var voteInitializes = []template{
	gives("vote account", "withdrawer"),
	gives("vote account", "voter"),
	gives("vote account", "node"),
	settings("vote account"),
}

// voteProgram maintains the accounts of validators. The number of an instruction is a
// u32; the layouts are those of solana-vote-interface, in bincode. The votes themselves
// are shown as bytes: they have no fixed layout and move nothing. Any signer among the
// accounts may act as the authority, except where the authority is derived. Vote
// authorities with a BLS key are not decoded.
var voteProgram = &program{name: "Vote", tagSize: 4, layouts: layouts(map[uint32]*layout{
	0: {name: "InitializeAccount", initializes: "vote account",
		accounts:  "vote account, rent sysvar, clock sysvar, node account",
		arguments: []argument{key("node"), key("voter"), key("withdrawer"), u8("commission")},
		effects:   voteInitializes},
	1: {name: "Authorize", accounts: "vote account, clock sysvar, !authority", anySigner: true,
		arguments: []argument{key("new authority"), voteAuthorize},
		effects:   []template{hands("vote account", "authority", "new authority")}},
	2: {name: "Vote", accounts: votes, anySigner: true, arguments: []argument{restBytes("votes")}, effects: voted},
	3: {name: "Withdraw", accounts: "vote account, to, !withdraw authority", anySigner: true,
		arguments: []argument{lamports("amount")}, effects: []template{sends("vote account", "to", "amount")}},
	4: {name: "UpdateValidatorIdentity", accounts: "vote account, new node, !withdraw authority", anySigner: true,
		effects: []template{passes("vote account", "withdraw authority", "new node")}},
	5: {name: "UpdateCommission", accounts: "vote account, !withdraw authority", anySigner: true,
		arguments: []argument{u8("commission")}, effects: voteSettings},
	6: {name: "VoteSwitch", accounts: votes, anySigner: true, arguments: []argument{restBytes("votes")},
		effects: voted},
	7: {name: "AuthorizeChecked", accounts: "vote account, clock sysvar, !authority, new authority", anySigner: true,
		arguments: []argument{voteAuthorize},
		effects:   []template{hands("vote account", "authority", "new authority")}},
	8: {name: "UpdateVoteState", accounts: voteState, anySigner: true, arguments: []argument{restBytes("votes")},
		effects: voted},
	9: {name: "UpdateVoteStateSwitch", accounts: voteState, anySigner: true, arguments: []argument{restBytes("votes")},
		effects: voted},
	10: {name: "AuthorizeWithSeed", accounts: "vote account, clock sysvar, !authority base",
		arguments: []argument{voteAuthorize, key("authority owner"), text("authority seed"), key("new authority")},
		effects:   []template{hands("vote account", "authority base", "new authority")}},
	11: {name: "AuthorizeCheckedWithSeed", accounts: "vote account, clock sysvar, !authority base, new authority",
		arguments: []argument{voteAuthorize, key("authority owner"), text("authority seed")},
		effects:   []template{hands("vote account", "authority base", "new authority")}},
	12: {name: "CompactUpdateVoteState", accounts: voteState, anySigner: true,
		arguments: []argument{restBytes("votes")}, effects: voted},
	13: {name: "CompactUpdateVoteStateSwitch", accounts: voteState, anySigner: true,
		arguments: []argument{restBytes("votes")}, effects: voted},
	14: {name: "TowerSync", accounts: voteState, anySigner: true, arguments: []argument{restBytes("votes")},
		effects: voted},
	15: {name: "TowerSyncSwitch", accounts: voteState, anySigner: true, arguments: []argument{restBytes("votes")},
		effects: voted},
	16: {name: "InitializeAccountV2", initializes: "vote account", accounts: "vote account, further account*",
		arguments: []argument{
			key("node"), key("voter"), fixedBytes("voter bls key", 48), fixedBytes("bls proof of possession", 96),
			key("withdrawer"), u16("inflation commission in basis points"),
			u16("block revenue commission in basis points"),
		}, effects: voteInitializes},
	17: {name: "UpdateCommissionCollector", accounts: "vote account, new collector, !withdraw authority",
		anySigner: true,
		arguments: []argument{commissionKind},
		effects: []template{{kind: chains.KindAuthority, from: "withdraw authority", account: "vote account",
			to: "new collector", args: []string{"commission of"}}}},
	18: {name: "UpdateCommissionBps", accounts: "vote account, !withdraw authority", anySigner: true,
		arguments: []argument{u16("commission in basis points"), commissionKind}, effects: voteSettings},
	19: {name: "DepositDelegatorRewards", accounts: "vote account, !depositor",
		arguments: []argument{lamports("amount")}, effects: []template{sends("depositor", "vote account", "amount")}},
})}
