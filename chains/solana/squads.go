package solana

import (
	"crypto/sha256"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// squadsProgram is Squads Multisig v4. An instruction begins with the first 8
// bytes of SHA-256("global:" ‖ its name); arguments are in Borsh. The program's own
// address stands for an account that is left out. Approving or executing what an
// account stores is not decoded: the content is not in the transaction. Storing it
// is decoded, with the instructions that it stores.
//
// The layouts follow the program's published source and IDL (Squads-Protocol/v4
// c14a6d6); LiteSVM does not have the program.
var squadsProgram = &program{name: "Squads", tagSize: 1}

// init fills in the table: stored instructions are decoded by every program's table,
// this one included, which would be an initialization cycle.
func init() {
	squadsProgram.tagged = map[[discriminatorSize]byte]*layout{}
	for i := range squadsLayouts {
		l := squadsLayouts[i]
		digest := sha256.Sum256([]byte("global:" + l.name))
		squadsProgram.tagged[[discriminatorSize]byte(digest[:])] = l.prepare()
	}
	squadsProgram.decode = decodeSquads
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

func joins(account string) template {
	return template{kind: chains.KindAuthority, from: "config authority", account: account, to: "member",
		each: "member"}
}

// spends is what a spending limit allows each of its members. The mint of SOL is an
// address of zero bytes.
var spends = template{kind: chains.KindApprove, from: "multisig", to: "spender", asset: "mint", amount: "limit",
	each: "spender"}

var squadsLayouts = []*layout{
	{name: "program_config_set_authority", accounts: "program config, !authority",
		arguments: []argument{key("new authority")},
		effects:   []template{hands("program config", "authority", "new authority")}},
	{name: "program_config_set_multisig_creation_fee", accounts: "program config, !authority",
		arguments: []argument{lamports("fee")}, effects: changes("program config")},
	{name: "program_config_set_treasury", accounts: "program config, !authority",
		arguments: []argument{key("treasury")},
		effects:   []template{hands("program config", "authority", "treasury")}},
	{name: "multisig_create_v2", accounts: "program config, treasury, multisig, create key, creator, system program",
		arguments: []argument{optional("config authority", key("config authority")), u16("threshold"), squadsMembers,
			u32("time lock in seconds"), optional("rent collector", key("rent collector")), squadsMemo},
		effects: []template{pays("creator", "multisig", mostAccountData+maxTransaction),
			{kind: chains.KindTransfer, from: "creator", to: "treasury", asset: native, amount: unstated,
				by: "creator"},
			givesAny("multisig", "config authority"),
			{kind: chains.KindAuthority, account: "multisig", to: "member", each: "member"}}},
	{name: "multisig_add_member", accounts: byConfigAuthority, arguments: []argument{squadsMember, squadsMemo},
		effects: []template{joins("multisig"), extraRent}},
	{name: "multisig_remove_member", accounts: byConfigAuthority,
		arguments: []argument{key("removed member"), squadsMemo}, effects: governsSquad},
	{name: "multisig_set_time_lock", accounts: byConfigAuthority,
		arguments: []argument{u32("time lock in seconds"), squadsMemo}, effects: governsSquad},
	{name: "multisig_change_threshold", accounts: byConfigAuthority,
		arguments: []argument{u16("threshold"), squadsMemo}, effects: governsSquad},
	{name: "multisig_set_config_authority", accounts: byConfigAuthority,
		arguments: []argument{key("new config authority"), squadsMemo},
		effects:   []template{hands("multisig", "config authority", "new config authority")}},
	{name: "multisig_set_rent_collector", accounts: byConfigAuthority,
		arguments: []argument{optional("rent collector", key("rent collector")), squadsMemo},
		effects:   append(changes("multisig"), extraRent)},
	{name: "multisig_add_spending_limit",
		accounts:  "multisig, !config authority, spending limit, !rent payer, system program",
		arguments: []argument{key("create key"), spendingLimit, squadsMemo},
		effects:   []template{spends, stores("spending limit")}},
	{name: "multisig_remove_spending_limit", accounts: "multisig, !config authority, spending limit, rent collector",
		arguments: []argument{squadsMemo},
		effects:   append(changes("multisig"), sends("spending limit", "rent collector", wholeBalance))},
	{name: "config_transaction_create", accounts: "multisig, transaction" + storesFor,
		arguments: []argument{squadsActions, squadsMemo},
		effects: []template{{kind: chains.KindAuthority, from: "multisig", account: "multisig", to: "member",
			each: "member", with: whenExecuted},
			{kind: chains.KindApprove, from: "multisig", to: "spender", asset: "mint", amount: "limit",
				each: "spender", with: whenExecuted},
			{kind: chains.KindSettings, account: "multisig", with: votingRule}, stores("transaction")}},
	{name: "config_transaction_execute", accounts: "multisig, !member, proposal, transaction, further account*",
		effects: storedCall},
	{name: "vault_transaction_create", accounts: "multisig, transaction" + storesFor,
		arguments: []argument{u8("vault"), u8("ephemeral signers"), storedMessage, squadsMemo},
		effects:   []template{stores("transaction")}},
	{name: "transaction_buffer_create", accounts: "multisig, buffer" + storesFor,
		arguments: []argument{u8("buffer number"), u8("vault"), fixedBytes("final hash", 32), u16("final size"),
			shortBytes("part")}, effects: []template{stores("buffer")}},
	{name: "transaction_buffer_close", accounts: "multisig, buffer, !creator",
		effects: []template{sends("buffer", "creator", wholeBalance)}},
	{name: "transaction_buffer_extend", accounts: "multisig, buffer, !creator",
		arguments: []argument{shortBytes("part")}, effects: changes("buffer")},
	{name: "vault_transaction_execute", accounts: "multisig, proposal, transaction, !member, further account*",
		effects: storedCall},
	{name: "batch_create", accounts: "multisig, batch" + storesFor, arguments: []argument{u8("vault"), squadsMemo},
		effects: []template{stores("batch")}},
	{name: "batch_add_transaction",
		accounts:  "multisig, proposal, batch, transaction, !member, !rent payer, system program",
		arguments: []argument{u8("ephemeral signers"), storedMessage}, effects: []template{stores("transaction")}},
	{name: "batch_execute_transaction", accounts: "multisig, !member, proposal, batch, transaction, further account*",
		effects: storedCall},
	{name: "proposal_create", accounts: "multisig, proposal" + storesFor,
		arguments: []argument{u64("transaction number"), boolean("draft")},
		effects:   []template{stores("proposal")}},
	{name: "proposal_activate", accounts: "multisig, !member, proposal", effects: changes("proposal")},
	{name: "proposal_approve", accounts: "multisig, !member, proposal", arguments: []argument{squadsMemo},
		effects: storedCall},
	{name: "proposal_reject", accounts: "multisig, !member, proposal", arguments: []argument{squadsMemo},
		effects: changes("proposal")},
	{name: "proposal_cancel", accounts: "multisig, !member, proposal", arguments: []argument{squadsMemo},
		effects: changes("proposal")},
	{name: "spending_limit_use",
		accounts: "multisig, !member, spending limit, vault, destination, ?system program or none, ?mint, " +
			"?vault token account, ?destination token account, ?token program or none",
		arguments: []argument{u64("amount"), u8("decimals"), squadsMemo},
		effects: []template{
			{kind: chains.KindTransfer, from: "vault", to: "destination", asset: native, amount: "amount",
				when: func(r *reader) bool { return !spendsToken(r) }},
			{kind: chains.KindTransfer, from: "vault token account", to: "destination token account", asset: "mint",
				amount: "amount", when: spendsToken},
			settings("spending limit")}},
	{name: "config_transaction_accounts_close", accounts: closesAccounts, effects: closesTransaction},
	{name: "vault_transaction_accounts_close", accounts: closesAccounts, effects: closesTransaction},
	{name: "vault_batch_transaction_account_close",
		accounts: "multisig, proposal, batch, transaction, rent collector, system program",
		effects:  append(changes("batch"), sends("transaction", "rent collector", wholeBalance))},
	{name: "batch_accounts_close", accounts: "multisig, proposal, batch, rent collector, system program",
		effects: []template{sends("proposal", "rent collector", wholeBalance),
			sends("batch", "rent collector", wholeBalance)}},
}

var (
	extraRent    = paysIfGiven("rent payer", "multisig", mostAccountData+maxTransaction)
	governsSquad = []template{{kind: chains.KindSettings, from: "config authority", account: "multisig",
		with: votingRule}, extraRent}
	closesTransaction = []template{sends("proposal", "rent collector", wholeBalance),
		sends("transaction", "rent collector", wholeBalance)}
)

// whenExecuted marks an effect that happens when the multisig executes what is stored.
func whenExecuted(_ *reader, e *effect) { e.By = chains.ByStanding }

// votingRule marks a change of who must approve, or of how long that takes.
func votingRule(_ *reader, e *effect) {
	e.danger, e.detail = HazardAuthorityChange,
		"the rules by which a multisig decides are changed: its members, its threshold, or its time lock"
}

// spendsToken reports whether a spending limit is used for a token: a mint is given
// that is not the program's address, which stands for none.
func spendsToken(r *reader) bool {
	mint, ok := r.role("mint")
	return ok && !mint.is(squadsID)
}

// decodeSquads decodes an instruction. It bounds how deep stored ones are nested.
func decodeSquads(r *reader) {
	if r.depth >= chains.MaxCallDepth {
		r.fail(fmt.Errorf("it is nested %d deep", r.depth))
		return
	}
	r.decodeLeavingOut(squadsID, func(string) bool { return true })
}

var squadsMembers = many("members", squadsMember)

// squadsMember is an address and a byte of permissions: 1 initiates, 2 votes, 4
// executes.
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
