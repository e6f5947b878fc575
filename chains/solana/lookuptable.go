package solana

import "github.com/countersign-dev/countersign/chains"

// lookupTableProgram maintains address lookup tables. The number of an instruction is a
// u32. The authority that may extend a table decides which accounts later transactions
// load from it.
var lookupTableProgram = &program{name: "Address Lookup Table", tagSize: 4, layouts: layouts(map[uint32]*layout{
	0: {name: "CreateLookupTable", accounts: "table, authority, !payer, system program",
		arguments: []argument{u64("recent slot"), u8("bump seed")},
		effects: []template{pays("payer", "table", tableData),
			gives("table", "authority")}},
	1: {name: "FreezeLookupTable", accounts: "table, !authority",
		effects: []template{{kind: chains.KindAuthority, from: "authority", account: "table"}}}, // to no one, for ever
	2: {name: "ExtendLookupTable", accounts: "table, !authority, ?!payer, ?system program",
		arguments: []argument{keys("address")},
		effects:   append(changes("table"), paysIfGiven("payer", "table", tableData))},
	3: {name: "DeactivateLookupTable", accounts: "table, !authority", effects: changes("table")},
	4: {name: "CloseLookupTable", accounts: "table, !authority, lamports to",
		effects: []template{sends("table", "lamports to", wholeBalance)}},
})}
