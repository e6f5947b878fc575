package messages

import (
	"slices"

	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/messages/structures"
)

// HazardNames is the closed list of hazards of messages. Those of delegations are
// Ethereum's own.
func HazardNames() []string {
	return slices.Concat(structures.HazardNames(), personal.HazardNames(), solanamsg.HazardNames())
}
