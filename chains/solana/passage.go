package solana

// findPassages tells of each account that gets something whether it is a passage, and whose it is in
// the end.
func findPassages(effects []effect) {
	if len(effects) < 2 { // the fee
		return
	}
	for i := range effects {
		e := &effects[i]
		if e.To.Address() == nil || e.Amount.IsNone() {
			continue
		}
		e.Owners = nil
		for j := range effects {
			other := &effects[j]
			e.Passage = e.Passage || other.takesOver(e.To)
			e.Owners = other.appendOwners(e.Owners, e.To)
		}
	}
}
