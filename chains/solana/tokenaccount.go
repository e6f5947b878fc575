package solana

import "github.com/countersign-dev/countersign/chains"

// tokenAccountProgram creates the account that a wallet has for a mint. The number of
// an instruction is a u8; empty data means Create. The program checks that the token
// account's address is derived from wallet, mint and token program.
var tokenAccountProgram = &program{name: "Associated Token Account", tagSize: 1,
	decode: func(r *reader) {
		if r.left() == 0 {
			r.decodeAs(createTokenAccount)
			return
		}
		r.decodeLayout()
	},
	layouts: map[uint32]*layout{
		0: createTokenAccount,
		1: describe("CreateIdempotent", createAccounts).does(createsTokenAccount...),
		2: describe("RecoverNested",
			"nested account, nested mint, to, owner account, owner mint, !wallet, token program").
			does(moves("nested account", "to", "nested mint", wholeBalance),
				sends("nested account", "wallet", wholeBalance)),
	}}

var createTokenAccount = describe("Create", createAccounts).does(createsTokenAccount...)

const createAccounts = "!payer, token account, wallet, mint, system program, token program, ?rent sysvar"

// createsTokenAccount is the cost of the account, which belongs to the wallet. Its
// size depends on the token program.
var createsTokenAccount = []template{{
	kind: chains.KindCreate, from: "payer", to: "token account", asset: native, amount: wholeBalance,
	with: func(r *reader, e *effect) {
		size := uint64(tokenAccountData)
		if owner, _ := r.role(tokenProgramRole); !owner.is(tokenID) {
			size = mostAccountData
		}
		e.Amount, e.owner = chains.AtMostUint(rent(size)), r.party("wallet")
	},
}}
