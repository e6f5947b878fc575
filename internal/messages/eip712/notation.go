package eip712

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// notation is how a chain writes typed data. What is hashed is EIP-712's on all of them:
// addresses as 20 bytes, and types by their names as they are written.
type notation struct {
	chain    string            // whose accounts sign the data
	networks []uint64          // chain ids of its domains; nil: all that no other notation has
	types    map[string]string // built-in types of its own, with the type whose values they have
	prefix   byte              // before the 20 bytes of an address, in base58check and in bare hex; 0 for no such form
}

// ethereum is the notation of EIP-712.
var ethereum = &notation{chain: "ethereum"}

var notations = []*notation{
	// TIP-712 (tronprotocol/tips#443): a domain's chain id is the low 32 bits of the id of
	// the network: mainnet, Shasta, Nile.
	{chain: "tron", networks: []uint64{728126428, 2494104990, 3448148188},
		types: map[string]string{"trcToken": "uint256"}, prefix: 0x41},
}

// notationOf returns the notation of typed data: that of the domain's chain id or, if it has
// none, that of the contract's address.
func notationOf(domain *node) *notation {
	if chainID, ok := domain.find("chainId"); ok {
		id, isNumber := parseInteger(chainID.text, chainID.kind == '"')
		for _, by := range notations {
			if isNumber && id.IsUint64() && slices.Contains(by.networks, id.Uint64()) {
				return by
			}
		}
		return ethereum
	}
	if contract, ok := domain.find("verifyingContract"); ok {
		return cmp.Or(writtenIn(contract.text), ethereum)
	}
	return ethereum
}

// writtenIn returns the notation other than Ethereum's that has addresses of a text's form,
// nil if there is none.
func writtenIn(text string) *notation {
	for _, by := range notations {
		if _, ok := by.decode(text); ok {
			return by
		}
	}
	return nil
}

// ofOther names the chain that has a built-in type of a name, for an error.
func ofOther(name string) string {
	for _, by := range notations {
		if _, ok := by.types[name]; ok {
			return ": it is a type of " + by.chain + ", whose typed data has " + by.ids()
		}
	}
	return ""
}

// ids says which chain ids domains of the notation have.
func (by *notation) ids() string {
	ids := make([]string, len(by.networks))
	for i, id := range by.networks {
		ids[i] = strconv.FormatUint(id, 10)
	}
	return "the domain's chainId " + strings.Join(ids[:len(ids)-1], ", ") + " or " + ids[len(ids)-1]
}

func (by *notation) elementary(name string) (memberType, bool) {
	if same, ok := by.types[name]; ok {
		name = same
	}
	of, ok := elementary(name)
	if of.kind == chains.TypedAddress {
		of.by = by
	}
	return of, ok
}

// address reads an address: 0x and 40 digits, in mixed case with the checksum of EIP-55,
// or a form of the notation.
func (by *notation) address(n *node) ([]byte, error) {
	if raw, ok := by.decode(n.text); ok {
		return raw, nil
	}
	digits, prefixed := strings.CutPrefix(n.text, "0x")
	raw, err := hex.DecodeString(digits)
	switch {
	case !prefixed && writtenIn(n.text) != nil:
		other := writtenIn(n.text)
		return nil, malformed("", n.offset,
			"this is an address of %s, whose typed data has %s", other.chain, other.ids())
	case !prefixed && by.prefix != 0:
		return nil, malformed("", n.offset, "%s is no address of %s: expected base58check of 21 bytes that begin "+
			"with %02x, those bytes in hex, or 0x and the 20 others", quoted(n.text), by.chain, by.prefix)
	case !prefixed:
		return nil, malformed("", n.offset, "address must begin with 0x")
	case len(digits)%2 != 0:
		return nil, malformed("", n.offset, "odd number of hex digits")
	case err != nil:
		return nil, malformed("", n.offset, "address has a character that is not a hex digit")
	case len(raw) != common.AddressLength:
		return nil, malformed("", n.offset, "%d bytes: an address has 20", len(raw))
	}
	if !evm.ChecksumFits(digits, evm.Address(raw)) {
		return nil, malformed("", n.offset,
			"wrong checksum (EIP-55): if the digits are right, write %s", evm.Address(raw))
	}
	return raw, nil
}

// decode reads an address with the prefix of the notation, in base58check or in hex; ok is
// false if the text is none.
func (by *notation) decode(text string) (raw []byte, ok bool) {
	const digits, longest = 2 * (1 + common.AddressLength), 35 // base58 takes quadratic time
	switch {
	case by.prefix == 0:
		return nil, false
	case len(text) == digits:
		decoded, err := hex.DecodeString(text)
		if err != nil || decoded[0] != by.prefix {
			return nil, false
		}
		return decoded[1:], true
	case len(text) > longest:
		return nil, false
	}
	decoded, version, err := base58.CheckDecode(text)
	return decoded, err == nil && version == by.prefix && len(decoded) == common.AddressLength
}
