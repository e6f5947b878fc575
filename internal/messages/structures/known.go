package structures

import (
	"slices"
)

// byType has the known structures by encoded type.
var byType = func() map[string]structure {
	known := map[string]structure{}
	for _, s := range slices.Concat(seaport, messagesOfSafes, hyperliquid, exchanges, votes, reactorOrders) {
		known[s.encoded] = s
	}
	return known
}()
