package solana

import (
	"crypto/sha256"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// squadsProgram is Squads Multisig v4. An instruction begins with the first 8 bytes of
// SHA-256("global:" ‖ its name); arguments are in Borsh. The program's own address stands for an
// account that is left out. Approving or executing what an account stores is not decoded: the
// content is not in the transaction. Storing it is decoded, with the instructions that it stores.
//
// The layouts follow the program's published source and IDL (Squads-Protocol/v4
// c14a6d6); LiteSVM does not have the program.
var squadsProgram = &program{name: "Squads", tagSize: 1}

// init fills in the table: stored instructions are decoded by every program's table,
// this one included, which would be an initialization cycle.
func init() {
	squadsProgram.tagged = map[[discriminatorSize]byte]*layout{}
	for _, l := range squadsLayouts {
		digest := sha256.Sum256([]byte("global:" + l.name))
		squadsProgram.tagged[[discriminatorSize]byte(digest[:])] = l
	}
	squadsProgram.decode = func(r *reader) {
		if r.depth >= chains.MaxCallDepth { // of stored instructions
			r.fail(fmt.Errorf("it is nested %d deep", r.depth))
			return
		}
		r.decodeLeavingOut(squadsID, func(string) bool { return true })
	}
}

// squadsMemo ends most instructions.
var squadsMemo = optional("memo", shortText("memo"))

const (
	byConfigAuthority = "multisig, !config authority, ?!rent payer, ?system program"
	storesFor         = ", !creator, !rent payer, system program"
	closesAccounts    = "multisig, proposal, transaction, rent collector, system program"
)

// storedCall executes, or helps to execute, what an account stores.
var storedCall = []template{{kind: chains.KindCall, account: "proposal", with: func(r *reader, e *effect) {
	e.To, e.Undecoded, e.Function = party(squadsID[:]), true, r.operation
}}}

// stores is the most that an account for stored content costs.
func stores(account string) template {
	return pays("rent payer", account, mostAccountData+maxTransaction)
}

// maxTransaction bounds what one transaction can store.
const maxTransaction = DefaultMaxSizeV1

// joins gives new members of a multisig their part in it.
func joins(from string) template {
	return template{kind: chains.KindAuthority, from: from, account: "multisig", to: "member", each: "member"}
}

// spends is what a spending limit allows each of its members. The mint of SOL is an
// address of zero bytes.
var spends = template{kind: chains.KindApprove, from: "multisig", to: "spender", asset: "mint", amount: "limit",
	each: "spender"}

var squadsLayouts = []*layout{
	describe("program_config_set_authority", "program config, !authority", key("new authority")).
		does(hands("program config", "authority", "new authority")),
	describe("program_config_set_multisig_creation_fee", "program config, !authority", lamports("fee")).
		does(changes("program config")...),
	describe("program_config_set_treasury", "program config, !authority", key("treasury")).
		does(hands("program config", "authority", "treasury")),
	describe("multisig_create_v2", "program config, treasury, multisig, create key, creator, system program",
		optional("config authority", key("config authority")), u16("threshold"), squadsMembers,
		u32("time lock in seconds"), optional("rent collector", key("rent collector")), squadsMemo).
		does(pays("creator", "multisig", mostAccountData+maxTransaction),
			template{kind: chains.KindTransfer, from: "creator", to: "treasury", asset: native, amount: unstated,
				by: "creator"},
			givesAny("multisig", "config authority"), joins("")),
	describe("multisig_add_member", byConfigAuthority, squadsMember, squadsMemo).
		does(joins("config authority"), extraRent),
	describe("multisig_remove_member", byConfigAuthority, key("removed member"), squadsMemo).does(governsSquad...),
	describe("multisig_set_time_lock", byConfigAuthority, u32("time lock in seconds"), squadsMemo).
		does(governsSquad...),
	describe("multisig_change_threshold", byConfigAuthority, u16("threshold"), squadsMemo).does(governsSquad...),
	describe("multisig_set_config_authority", byConfigAuthority, key("new config authority"), squadsMemo).
		does(hands("multisig", "config authority", "new config authority")),
	describe("multisig_set_rent_collector", byConfigAuthority, optional("rent collector", key("rent collector")),
		squadsMemo).does(settings("multisig"), extraRent),
	describe("multisig_add_spending_limit", "multisig, !config authority, spending limit, !rent payer, system program",
		key("create key"), spendingLimit, squadsMemo).does(spends, stores("spending limit")),
	describe("multisig_remove_spending_limit", "multisig, !config authority, spending limit, rent collector",
		squadsMemo).does(settings("multisig"), sends("spending limit", "rent collector", wholeBalance)),
	describe("config_transaction_create", "multisig, transaction"+storesFor, squadsActions, squadsMemo).
		does(whenExecuted(joins("multisig")), whenExecuted(spends),
			template{kind: chains.KindSettings, account: "multisig", with: votingRule}, stores("transaction")),
	describe("config_transaction_execute", "multisig, !member, proposal, transaction, further account*").
		does(storedCall...),
	describe("vault_transaction_create", "multisig, transaction"+storesFor, u8("vault"), u8("ephemeral signers"),
		storedMessage, squadsMemo).does(stores("transaction")),
	describe("transaction_buffer_create", "multisig, buffer"+storesFor, u8("buffer number"), u8("vault"),
		fixedBytes("final hash", 32), u16("final size"), shortBytes("part")).does(stores("buffer")),
	describe("transaction_buffer_close", "multisig, buffer, !creator").does(sends("buffer", "creator", wholeBalance)),
	describe("transaction_buffer_extend", "multisig, buffer, !creator", shortBytes("part")).does(changes("buffer")...),
	describe("vault_transaction_execute", "multisig, proposal, transaction, !member, further account*").
		does(storedCall...),
	describe("batch_create", "multisig, batch"+storesFor, u8("vault"), squadsMemo).does(stores("batch")),
	describe("batch_add_transaction", "multisig, proposal, batch, transaction, !member, !rent payer, system program",
		u8("ephemeral signers"), storedMessage).does(stores("transaction")),
	describe("batch_execute_transaction", "multisig, !member, proposal, batch, transaction, further account*").
		does(storedCall...),
	describe("proposal_create", "multisig, proposal"+storesFor, u64("transaction number"), boolean("draft")).
		does(stores("proposal")),
	describe("proposal_activate", "multisig, !member, proposal").does(changes("proposal")...),
	describe("proposal_approve", "multisig, !member, proposal", squadsMemo).does(storedCall...),
	describe("proposal_reject", "multisig, !member, proposal", squadsMemo).does(changes("proposal")...),
	describe("proposal_cancel", "multisig, !member, proposal", squadsMemo).does(changes("proposal")...),
	describe("spending_limit_use",
		"multisig, !member, spending limit, vault, destination, ?system program or none, ?mint, "+
			"?vault token account, ?destination token account, ?token program or none",
		u64("amount"), u8("decimals"), squadsMemo).does(spendsSOL, spendsTokens, settings("spending limit")),
	describe("config_transaction_accounts_close", closesAccounts).does(closesTransaction...),
	describe("vault_transaction_accounts_close", closesAccounts).does(closesTransaction...),
	describe("vault_batch_transaction_account_close",
		"multisig, proposal, batch, transaction, rent collector, system program").
		does(settings("batch"), sends("transaction", "rent collector", wholeBalance)),
	describe("batch_accounts_close", "multisig, proposal, batch, rent collector, system program").
		does(sends("proposal", "rent collector", wholeBalance), sends("batch", "rent collector", wholeBalance)),
}

var (
	extraRent    = pays("rent payer", "multisig", mostAccountData+maxTransaction).provided("rent payer")
	governsSquad = []template{{kind: chains.KindSettings, from: "config authority", account: "multisig",
		with: votingRule}, extraRent}
	closesTransaction = []template{sends("proposal", "rent collector", wholeBalance),
		sends("transaction", "rent collector", wholeBalance)}
)

// whenExecuted is an effect that happens when the multisig executes what is stored.
func whenExecuted(tpl template) template {
	tpl.with = func(_ *reader, e *effect) { e.By = chains.ByStanding }
	return tpl
}

// votingRule marks a change of who must approve, or of how long that takes.
func votingRule(_ *reader, e *effect) {
	e.danger, e.detail = HazardAuthorityChange,
		"the rules by which a multisig decides are changed: its members, its threshold, or its time lock"
}

// What a spending limit pays: SOL, or a token.
var (
	spendsSOL = template{kind: chains.KindTransfer, from: "vault", to: "destination", asset: native, amount: "amount",
		when: func(r *reader) bool { return !spendsToken(r) }}
	spendsTokens = template{kind: chains.KindTransfer, from: "vault token account", to: "destination token account",
		asset: "mint", amount: "amount", when: spendsToken}
)

// spendsToken reports whether a spending limit is used for a token: a mint is given
// that is not the program's address, which stands for none.
func spendsToken(r *reader) bool {
	mint, ok := r.role("mint")
	return ok && !mint.is(squadsID)
}

var squadsMembers = many("members", squadsMember)

// squadsMember is an address and a byte of permissions: 1 initiates, 2 votes, 4 executes.
var squadsMember = sequence(key("member"), u8("permissions"))

// spendingLimit follows the key that the limit's address is derived from.
var spendingLimit = sequence(u8("vault"), key("mint"), u64("limit"),
	oneOf("period", 1, "OneTime", "Day", "Week", "Month"),
	many("members", key("spender")), many("destinations", key("destination")))

// squadsActions are the changes of a configuration transaction.
var squadsActions = many("actions", variant("action", nil,
	squadsMember, key("removed member"), u16("threshold"), u32("time lock in seconds"),
	sequence(key("create key"), spendingLimit), key("removed spending limit"),
	optional("rent collector", key("rent collector"))))
