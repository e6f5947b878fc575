package structures

import (
	"encoding/hex"
	"slices"
	"strconv"
)

// byType are the structures that are known, by their encoded type.
var byType = func() map[string]func(*reading) {
	known := map[string]func(*reading){}
	for _, s := range slices.Concat(permits, permit2, seaport, safe, userOperations, hyperliquid, exchanges, votes) {
		known[s.encoded] = s.read
	}
	return known
}()

// Types returns the encoded types that are known, sorted. Transfers of Permit2 with
// a witness are known besides, whatever the witness.
func Types() []string {
	var types []string
	for encoded := range byType {
		types = append(types, encoded)
	}
	slices.Sort(types)
	return types
}

// contract reads an address of the tables.
func contract(digits string) [20]byte {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		panic("structures: " + err.Error())
	}
	return [20]byte(raw)
}

func itoa(i int) string { return strconv.Itoa(i) }
