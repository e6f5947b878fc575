package solana

// The addresses of the programs whose instructions are decoded.
var (
	systemID       = mustKey("11111111111111111111111111111111")
	computeID      = mustKey("ComputeBudget111111111111111111111111111111")
	stakeID        = mustKey("Stake11111111111111111111111111111111111111")
	voteID         = mustKey("Vote111111111111111111111111111111111111111")
	lookupTableID  = mustKey("AddressLookupTab1e1111111111111111111111111")
	tokenID        = mustKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
	token2022ID    = mustKey("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
	tokenAccountID = mustKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
	memoID         = mustKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
	memoV1ID       = mustKey("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo")
)

// findProgram returns what is known of a program.
func findProgram(id [keySize]byte) (known program, ok bool) {
	switch id {
	case systemID:
		return systemProgram, true
	case computeID:
		return computeProgram, true
	case stakeID:
		return stakeProgram, true
	case voteID:
		return voteProgram, true
	case lookupTableID:
		return lookupTableProgram, true
	case tokenID:
		return tokenProgram, true
	case token2022ID:
		return token2022Program, true
	case tokenAccountID:
		return tokenAccountProgram, true
	case memoID, memoV1ID:
		return memoProgram, true
	}
	return program{}, false
}

// The instructions of the Compute Budget program that its summary adds up.
const (
	setComputeUnitLimit = 2
	setComputeUnitPrice = 3
)

// computeProgram sets what a legacy or v0 transaction may use and pays. The
// number of an instruction is a u8.
var computeProgram = program{name: "Compute Budget", tagSize: 1, layouts: map[uint32]layout{
	0:                   {name: "RequestUnitsDeprecated", arguments: []argument{u32("compute units"), u32("additional fee in lamports")}},
	1:                   {name: "RequestHeapFrame", arguments: []argument{u32("heap bytes")}},
	setComputeUnitLimit: {name: "SetComputeUnitLimit", arguments: []argument{u32("compute units")}},
	setComputeUnitPrice: {name: "SetComputeUnitPrice", arguments: []argument{u64("micro-lamports for a unit")}},
	4:                   {name: "SetLoadedAccountsDataSizeLimit", arguments: []argument{u32("loaded data bytes")}},
}}

// lookupTableProgram keeps address lookup tables. The number of an instruction
// is a u32.
var lookupTableProgram = program{name: "Address Lookup Table", tagSize: 4, layouts: map[uint32]layout{
	0: {name: "CreateLookupTable", accounts: "table, authority, payer, system program",
		arguments: []argument{u64("recent slot"), u8("bump seed")}},
	1: {name: "FreezeLookupTable", accounts: "table, authority"},
	2: {name: "ExtendLookupTable", accounts: "table, authority, ?payer, ?system program",
		arguments: []argument{keys("address")}},
	3: {name: "DeactivateLookupTable", accounts: "table, authority"},
	4: {name: "CloseLookupTable", accounts: "table, authority, lamports to"},
}}

// tokenAccountProgram makes the account that a wallet has for a mint. The number
// of an instruction is a u8; none at all means Create.
var tokenAccountProgram = program{name: "Associated Token Account", tagSize: 1, decode: decodeTokenAccount, layouts: map[uint32]layout{
	0: {name: "Create", accounts: createAccounts},
	1: {name: "CreateIdempotent", accounts: createAccounts},
	2: {name: "RecoverNested", accounts: "nested account, nested mint, to, owner account, owner mint, wallet, token program"},
}}

const createAccounts = "payer, token account, wallet, mint, system program, token program, ?" + rentSysvar

func decodeTokenAccount(p program, t *Transaction, accounts []byte, c *cursor) (decoded, error) {
	if c.at < len(c.raw) {
		return p.decodeLayout(t, accounts, c)
	}
	roles, err := t.roles(layout{name: "Create", accounts: createAccounts}, accounts)
	return decoded{operation: "Create", accounts: roles}, err
}

// memoProgram writes text into the ledger. All the data is the text; who signs
// it stands in the accounts.
var memoProgram = program{name: "Memo", decode: decodeMemo}

func decodeMemo(_ program, t *Transaction, accounts []byte, c *cursor) (decoded, error) {
	memo, err := restText("memo")(c)
	if err != nil {
		return decoded{}, err
	}
	roles, err := t.roles(layout{name: "Memo", accounts: "signer*"}, accounts)
	return decoded{operation: "Memo", arguments: memo, accounts: roles}, err
}
