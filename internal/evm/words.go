package evm

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
)

// Words returns the words that chains of EIP-155 have in common.
func Words() chains.Words {
	return chains.Words{Namespace: NetworkID(0), Numbered: true, Decimals: 18, AddressSize: len(Address{}),
		ReadAddress: readAddressText,
		Units: []chains.Unit{{Name: "wei"}, {Name: "gwei", Decimals: 9}, {Name: "ether", Decimals: 18,
			Symbol: "ETH"}},
		Account: func(address []byte) []byte { return address }, Unnamed: isUnnamed, Foreign: Foreign,
		Wraps: Wraps, PassesOn: IsShared}
}

// Foreign reports whether an asset is a token whose contract is neither built in nor listed.
func Foreign(asset chains.Asset) bool {
	address, ok := addressOf(asset.Token)
	_, listed := chains.Listed(chains.Asset{Chain: asset.Chain, Token: asset.Token})
	return ok && !listed && !Wraps(asset) && (!IsTIP20(address) || TempoName(networkOf(asset.Chain).ChainID) == "")
}

// isUnnamed reports whether an address is virtual on a network of Tempo (TIP-1022).
func isUnnamed(network string, address []byte) bool {
	return len(address) == len(Address{}) && TempoName(networkOf(network).ChainID) != "" && IsVirtual(Address(address))
}

// Wraps reports whether an asset is the token that wraps its network's native asset.
func Wraps(asset chains.Asset) bool {
	address, ok := addressOf(asset.Token)
	return ok && asset.NFT == nil && networkOf(asset.Chain).isKnown(address, atWETH)
}

// readAddressText reads an address: 0x and 40 hex digits, in mixed case with the checksum of
// EIP-55. ok is false if the text does not begin with 0x.
func readAddressText(text string) (address []byte, ok bool, err error) {
	if !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0X") {
		return nil, false, nil
	}
	digits := text[2:]
	raw, err := hex.DecodeString(digits)
	switch {
	case text[1] != 'x':
		return nil, true, errors.New("it must start with 0x")
	case err != nil:
		return nil, true, errors.New("not hex")
	case len(raw) != len(Address{}):
		return nil, true, fmt.Errorf("%d bytes, an address has %d", len(raw), len(Address{}))
	case !ChecksumFits(digits, Address(raw)):
		return nil, true, errors.New("the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped")
	}
	return raw, true, nil
}

// FunctionDetails are what policies see of the function that a call, or the only call of a
// transaction, calls.
func FunctionDetails() []chains.Detail {
	return []chains.Detail{
		{Name: "function_name", Type: chains.TypeText, From: functionName},
		{Name: "function_signature", Type: chains.TypeBytes, From: functionSelector},
	}
}

func callField(of chains.Summary, key string) (*chains.Field, bool) {
	call, ok := chains.Keyed(of.Fields, "call")
	if !ok {
		return nil, false
	}
	return chains.Keyed(call.Fields, key)
}

// functionName returns the name of the called function, without its parameters.
func functionName(of chains.Summary) (chains.Field, bool) {
	function, ok := callField(of, "function")
	if !ok {
		return chains.Field{}, false
	}
	name, _, _ := strings.Cut(function.Value, "(")
	return chains.Text("function name", name), true
}

func functionSelector(of chains.Summary) (chains.Field, bool) {
	if selector, ok := callField(of, "selector"); ok {
		return *selector, true
	}
	function, ok := callField(of, "function")
	if !ok {
		return chains.Field{}, false
	}
	return chains.Bytes("function signature", crypto.Keccak256([]byte(function.Value))[:4]), true
}
