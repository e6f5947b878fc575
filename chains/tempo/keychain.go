package tempo

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/evm"
)

// accountKeychain is the AccountKeychain precompile: called by the account's own
// key, or an admin one, its functions do what a key authorization does.
var accountKeychain = evm.Address{0xaa, 0xaa, 0xaa, 0xaa}

// callHazards are those of calls to the AccountKeychain.
func (tx *transaction) callHazards() (hazards []chains.Hazard) {
	for number, c := range tx.calls.all(tx.raw) {
		if c.to != accountKeychain || c.creation {
			continue
		}
		for _, name := range keychainHazards(c.input.Of(tx.raw)) {
			hazards = append(hazards, chains.Hazard{Name: name, Detail: fmt.Sprintf("call %d changes the account's keys by the AccountKeychain", number)})
		}
	}
	return hazards
}

// keychainHazards are those of a call to the AccountKeychain. Only functions that
// take away are without.
func keychainHazards(input []byte) []string {
	if len(input) < 4 {
		return []string{HazardAuthorityChange}
	}
	switch string(input[:4]) {
	case "\x5a\xe7\xab\x32", // revokeKey(address)
		"\xf3\x94\x18\x11", // removeAllowedCalls(address,address)
		"\xcf\xf3\x1c\x46": // burnKeyAuthorizationWitness(bytes32)
		return nil
	}
	return []string{HazardAuthorityChange}
}
