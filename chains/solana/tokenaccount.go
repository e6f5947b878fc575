package solana

import "github.com/countersign-dev/countersign/chains"

// tokenAccountProgram makes the account that a wallet has for a mint. The number
// of an instruction is a u8; none at all means Create. The program checks that
// the token account's address is derived from wallet, mint and token program.
var tokenAccountProgram = &program{name: "Associated Token Account", tagSize: 1, decode: decodeTokenAccount, layouts: layouts(map[uint32]*layout{
	0: {name: "Create", accounts: createAccounts, does: createsTokenAccount},
	1: {name: "CreateIdempotent", accounts: createAccounts, does: createsTokenAccount},
	2: {name: "RecoverNested", accounts: "nested account, nested mint, to, owner account, owner mint, !wallet, " + tokenProgramRole,
		does: []doing{
			{kind: chains.KindTransfer, from: "nested account", to: "to", asset: "nested mint", amount: allOfIt},
			sends("nested account", "wallet", allOfIt),
		}},
})}

const createAccounts = "!payer, token account, wallet, mint, " + systemRole + ", " + tokenProgramRole + ", ?" + rentSysvar

// createsTokenAccount pays for the account, which belongs to the wallet. Its size
// depends on the token program.
var createsTokenAccount = []doing{{
	kind: chains.KindCreate, from: "payer", to: "token account", asset: native, amount: allOfIt, args: []string{"wallet", "mint"},
	with: func(r *reading, e *effect) {
		size := uint64(tokenAccountData)
		if owner, _ := r.at(tokenProgramRole); !owner.is(tokenID) {
			size = mostAccountData
		}
		e.Amount = atMostUint(rent(size))
	},
}}

func decodeTokenAccount(r *reading) error {
	if r.cursor.at < len(r.raw) {
		return r.decodeLayout()
	}
	return r.decodeAs(tokenAccountProgram0())
}

// tokenAccountProgram0 is Create, which empty data means too.
func tokenAccountProgram0() *layout { return known[tokenAccountID].layouts[0] }
