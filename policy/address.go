package policy

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	btcaddress "github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

// addressType is the type of addresses. They are compared as bytes.
var addressType = types.NewObjectType("address")

// address is an address of a chain in binary form: 20 bytes on Ethereum and
// Tempo, 21 on Tron, 32 on Solana, the scriptPubKey on Bitcoin.
type address struct {
	opaque
	namespace string // CAIP-2: eip155, solana, tron, bip122
	bytes     string
	text      string

	// mint is set for a party of a token's effect on Solana. Tokens move between token
	// accounts, while rules name wallets: the address also equals the wallet that it is
	// the associated token account of.
	mint string
}

// Equal implements ref.Val. Addresses of different namespaces are never equal.
func (a *address) Equal(other ref.Val) ref.Val {
	b, ok := other.(*address)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(a.namespace == b.namespace && (a.bytes == b.bytes || a.belongsTo(b) || b.belongsTo(a)))
}

// belongsTo reports whether a is the associated token account of a wallet.
func (a *address) belongsTo(wallet *address) bool {
	return a.mint != "" && len(wallet.bytes) == tokenaccount.Size && slices.Contains(tokenaccount.Of(wallet.bytes, a.mint), a.bytes)
}

// Type implements ref.Val.
func (*address) Type() ref.Type { return addressType }

// Value implements ref.Val.
func (a *address) Value() any { return a }

// String returns the address as written.
func (a *address) String() string { return a.text }

// party returns the address as a party of an effect.
func (a *address) party() chains.Party { return chains.PartyWritten([]byte(a.bytes), a.text) }

// key identifies the address in a set.
func (a *address) key() string { return a.namespace + "\x00" + a.bytes }

// parseAddress parses an address of any chain, which its form determines. Checksums are
// verified.
func parseAddress(text string) (*address, error) {
	var namespace string
	var bytes []byte
	var err error
	switch {
	case strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X"):
		namespace = "eip155"
		bytes, err = parseHexAddress(text)
	case isBech32(text):
		namespace = "bip122"
		bytes, err = parseBitcoinAddress(text)
	default:
		namespace, bytes, err = parseBase58(text)
	}
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", shorten(text), err)
	}
	return &address{namespace: namespace, bytes: string(bytes), text: text}, nil
}

// parseHexAddress parses an address of Ethereum or Tempo. Mixed-case digits must have
// the checksum of EIP-55.
func parseHexAddress(text string) ([]byte, error) {
	digits := text[2:]
	bytes, err := hex.DecodeString(digits)
	switch {
	case text[1] != 'x':
		return nil, errors.New("it must start with 0x")
	case err != nil:
		return nil, errors.New("not hex")
	case len(bytes) != common.AddressLength:
		return nil, fmt.Errorf("%d bytes, an address has %d", len(bytes), common.AddressLength)
	case digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) && text != common.BytesToAddress(bytes).Hex():
		return nil, errors.New("the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped")
	}
	return bytes, nil
}

// bitcoinNetworks are the networks whose addresses are accepted. Testnet and signet
// share theirs.
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
		first = errors.New("not an address of a Bitcoin network")
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

var errNoAddress = errors.New("not an address of Ethereum, Tempo, Solana, Tron or Bitcoin")

// parseBase58 parses an address of Solana (32 bytes), Tron or Bitcoin (25 bytes
// including the checksum).
func parseBase58(text string) (namespace string, bytes []byte, err error) {
	if text == "" || len(text) > maxAddressText {
		return "", nil, errNoAddress
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
	return "", nil, errNoAddress
}
