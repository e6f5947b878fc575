package evm

import (
	"sync"

	"github.com/countersign-dev/countersign/chains"
)

// rooms are lists for effects from which only hazards are derived. They are the largest thing
// that a judgement would allocate.
var rooms = sync.Pool{New: func() any { return new([]chains.Effect) }}

// maxRoom is the length of the longest list that is kept.
const maxRoom = 16

// Judged returns the hazards that judge derives from effects, which it makes on the given
// network and returns. Neither may be kept: the list of the effects is used again.
func (n *Network) Judged(judge func(brief *Network) ([]chains.Effect, []chains.Hazard)) []chains.Hazard {
	room := rooms.Get().(*[]chains.Effect)
	defer rooms.Put(room)
	n.Brief, n.room = true, *room
	effects, hazards := judge(n)
	clear(effects)
	if cap(effects) <= maxRoom {
		*room = effects[:0]
	}
	return hazards
}

// Room returns an empty list for a number of effects on the network.
func (n *Network) Room(effects int) []chains.Effect {
	if cap(n.room) < effects {
		return make([]chains.Effect, 0, effects)
	}
	room := n.room
	n.room = nil // it is lent once
	return room
}
