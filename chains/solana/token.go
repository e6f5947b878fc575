package solana

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// authorityTypes are the authorities that SetAuthority can set, by number. Those from
// the fifth on are Token-2022's.
var authorityTypes = []string{
	"MintTokens", "FreezeAccount", "AccountOwner", "CloseAccount",
	"TransferFeeConfig", "WithheldWithdraw", "CloseMint", "InterestRate",
	"PermanentDelegate", "ConfidentialTransferMint", "TransferHookProgramId",
	"ConfidentialTransferFeeConfig", "MetadataPointer", "GroupPointer",
	"GroupMemberPointer", "ScaledUiAmount", "Pause", "PermissionedBurn",
}

// closeAuthority is the number of CloseAccount. An account without a close authority is
// closed by its owner.
const closeAuthority = 3

const batchTag = 255

// tokenProgram is SPL Token. The number of an instruction is a u8; an optional address is a u8 and,
// if that is 1, 32 bytes. The signers of an authority that is a multisig account follow it.
var tokenProgram = &program{name: "SPL Token", tagSize: 1, layouts: tokenLayouts(4), decode: decodeToken}

func tokensMove(asset string, args ...string) []template {
	tpl := moves("from", "to", asset, "amount")
	tpl.args = args
	return []template{tpl, hook}
}

// hook is the call that a transfer of Token-2022 may make to the mint's hook program,
// which the transaction does not name, with the accounts after those of the transfer.
var hook = template{kind: chains.KindCall, when: mayCallHook, with: func(_ *reader, e *effect) {
	e.To, e.Undecoded, e.Function = chains.UnknownParty(), true, hookFunction
}}

const hookFunction = "transfer hook"

// mayCallHook reports whether a transfer has accounts other than the signers of a
// multisig: accounts after an authority that signs itself, or that do not sign.
func mayCallHook(r *reader) bool {
	if r.program.standard != splToken2022 {
		return false
	}
	authority, _ := r.role("authority")
	_, cosigned := r.role("signer")
	return len(r.further) > 0 || authority.signer && cosigned
}

func approves(asset string) []template {
	return []template{{kind: chains.KindApprove, from: "account", to: "delegate", asset: asset, amount: "amount"}}
}

var (
	mints = []template{{kind: chains.KindMint, from: "mint authority", to: "to", asset: "mint",
		amount: "amount"}}
	burns          = []template{{kind: chains.KindBurn, from: "account", asset: "mint", amount: "amount"}}
	freezesAccount = []template{freezes("freeze authority", "account")}

	// owns gives a new token account its owner.
	owns = []template{gives("account", "owner")}
)

// closesAccount frees the SOL of an account of a token, which may be a mint of Token-2022.
var closesAccount = template{kind: chains.KindTransfer, from: "account", to: "lamports to", asset: native,
	amount: wholeBalance, with: func(r *reader, e *effect) { e.closes = r.program.standard == splToken2022 }}

func governs(authorities ...string) (list []template) {
	for _, name := range authorities {
		list = append(list, givesAny("mint", name))
	}
	return list
}

// setAuthority hands over one kind of authority. Removing the close authority only
// revokes it: the right to close falls back to the owner.
var setAuthority = []template{{
	kind: chains.KindAuthority, from: "authority", account: "account or mint", to: "new authority",
	args: []string{"authority type"},
	with: func(r *reader, e *effect) {
		if number, _ := r.number("authority type"); number == closeAuthority && e.To.IsNone() {
			e.Kind = chains.KindRevoke
		}
	},
}}

var members = []template{{kind: chains.KindAuthority, account: "multisig", to: "member", each: "member",
	args: []string{"required signers"}}}

// tokenLayouts returns the instructions that SPL Token and Token-2022 share. The two
// differ in the number of authority types.
func tokenLayouts(authorities int) map[uint32]*layout {
	mint := []argument{u8("decimals"), key("mint authority"), optional("freeze authority", key("freeze authority"))}
	return map[uint32]*layout{
		0: describe("InitializeMint", "mint, rent sysvar", mint...).initializing("mint").
			does(governs("mint authority", "freeze authority")...),
		1: describe("InitializeAccount", "account, mint, owner, rent sysvar").initializing("account").does(owns...),
		2: describe("InitializeMultisig", "multisig, rent sysvar, member*", u8("required signers")).
			initializing("multisig").does(members...),
		3: describe("Transfer", "from, to, !authority, signer*", tokens("amount")).does(tokensMove(unknownToken)...),
		4: describe("Approve", "account, delegate, !owner, signer*", tokens("amount")).
			does(approves(unknownToken)...),
		5: describe("Revoke", "account, !owner, signer*").
			does(template{kind: chains.KindRevoke, from: "account", asset: unknownToken}),
		6: describe("SetAuthority", "account or mint, !authority, signer*",
			oneOf("authority type", 1, authorityTypes[:authorities]...),
			optional("new authority", key("new authority"))).does(setAuthority...),
		7: describe("MintTo", "mint, to, !mint authority, signer*", tokens("amount")).does(mints...),
		8: describe("Burn", "account, mint, !authority, signer*", tokens("amount")).does(burns...),
		9: describe("CloseAccount", "account, lamports to, !authority, signer*").
			does(closesAccount),
		10: describe("FreezeAccount", "account, mint, !freeze authority, signer*").does(freezesAccount...),
		11: describe("ThawAccount", "account, mint, !freeze authority, signer*").does(freezesAccount...),
		12: describe("TransferChecked", "from, mint, to, !authority, signer*", checkedTokens).
			does(tokensMove("mint")...),
		13: describe("ApproveChecked", "account, mint, delegate, !owner, signer*", checkedTokens).
			does(approves("mint")...),
		14: describe("MintToChecked", "mint, to, !mint authority, signer*", checkedTokens).does(mints...),
		15: describe("BurnChecked", "account, mint, !authority, signer*", checkedTokens).does(burns...),
		16: describe("InitializeAccount2", "account, mint, rent sysvar", key("owner")).initializing("account").
			does(owns...),
		17: describe("SyncNative", "account").does(changes("account")...),
		18: describe("InitializeAccount3", "account, mint", key("owner")).initializing("account").does(owns...),
		19: describe("InitializeMultisig2", "multisig, member*", u8("required signers")).initializing("multisig").
			does(members...),
		20: describe("InitializeMint2", "mint", mint...).initializing("mint").
			does(governs("mint authority", "freeze authority")...),
		21: describe("GetAccountDataSize", "mint", restU16s("extension type")).doesNothing(),
		22: describe("InitializeImmutableOwner", "account").does(changes("account")...),
		23: describe("AmountToUiAmount", "mint", tokens("amount")).doesNothing(),
		24: describe("UiAmountToAmount", "mint", restText("amount")).doesNothing(),
		38: describe("WithdrawExcessLamports", "from, lamports to, !authority, signer*").
			does(sends("from", "lamports to", wholeBalance)),
		45: describe("UnwrapLamports", "account, lamports to, !authority, signer*",
			optional("amount", lamports("amount"))).does(sends("account", "lamports to", "amount")),
	}
}

// decodeToken decodes an instruction of a token program: one of its table, or a Batch:
//
//	u8 255                        Batch
//	for each instruction:
//	  u8                          number of its accounts
//	  u8                          length of its data
//	  bytes                       its data
//
// The accounts of the instructions follow one another in those of the batch. The program
// ignores further accounts.
func decodeToken(r *reader) {
	if r.left() == 0 || r.raw[r.cursor.offset] != batchTag {
		r.decodeLayout()
		return
	}
	r.cursor.offset++
	r.operation = "Batch"
	rest := r.given
	for i := 0; (r.left() > 0 || i == 0) && r.err == nil; i++ {
		rest = r.decodeBatched(i, rest)
	}
	for i, extra := range rest {
		r.showNumbered("further account", i, extra)
	}
}

// decodeBatched decodes the next instruction of a batch, and returns the accounts that it
// leaves to the others.
func (r *reader) decodeBatched(i int, accounts []account) (rest []account) {
	var header [2]byte
	copy(header[:], r.take(2, "batch"))
	used, size := int(header[0]), int(header[1])
	offset := r.skip(size, "batch")
	if used > len(accounts) {
		r.fail(fmt.Errorf("it needs %d accounts, and %d are left", used, len(accounts)))
	}
	if r.err == nil {
		inner := r.nested(i, cursor{raw: r.raw[:r.cursor.offset], offset: offset}, accounts[:used])
		inner.program = r.program
		inner.decodeLayout()
		r.err, r.inner = inner.err, append(r.inner, inner)
		r.show(func() chains.Field { return chains.List(fmt.Sprintf("instruction %d", i), inner.fields()...) })
	}
	if r.err != nil {
		r.err = fmt.Errorf("instruction %d of the batch: %w", i, r.err)
		return nil
	}
	return accounts[used:]
}

// sets is a change of a mint's settings that also sets authorities.
func sets(authorities ...string) []template {
	return append(changes("mint"), governs(authorities...)...)
}

// withheld moves the fees that were withheld from transfers.
var withheld = []template{moves("mint", "to", "mint", wholeBalance)}

// harvests moves withheld fees, which the owners cannot reach, to the mint.
var harvests = append(changes("mint"), template{kind: chains.KindSettings, account: "source", each: "source"})

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
