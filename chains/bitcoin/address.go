package bitcoin

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Addresses implements chains.Chain: the key's addresses on the four networks, of four kinds each:
// P2PKH (BIP-44), P2SH holding P2WPKH (BIP-49), P2WPKH (BIP-84) and P2TR (BIP-86).
func (Chain) Addresses(pub keystore.PublicKey) []chains.Address {
	scripts, err := keyScripts(pub)
	if err != nil {
		return nil
	}
	addresses := make([]chains.Address, 0, len(networks)*len(scripts))
	for network := range networks {
		for _, s := range scripts {
			text, _ := AddressOf(s.script, Network(network))
			format := "ADDRESS_FORMAT_BITCOIN_" + networks[network].format + "_" + s.kind
			addresses = append(addresses, chains.Address{Format: format, Address: text})
		}
	}
	return addresses
}

// keyScript is an output script that a key alone can spend.
type keyScript struct {
	kind   string
	script []byte
}

func keyScripts(pub keystore.PublicKey) ([]keyScript, error) {
	if pub.Curve() != keystore.CurveSecp256k1 {
		return nil, fmt.Errorf("%v is not secp256k1", pub.Curve())
	}
	outputKey, err := keystore.KeyPath().OutputKey(pub)
	if err != nil {
		return nil, err
	}
	hash := pub.Hash160()
	witness := p2wpkhScript(hash)
	return []keyScript{
		{"P2PKH", p2pkhScript(hash)},
		{"P2SH", p2shScript([20]byte(address.Hash160(witness)))},
		{"P2WPKH", witness},
		{"P2TR", append([]byte{txscript.OP_1, 32}, outputKey[:]...)},
	}, nil
}

// AddressOf returns the address of an output script on a network. ok is false if the script
// has none.
func AddressOf(script []byte, network Network) (text string, ok bool) {
	parsed, err := scriptAddress(script, networks[network].params)
	if err != nil || parsed == nil {
		return "", false
	}
	return parsed.EncodeAddress(), true
}

func scriptAddress(script []byte, params *chaincfg.Params) (address.Address, error) {
	switch classify(script) {
	case p2pkh:
		return address.NewAddressPubKeyHash(script[3:23], params)
	case p2shUnknown:
		return address.NewAddressScriptHashFromHash(script[2:22], params)
	case p2wpkh:
		return address.NewAddressWitnessPubKeyHash(script[2:], params)
	case p2wsh:
		return address.NewAddressWitnessScriptHash(script[2:], params)
	case p2tr:
		return address.NewAddressTaproot(script[2:], params)
	case p2a:
		return address.NewAddressPayToAnchor(params)
	}
	return nil, nil
}

// decodedAddress is an address with what it stands for, which does not change.
type decodedAddress struct {
	text    string
	script  []byte // the output script
	network Network
}

// parseSignWith reads signWith as an address. It returns none for text that does not look like one,
// which is the id of a key, and an error for text that looks like an address and is none.
func parseSignWith(text string) (*decodedAddress, error) {
	network, looks := looksLikeAddress(text)
	if !looks {
		return nil, nil
	}
	slot := &recentAddresses[maphash.String(addressSeed, text)%uint64(len(recentAddresses))]
	if known := slot.Load(); known != nil && known.text == text {
		return known, nil
	}
	script, err := scriptOf(text, networks[network].params)
	if err != nil {
		return nil, malformedAddress(text, err)
	}
	fresh := &decodedAddress{strings.Clone(text), script, network}
	slot.Store(fresh)
	return fresh, nil
}

// parseAddress is parseSignWith for text that must be an address.
func parseAddress(text string) (*decodedAddress, error) {
	decoded, err := parseSignWith(text)
	if err == nil && decoded == nil {
		err = malformedAddress(text, errors.New("a message is signed for an address, and not for a key by its id"))
	}
	return decoded, err
}

// recentAddresses are those lately in signWith. A server signs with the same keys again and again,
// and decoding takes longer than all else that is read of a small transaction.
var recentAddresses [4096]atomic.Pointer[decodedAddress]

var addressSeed = maphash.MakeSeed()

// scriptOf returns the output script that an address of a network stands for.
// Base58, bech32 and bech32m have one form of each address: letters of both cases in
// bech32, and padding that is long or not zero, are refused (BIP-173). So is what the library reads
// and writes in another way, such as 20 bytes of version 1, of which it drops the version.
func scriptOf(text string, params *chaincfg.Params) ([]byte, error) {
	parsed, err := address.DecodeAddress(text, params)
	if err != nil {
		return nil, err
	}
	if !parsed.IsForNet(params) {
		return nil, errors.New("not an address of this network")
	}
	if written := parsed.EncodeAddress(); written != text && written != strings.ToLower(text) {
		return nil, errors.New("not an address of a kind that is known")
	}
	return txscript.PayToAddrScript(parsed)
}

func malformedAddress(text string, err error) error {
	return signerError(chains.ErrSignWith, "%q looks like an address but is not one: %v", text, err)
}

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// segwitNetwork returns the first network with the human-readable part of an address in bech32.
func segwitNetwork(text string) (_ Network, ok bool) {
	for network := range networks {
		prefix := networks[network].params.Bech32HRPSegwit
		if len(text) > len(prefix) && text[len(prefix)] == '1' && strings.EqualFold(text[:len(prefix)], prefix) {
			return Network(network), true
		}
	}
	return Mainnet, false
}

// looksLikeAddress distinguishes addresses from ids: by the prefix of bech32 and
// bech32m, and by the first digit, length and alphabet of base58.
func looksLikeAddress(text string) (Network, bool) {
	if network, ok := segwitNetwork(text); ok {
		return network, true
	}
	if len(text) < 26 || len(text) > 35 || strings.Trim(text, base58Alphabet) != "" {
		return Mainnet, false
	}
	switch text[0] {
	case '1', '3':
		return Mainnet, true
	case 'm', 'n', '2':
		return Testnet, true
	}
	return Mainnet, false
}

// NetworkOf returns the network of an address. ok is false if the text is not an
// address. An address that several networks share counts as one of Testnet.
func NetworkOf(address string) (network Network, ok bool) {
	decoded, err := parseSignWith(address)
	if err != nil || decoded == nil {
		return Mainnet, false
	}
	return decoded.network, true
}

// Locate implements chains.Chain for output scripts of P2PKH, P2WPKH, P2SH and P2TR. A P2SH
// output is a key's if it is locked to the key's P2WPKH script (BIP-49), and a P2TR output if
// it is locked to the key by BIP-86.
func (Chain) Locate(script []byte) (locator keystore.Locator, ok bool) {
	switch classify(script) {
	case p2pkh:
		return keystore.ByHash160([20]byte(script[3:])), true
	case p2wpkh:
		return keystore.ByHash160([20]byte(script[2:])), true
	case p2shUnknown:
		return keystore.ByNested([20]byte(script[2:])), true
	case p2tr:
		return keystore.ByTaproot([32]byte(script[2:])), true
	}
	return locator, false
}

// party returns the owner of an output script. Its canonical text is the script; a
// person sees the address on the network.
func (n Network) party(script []byte) chains.Party {
	return chains.PartyAt(script, notations[n])
}

var notations = func() (all [len(networks)]*chains.Notation) {
	for network := range all {
		all[network] = &chains.Notation{Text: hex.EncodeToString, Shown: func(script []byte) string {
			text, _ := AddressOf(script, Network(network))
			return text
		}}
	}
	return all
}()
