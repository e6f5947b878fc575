package solana

import "github.com/countersign-dev/countersign/chains"

// creates gives a new account an owner and its first SOL.
func creates(funder, account string) template {
	return template{kind: chains.KindCreate, from: funder, to: account, asset: native, amount: "amount", by: funder,
		args: []string{"owner", "space"},
		with: belongs}
}

// belongs names the danger of SOL in an account whose owner is a program that is not
// decoded: that program alone decides who gets it. An account of a decoded program is the
// party's that initializes it, which needs no signature of the account. One of the System
// program without data is a wallet, and its SOL a payment to that.
func belongs(r *reader, e *effect) {
	owner := r.party("owner").Address()
	amount, _ := r.number("amount")
	if amount == 0 || len(owner) != keySize {
		return
	}
	id := [keySize]byte(owner)
	space, _ := r.number("space")
	switch {
	case id == systemID && space == 0:
		e.Kind = chains.KindTransfer
	case programs[id] != nil:
		e.bare, e.rich = true, amount > rent(min(space, maxProgram))
	default:
		e.danger = HazardAuthorityChange
		e.detail = "the new account and its SOL belong to program " + encode58(owner) +
			", and what it does is not known"
	}
}

// assigns gives an account to a program, which is no one who holds a key: not even an address of ours
// makes it anyone's whom a rule names.
func assigns(account, by string) template {
	return template{kind: chains.KindAuthority, from: account, account: account, by: by, args: []string{"owner"},
		with: func(r *reader, e *effect) {
			e.danger, e.detail = HazardAuthorityChange, "control of "+partyText(e.Account)+" goes to program "+
				partyText(r.party("owner"))+", and only that can spend what it has"
		}}
}

// allocates gives an account data. From then on it can neither send SOL nor pay fees.
func allocates(by string) template {
	return template{kind: chains.KindFreeze, from: "account", account: "account", by: by, args: []string{"space"},
		with: func(_ *reader, e *effect) {
			e.danger, e.detail = HazardAuthorityChange, "an account with data can neither send SOL nor pay fees again"
		}}
}

// systemProgram creates accounts, moves SOL and maintains nonces. The number of an
// instruction is a u32; the layouts are those of solana-system-interface, in bincode.
// Any signer among the accounts may act as the authority of a nonce account.
var systemProgram = &program{name: "System", tagSize: 4, layouts: map[uint32]*layout{
	0: describe("CreateAccount", "!funder, !new account", lamports("amount"), u64("space"), key("owner")).
		does(creates("funder", "new account")),
	1: describe("Assign", "!account", key("owner")).does(assigns("account", "account")),
	2: describe("Transfer", "!from, to", lamports("amount")).does(sends("from", "to", "amount")),
	3: describe("CreateAccountWithSeed", "!funder, new account, ?base account", key("base"), text("seed"),
		lamports("amount"), u64("space"), key("owner")).does(creates("funder", "new account")),
	advanceNonce: describe("AdvanceNonceAccount", "nonce account, recent blockhashes sysvar, !nonce authority").
		byAnySigner().does(template{kind: chains.KindSettings, from: "nonce authority", account: "nonce account"}),
	5: describe("WithdrawNonceAccount",
		"nonce account, to, recent blockhashes sysvar, rent sysvar, !nonce authority", lamports("amount")).
		byAnySigner().does(withdrawsNonce),
	6: describe("InitializeNonceAccount", "nonce account, recent blockhashes sysvar, rent sysvar",
		key("nonce authority")).initializing("nonce account").does(gives("nonce account", "nonce authority")),
	7: describe("AuthorizeNonceAccount", "nonce account, !nonce authority", key("new nonce authority")).
		byAnySigner().does(passes("nonce account", "nonce authority", "new nonce authority")),
	8: describe("Allocate", "!account", u64("space")).does(allocates("account")),
	9: describe("AllocateWithSeed", "account, base account", key("base"), text("seed"), u64("space"),
		key("owner")).does(allocates("base"), assigns("account", "base")),
	10: describe("AssignWithSeed", "account, base account", key("base"), text("seed"), key("owner")).
		does(assigns("account", "base")),
	11: describe("TransferWithSeed", "from, !base account, to", lamports("amount"), text("from seed"),
		key("from owner")).does(sends("from", "to", "amount")),
	12: describe("UpgradeNonceAccount", "nonce account").does(changes("nonce account")...),

	// SIMD-0312: the account may already have SOL, and so be a wallet in use. Only an
	// amount above zero needs the funder.
	13: describe("CreateAccountAllowPrefund", "!new account, ?!funder", lamports("amount"), u64("space"),
		key("owner")).does(creates("funder", "new account"), assigns("new account", "new account")),
}}

// withdrawsNonce is what leaves a nonce account. Before that is initialized, it signs itself.
var withdrawsNonce = template{kind: chains.KindTransfer, from: "nonce account", to: "to", asset: native,
	amount: "amount",
	with:   func(r *reader, e *effect) { e.alone = r.signs(e.From) }}

// maxProgram is the largest size of an account, in bytes.
const maxProgram = 10 << 20

// The most that accounts whose rent is paid hold, in bytes.
const (
	tokenAccountData = 165
	mostAccountData  = 512 // of Token-2022, with the extensions that a mint can ask for
	mintData         = 512
	tableData        = 56 + 256*keySize
)

// rent returns the most that an account of a size must hold, in lamports: two years at
// 3,480 lamports per byte and year, with 128 bytes of overhead.
func rent(size uint64) uint64 { return (size + 128) * 6_960 }

// pays is the most that creating or enlarging an account costs a payer.
func pays(payer, account string, size uint64) template {
	return template{kind: chains.KindCreate, from: payer, to: account, asset: native, amount: wholeBalance, by: payer,
		with: func(_ *reader, e *effect) { e.Amount = chains.AtMostUint(rent(size)) }}
}
