package descriptors

import (
	"bytes"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

const (
	tronChain   = "tron"
	tronPrefix  = 0x41
	solanaChain = "solana"
)

func account(chain string, address []byte) chains.Party {
	if chain != tronChain {
		return chains.PartyWritten(address, evm.Address(address).String())
	}
	return chains.PartyWritten(append([]byte{tronPrefix}, address...), base58.CheckEncode(address, tronPrefix))
}

func allZero(raw []byte) bool { return len(bytes.Trim(raw, "\x00")) == 0 }

// plain returns a value as text: numbers in decimal, bytes in hex, addresses in the form
// of the chain's tools. ok is false for structures and lists, and for values that are too
// long to be shown whole.
func plain(chain string, value chains.TypedValue) (text string, ok bool) {
	switch value.Kind {
	case chains.TypedNumber:
		return value.Number.String(), true
	case chains.TypedAddress:
		return account(chain, value.Bytes).String(), true
	case chains.TypedBool:
		return fmt.Sprint(value.Number.Sign() != 0), true
	case chains.TypedBytes, chains.TypedFixedBytes:
		if len(value.Bytes) > maxText {
			return fmt.Sprintf("0x%x… (%d bytes)", value.Bytes[:maxText], len(value.Bytes)), false
		}
		return fmt.Sprintf("0x%x", value.Bytes), true
	case chains.TypedText:
		if len(value.Bytes) > maxText {
			return string(value.Bytes[:maxText]) + "…", false
		}
		return string(value.Bytes), true
	}
	return "", false
}

// Bounds of a reading.
const (
	maxText = 1 << 10 // bytes of an argument that are shown
	maxArgs = 256     // arguments
)

// textChain stands for the chain of a text's domain: a text is the same on all.
const textChain = "text"
