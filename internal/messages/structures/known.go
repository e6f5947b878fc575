package structures

import (
	"encoding/hex"
	"slices"

	"github.com/countersign-dev/countersign/internal/evm"
)

// byType has the readers of the known structures by encoded type.
var byType = func() map[string]func(*reading) {
	readers := map[string]func(*reading){}
	for _, s := range slices.Concat(seaport, messagesOfSafes, hyperliquid, exchanges, votes, reactorOrders) {
		readers[s.encoded] = s.read
	}
	return readers
}()

// contract parses the address of a contract in the tables.
func contract(digits string) evm.Address {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		panic("structures: " + err.Error())
	}
	return evm.Address(raw)
}
