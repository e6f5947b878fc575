package structures

import "github.com/countersign-dev/countersign/chains"

// votes are votes of Snapshot: a proposal is named by hash or by text, and a choice
// is one, several, or their weights as text.
var votes = func() []structure {
	var all []structure
	for _, proposal := range []string{"bytes32", "string"} {
		for _, choice := range []string{"uint32", "uint32[]", "string"} {
			all = append(all, structure{"Vote(address from,string space,uint64 timestamp," + proposal + " proposal," +
				choice + " choice,string reason,string app,string metadata)", vote})
		}
	}
	return all
}()

func vote(r *reading) {
	if r.domain.name == "snapshot" {
		r.addFrom(chains.Effect{Kind: chains.KindMessage, From: party(r.field("from")), Path: "message"})
	}
}
