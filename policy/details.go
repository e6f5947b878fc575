package policy

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
)

// details are the fields of a transaction, or of a part of it, as its summary
// has them. Rules that look at them are of one chain (see on).
type details struct {
	request   *evaluation
	fields    []chains.Field
	namespace string
}

// detailRoots are the names of the chains' details, and the chain of each.
var detailRoots = map[string]string{
	"eth": "ethereum", "solana": "solana", "tron": "tron", "bitcoin": "bitcoin", "tempo": "tempo",
}

// detailTypes are the types of eth, eth.tx, and so on.
var detailTypes = func() map[string]*types.Type {
	made := map[string]*types.Type{}
	for _, name := range []string{"eth", "eth.tx", "solana", "solana.tx", "solana.instruction", "tron", "tron.tx",
		"tron.contract", "bitcoin", "bitcoin.tx", "bitcoin.input", "bitcoin.output", "tempo", "tempo.tx", "tempo.call"} {
		made[name] = types.NewObjectType(name + " details")
	}
	return made
}()

func detailVariables() map[string]*types.Type {
	all := map[string]*types.Type{}
	for name := range detailRoots {
		all[name] = detailTypes[name]
	}
	return all
}

// detail resolves the name of a chain's details. A rule that looks at them has
// an on, so that it is asked about transactions of that chain alone.
func (e *evaluation) detail(name string) (any, bool) {
	chain, known := detailRoots[name]
	if !known {
		return nil, false
	}
	if e.chain != chain {
		return types.WrapErr(absent(name)), true
	}
	if e.details == nil {
		e.details = &details{e, e.asked.Summary.Fields, chainNamespaces[chain]}
	}
	return &object{detailTypes[name], e.details}, true
}

// find returns the field with a label.
func (d *details) find(label string) (*chains.Field, error) {
	for i := range d.fields {
		if d.fields[i].Label == label {
			return &d.fields[i], nil
		}
	}
	return nil, absent(label)
}

// at returns the field at a path of labels.
func (d *details) at(path ...string) (*chains.Field, error) {
	field, err := d.find(path[0])
	if err != nil || len(path) == 1 {
		return field, err
	}
	return d.part(field).at(path[1:]...)
}

func (d *details) part(of *chains.Field) *details {
	return &details{d.request, of.Fields, d.namespace}
}

// detailField makes a member that is read from the field at a path.
func detailField(kind *types.Type, read func(d *details, field *chains.Field) (ref.Val, error), path ...string) field {
	return member(kind, func(d *details) (ref.Val, error) {
		found, err := d.at(path...)
		if err != nil {
			return nil, err
		}
		return read(d, found)
	})
}

func detailText(path ...string) field {
	return detailField(types.StringType, func(_ *details, f *chains.Field) (ref.Val, error) { return types.String(f.Value), nil }, path...)
}

// detailBytes is bytes as 0x and hex; absent where the summary has only their beginning.
func detailBytes(path ...string) field {
	return detailField(types.StringType, func(_ *details, f *chains.Field) (ref.Val, error) {
		if f.Length != 0 {
			return nil, absent(f.Label)
		}
		return types.String("0x" + f.Value), nil
	}, path...)
}

func detailInteger(path ...string) field {
	return detailField(types.IntType, func(_ *details, f *chains.Field) (ref.Val, error) {
		value, err := strconv.ParseInt(f.Value, 10, 64)
		if err != nil {
			return nil, unknown(f.Label)
		}
		return types.Int(value), nil
	}, path...)
}

func detailAddress(path ...string) field {
	return detailField(addressType, func(d *details, f *chains.Field) (ref.Val, error) {
		if f.Type != chains.TypeAddress {
			return nil, unknown(f.Label) // an entry of a lookup table
		}
		if d.namespace == "bip122" { // a scriptPubKey, whatever network is shown
			script, err := hex.DecodeString(f.Value)
			return &address{namespace: d.namespace, bytes: string(script), text: f.Shown}, err
		}
		return parseAddress(f.Value)
	}, path...)
}

// detailAmount is an amount of the chain's native asset.
func detailAmount(path ...string) field {
	return detailField(amountType, func(d *details, f *chains.Field) (ref.Val, error) {
		value, ok := new(big.Int).SetString(f.Value, 10)
		if f.Type != chains.TypeAmount || !ok {
			return nil, unknown(f.Label)
		}
		return &amount{value: value, unit: unit{native: d.namespace}}, nil
	}, path...)
}

func detailTime(path ...string) field {
	return detailField(types.TimestampType, func(_ *details, f *chains.Field) (ref.Val, error) {
		read, err := time.Parse(time.RFC3339Nano, f.Value)
		if f.Type != chains.TypeTime || err != nil {
			return nil, absent(f.Label)
		}
		return types.Timestamp{Time: read}, nil
	}, path...)
}

// detailParts is a list of the parts below a field, or of those whose label
// begins with a prefix.
func detailParts(name, label, prefix string) field {
	kind := detailTypes[name]
	return plain(types.NewListType(kind), func(d *details) ref.Val {
		from := d
		if label != "" {
			found, err := d.find(label)
			if err != nil {
				return types.NewRefValList(types.DefaultTypeAdapter, nil)
			}
			from = d.part(found)
		}
		var parts []ref.Val
		for i := range from.fields {
			if strings.HasPrefix(from.fields[i].Label, prefix) {
				parts = append(parts, &object{kind, from.part(&from.fields[i])})
			}
		}
		return types.NewRefValList(types.DefaultTypeAdapter, parts)
	})
}

// detailEffects is a list of those effects that a test picks.
func detailEffects(pick func(*effectView) bool) field {
	return plain(types.NewListType(effectType), func(d *details) ref.Val {
		var picked []ref.Val
		for i := range d.request.effects {
			if effect := &d.request.effects[i]; pick(effect) {
				picked = append(picked, &effect.object)
			}
		}
		return types.NewRefValList(types.DefaultTypeAdapter, picked)
	})
}

// functionName and functionSignature are of the call that a summary has: the
// name, and the first four bytes of the call data.
func functionName() field {
	return detailField(types.StringType, func(_ *details, f *chains.Field) (ref.Val, error) {
		name, _, _ := strings.Cut(f.Value, "(")
		return types.String(name), nil
	}, "call", "function")
}

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

func detailRoot(name string) map[string]field {
	return map[string]field{"tx": plain(detailTypes[name+".tx"], func(d *details) ref.Val { return &object{detailTypes[name+".tx"], d} })}
}

// addDetailFields adds the details of all chains.
func addDetailFields(fields map[*types.Type]map[string]field) {
	for name := range detailRoots {
		fields[detailTypes[name]] = detailRoot(name)
	}
	for name, table := range map[string]map[string]field{
		"eth.tx": ethereumFields(), "tempo.tx": tempoFields(), "tempo.call": tempoCallFields(),
		"solana.tx": solanaFields(), "solana.instruction": solanaInstructionFields(),
		"tron.tx":       {"contract": tronContracts(), "expires": detailTime("expires"), "fee_limit": detailAmount("fee limit"), "memo": detailText("memo")},
		"tron.contract": tronContractFields(),
		"bitcoin.tx":    bitcoinFields(), "bitcoin.input": bitcoinInputFields(), "bitcoin.output": bitcoinOutputFields(),
	} {
		fields[detailTypes[name]] = table
	}
}

func ethereumFields() map[string]field {
	return map[string]field{
		"to": detailAddress("to"), "value": detailAmount("value"), "chain_id": detailInteger("chain"),
		"nonce": detailInteger("nonce"), "gas": detailInteger("gas"), "gas_price": detailAmount("gas price"),
		"max_fee_per_gas": detailAmount("max fee per gas"), "max_priority_fee_per_gas": detailAmount("max priority fee per gas"),
		"max_fee": detailAmount("maximum fee"), "function_name": functionName(), "function_signature": functionSignature(),
	}
}

func tempoFields() map[string]field {
	return map[string]field{
		"calls": detailParts("tempo.call", "", "call "), "chain_id": detailInteger("chain"), "nonce": detailInteger("nonce"),
		"fee_token": detailAddress("fee token"), "gas_limit": detailInteger("gas"), "valid_before": detailTime("valid before"),
		"valid_after": detailTime("valid after"),
	}
}

func tempoCallFields() map[string]field {
	return map[string]field{"to": detailAddress("to"), "function_name": functionName(), "function_signature": functionSignature()}
}

func solanaFields() map[string]field {
	spl := func(e *effectView) bool { return e.Kind == chains.KindTransfer && !e.Asset.IsNative() }
	return map[string]field{
		"version": detailText("version"), "fee_payer": detailAddress("fee payer"), "recent_blockhash": detailText("recent blockhash"),
		"instructions":  detailParts("solana.instruction", "instructions", ""),
		"program_keys":  plain(types.NewListType(addressType), solanaPrograms),
		"transfers":     detailEffects(func(e *effectView) bool { return e.Kind == chains.KindTransfer && e.Asset.IsNative() }),
		"spl_transfers": detailEffects(spl),
		"address_table_lookups": plain(types.NewListType(detailTypes["solana.instruction"]),
			func(d *details) ref.Val {
				return detailParts("solana.instruction", "address lookup tables", "").mustGet(d)
			}),
		"unresolved": plain(types.IntType, func(d *details) ref.Val {
			count := 0
			for i := range d.request.effects {
				count += len(d.request.effects[i].Unresolved)
			}
			return types.Int(count)
		}),
	}
}

func (f field) mustGet(of any) ref.Val {
	value, err := f.get(of)
	if err != nil {
		return types.WrapErr(err)
	}
	return value
}

func solanaInstructionFields() map[string]field {
	return map[string]field{
		"program_key": detailAddress("program"), "operation": detailText("operation"), "data": detailBytes("data"),
		"table": detailAddress("table"),
	}
}

// solanaPrograms lists the programs that are called, each once.
func solanaPrograms(d *details) ref.Val {
	var seen []string
	var programs []ref.Val
	instructions, err := d.find("instructions")
	if err != nil {
		return types.WrapErr(err)
	}
	for i := range instructions.Fields {
		program, err := d.part(&instructions.Fields[i]).find("program")
		if err != nil {
			return types.WrapErr(err)
		}
		if slices.Contains(seen, program.Value) {
			continue
		}
		seen = append(seen, program.Value)
		read, err := parseAddress(program.Value)
		if err != nil {
			return types.WrapErr(unknown("program"))
		}
		programs = append(programs, read)
	}
	return types.NewRefValList(types.DefaultTypeAdapter, programs)
}

// tronContracts is the list of a transaction's contracts, of which there is one.
func tronContracts() field {
	kind := detailTypes["tron.contract"]
	return plain(types.NewListType(kind), func(d *details) ref.Val {
		return types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{&object{kind, d}})
	})
}

func tronContractFields() map[string]field {
	return map[string]field{
		"type": detailText("type"), "owner_address": detailAddress("owner"), "to_address": detailAddress("to"),
		"contract_address": detailAddress("contract"), "amount": detailAmount("amount"), "call_value": detailAmount("value"),
		"data": detailBytes("data"), "function_name": functionName(), "function_signature": functionSignature(),
	}
}

func bitcoinFields() map[string]field {
	return map[string]field{
		"fee":     detailAmount("fee"),
		"inputs":  detailParts("bitcoin.input", "inputs", ""),
		"outputs": detailParts("bitcoin.output", "outputs", ""),
	}
}

func bitcoinInputFields() map[string]field {
	return map[string]field{
		"tx_id": detailField(types.StringType, outpoint(0), "outpoint"), "vout": detailField(types.IntType, outpoint(1), "outpoint"),
		"value": detailAmount("amount"), "address": detailAddress("address"), "script_type": detailText("script type"), "sighash": detailText("sighash"),
	}
}

// outpoint reads a part of txid:vout.
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

func bitcoinOutputFields() map[string]field {
	return map[string]field{"address": detailAddress("address"), "value": detailAmount("amount")}
}
