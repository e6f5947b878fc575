package bitcoin

import (
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// MaxMoney is the largest number of satoshi that can exist.
const MaxMoney = 21_000_000 * 100_000_000

// displayID returns a transaction id as explorers and nodes print it: reversed, in hex.
func displayID(id [32]byte) string {
	slices.Reverse(id[:])
	return fmt.Sprintf("%x", id)
}

const (
	decimals = 8
	symbol   = "BTC"
)

func amount(label string, satoshi uint64) chains.Field {
	return chains.AmountUint(label, satoshi, decimals, symbol)
}

func unit(field chains.Field, unit string) chains.Field {
	field.Symbol = unit
	return field
}

func btc(satoshi uint64) string {
	return chains.Decimal(fmt.Sprint(satoshi), decimals) + " " + symbol
}
