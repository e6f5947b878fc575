package descriptors

import (
	"fmt"
	"math/big"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/evm"
)

const (
	tronChain   = "tron"
	tronPrefix  = 0x41
	solanaChain = "solana"
)

// account is the account of 20 bytes on a chain.
func account(chain string, address []byte) chains.Party {
	if chain != tronChain {
		return chains.PartyWritten(address, evm.Address(address).String())
	}
	return chains.PartyWritten(append([]byte{tronPrefix}, address...), base58.CheckEncode(address, tronPrefix))
}

// tag is the byte that may stand in front of an address in an argument.
func tag(chain string) byte {
	if chain == tronChain {
		return tronPrefix
	}
	return 0
}

// addressIn returns the 20 bytes of an address that a value has: as such, or in
// front of nothing but zeros in a word.
func addressIn(value found) ([]byte, bool) {
	raw := value.Bytes
	if len(raw) == 32 && len(trimZeros(raw)) <= 20 {
		raw = raw[12:]
	}
	return raw, len(raw) == 20 && value.Kind != evm.ArgumentText
}

func trimZeros(raw []byte) []byte {
	for len(raw) > 0 && raw[0] == 0 {
		raw = raw[1:]
	}
	return raw
}

// plain writes a value as it is: numbers in decimal, bytes in hex, addresses as
// the chain's tools print them. ok is false for structures and lists, and for what is
// too long to be shown whole.
func plain(chain string, value evm.Argument) (text string, ok bool) {
	switch value.Kind {
	case evm.ArgumentNumber:
		return value.Number.String(), true
	case evm.ArgumentAddress:
		return account(chain, value.Bytes).String(), true
	case evm.ArgumentBool:
		return fmt.Sprint(new(big.Int).SetBytes(value.Bytes).Sign() != 0), true
	case evm.ArgumentBytes:
		if len(value.Bytes) > maxText {
			return fmt.Sprintf("0x%x… (%d bytes)", value.Bytes[:maxText], len(value.Bytes)), false
		}
		return fmt.Sprintf("0x%x", value.Bytes), true
	case evm.ArgumentText:
		if len(value.Bytes) > maxText {
			return string(value.Bytes[:maxText]) + "…", false
		}
		return string(value.Bytes), true
	}
	return "", false
}

// maxText is how many bytes of an argument are shown, and maxArgs how many
// arguments.
const (
	maxText = 1 << 10
	maxArgs = 256
)
