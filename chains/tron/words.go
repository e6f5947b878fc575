package tron

import (
	"errors"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

func (Chain) Words() chains.Words {
	return chains.Words{Namespace: Name, ListID: 728126428, Decimals: sunDecimals,
		Units:       []chains.Unit{{Name: "sun"}, {Name: "trx", Decimals: sunDecimals}},
		AddressSize: addressSize, ReadAddress: readText, Wraps: evm.Wraps, Foreign: evm.Foreign,
		Account:  func(address []byte) []byte { return address[1:] },
		Variable: Name, Details: []chains.Detail{
			{Name: "contract", Type: chains.TypeList, Whole: true, Part: "contract", Members: append([]chains.Detail{
				{Name: "type", Type: chains.TypeText},
				{Name: "owner_address", Type: chains.TypeAddress, Keys: []string{"owner"}},
				{Name: "to_address", Type: chains.TypeAddress, Keys: []string{"to"}},
				{Name: "contract_address", Type: chains.TypeAddress, Keys: []string{"contract"}},
				{Name: "amount", Type: chains.TypeAmount},
				{Name: "call_value", Type: chains.TypeAmount, Keys: []string{"value"}},
				{Name: "data", Type: chains.TypeBytes},
			}, evm.FunctionDetails()...)},
			{Name: "expires", Type: chains.TypeTime},
			{Name: "fee_limit", Type: chains.TypeAmount},
			{Name: "memo", Type: chains.TypeText},
		}}
}

// maxAddressText is more than the length of an address in base58check: decoding takes
// quadratic time.
const maxAddressText = 44

// readText reads an address in base58check. ok is false if the text is not base58 of 25
// bytes that begins as addresses of Tron do.
func readText(text string) (address []byte, ok bool, err error) {
	if len(text) > maxAddressText || !strings.HasPrefix(text, "T") ||
		len(base58.Decode(text)) != addressSize+checksumSize {
		return nil, false, nil
	}
	payload, version, err := base58.CheckDecode(text)
	if err != nil || version != addressPrefix {
		return nil, true, errors.New("the checksum is wrong: it has been mistyped")
	}
	return append([]byte{version}, payload...), true, nil
}
