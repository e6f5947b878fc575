package solana

import (
	"fmt"
	"maps"

	"github.com/countersign-dev/countersign/chains"
)

// authorityTypes are what SetAuthority can hand over, in the order of their
// numbers. Those from the fifth on are Token-2022's.
var authorityTypes = []string{
	"MintTokens", "FreezeAccount", "AccountOwner", "CloseAccount",
	"TransferFeeConfig", "WithheldWithdraw", "CloseMint", "InterestRate",
	"PermanentDelegate", "ConfidentialTransferMint", "TransferHookProgramId",
	"ConfidentialTransferFeeConfig", "MetadataPointer", "GroupPointer",
	"GroupMemberPointer", "ScaledUiAmount", "Pause", "PermissionedBurn",
}

// batchTag is the number of SPL Token's Batch.
const batchTag = 255

// tokenProgram is SPL Token. The number of an instruction is a u8; an optional
// address is a u8 and, if that is 1, 32 bytes. An authority that is a multisig
// account is followed by its signers.
var tokenProgram = program{
	name: "SPL Token", tagSize: 1, layouts: tokenLayouts(4),
	decode: decodeToken,
}

// tokenLayouts are the instructions that SPL Token and Token-2022 share. They
// differ in how many types of authority they know.
func tokenLayouts(authorities int) map[uint32]layout {
	return map[uint32]layout{
		0: {name: "InitializeMint", accounts: "mint, " + rentSysvar,
			arguments: []argument{u8("decimals"), key("mint authority"), optional("freeze authority", key("freeze authority"))}},
		1: {name: "InitializeAccount", accounts: "account, mint, owner, " + rentSysvar},
		2: {name: "InitializeMultisig", accounts: "multisig, " + rentSysvar + ", signer*",
			arguments: []argument{u8("required signers")}},
		3: {name: "Transfer", accounts: "from, to, authority, signer*",
			arguments: []argument{tokens("amount")}},
		4: {name: "Approve", accounts: "account, delegate, owner, signer*",
			arguments: []argument{tokens("amount")}},
		5: {name: "Revoke", accounts: "account, owner, signer*"},
		6: {name: "SetAuthority", accounts: "account or mint, authority, signer*",
			arguments: []argument{oneOf("authority type", 1, authorityTypes[:authorities]...), optional("new authority", key("new authority"))}},
		7: {name: "MintTo", accounts: "mint, to, mint authority, signer*",
			arguments: []argument{tokens("amount")}},
		8: {name: "Burn", accounts: "account, mint, authority, signer*",
			arguments: []argument{tokens("amount")}},
		9:  {name: "CloseAccount", accounts: "account, lamports to, authority, signer*"},
		10: {name: "FreezeAccount", accounts: "account, mint, freeze authority, signer*"},
		11: {name: "ThawAccount", accounts: "account, mint, freeze authority, signer*"},
		12: {name: "TransferChecked", accounts: "from, mint, to, authority, signer*",
			arguments: []argument{checkedTokens("amount")}},
		13: {name: "ApproveChecked", accounts: "account, mint, delegate, owner, signer*",
			arguments: []argument{checkedTokens("amount")}},
		14: {name: "MintToChecked", accounts: "mint, to, mint authority, signer*",
			arguments: []argument{checkedTokens("amount")}},
		15: {name: "BurnChecked", accounts: "account, mint, authority, signer*",
			arguments: []argument{checkedTokens("amount")}},
		16: {name: "InitializeAccount2", accounts: "account, mint, " + rentSysvar,
			arguments: []argument{key("owner")}},
		17: {name: "SyncNative", accounts: "account"},
		18: {name: "InitializeAccount3", accounts: "account, mint",
			arguments: []argument{key("owner")}},
		19: {name: "InitializeMultisig2", accounts: "multisig, signer*",
			arguments: []argument{u8("required signers")}},
		20: {name: "InitializeMint2", accounts: "mint",
			arguments: []argument{u8("decimals"), key("mint authority"), optional("freeze authority", key("freeze authority"))}},
		21: {name: "GetAccountDataSize", accounts: "mint",
			arguments: []argument{restU16s("extension type")}},
		22: {name: "InitializeImmutableOwner", accounts: "account"},
		23: {name: "AmountToUiAmount", accounts: "mint",
			arguments: []argument{tokens("amount")}},
		24: {name: "UiAmountToAmount", accounts: "mint",
			arguments: []argument{restText("amount")}},
		38: {name: "WithdrawExcessLamports", accounts: "from, lamports to, authority, signer*"},
		45: {name: "UnwrapLamports", accounts: "account, lamports to, authority, signer*",
			arguments: []argument{optional("amount", lamports("amount"))}},
	}
}

// decodeToken reads an instruction of SPL Token: one of its table, or a Batch:
//
//	u8 255                        Batch
//	for each instruction:
//	  u8                          number of its accounts
//	  u8                          length of its data
//	  bytes                       its data
//
// whose accounts follow one another in those of the batch.
func decodeToken(p program, t *Transaction, accounts []byte, c *cursor) (decoded, error) {
	if c.at == len(c.raw) || c.raw[c.at] != batchTag {
		return p.decodeLayout(t, accounts, c)
	}
	c.at++
	result := decoded{operation: "Batch"}
	for i := 0; c.at < len(c.raw); i++ {
		inner, used, err := p.decodeBatched(t, accounts, c)
		if err != nil {
			return decoded{}, fmt.Errorf("instruction %d of the batch: %w", i, err)
		}
		accounts = accounts[used:]
		result.arguments = append(result.arguments, chains.List(fmt.Sprintf("instruction %d", i), inner.fields()...))
	}
	if len(accounts) > 0 {
		return decoded{}, fmt.Errorf("the batch leaves %d accounts over", len(accounts))
	}
	return result, nil
}

func (p program) decodeBatched(t *Transaction, accounts []byte, c *cursor) (inner decoded, used int, err error) {
	header, err := c.skip(2, "batch")
	if err != nil {
		return decoded{}, 0, err
	}
	used = int(c.raw[header])
	at, err := c.skip(int(c.raw[header+1]), "batch")
	if err != nil {
		return decoded{}, 0, err
	}
	if used > len(accounts) {
		return decoded{}, 0, fmt.Errorf("it needs %d accounts, and %d are left", used, len(accounts))
	}
	inner, err = p.decodeLayout(t, accounts[:used], &cursor{raw: c.raw[:c.at], at: at})
	return inner, used, err
}

// token2022Program is Token-2022: SPL Token's instructions and those of its
// extensions. The confidential ones carry proofs and have no fixed layout.
var token2022Program = program{name: "Token-2022", tagSize: 1, layouts: token2022Layouts()}

func token2022Layouts() map[uint32]layout {
	layouts := tokenLayouts(len(authorityTypes))
	maps.Copy(layouts, token2022Extensions)
	return layouts
}

// fields shows the instruction: what it does, its arguments, its accounts.
func (d decoded) fields() []chains.Field {
	fields := []chains.Field{chains.Text("operation", d.operation)}
	fields = append(fields, d.arguments...)
	return append(fields, d.accounts...)
}
