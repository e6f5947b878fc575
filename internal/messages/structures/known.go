package structures

import (
	"encoding/hex"
	"slices"
)

// byType has the readers of the known structures by encoded type.
var byType = func() map[string]func(*reading) {
	readers := map[string]func(*reading){}
	for _, s := range slices.Concat(permits, permit2, seaport, safe, userOperations, hyperliquid, exchanges, votes) {
		readers[s.encoded] = s.read
	}
	return readers
}()

// contract parses the address of a contract in the tables.
func contract(digits string) [20]byte {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		panic("structures: " + err.Error())
	}
	return [20]byte(raw)
}
