package solana

// A vote authority with a BLS key, which the program also knows, is not among
// these: it is shown as data.
var (
	voteAuthorize  = oneOf("authority type", 4, "Voter", "Withdrawer")
	commissionKind = oneOf("commission of", 1, "InflationRewards", "BlockRevenue")
)

// What the instructions by which validators vote have for accounts.
const (
	votes     = "vote account, slot hashes sysvar, " + clockSysvar + ", vote authority"
	voteState = "vote account, vote authority"
)

// voteProgram keeps the accounts of validators. The number of an instruction is
// a u32; the layouts are those of solana-vote-interface, in bincode. The votes
// themselves are shown as bytes: they have no fixed layout, and no money in it.
var voteProgram = program{name: "Vote", tagSize: 4, layouts: map[uint32]layout{
	0: {name: "InitializeAccount", accounts: "vote account, " + rentSysvar + ", " + clockSysvar + ", node",
		arguments: []argument{key("node"), key("voter"), key("withdrawer"), u8("commission")}},
	1: {name: "Authorize", accounts: "vote account, " + clockSysvar + ", authority",
		arguments: []argument{key("new authority"), voteAuthorize}},
	2: {name: "Vote", accounts: votes, arguments: []argument{restBytes("votes")}},
	3: {name: "Withdraw", accounts: "vote account, to, withdraw authority",
		arguments: []argument{lamports("amount")}},
	4: {name: "UpdateValidatorIdentity", accounts: "vote account, new node, withdraw authority"},
	5: {name: "UpdateCommission", accounts: "vote account, withdraw authority",
		arguments: []argument{u8("commission")}},
	6: {name: "VoteSwitch", accounts: votes, arguments: []argument{restBytes("votes")}},
	7: {name: "AuthorizeChecked", accounts: "vote account, " + clockSysvar + ", authority, new authority",
		arguments: []argument{voteAuthorize}},
	8: {name: "UpdateVoteState", accounts: voteState, arguments: []argument{restBytes("votes")}},
	9: {name: "UpdateVoteStateSwitch", accounts: voteState, arguments: []argument{restBytes("votes")}},
	10: {name: "AuthorizeWithSeed", accounts: "vote account, " + clockSysvar + ", authority base",
		arguments: []argument{voteAuthorize, key("authority owner"), text("authority seed"), key("new authority")}},
	11: {name: "AuthorizeCheckedWithSeed", accounts: "vote account, " + clockSysvar + ", authority base, new authority",
		arguments: []argument{voteAuthorize, key("authority owner"), text("authority seed")}},
	12: {name: "CompactUpdateVoteState", accounts: voteState, arguments: []argument{restBytes("votes")}},
	13: {name: "CompactUpdateVoteStateSwitch", accounts: voteState, arguments: []argument{restBytes("votes")}},
	14: {name: "TowerSync", accounts: voteState, arguments: []argument{restBytes("votes")}},
	15: {name: "TowerSyncSwitch", accounts: voteState, arguments: []argument{restBytes("votes")}},
	16: {name: "InitializeAccountV2", accounts: "vote account, further account*",
		arguments: []argument{
			key("node"), key("voter"), fixedBytes("voter bls key", 48), fixedBytes("bls proof of possession", 96),
			key("withdrawer"), u16("inflation commission in basis points"), u16("block revenue commission in basis points"),
		}},
	17: {name: "UpdateCommissionCollector", accounts: "vote account, new collector, withdraw authority",
		arguments: []argument{commissionKind}},
	18: {name: "UpdateCommissionBps", accounts: "vote account, withdraw authority",
		arguments: []argument{u16("commission in basis points"), commissionKind}},
	19: {name: "DepositDelegatorRewards", accounts: "vote account, depositor",
		arguments: []argument{lamports("amount")}},
}}
