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

var voteInitializes = []template{
	gives("vote account", "withdrawer"),
	gives("vote account", "voter"),
	gives("vote account", "node"),
	settings("vote account"),
}

// earns gives what a validator earns to a party, unless that is the vote account itself.
func earns(collector string) template {
	return template{kind: chains.KindAuthority, account: "vote account", to: collector,
		when: func(r *reader) bool { return !r.party(collector).Equal(r.party("vote account")) }}
}

// voteProgram maintains the accounts of validators. The number of an instruction is a
// u32; the layouts are those of solana-vote-interface, in bincode. The votes themselves
// are shown as bytes: they have no fixed layout and move nothing. Any signer among the
// accounts may act as the authority, except where the authority is derived. Vote
// authorities with a BLS key are not decoded.
var voteProgram = &program{name: "Vote", tagSize: 4, layouts: map[uint32]*layout{
	0: describe("InitializeAccount", "vote account, rent sysvar, clock sysvar, node account", key("node"),
		key("voter"), key("withdrawer"), u8("commission")).initializing("vote account").does(voteInitializes...),
	1: describe("Authorize", "vote account, clock sysvar, !authority", key("new authority"), voteAuthorize).
		byAnySigner().does(hands("vote account", "authority", "new authority")),
	2: describe("Vote", votes, restBytes("votes")).byAnySigner().does(voted...),
	3: describe("Withdraw", "vote account, to, !withdraw authority", lamports("amount")).byAnySigner().
		does(sends("vote account", "to", "amount")),
	4: describe("UpdateValidatorIdentity", "vote account, new node, !withdraw authority").byAnySigner().
		does(passes("vote account", "withdraw authority", "new node")),
	5: describe("UpdateCommission", "vote account, !withdraw authority", u8("commission")).byAnySigner().
		does(voteSettings...),
	6: describe("VoteSwitch", votes, restBytes("votes")).byAnySigner().does(voted...),
	7: describe("AuthorizeChecked", "vote account, clock sysvar, !authority, new authority", voteAuthorize).
		byAnySigner().does(hands("vote account", "authority", "new authority")),
	8: describe("UpdateVoteState", voteState, restBytes("votes")).byAnySigner().does(voted...),
	9: describe("UpdateVoteStateSwitch", voteState, restBytes("votes")).byAnySigner().does(voted...),
	10: describe("AuthorizeWithSeed", "vote account, clock sysvar, !authority base", voteAuthorize,
		key("authority owner"), text("authority seed"), key("new authority")).
		does(hands("vote account", "authority base", "new authority")),
	11: describe("AuthorizeCheckedWithSeed", "vote account, clock sysvar, !authority base, new authority",
		voteAuthorize, key("authority owner"), text("authority seed")).
		does(hands("vote account", "authority base", "new authority")),
	12: describe("CompactUpdateVoteState", voteState, restBytes("votes")).byAnySigner().does(voted...),
	13: describe("CompactUpdateVoteStateSwitch", voteState, restBytes("votes")).byAnySigner().does(voted...),
	14: describe("TowerSync", voteState, restBytes("votes")).byAnySigner().does(voted...),
	15: describe("TowerSyncSwitch", voteState, restBytes("votes")).byAnySigner().does(voted...),
	16: describe("InitializeAccountV2",
		"vote account, node account, inflation rewards collector, block revenue collector", key("node"), key("voter"),
		fixedBytes("voter bls key", 48), fixedBytes("bls proof of possession", 96), key("withdrawer"),
		u16("inflation commission in basis points"), u16("block revenue commission in basis points")).
		initializing("vote account").does(append(voteInitializes[:4:4], earns("inflation rewards collector"),
		earns("block revenue collector"))...),
	17: describe("UpdateCommissionCollector", "vote account, new collector, !withdraw authority", commissionKind).
		byAnySigner().does(template{kind: chains.KindAuthority, from: "withdraw authority", account: "vote account",
		to: "new collector", args: []string{"commission of"}}),
	18: describe("UpdateCommissionBps", "vote account, !withdraw authority", u16("commission in basis points"),
		commissionKind).byAnySigner().does(voteSettings...),
	19: describe("DepositDelegatorRewards", "vote account, !depositor", lamports("amount")).
		does(sends("depositor", "vote account", "amount")),
}}
