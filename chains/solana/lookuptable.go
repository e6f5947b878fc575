package solana

import "github.com/countersign-dev/countersign/chains"

// lookupTableProgram maintains address lookup tables. The number of an instruction is a u32. The
// authority that may extend a table decides which accounts later transactions load from it.
var lookupTableProgram = &program{name: "Address Lookup Table", tagSize: 4, layouts: map[uint32]*layout{
	0: describe("CreateLookupTable", "table, authority, !payer, system program", u64("recent slot"), u8("bump seed")).
		does(pays("payer", "table", tableData), gives("table", "authority")),
	1: describe("FreezeLookupTable", "table, !authority").
		does(template{kind: chains.KindAuthority, from: "authority", account: "table"}), // to no one, for ever
	2: describe("ExtendLookupTable", "table, !authority, ?!payer, ?system program", keys("address")).
		does(settings("table"), pays("payer", "table", tableData).provided("payer")),
	3: describe("DeactivateLookupTable", "table, !authority").does(changes("table")...),
	4: describe("CloseLookupTable", "table, !authority, lamports to").
		does(sends("table", "lamports to", wholeBalance)),
}}
