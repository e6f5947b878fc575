package structures

import "github.com/countersign-dev/countersign/chains"

// votes are votes of Snapshot: the proposal is a hash or a string, and the choice a
// number, several, or a string with weights.
var votes = func() []structure {
	var votes []structure
	for _, proposal := range []string{"bytes32", "string"} {
		for _, choice := range []string{"uint32", "uint32[]", "string"} {
			votes = append(votes, structure{"Vote(address from,string space,uint64 timestamp," + proposal + " proposal," +
				choice + " choice,string reason,string app,string metadata)", vote})
		}
	}
	return votes
}()

func vote(r *reading) {
	if r.domain.name == "snapshot" {
		r.addFrom(chains.Effect{Kind: chains.KindMessage, From: r.party(r.field("from")), Path: "message"})
	}
}
