package solana

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

func (c Chain) Words() chains.Words {
	return chains.Words{
		Forms: chains.Forms{
			Encodings: []string{"base64", "base58"}, Complete: c.Complete,
			Expected: "a transaction, or the message of one, in hex, base64 or base58",
		},
		TextHazards: texts.HazardNames(),
		Namespace:   Name, ListID: 101, Decimals: 9,
		Units:       []chains.Unit{{Name: "lamports"}, {Name: "sol", Decimals: 9}},
		AddressSize: keySize, ReadAddress: readAddress, TokenAccounts: tokenaccount.Of, Variable: Name,
		Details: []chains.Detail{
			{Name: "version", Type: chains.TypeText},
			{Name: "fee_payer", Type: chains.TypeAddress},
			{Name: "recent_blockhash", Type: chains.TypeText},
			{Name: "instructions", Type: chains.TypeList, Part: "instruction", Members: instructionDetails},
			{Name: "address_table_lookups", Type: chains.TypeList, Keys: []string{"address_lookup_tables"},
				Part: "instruction", Members: instructionDetails},
			{Name: "program_keys", Type: chains.TypeList, From: calledPrograms},
			{Name: "transfers", Picks: isTransfer(true)},
			{Name: "spl_transfers", Picks: isTransfer(false)},
			{Name: "unresolved", Type: chains.TypeInteger, From: unresolved},
		}}
}

// isTransfer picks transfers of SOL, or of anything else.
func isTransfer(native bool) func(e *chains.Effect) bool {
	return func(e *chains.Effect) bool { return e.Kind == chains.KindTransfer && e.Asset.IsNative() == native }
}

var instructionDetails = []chains.Detail{
	{Name: "program_key", Type: chains.TypeAddress},
	{Name: "operation", Type: chains.TypeText},
	{Name: "data", Type: chains.TypeBytes},
	{Name: "table", Type: chains.TypeAddress},
}

func readAddress(text string) (address []byte, ok bool, err error) {
	key, ok := decodeKey(text)
	if !ok || encode58(key[:]) != text {
		return nil, false, nil
	}
	return key[:], true, nil
}

// calledPrograms lists the programs that are called, each once.
func calledPrograms(of chains.Summary) (chains.Field, bool) {
	list := chains.List("programs")
	instructions, ok := chains.Keyed(of.Fields, "instructions")
	if !ok {
		return list, false
	}
	seen := map[string]bool{}
	for i := range instructions.Fields {
		program, ok := chains.Keyed(instructions.Fields[i].Fields, "program_key")
		if !ok {
			return list, false
		}
		if !seen[program.Value] {
			list.Fields = append(list.Fields, *program)
		}
		seen[program.Value] = true
	}
	return list, true
}

// unresolved counts the parties that are unknown because they are in lookup tables.
func unresolved(of chains.Summary) (chains.Field, bool) {
	count := 0
	for i := range of.Effects {
		count += len(of.Effects[i].Unresolved)
	}
	return chains.Integer("unresolved", uint64(count)), true
}
