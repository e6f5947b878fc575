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

// deploys and extends are the costs of a new program, and of room for more code in one that pays its rent.
var deploys, extends = roomFor("most code bytes"), roomFor("more bytes").provided("payer")

func roomFor(size string) template {
	return template{kind: chains.KindCreate, from: "payer", to: "program data", asset: native, amount: wholeBalance,
		by: "payer",
		with: func(r *reader, e *effect) {
			code, _ := r.number(size)
			e.Amount = chains.AtMostUint(rent(min(code, maxProgram) + programHeader))
		}}
}

// loaderV3Program manages upgradeable programs. The number of an instruction is a
// u32; the layouts are those of solana-loader-v3-interface, in bincode.
var loaderV3Program = &program{name: "Loader v3", tagSize: 4, layouts: map[uint32]*layout{
	0: describe("InitializeBuffer", "buffer, ?authority").initializing("buffer").does(gives("buffer", "authority")),
	1: describe("Write", "buffer, !authority", u32("offset"), sizedBytes("code")).does(changes("buffer")...),
	2: describe("DeployWithMaxDataLen",
		"!payer, program data, program account, buffer, "+"rent sysvar, clock sysvar, system program, !authority",
		u64("most code bytes")).initializing("program account").
		does(deploys, sends("buffer", "payer", wholeBalance), replacesCode,
			template{kind: chains.KindAuthority, account: "program data", from: "authority", to: "authority"}),
	3: describe("Upgrade",
		"program data, program account, buffer, lamports to, rent sysvar, clock sysvar, !authority").
		does(replacesCode, sends("buffer", "lamports to", wholeBalance),
			sends("program data", "lamports to", wholeBalance)),
	4: describe("SetAuthority", "account, !authority, ?new authority").
		does(hands("account", "authority", "new authority")),
	5: describe("Close", "account, lamports to, ?!authority, ?program account").
		does(programEnds, sends("account", "lamports to", wholeBalance)),
	6: describe("ExtendProgram", "program data, program account, ?system program, ?!payer", u32("more bytes")).
		does(settings("program data"), extends),
	7: describe("SetAuthorityChecked", "account, !authority, new authority").
		does(hands("account", "authority", "new authority")),
	8: describe("Migrate", "program data, program account, !authority").
		does(changes("program account", "program data")...),
	9: describe("ExtendProgramChecked", "program data, program account, !authority, ?system program, ?!payer",
		u32("more bytes")).does(settings("program data"), extends),
}}

// loaderV4Program manages programs in one account each. The number of an instruction is
// a u32; the layouts are those of solana-loader-v4-interface, in bincode.
var loaderV4Program = &program{name: "Loader v4", tagSize: 4, layouts: map[uint32]*layout{
	0: describe("Write", "program account, !authority", u32("offset"), sizedBytes("code")).
		does(changes("program account")...),
	1: describe("Copy", "program account, !authority, source", u32("offset"), u32("source offset"), u32("length")).
		does(replacesCode),
	2: describe("SetProgramLength", "program account, !authority, ?lamports to", u32("length")).
		initializing("program account").
		does(programEnds, settings("program account"),
			template{kind: chains.KindTransfer, from: "program account", to: "lamports to", asset: native,
				amount: wholeBalance, given: "lamports to"}),
	3: describe("Deploy", "program account, !authority, ?source").does(replacesCode),
	4: describe("Retract", "program account, !authority").does(freezes("authority", "program account")),
	5: describe("TransferAuthority", "program account, !authority, !new authority").
		does(template{kind: chains.KindAuthority, from: "authority", account: "program account", to: "new authority",
			by: "authority"}),
	6: describe("Finalize", "program account, !authority, next version").
		does(template{kind: chains.KindAuthority, from: "authority", account: "program account"}),
}}
