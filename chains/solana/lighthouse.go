package solana

// lighthouseProgram compares accounts with what the sender expects, and fails the
// transaction if they differ: wallets guard payments with it. The number of an
// instruction is a u8, as in the enum LighthouseInstruction of Jac0xb/lighthouse 4c57947.
//
// An assertion reads its accounts and changes none, whatever access it is given. It is
// not shown what exactly is asserted. The others are not decoded: MemoryWrite (0) and
// MemoryClose (1) move rent, and AssertMerkleTreeAccount (16) calls another program.
var lighthouseProgram = &program{name: "Lighthouse", tagSize: 1, layouts: map[uint32]*layout{
	2:  asserts("AssertAccountData", assertedOne),
	3:  asserts("AssertAccountDataMulti", assertedOne),
	4:  asserts("AssertAccountDelta", assertedOne+", and on"),
	5:  asserts("AssertAccountInfo", assertedOne),
	6:  asserts("AssertAccountInfoMulti", assertedOne),
	7:  asserts("AssertMintAccount", assertedOne),
	8:  asserts("AssertMintAccountMulti", assertedOne),
	9:  asserts("AssertTokenAccount", assertedOne),
	10: asserts("AssertTokenAccountMulti", assertedOne),
	11: asserts("AssertStakeAccount", assertedOne),
	12: asserts("AssertStakeAccountMulti", assertedOne),
	13: asserts("AssertUpgradeableLoaderAccount", assertedOne),
	14: asserts("AssertUpgradeableLoaderAccountMulti", assertedOne),
	15: asserts("AssertSysvarClock", ""), // reads the clock without being given it
	17: asserts("AssertBubblegumTreeConfigAccount", assertedOne),
}}

const assertedOne = "asserts on"

func asserts(name, accounts string) *layout {
	return describe(name, accounts, u8("log level"), restBytes("assertion")).doesNothing()
}
