package solana

import "github.com/countersign-dev/countersign/chains"

// replacesCode replaces a program's code with the content of an account, which is not in
// the transaction.
var replacesCode = template{kind: chains.KindSettings, account: "program account", args: []string{"buffer"},
	with: func(_ *reader, e *effect) {
		e.danger, e.detail = HazardAuthorityChange,
			"the program's code is replaced by what another account holds, which the transaction does not say"
	}}

// programEnds is the end of a program that is given, or is given no length.
var programEnds = template{kind: chains.KindBurn, account: "program account", given: "program account",
	when: func(r *reader) bool { length, _ := r.number("length"); return length == 0 },
	with: func(r *reader, e *effect) { e.Function = r.operation; e.ends("program", e.Account) }}

// programHeader is the size of an account of loader v3 without its code, in bytes.
const programHeader = 45

// deploys is the cost of a new program.
var deploys = template{kind: chains.KindCreate, from: "payer", to: "program data", asset: native, amount: wholeBalance,
	by: "payer",
	with: func(r *reader, e *effect) {
		size, _ := r.number("most code bytes")
		e.Amount = chains.AtMostUint(rent(min(size, maxProgram) + programHeader))
	}}

// extends is the cost of making room for more code.
var extends = template{kind: chains.KindCreate, from: "payer", to: "program data", asset: native, amount: wholeBalance,
	by: "payer", given: "payer",
	with: func(_ *reader, e *effect) { e.Amount = chains.AtMostUint(rent(maxProgram)) }}

// loaderV3Program manages upgradeable programs. The number of an instruction is a
// u32; the layouts are those of solana-loader-v3-interface, in bincode.
var loaderV3Program = &program{name: "Loader v3", tagSize: 4, layouts: layouts(map[uint32]*layout{
	0: {name: "InitializeBuffer", initializes: "buffer", accounts: "buffer, ?authority",
		effects: []template{gives("buffer", "authority")}},
	1: {name: "Write", accounts: "buffer, !authority", arguments: []argument{u32("offset"), sizedBytes("code")},
		effects: changes("buffer")},
	2: {name: "DeployWithMaxDataLen", initializes: "program account",
		accounts: "!payer, program data, program account, buffer, " +
			"rent sysvar, clock sysvar, system program, !authority",
		arguments: []argument{u64("most code bytes")},
		effects: []template{deploys, sends("buffer", "payer", wholeBalance), replacesCode,
			{kind: chains.KindAuthority, account: "program data", from: "authority", to: "authority"}}},
	3: {name: "Upgrade",
		accounts: "program data, program account, buffer, lamports to, rent sysvar, clock sysvar, !authority",
		effects: []template{replacesCode, sends("buffer", "lamports to", wholeBalance),
			sends("program data", "lamports to", wholeBalance)}},
	4: {name: "SetAuthority", accounts: "account, !authority, ?new authority",
		effects: []template{hands("account", "authority", "new authority")}},
	5: {name: "Close", accounts: "account, lamports to, ?!authority, ?program account", effects: []template{
		programEnds, sends("account", "lamports to", wholeBalance)}},
	6: {name: "ExtendProgram", accounts: "program data, program account, ?system program, ?!payer",
		arguments: []argument{u32("more bytes")}, effects: append(changes("program data"), extends)},
	7: {name: "SetAuthorityChecked", accounts: "account, !authority, new authority",
		effects: []template{hands("account", "authority", "new authority")}},
	8: {name: "Migrate", accounts: "program data, program account, !authority",
		effects: changes("program account", "program data")},
	9: {name: "ExtendProgramChecked", accounts: "program data, program account, !authority, ?system program, ?!payer",
		arguments: []argument{u32("more bytes")}, effects: append(changes("program data"), extends)},
})}

// loaderV4Program manages programs in one account each. The number of an instruction is
// a u32; the layouts are those of solana-loader-v4-interface, in bincode.
var loaderV4Program = &program{name: "Loader v4", tagSize: 4, layouts: layouts(map[uint32]*layout{
	0: {name: "Write", accounts: "program account, !authority",
		arguments: []argument{u32("offset"), sizedBytes("code")}, effects: changes("program account")},
	1: {name: "Copy", accounts: "program account, !authority, source",
		arguments: []argument{u32("offset"), u32("source offset"), u32("length")}, effects: []template{replacesCode}},
	2: {name: "SetProgramLength", initializes: "program account",
		accounts: "program account, !authority, ?lamports to", arguments: []argument{u32("length")},
		effects: []template{programEnds,
			settings("program account"),
			{kind: chains.KindTransfer, from: "program account", to: "lamports to", asset: native,
				amount: wholeBalance, given: "lamports to"}}},
	3: {name: "Deploy", accounts: "program account, !authority, ?source", effects: []template{replacesCode}},
	4: {name: "Retract", accounts: "program account, !authority",
		effects: []template{freezes("authority", "program account")}},
	5: {name: "TransferAuthority", accounts: "program account, !authority, !new authority",
		effects: []template{{kind: chains.KindAuthority, from: "authority", account: "program account",
			to: "new authority", by: "authority"}}},
	6: {name: "Finalize", accounts: "program account, !authority, next version",
		effects: []template{{kind: chains.KindAuthority, from: "authority", account: "program account"}}},
})}
