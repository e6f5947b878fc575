package solana

var stakeAuthorize = oneOf("authority type", 4, "Staker", "Withdrawer")

const historySysvar = "stake history sysvar"

// stakeProgram delegates SOL to validators. The number of an instruction is a
// u32; the layouts are those of solana-stake-interface, in bincode.
var stakeProgram = program{name: "Stake", tagSize: 4, layouts: map[uint32]layout{
	0: {name: "Initialize", accounts: "stake account, " + rentSysvar,
		arguments: []argument{key("staker"), key("withdrawer"), unixTime("lockup until"), u64("lockup until epoch"), key("lockup custodian")}},
	1: {name: "Authorize", accounts: "stake account, " + clockSysvar + ", authority, ?lockup custodian",
		arguments: []argument{key("new authority"), stakeAuthorize}},
	2: {name: "DelegateStake", accounts: "stake account, vote account, " + clockSysvar + ", " + historySysvar + ", stake config, stake authority"},
	3: {name: "Split", accounts: "stake account, new stake account, stake authority",
		arguments: []argument{lamports("amount")}},
	4: {name: "Withdraw", accounts: "stake account, to, " + clockSysvar + ", " + historySysvar + ", withdraw authority, ?lockup custodian",
		arguments: []argument{lamports("amount")}},
	5: {name: "Deactivate", accounts: "stake account, " + clockSysvar + ", stake authority"},
	6: {name: "SetLockup", accounts: "stake account, authority",
		arguments: []argument{
			optional("lockup until", unixTime("lockup until")),
			optional("lockup until epoch", u64("lockup until epoch")),
			optional("lockup custodian", key("lockup custodian")),
		}},
	7: {name: "Merge", accounts: "to stake account, from stake account, " + clockSysvar + ", " + historySysvar + ", stake authority"},
	8: {name: "AuthorizeWithSeed", accounts: "stake account, authority base, ?" + clockSysvar + ", ?lockup custodian",
		arguments: []argument{key("new authority"), stakeAuthorize, text("authority seed"), key("authority owner")}},
	9: {name: "InitializeChecked", accounts: "stake account, " + rentSysvar + ", staker, withdrawer"},
	10: {name: "AuthorizeChecked", accounts: "stake account, " + clockSysvar + ", authority, new authority, ?lockup custodian",
		arguments: []argument{stakeAuthorize}},
	11: {name: "AuthorizeCheckedWithSeed", accounts: "stake account, authority base, " + clockSysvar + ", new authority, ?lockup custodian",
		arguments: []argument{stakeAuthorize, text("authority seed"), key("authority owner")}},
	12: {name: "SetLockupChecked", accounts: "stake account, authority, ?new lockup custodian",
		arguments: []argument{
			optional("lockup until", unixTime("lockup until")),
			optional("lockup until epoch", u64("lockup until epoch")),
		}},
	13: {name: "GetMinimumDelegation"},
	14: {name: "DeactivateDelinquent", accounts: "stake account, delinquent vote account, reference vote account"},
	15: {name: "Redelegate", accounts: "stake account, new stake account, vote account, stake config, stake authority"},
	16: {name: "MoveStake", accounts: "from stake account, to stake account, stake authority",
		arguments: []argument{lamports("amount")}},
	17: {name: "MoveLamports", accounts: "from stake account, to stake account, stake authority",
		arguments: []argument{lamports("amount")}},
}}
