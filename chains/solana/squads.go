package solana

import (
	"crypto/sha256"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// squadsProgram is Squads Multisig v4. An instruction begins with the first 8
// bytes of SHA-256("global:" ‖ its name); arguments are in Borsh. An account that
// is left out is given as the program itself. To approve or execute what an
// account stores is not decoded: the content is not in the transaction. To store it
// is: its instructions are decoded as far as they can be.
//
// It was written by the program's published source and IDL (Squads-Protocol/v4
// c14a6d6); litesvm does not have the program.
var squadsProgram = &program{name: "Squads", tagSize: 1}

// The table is filled in here because stored instructions are decoded by all
// tables, this one among them.
func init() {
	squadsProgram.tagged = map[[discriminatorSize]byte]*layout{}
	for i := range squadsLayouts {
		l := squadsLayouts[i]
		digest := sha256.Sum256([]byte("global:" + l.name))
		squadsProgram.tagged[[discriminatorSize]byte(digest[:])] = l.prepare()
	}
	squadsProgram.decode = decodeSquads
}

// squadsMemo is what most instructions end with.
var squadsMemo = optional("memo", shortText("memo"))

const (
	byConfigAuthority = "multisig, !config authority, ?!rent payer, ?" + systemRole
	storesFor         = ", !creator, !rent payer, " + systemRole
	closesAccounts    = "multisig, proposal, transaction, rent collector, " + systemRole
)

// storedCall is a call of what an account holds.
var storedCall = []doing{{kind: chains.KindCall, account: "proposal", with: func(r *reading, e *effect) {
	e.To, e.Undecoded, e.Function = party(squadsID[:]), true, r.operation
}}}

// stores is what it costs to put something into an account, at most.
func stores(account string) doing { return pays("rent payer", account, mostAccountData+maxTransaction) }

// maxTransaction bounds what one transaction can store.
const maxTransaction = DefaultMaxSizeV1

func joins(account string) doing {
	return doing{kind: chains.KindAuthority, from: "config authority", account: account, to: "member", each: "member"}
}

// spends is what a spending limit allows each of its members. An address of all
// zeros is SOL.
var spends = doing{kind: chains.KindApprove, from: "multisig", to: "spender", asset: "mint", amount: "limit", each: "spender"}

var squadsLayouts = []*layout{
	{name: "program_config_set_authority", accounts: "program config, !authority", arguments: []argument{key("new authority")},
		does: []doing{hands("program config", "authority", "new authority")}},
	{name: "program_config_set_multisig_creation_fee", accounts: "program config, !authority", arguments: []argument{lamports("fee")}, does: changes("program config")},
	{name: "program_config_set_treasury", accounts: "program config, !authority", arguments: []argument{key("treasury")},
		does: []doing{hands("program config", "authority", "treasury")}},
	{name: "multisig_create_v2", accounts: "program config, treasury, multisig, create key, creator, " + systemRole,
		arguments: []argument{optional("config authority", key("config authority")), u16("threshold"), squadsMembers,
			u32("time lock in seconds"), optional("rent collector", key("rent collector")), squadsMemo},
		does: []doing{pays("creator", "multisig", mostAccountData+maxTransaction),
			{kind: chains.KindTransfer, from: "creator", to: "treasury", asset: native, amount: notSaid, by: "creator"},
			{kind: chains.KindAuthority, account: "multisig", to: "config authority", given: "config authority"},
			{kind: chains.KindAuthority, account: "multisig", to: "member", each: "member"}}},
	{name: "multisig_add_member", accounts: byConfigAuthority, arguments: []argument{squadsMember, squadsMemo},
		does: []doing{joins("multisig"), extraRent}},
	{name: "multisig_remove_member", accounts: byConfigAuthority, arguments: []argument{key("removed member"), squadsMemo}, does: removes},
	{name: "multisig_set_time_lock", accounts: byConfigAuthority, arguments: []argument{u32("time lock in seconds"), squadsMemo}, does: governsSquad},
	{name: "multisig_change_threshold", accounts: byConfigAuthority, arguments: []argument{u16("threshold"), squadsMemo}, does: governsSquad},
	{name: "multisig_set_config_authority", accounts: byConfigAuthority, arguments: []argument{key("new config authority"), squadsMemo},
		does: []doing{hands("multisig", "config authority", "new config authority")}},
	{name: "multisig_set_rent_collector", accounts: byConfigAuthority,
		arguments: []argument{optional("rent collector", key("rent collector")), squadsMemo}, does: append(changes("multisig"), extraRent)},
	{name: "multisig_add_spending_limit", accounts: "multisig, !config authority, spending limit, !rent payer, " + systemRole,
		arguments: []argument{key("create key"), spendingLimit, squadsMemo}, does: []doing{spends, stores("spending limit")}},
	{name: "multisig_remove_spending_limit", accounts: "multisig, !config authority, spending limit, rent collector",
		arguments: []argument{squadsMemo}, does: append(changes("multisig"), sends("spending limit", "rent collector", allOfIt))},
	{name: "config_transaction_create", accounts: "multisig, transaction" + storesFor, arguments: []argument{squadsActions, squadsMemo},
		does: []doing{{kind: chains.KindAuthority, from: "multisig", account: "multisig", to: "member", each: "member", with: stored},
			{kind: chains.KindApprove, from: "multisig", to: "spender", asset: "mint", amount: "limit", each: "spender", with: stored},
			{kind: chains.KindSettings, account: "multisig", with: storedRule}, stores("transaction")}},
	{name: "config_transaction_execute", accounts: "multisig, !member, proposal, transaction, further account*", does: storedCall},
	{name: "vault_transaction_create", accounts: "multisig, transaction" + storesFor,
		arguments: []argument{u8("vault"), u8("ephemeral signers"), storedMessage, squadsMemo}, does: []doing{stores("transaction")}},
	{name: "transaction_buffer_create", accounts: "multisig, buffer" + storesFor,
		arguments: []argument{u8("buffer number"), u8("vault"), fixedBytes("final hash", 32), u16("final size"), shortBytes("part")}, does: []doing{stores("buffer")}},
	{name: "transaction_buffer_close", accounts: "multisig, buffer, !creator", does: []doing{sends("buffer", "creator", allOfIt)}},
	{name: "transaction_buffer_extend", accounts: "multisig, buffer, !creator", arguments: []argument{shortBytes("part")}, does: changes("buffer")},
	{name: "vault_transaction_execute", accounts: "multisig, proposal, transaction, !member, further account*", does: storedCall},
	{name: "batch_create", accounts: "multisig, batch" + storesFor, arguments: []argument{u8("vault"), squadsMemo}, does: []doing{stores("batch")}},
	{name: "batch_add_transaction", accounts: "multisig, proposal, batch, transaction, !member, !rent payer, " + systemRole,
		arguments: []argument{u8("ephemeral signers"), storedMessage}, does: []doing{stores("transaction")}},
	{name: "batch_execute_transaction", accounts: "multisig, !member, proposal, batch, transaction, further account*", does: storedCall},
	{name: "proposal_create", accounts: "multisig, proposal" + storesFor, arguments: []argument{u64("transaction number"), boolean("draft")},
		does: []doing{stores("proposal")}},
	{name: "proposal_activate", accounts: "multisig, !member, proposal", does: changes("proposal")},
	{name: "proposal_approve", accounts: "multisig, !member, proposal", arguments: []argument{squadsMemo}, does: storedCall},
	{name: "proposal_reject", accounts: "multisig, !member, proposal", arguments: []argument{squadsMemo}, does: changes("proposal")},
	{name: "proposal_cancel", accounts: "multisig, !member, proposal", arguments: []argument{squadsMemo}, does: changes("proposal")},
	{name: "spending_limit_use", accounts: "multisig, !member, spending limit, vault, destination, ?system program or none, ?mint, ?vault token account, ?destination token account, ?token program or none",
		arguments: []argument{u64("amount"), u8("decimals"), squadsMemo},
		does: []doing{
			{kind: chains.KindTransfer, from: "vault", to: "destination", asset: native, amount: "amount", when: func(r *reading) bool { return !spendsToken(r) }, with: burntSOL},
			{kind: chains.KindTransfer, from: "vault token account", to: "destination token account", asset: "mint", amount: "amount", when: spendsToken},
			{kind: chains.KindSettings, account: "spending limit"}}},
	{name: "config_transaction_accounts_close", accounts: closesAccounts, does: closesTransaction},
	{name: "vault_transaction_accounts_close", accounts: closesAccounts, does: closesTransaction},
	{name: "vault_batch_transaction_account_close", accounts: "multisig, proposal, batch, transaction, rent collector, " + systemRole,
		does: append(changes("batch"), sends("transaction", "rent collector", allOfIt))},
	{name: "batch_accounts_close", accounts: "multisig, proposal, batch, rent collector, " + systemRole,
		does: []doing{sends("proposal", "rent collector", allOfIt), sends("batch", "rent collector", allOfIt)}},
}

var (
	extraRent         = paysIfGiven("rent payer", "multisig", mostAccountData+maxTransaction)
	governsSquad      = []doing{{kind: chains.KindSettings, from: "config authority", account: "multisig", with: storedRule}, extraRent}
	removes           = []doing{{kind: chains.KindSettings, from: "config authority", account: "multisig", with: storedRule}, extraRent}
	closesTransaction = []doing{sends("proposal", "rent collector", allOfIt), sends("transaction", "rent collector", allOfIt)}
)

// stored marks what happens when the multisig executes what is stored.
func stored(_ *reading, e *effect) { e.By = chains.ByStanding }

// storedRule marks a change of who has to agree, or of how long that takes.
func storedRule(_ *reading, e *effect) {
	e.danger, e.detail = HazardAuthorityChange, "the rules by which a multisig decides are changed: its members, its threshold, or its time lock"
}

// spendsToken reports whether a spending limit is used for a token: the mint is
// given, and is not the program, which stands for none.
func spendsToken(r *reading) bool {
	mint, ok := r.at("mint")
	return ok && !mint.is(squadsID)
}

// decodeSquads bounds how deep stored instructions are decoded.
func decodeSquads(r *reading) error {
	if r.depth >= chains.MaxCallDepth {
		return fmt.Errorf("it is nested %d deep", r.depth)
	}
	return r.decodeLeavingOut(squadsID, func(string) bool { return true })
}

// shortBytes is a u32 length and as many bytes.
func shortBytes(label string) argument {
	return func(r *reading) error {
		size, err := r.uint32(label)
		if err != nil {
			return err
		}
		if left := len(r.raw) - r.cursor.at; uint64(size) > uint64(left) {
			return malformed(label, r.cursor.at, "cut off: %d bytes are needed, %d are left", size, left)
		}
		return fixedBytes(label, int(size))(r)
	}
}

// many is a u32 count and as many items.
func many(label string, item argument) argument {
	return func(r *reading) error {
		count, err := r.uint32(label)
		for i := uint32(0); err == nil && i < count; i++ {
			err = item(r)
		}
		return err
	}
}

var squadsMembers = many("members", squadsMember)

// squadsMember is an address and a byte of permissions: 1 initiates, 2 votes, 4
// executes.
func squadsMember(r *reading) error {
	if err := key("member")(r); err != nil {
		return err
	}
	return u8("permissions")(r)
}

// spendingLimit is behind the key that the limit's address is derived from.
func spendingLimit(r *reading) error {
	for _, read := range []argument{u8("vault"), key("mint"), u64("limit"), oneOf("period", 1, "OneTime", "Day", "Week", "Month"),
		many("members", key("spender")), many("destinations", key("destination"))} {
		if err := read(r); err != nil {
			return err
		}
	}
	return nil
}

// squadsActions are the changes of a configuration transaction.
var squadsActions = many("actions", func(r *reading) error {
	actions := [...][]argument{
		{squadsMember}, {key("removed member")}, {u16("threshold")}, {u32("time lock in seconds")},
		{key("create key"), spendingLimit}, {key("removed spending limit")}, {optional("rent collector", key("rent collector"))},
	}
	number, err := r.uint8("action")
	if err != nil {
		return err
	}
	if int(number) >= len(actions) {
		return fmt.Errorf("action %d is not known", number)
	}
	for _, read := range actions[number] {
		if err := read(r); err != nil {
			return err
		}
	}
	return nil
})
