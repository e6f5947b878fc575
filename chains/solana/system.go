package solana

// What the instructions of two programs share in their accounts.
const (
	clockSysvar  = "clock sysvar"
	rentSysvar   = "rent sysvar"
	hashesSysvar = "recent blockhashes sysvar"
)

// advanceNonce is the number of AdvanceNonceAccount of the System program.
const advanceNonce = 4

// systemProgram creates accounts, moves SOL and keeps nonces. The number of an
// instruction is a u32; the layouts are those of solana-system-interface, in
// bincode.
var systemProgram = program{name: "System", tagSize: 4, layouts: map[uint32]layout{
	0: {name: "CreateAccount", accounts: "funder, new account",
		arguments: []argument{lamports("amount"), u64("space"), key("owner")}},
	1: {name: "Assign", accounts: "account",
		arguments: []argument{key("owner")}},
	2: {name: "Transfer", accounts: "from, to",
		arguments: []argument{lamports("amount")}},
	3: {name: "CreateAccountWithSeed", accounts: "funder, new account, ?base account",
		arguments: []argument{key("base"), text("seed"), lamports("amount"), u64("space"), key("owner")}},
	advanceNonce: {name: "AdvanceNonceAccount", accounts: "nonce account, " + hashesSysvar + ", nonce authority"},
	5: {name: "WithdrawNonceAccount", accounts: "nonce account, to, " + hashesSysvar + ", " + rentSysvar + ", nonce authority",
		arguments: []argument{lamports("amount")}},
	6: {name: "InitializeNonceAccount", accounts: "nonce account, " + hashesSysvar + ", " + rentSysvar,
		arguments: []argument{key("nonce authority")}},
	7: {name: "AuthorizeNonceAccount", accounts: "nonce account, nonce authority",
		arguments: []argument{key("new nonce authority")}},
	8: {name: "Allocate", accounts: "account",
		arguments: []argument{u64("space")}},
	9: {name: "AllocateWithSeed", accounts: "account, base account",
		arguments: []argument{key("base"), text("seed"), u64("space"), key("owner")}},
	10: {name: "AssignWithSeed", accounts: "account, base account",
		arguments: []argument{key("base"), text("seed"), key("owner")}},
	11: {name: "TransferWithSeed", accounts: "from, base account, to",
		arguments: []argument{lamports("amount"), text("from seed"), key("from owner")}},
	12: {name: "UpgradeNonceAccount", accounts: "nonce account"},
}}
