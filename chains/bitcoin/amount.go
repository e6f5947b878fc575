package bitcoin

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// MaxMoney is the largest number of satoshi that can exist.
const MaxMoney = 21_000_000 * 100_000_000

const (
	decimals = 8
	symbol   = "BTC"
)

func amount(label string, satoshi uint64) chains.Field {
	return chains.AmountUint(label, satoshi, decimals, symbol)
}

func btc(satoshi uint64) string {
	return chains.Decimal(fmt.Sprint(satoshi), decimals) + " " + symbol
}
