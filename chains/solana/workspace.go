package solana

import "sync"

// workspace is where the effects of one transaction are found: a reader, room for the
// accounts and arguments of most instructions, and the effects. It is used again, since it
// is most of what finding them would allocate.
type workspace struct {
	reader  reader
	given   [8]account
	values  [4]value
	roles   [8]role
	effects []effect
}

var workspaces = sync.Pool{New: func() any { return &workspace{effects: make([]effect, 0, 8)} }}

// maxKeptEffects bounds a workspace that is kept, to some 20 kB.
const maxKeptEffects = 32

// release gives the workspace back, without anything of the transaction. Its effects must
// not be used afterwards.
func (w *workspace) release() {
	clear(w.effects)
	if cap(w.effects) > maxKeptEffects {
		return
	}
	*w = workspace{effects: w.effects[:0]}
	workspaces.Put(w)
}
