package policy

import (
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	btcaddress "github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/ethereum/go-ethereum/common"
)

// addressType is the type of addresses, which are compared as bytes.
var addressType = types.NewObjectType("address")

// address is an address of a chain in binary form: 20 bytes on Ethereum and
// Tempo, 21 on Tron, 32 on Solana, the scriptPubKey on Bitcoin.
type address struct {
	namespace string // CAIP-2: eip155, solana, tron, bip122
	bytes     string
	text      string

	// of is set for a token account of Solana: it matches the wallet that it is
	// the associated account of.
	of *tokenAccount
}

// Equal implements ref.Val. Addresses of unlike chains are not the same.
func (a *address) Equal(other ref.Val) ref.Val {
	b, ok := other.(*address)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(a.same(b))
}

func (a *address) same(b *address) bool {
	if a.namespace != b.namespace {
		return false
	}
	return a.bytes == b.bytes || a.of.belongsTo(b) || b.of.belongsTo(a)
}

// ConvertToNative implements ref.Val.
func (a *address) ConvertToNative(reflect.Type) (any, error) {
	return nil, fmt.Errorf(errNotConvertible, "policy", "address")
}

// ConvertToType implements ref.Val.
func (a *address) ConvertToType(ref.Type) ref.Val {
	return types.NewErr(errNotConvertible, "policy", "address")
}

// Type implements ref.Val.
func (*address) Type() ref.Type { return addressType }

// Value implements ref.Val.
func (a *address) Value() any { return a }

// String returns the address as it is written.
func (a *address) String() string { return a.text }

// key identifies the address in a set.
func (a *address) key() string { return a.namespace + "\x00" + a.bytes }

// parseAddress reads an address of any chain: the form says which. What has a
// checksum is checked by it.
func parseAddress(text string) (*address, error) {
	var namespace string
	var read []byte
	var err error
	switch {
	case strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X"):
		namespace = "eip155"
		read, err = parseHexAddress(text)
	case isBech32(text):
		namespace = "bip122"
		read, err = parseBitcoinAddress(text)
	default:
		namespace, read, err = parseBase58(text)
	}
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", shorten(text), err)
	}
	return &address{namespace: namespace, bytes: string(read), text: text}, nil
}

// parseHexAddress reads an address of Ethereum or Tempo. Digits of both cases
// must have the checksum of EIP-55.
func parseHexAddress(text string) ([]byte, error) {
	digits := text[2:]
	read, err := hex.DecodeString(digits)
	switch {
	case text[1] != 'x':
		return nil, errors.New("it starts with 0x")
	case err != nil:
		return nil, errors.New("not hex")
	case len(read) != common.AddressLength:
		return nil, fmt.Errorf("%d bytes, an address has %d", len(read), common.AddressLength)
	case digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) && text != common.BytesToAddress(read).Hex():
		return nil, errors.New("the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped")
	}
	return read, nil
}

// bitcoinNetworks are the networks whose addresses are read. Those of testnet
// and signet are the same.
var bitcoinNetworks = []*chaincfg.Params{&chaincfg.MainNetParams, &chaincfg.TestNet3Params, &chaincfg.RegressionNetParams}

func isBech32(text string) bool {
	lower := strings.ToLower(text)
	for _, network := range bitcoinNetworks {
		if strings.HasPrefix(lower, network.Bech32HRPSegwit+"1") {
			return true
		}
	}
	return false
}

// parseBitcoinAddress returns the scriptPubKey of an address.
func parseBitcoinAddress(text string) ([]byte, error) {
	var first error
	for _, network := range bitcoinNetworks {
		parsed, err := btcaddress.DecodeAddress(text, network)
		if err == nil && parsed.IsForNet(network) {
			return scriptOf(parsed)
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = errors.New("not an address of a network of Bitcoin")
	}
	return nil, first
}

// scriptOf returns the scriptPubKey that pays an address (BIP-141 for witness
// programs of any version).
func scriptOf(parsed btcaddress.Address) ([]byte, error) {
	segwit, ok := parsed.(interface {
		WitnessVersion() byte
		WitnessProgram() []byte
	})
	if !ok {
		return txscript.PayToAddrScript(parsed)
	}
	opcode := byte(txscript.OP_0)
	if version := segwit.WitnessVersion(); version > 0 {
		opcode = txscript.OP_1 - 1 + version
	}
	program := segwit.WitnessProgram()
	return append([]byte{opcode, byte(len(program))}, program...), nil
}

// maxAddressText is the length of the longest base58 address.
const maxAddressText = 44

// parseBase58 reads an address of Solana (32 bytes), Tron or Bitcoin (25 bytes
// with their checksum).
func parseBase58(text string) (namespace string, read []byte, err error) {
	if text == "" || len(text) > maxAddressText {
		return "", nil, errors.New("not an address of Ethereum, Tempo, Solana, Tron or Bitcoin")
	}
	switch decoded := base58.Decode(text); {
	case len(decoded) == 32 && base58.Encode(decoded) == text:
		return "solana", decoded, nil
	case len(decoded) == 25 && text[0] == 'T':
		payload, version, err := base58.CheckDecode(text)
		if err != nil || version != 0x41 || len(payload) != common.AddressLength {
			return "", nil, errors.New("the checksum is wrong: it has been mistyped")
		}
		return "tron", append([]byte{version}, payload...), nil
	case len(decoded) == 25:
		script, err := parseBitcoinAddress(text)
		return "bip122", script, err
	}
	return "", nil, errors.New("not an address of Ethereum, Tempo, Solana, Tron or Bitcoin")
}
