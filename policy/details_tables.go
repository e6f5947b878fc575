package policy

import (
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
)

// detailTables returns the members of the types in detailTypes.
func detailTables() map[string]map[string]field {
	tables := map[string]map[string]field{
		"eth.tx": {
			"to": detailAddress("to"), "value": detailAmount("value"), "chain_id": detailInteger("chain"),
			"nonce": detailInteger("nonce"), "gas": detailInteger("gas"), "gas_price": detailAmount("gas price"),
			"max_fee_per_gas": detailAmount("max fee per gas"), "max_priority_fee_per_gas": detailAmount("max priority fee per gas"),
			"max_fee": detailAmount("maximum fee"), "function_name": functionName(), "function_signature": functionSignature(),
		},
		"tempo.tx": {
			"calls": detailParts("tempo.call", "", "call "), "chain_id": detailInteger("chain"), "nonce": detailInteger("nonce"),
			"fee_token": detailAddress("fee token"), "gas_limit": detailInteger("gas"),
			"valid_before": detailTime("valid before"), "valid_after": detailTime("valid after"),
		},
		"tempo.call": {"to": detailAddress("to"), "function_name": functionName(), "function_signature": functionSignature()},
		"solana.tx": {
			"version": detailText("version"), "fee_payer": detailAddress("fee payer"), "recent_blockhash": detailText("recent blockhash"),
			"instructions":          detailParts("solana.instruction", "instructions", ""),
			"address_table_lookups": detailParts("solana.instruction", "address lookup tables", ""),
			"program_keys":          plain(types.NewListType(addressType), solanaPrograms),
			"transfers":             detailEffects(func(e *effectView) bool { return e.Kind == chains.KindTransfer && e.Asset.IsNative() }),
			"spl_transfers":         detailEffects(func(e *effectView) bool { return e.Kind == chains.KindTransfer && !e.Asset.IsNative() }),
			"unresolved":            plain(types.IntType, unresolvedAccounts),
		},
		"solana.instruction": {
			"program_key": detailAddress("program"), "operation": detailText("operation"), "data": detailBytes("data"),
			"table": detailAddress("table"),
		},
		"tron.tx": {
			"contract": plain(types.NewListType(detailTypes["tron.contract"]), tronContracts), "expires": detailTime("expires"),
			"fee_limit": detailAmount("fee limit"), "memo": detailText("memo"),
		},
		"tron.contract": {
			"type": detailText("type"), "owner_address": detailAddress("owner"), "to_address": detailAddress("to"),
			"contract_address": detailAddress("contract"), "amount": detailAmount("amount"), "call_value": detailAmount("value"),
			"data": detailBytes("data"), "function_name": functionName(), "function_signature": functionSignature(),
		},
		"bitcoin.tx": {
			"fee":     detailAmount("fee"),
			"inputs":  detailParts("bitcoin.input", "inputs", ""),
			"outputs": detailParts("bitcoin.output", "outputs", ""),
		},
		"bitcoin.input": {
			"tx_id": detailField(types.StringType, outpoint(0), "outpoint"), "vout": detailField(types.IntType, outpoint(1), "outpoint"),
			"value": detailAmount("amount"), "address": detailAddress("address"), "script_type": detailText("script type"), "sighash": detailText("sighash"),
		},
		"bitcoin.output": {"address": detailAddress("address"), "value": detailAmount("amount")},
	}
	for root := range detailRoots {
		tx := detailTypes[root+".tx"]
		tables[root] = map[string]field{"tx": plain(tx, func(d *details) ref.Val { return newObject(tx, d) })}
	}
	return tables
}

// functionName is the name of the called function, without its parameters.
func functionName() field {
	return detailField(types.StringType, func(_ *details, f *chains.Field) (ref.Val, error) {
		name, _, _ := strings.Cut(f.Value, "(")
		return types.String(name), nil
	}, "call", "function")
}

// functionSignature is the selector: the first four bytes of the call data.
func functionSignature() field {
	return member(types.StringType, func(d *details) (ref.Val, error) {
		if selector, err := d.at("call", "selector"); err == nil {
			return types.String("0x" + selector.Value), nil
		}
		function, err := d.at("call", "function")
		if err != nil {
			return nil, absent("function_signature")
		}
		return types.String(hexText(crypto.Keccak256([]byte(function.Value))[:4])), nil
	})
}

// solanaPrograms lists the programs that are called, each once.
func solanaPrograms(d *details) ref.Val {
	var seen []string
	var programs []ref.Val
	instructions, err := d.field("instructions")
	if err != nil {
		return types.WrapErr(err)
	}
	for i := range instructions.Fields {
		f, err := d.part(&instructions.Fields[i]).field("program")
		if err != nil {
			return types.WrapErr(err)
		}
		if slices.Contains(seen, f.Value) {
			continue
		}
		seen = append(seen, f.Value)
		program, err := parseAddress(f.Value)
		if err != nil {
			return types.WrapErr(unknown("program"))
		}
		programs = append(programs, program)
	}
	return newList(programs)
}

// unresolvedAccounts counts the parties that are unknown because they are in lookup tables.
func unresolvedAccounts(d *details) ref.Val {
	count := 0
	for i := range d.request.effects {
		count += len(d.request.effects[i].Unresolved)
	}
	return types.Int(count)
}

// tronContracts is the list of a transaction's contracts. Every transaction has one.
func tronContracts(d *details) ref.Val {
	return newList([]ref.Val{newObject(detailTypes["tron.contract"], d)})
}

// outpoint returns the transaction id (part 0) or the index (part 1) of txid:vout.
func outpoint(part int) func(*details, *chains.Field) (ref.Val, error) {
	return func(_ *details, f *chains.Field) (ref.Val, error) {
		txid, index, _ := strings.Cut(f.Value, ":")
		if part == 0 {
			return types.String(txid), nil
		}
		vout, err := strconv.ParseInt(index, 10, 64)
		if err != nil {
			return nil, unknown("vout")
		}
		return types.Int(vout), nil
	}
}
