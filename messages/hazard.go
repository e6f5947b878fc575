package messages

import (
	"slices"

	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/messages/structures"
)

// HazardNames returns all hazards of messages. Delegations have those of Ethereum.
func HazardNames() []string {
	return slices.Concat(structures.HazardNames(), personal.HazardNames(), solanamsg.HazardNames())
}
