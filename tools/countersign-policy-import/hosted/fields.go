package hosted

import (
	"errors"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains/all"
)

// chainsByRoot maps the roots of the chains' details to the chains.
var chainsByRoot = func() map[string]string {
	roots := map[string]string{}
	for _, chain := range all.Chains(all.Limits{}) {
		roots[chain.Words().Variable] = chain.Name()
	}
	return roots
}()

// fields maps the hosted service's fields to the names and kinds that they have here.
// Those of list elements start with the kind of the element. A field without an entry
// has no equivalent.
var fields = map[string]piece{
	"eth.tx.to": {"eth.tx.to", "address"}, "eth.tx.value": {"eth.tx.value", "wei"}, "eth.tx.chain_id": {"eth.tx.chain_id", "int"},
	"eth.tx.nonce": {"eth.tx.nonce", "int"}, "eth.tx.gas": {"eth.tx.gas", "int"}, "eth.tx.gas_price": {"eth.tx.gas_price", "wei"},
	"eth.tx.max_fee_per_gas":          {"eth.tx.max_fee_per_gas", "wei"},
	"eth.tx.max_priority_fee_per_gas": {"eth.tx.max_priority_fee_per_gas", "wei"},
	"eth.tx.function_name":            {"eth.tx.function_name", "text"}, "eth.tx.function_signature": {"eth.tx.function_signature", "text"},
	"solana.tx.transfers": {"solana.tx.transfers", "list transfer"}, "solana.tx.spl_transfers": {"solana.tx.spl_transfers", "list spl"},
	"solana.tx.instructions":          {"solana.tx.instructions", "list instruction"},
	"solana.tx.program_keys":          {"solana.tx.program_keys", "list address"},
	"solana.tx.address_table_lookups": {"solana.tx.address_table_lookups", "list lookup"},
	"solana.tx.recent_blockhash":      {"solana.tx.recent_blockhash", "text"},
	"tron.tx.contract":                {"tron.tx.contract", "list contract"}, "bitcoin.tx.fee": {"bitcoin.tx.fee", "sats"},
	"bitcoin.tx.inputs": {"bitcoin.tx.inputs", "list input"}, "bitcoin.tx.outputs": {"bitcoin.tx.outputs", "list output"},
	"tempo.tx.calls": {"tempo.tx.calls", "list call"}, "tempo.tx.chain_id": {"tempo.tx.chain_id", "int"},
	"tempo.tx.nonce":     {"tempo.tx.nonce", "int"},
	"tempo.tx.fee_token": {"tempo.tx.fee_token", "address"}, "tempo.tx.gas_limit": {"tempo.tx.gas_limit", "int"},
	"wallet.id": {"key.wallet", "text"}, "wallet.label": {"key.wallet_name", "text"}, "private_key.id": {"key.id",
		"text"}, "private_key.label": {"key.name", "text"},
	"transfer.from": {".from", "address"}, "transfer.to": {".to", "address"}, "transfer.amount": {".amount", "lamports"},
	"spl.from": {".from", "address"}, "spl.to": {".to", "address"}, "spl.amount": {".amount", "units"},
	"spl.token_mint":          {".asset.token", "address"},
	"instruction.program_key": {".program_key", "address"}, "instruction.instruction_data_hex": {".data", "hex"},
	"contract.type": {".type", "text"}, "contract.owner_address": {".owner_address", "address"},
	"contract.to_address":         {".to_address", "address"},
	"contract.function_signature": {".function_signature", "text"}, "contract.function_name": {".function_name", "text"},
	"contract.contract_address": {".contract_address", "address"}, "contract.amount": {".amount", "sun"},
	"contract.call_value": {".call_value", "sun"},
	"input.tx_id":         {".tx_id", "text"}, "input.vout": {".vout", "int"}, "input.value": {".value", "sats"},
	"output.address": {".address", "address"}, "output.value": {".value", "sats"},
	"call.to": {".to", "address"}, "call.function_signature": {".function_signature", "text"},
	"call.function_name": {".function_name", "text"},
}

// reasons explains why fields have no equivalent, by their prefix.
var reasons = []struct{ prefix, reason string }{
	{"activity.params.session_profile_id", "sessions are not kept here"},
	{"activity.params.", "spark and other activities' parameters have no counterpart here"},
	{"eth.eip_712", "typed data is judged by its effects: allow: approve or message, with effect.to, effect.asset and effect.amount"},
	{"eth.eip_7702_authorization", "a delegation is an effect: allow: authority, with effect.to, and the hazard ethereum/authority-change"},
	{"eth.tx.contract_call_args",
		"arguments of contracts are read by descriptors: for the standards use effect.to, effect.asset and effect.amount"},
	{"secret.", "secrets are not kept here"},
	{"private_key.tags", "keys have no tags here: name the keys or the wallet in key"},
	{"spl.owner", "the owner of a token account is not in the bytes: name the accounts in effect.from"},
	{"spl.signers", "effects rest on signatures: use who and key"},
	{"instruction.accounts", "accounts by position are not carried over: use effect.to and effect.from"},
	{"instruction.parsed_instruction_data", "arguments of programs are read by descriptors: use effects for transfers"},
	{"tempo.tx.max_fee_per_gas", "the fee is an effect: allow: fee, with effect.asset and effect.amount"},
	{"tempo.tx.valid_before", "it is a time here: tempo.tx.valid_before <= timestamp('…')"},
	{"eth.tx.data", "raw call data: use effects, or eth.tx.function_signature"},
	{"call.input", "raw call data: use effect.to, effect.from and effect.amount of a rule on transfer"},
	{"contract.data", "raw call data: use effects, or the contract's function_signature"},
}

// piece is a translated part of an expression and its kind: bool, int, text, hex,
// address, a unit of amounts, "list …", or the element of a list.
type piece struct{ text, kind string }

// units are the kinds of piece that are amounts.
var units = map[string]bool{"wei": true, "lamports": true, "units": true, "sun": true, "sats": true}

// lookUp translates a field. base is what a field of a list element is selected from.
func lookUp(path, base string) (piece, error) {
	if field, ok := fields[path]; ok {
		return piece{base + field.text, field.kind}, nil
	}
	for _, known := range reasons {
		if strings.HasPrefix(path, known.prefix) {
			return piece{}, errors.New(known.reason)
		}
	}
	return piece{}, fmt.Errorf("%s has no counterpart here", path)
}
